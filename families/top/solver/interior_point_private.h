/* The iterate of the interior-point method, the directions that move it, and the data of a run.
 * Private to this module.
 *
 * Variables x are the entries of alpha, then those of beta, of the m rows in use; b = sum sign x of
 * each row. Each has x >= 0 with multiplier z, and some have a cap, u = fixed + moving level - x >=
 * 0 with multiplier y. The derivatives ("slopes") of the Lagrangian of min 1/2 b'K b - linear'x +
 * ... are
 *
 *   sign s + square x - linear - z + y + sign rho [+ lambda: alpha, TOP_MEAN]
 *   [+ x / (perspective level)]
 *
 * with multipliers rho of sum alpha = sum beta and lambda of sum alpha = level. The last term is
 * that of beta in TOP_QUANTILE squared: the root is written as the minimum over level of sum x^2 /
 * (2 perspective level) + budget level, perspective = 2 theta^2 mass; there level >= 0 has
 * multiplier w. */
#ifndef FAMILIES_TOP_SOLVER_INTERIOR_POINT_PRIVATE_H
#define FAMILIES_TOP_SOLVER_INTERIOR_POINT_PRIVATE_H

#include "common/base/error.h"
#include "common/distributed/cluster.h"
#include "common/kernel/problem.h"
#include "families/top/solver/kernel_system.h"
#include "families/top/solver/risk.h"
#include "fit/score_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A direction or an iterate. */
struct top_point {
    double *x, *z, *u, *y; /* (n) each, in one array; without a cap u = y = 1 */
    double level, w, rho, lambda;
    double *f; /* (width) weights of the function */
};

struct top_interior {
    /* of the risk, or NULL: rows and variables are those of this process, all else is of all
     * processes, which make every call below together */
    struct cluster *cluster;
    struct top_risk *risk; /* of the m rows */
    struct top_system *system;
    double cost;
    size_t m, n, n_alpha;
    double total;               /* n over all processes */
    size_t width;               /* of f: number of features, or 0 if f is represented by b alone */
    size_t *row;                /* (n) row of each variable */
    size_t *alpha_of, *beta_of; /* (m) variable of each row, or SIZE_MAX */
    bool *capped;               /* (n) there is a cap */
    double *fixed, *moving;     /* (n) parts of the cap */
    double *linear, *square;    /* (n) */
    double *perspective;        /* (n); 0: no such term */
    bool balanced;              /* sum alpha = sum beta */
    bool levelled;              /* the level is a variable */
    struct top_point at;        /* the iterate */
    struct top_point affine, centre, corrector; /* directions */
    double *b, *s;                              /* (m) of the iterate; s are the scores of f */
    double *slope;                              /* (n) of the iterate */
    double *cap_residual;   /* (n) fixed + moving level - x - u of the iterate */
    double *residual;       /* (width) sum b_i phi_i - f */
    double level_slope;     /* of the level */
    double sum_residual[2]; /* residuals of sum alpha = sum beta and of sum alpha = level */
    double *curvature;      /* (n) diagonal of each variable, without K */
    double level_curvature; /* the level's diagonal entry */
    double *border[3];      /* (n) columns of the level, rho and lambda */
    double *column[3];      /* (n) the system's solutions for them */
    size_t n_borders;       /* 0, 2 or 3 */
    double *right;          /* (n) work */
    double *E, *solved;     /* (m) work */
};

/* The sign of a variable in b. */
static inline double top_interior_sign(const struct top_interior *in, size_t k) {
    return k < in->n_alpha ? 1 : -1;
}

/* Sets f of the iterate from x; afterwards top_interior_move updates it. */
int top_interior_set_function(struct top_interior *in, struct error *err);

/* Sets b and s of the iterate. */
int top_interior_scores(struct top_interior *in, struct error *err);

/* The mean of the complementarity products x z, u y and level w after a step of `length` along
 * affine. */
double top_interior_mean_product(const struct top_interior *in, double length);

/* Factors the step's system at the iterate. *done is false if no factorisation succeeds. */
int top_interior_factor(struct top_interior *in, bool *done, struct error *err);

/* Computes three directions: `affine`, the predictor, which makes all products and residuals 0;
 * `centre`, which increases all products by 1; `corrector`, the second-order correction for the
 * products of affine's own steps. */
int top_interior_directions(struct top_interior *in, struct error *err);

/* The step length along affine + target centre + weight corrector at which the iterate reaches the
 * boundary. */
double top_interior_longest(const struct top_interior *in, double target, double weight);

/* Moves the iterate. Returns false if it is not finite, or not positive, any more. */
bool top_interior_move(struct top_interior *in, double length, double target, double weight);

/* A run of the interior-point method. */
struct top_interior_run {
    const struct problem *problem;
    const struct score_map *map;
    struct top_risk *full_risk; /* of all n rows */
    double cost, epsilon;
    const bool *in_set; /* (n) the working set; NULL: all rows */
    /* (n) feature-norm bounds, if features of a factor of K are used; or NULL */
    const double *norm_bound;
    struct top_risk risk; /* of the m rows */
    struct top_interior in;
    uint32_t *rows; /* (m) */
    bool empty_interior;
    /* of the rows of a factor of K, if norm_bound is given; else empty */
    struct row_features factor_features;
    bool add_constant; /* factor_features lacks the constant feature, whose value is `constant` */
    double constant;
    void *block;                          /* all arrays below, and the iterate's */
    double *alpha, *beta, *scores, *work; /* (m), work (2 m) */
    double square;                        /* |f|^2 of alpha, beta */
    /* best primal and dual points so far */
    double *best_alpha, *best_beta; /* (m) */
    double *best_f;                 /* (width) b, or the weights if there are features */
    size_t width;
    double primal, dual;
};

/* Makes the rest of a run whose members up to norm_bound are set and all others 0. *applies is
 * false, and little is made, if norm_bound is given but features of a factor of K cannot be used.
 * The caller calls top_interior_release, also after a failure. */
int top_interior_make(struct top_interior_run *run, bool *applies, struct error *err);
void top_interior_release(struct top_interior_run *run);

#endif
