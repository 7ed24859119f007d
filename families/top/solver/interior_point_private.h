/* The iterate of the interior points and the directions that move it, shared by their files.
 *
 * Variables x are the entries of alpha, then those of beta, of the m rows in use; b = sum sign x of
 * each row. Each has x >= 0 with multiplier z, and perhaps a cap, u = fixed + moving level - x >= 0
 * with multiplier y. Of what is minimised, 1/2 b'K b - linear'x + ..., the slopes are
 *
 *   sign s + square x - linear - z + y + sign rho [+ lambda: alpha, TOP_MEAN] [+ x / (perspective level)]
 *
 * with rho of sum alpha = sum beta, lambda of sum alpha = level; the last term is of beta in
 * TOP_QUANTILE squared, whose root is written as the least over level of
 * sum x^2 / (2 perspective level) + budget level, perspective = 2 theta^2 mass; there level >= 0 has multiplier
 * w. */
#ifndef FAMILIES_TOP_SOLVER_INTERIOR_POINT_PRIVATE_H
#define FAMILIES_TOP_SOLVER_INTERIOR_POINT_PRIVATE_H

#include "common/base/error.h"
#include "common/distributed/cluster.h"
#include "families/top/solver/kernel_system.h"
#include "families/top/solver/risk.h"

#include <stdbool.h>
#include <stddef.h>

/* A direction, or an iterate: what moves. */
struct top_point {
    double *x, *z, *u, *y; /* (n) each, one behind the other; without a cap u = y = 1 */
    double level, w, rho, lambda;
    double *f; /* (width) weights of the function */
};

struct top_interior {
    struct cluster
        *cluster; /* of the risk: rows and variables are of this rank, total else of total ranks,
                                which make every call below together; or NULL */
    struct top_risk *risk; /* of the m rows */
    struct top_system *system;
    double cost;
    size_t m, n, n_alpha;
    double total, total_alpha;  /* n and n_alpha of total ranks */
    size_t width;               /* of f: features, or 0 where f is sum b_i phi_i and no more */
    size_t *row;                /* (n) of each variable */
    size_t *alpha_of, *beta_of; /* (m) variable of each row, or SIZE_MAX */
    bool *capped;               /* (n) there is a cap */
    double *fixed, *moving;     /* (n) of the cap */
    double *linear, *square;    /* (n) */
    double *perspective;        /* (n); 0: no such term */
    bool balanced;              /* sum alpha = sum beta */
    bool levelled;              /* the level is a variable */
    struct top_point at;        /* the iterate */
    struct top_point affine, centre, corrector; /* directions */
    double *b, *s;                              /* (m) of the iterate: s are the scores of f */
    double *slope, *cap_residual;               /* (n) of the iterate; of caps: what u lacks */
    double *residual;                           /* (width) sum b_i phi_i - f */
    double level_slope;                         /* of the level */
    double sum_residual[2];                     /* of the two sums */
    double *curvature;                          /* (n) of each variable, from total but K */
    double level_curvature;                     /* the level's own curvature */
    double *border[3], *column[3]; /* (n) of the level, rho, lambda; the systems' solutions */
    size_t n_borders;              /* 0, or the first 2, or 3 */
    double *right;                 /* (n) work */
    double *E, *solved;            /* (m) work */
};

/* sign of a variable in b. */
static inline double top_interior_sign(const struct top_interior *in, size_t k) {
    return k < in->n_alpha ? 1 : -1;
}

/* f of the iterate anew; else top_interior_move keeps it. */
int top_interior_set_function(struct top_interior *in, struct error *err);

/* b and s of the iterate. */
int top_interior_scores(struct top_interior *in, struct error *err);

/* The mean of the products x z, u y and level w after a step of `length` along affine. */
double top_interior_mean_product(const struct top_interior *in, double length);

/* Factors the step's system at the iterate. *done is false if no factorisation succeeds. */
int top_interior_factor(struct top_interior *in, bool *done, struct error *err);

/* The three parts of a step: `affine`, towards total products and residuals 0; `centre`, what raises
 * total products by 1; `corrector`, which takes off the products of affine's own moves. */
int top_interior_directions(struct top_interior *in, struct error *err);

/* How far along affine + target centre + weight corrector the iterate stays at or above 0. */
double top_interior_longest(const struct top_interior *in, double target, double weight);

/* Moves the iterate. Returns false if it is no longer finite, or above 0. */
bool top_interior_move(struct top_interior *in, double length, double target, double weight);

#endif
