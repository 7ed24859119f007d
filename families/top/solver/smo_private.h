/* The state of smo: a dual point with its scores, and work arrays. Private to this module. */
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
    double scaling;           /* the primal is that of scaling times the dual point's f */
    uint64_t next_full_check; /* iteration of the next exact evaluation over all positions */
    /* s and U of all positions are computed from the data, and no step was taken since */
    bool is_fresh;
    bool is_exact; /* nor was the point scaled: s is exact for alpha and beta as they are stored */
    bool near;     /* runs began near the solution: top_smo_start_near */
    double value_seconds; /* the time of a kernel value in exact evaluations; 0: not known */
    size_t set_rows; /* rows of a working set at this cost (interior_working_set.h); 0: none yet */
    void *block;     /* all arrays, here and in the state */
    double *best_alpha, *best_beta; /* (n) best point of the run, by row */
    double *weights;                /* (dimension, 3) work */
    double *scores;                 /* (n, 3) work, by row */
    double *row_s, *row_g;          /* (n) work, by row: scores, and a subgradient */
    double *work;                   /* (n) work of permutations and of starting points */
    uint32_t *order;                /* (n) work: positions in a new order */
    unsigned char *keep;            /* (n) work: 1 if a position stays in use */
};

/* Sets the bounds for a cost, and the starting point or the last solution scaled to it, with s and
 * U from the data. After a failure there is no last solution. */
int top_smo_begin(struct top_smo *smo, double cost, struct error *err);

/* Computes both bounds of the point from s; the primal at the best multiple if the point's own is
 * further than epsilon from the dual. */
void top_smo_bounds(struct top_smo *smo, double epsilon, struct fit *fit);

/* Copies the point, and its function at that multiple, into fit. */
int top_smo_copy(struct top_smo *smo, struct fit *fit, struct error *err);

/* Recomputes s, U and the sums from the data, with all positions in use; and in the same product
 * with K, into row_s, the scores of another function with coefficients `other` (n) by row (kernels
 * only). NULL: none. */
int top_smo_recompute(struct top_smo *smo, const double *other, struct error *err);

/* Sets the starting point: the direction from the centroid of J to that of the positives, the dual
 * point of its scores at their best multiple, and the best multiple of that. If the best multiple
 * takes all positives above the threshold this point is 0, so a smaller multiple is used. */
int top_smo_start(struct top_smo *smo, double cost, struct error *err);

/* Sets the last solution, scaled to another cost. */
int top_smo_restart(struct top_smo *smo, double cost, struct error *err);

#endif
