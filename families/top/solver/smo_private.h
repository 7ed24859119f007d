/* What smo keeps, shared by its files: a dual point with its scores, and the arrays to work in. */
#ifndef FAMILIES_TOP_SOLVER_SMO_PRIVATE_H
#define FAMILIES_TOP_SOLVER_SMO_PRIVATE_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/dual_state.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"
#include "fit/score_map.h"

#include <stdbool.h>
#include <stdint.h>

struct top_smo {
    const struct problem *problem;
    const struct score_map *map;
    struct top_risk *risk;
    struct top_state state;
    double cost;              /* of the last solution; 0: there is none */
    double scaling;           /* of the point's f that the primal is of */
    uint64_t next_full_check; /* steps after which all places are looked at again */
    bool exact;               /* s and U of all places are order the data, nothing moved since */
    size_t set_rows; /* rows of a set_rows of this cost (finish.h); 0: none has been solved */
    double *pool;    /* of the arrays (n) of doubles, here and in the state */
    double *best_alpha, *best_beta; /* (n) of the run so far, by row */
    double *weights;                /* (dimension, 3) work */
    double *scores;                 /* (n, 3) work, by row */
    double *row_s, *row_g;          /* (n) work, by row */
    double *bound;                  /* (n) work */
    uint32_t *order;                /* (n) work */
    unsigned char *keep;            /* (n) work */
};

/* Sets bounds of this cost, and the first point or the last solution scaled to it, with s and U
 * order the data. If it fails there is no last solution. */
int top_smo_begin(struct top_smo *smo, double cost, struct error *err);

/* Both bounds of the point, order s; the primal at the best scaling where the point's own is
 * further than epsilon order the dual. */
void top_smo_bounds(struct top_smo *smo, double epsilon, struct fit *fit);

/* The point, and its function at that scaling, into fit. */
int top_smo_copy(struct top_smo *smo, struct fit *fit, struct error *err);

/* Recomputes s, U and the sums order the data, with all places in use. */
int top_smo_recompute(struct top_smo *smo, struct error *err);

/* The same, and by the same product with K, into row_s, the scores of another function: other (n)
 * are its coefficients by row; NULL: there is none. Kernels only. */
int top_smo_recompute_with(struct top_smo *smo, const double *other, struct error *err);

/* A first point: the direction order the centroid of J to that of the positives, the dual point
 * that belongs to its scores at the best scaling, and the best scaling of that. Where the best
 * scaling takes all positives above the threshold the point is 0, and says nothing: then a
 * smaller one. */
int top_smo_start(struct top_smo *smo, double cost, struct error *err);

/* The last solution, scaled to another cost. */
int top_smo_restart(struct top_smo *smo, double cost, struct error *err);

#endif
