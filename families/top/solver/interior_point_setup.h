/* What a solve by interior points keeps, and how it is made: the rows in use, the risk and the
 * system of these, the iterate's arrays, and the best of both sides. */
#ifndef FAMILIES_TOP_SOLVER_INTERIOR_POINT_SETUP_H
#define FAMILIES_TOP_SOLVER_INTERIOR_POINT_SETUP_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/interior_point_private.h"
#include "families/top/solver/risk.h"
#include "fit/score_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A solve: rows in use, the iterate, and the best of both sides. */
struct top_interior_run {
    const struct score_map *map;
    struct top_risk *full_risk; /* of all n rows */
    const bool *in_set;         /* (n) the rows that there are; NULL: all */
    const double
        *norm_bound; /* (n) of the rows, where they are to have features of their own; or NULL */
    struct top_risk risk; /* of the m rows */
    struct top_interior in;
    uint32_t *rows; /* (m) */
    bool empty_interior;
    struct row_features own; /* with norm_bound: of the rows, which are all; else empty */
    bool add_constant;       /* own has not the constant feature, of value ... */
    double constant;
    double *pool;                         /* of all arrays below, and of the iterate's */
    double *alpha, *beta, *scores, *work; /* (m), work (2 m) */
    double square;                        /* |f|^2 of alpha, beta */
    /* the best so far of both sides */
    double *best_alpha, *best_beta; /* (m) */
    double *best_f;                 /* (width) b, or the weights where there are features */
    size_t width;
    double primal, dual, epsilon;
};

/* Makes the rest of a run of which map, full_risk, in_set, norm_bound and epsilon are filled in, all else 0.
 * *applies is false, and little is made, where norm_bound is given and the rows are to have no features
 * of their own. The caller releases it, whatever comes back. */
int top_interior_make(struct top_interior_run *run, const struct problem *problem, double cost,
                      bool *applies, struct error *err);
void top_interior_release(struct top_interior_run *run);

#endif
