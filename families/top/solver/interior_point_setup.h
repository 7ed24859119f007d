/* The data of a run of the interior-point method and its allocation: the rows in use, their risk
 * and system, the iterate's arrays, and the best primal and dual points. */
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

/* A run of the interior-point method. */
struct top_interior_run {
    const struct score_map *map;
    struct top_risk *full_risk; /* of all n rows */
    const bool *in_set;         /* (n) the working set; NULL: all rows */
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
    double *pool;                         /* of all arrays below, and of the iterate's */
    double *alpha, *beta, *scores, *work; /* (m), work (2 m) */
    double square;                        /* |f|^2 of alpha, beta */
    /* best primal and dual points so far */
    double *best_alpha, *best_beta; /* (m) */
    double *best_f;                 /* (width) b, or the weights if there are features */
    size_t width;
    double primal, dual, epsilon;
};

/* Makes the rest of a run whose members map, full_risk, in_set, norm_bound and epsilon are set and
 * all others 0. *applies is false, and little is made, if norm_bound is given but features of a
 * factor of K cannot be used. The caller calls top_interior_release, also after a failure. */
int top_interior_make(struct top_interior_run *run, const struct problem *problem, double cost,
                      bool *applies, struct error *err);
void top_interior_release(struct top_interior_run *run);

#endif
