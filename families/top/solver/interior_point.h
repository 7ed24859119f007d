/* The primal-dual interior-point method for classification at the top (doc/mathematics, "top:
 * interior points"): the dual by Mehrotra's predictor-corrector method (SIAM J. Optimization 1992),
 * in double, with a factorisation of the kernel matrix, or of the feature matrix if that is
 * smaller, in each iteration.
 *
 * It takes ten to forty iterations for any cost, scale of the data and target gap, but an iteration
 * costs the cube of the matrix's order. It is the fallback of the other solvers for some thousands
 * of rows or features. */
#ifndef FAMILIES_TOP_SOLVER_INTERIOR_POINT_H
#define FAMILIES_TOP_SOLVER_INTERIOR_POINT_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/score_map.h"

#include <stdbool.h>

/* The usual number of steps, in estimates of work. */
enum { TOP_INTERIOR_STEPS = 20 };

/* Work (fit/work.h) of a solve; INFINITY if the problem is too large. */
double top_interior_work(const struct problem *problem, const struct top_risk *risk);

struct top_interior_settings {
    double cost, epsilon;
    /* (n) marks a working set: the problem is solved as if there were no other rows. The dual point
     * and its bound are then valid for all rows, the primal is not. The shares of the rows in the
     * set must sum to more than 1. NULL: all rows */
    const bool *in_set;
    /* (n) the rows' feature-norm bounds, see certify_norm_bounds. With them, and few rows, the
     * method runs again with features of a factor of K if rounding is visible or
     * certificate_failed. NULL: not available */
    const double *norm_bound;
    bool certificate_failed;
};

/* Solves min 1/2 |f|^2 + cost risk to the relative gap epsilon, or until rounding stops the
 * progress. The caller calls fit_free. */
int top_interior_solve(const struct problem *problem, const struct score_map *map,
                       struct top_risk *risk, const struct top_interior_settings *settings,
                       const struct monitor *monitor, struct fit *fit, struct error *err);

#endif
