/* Interior points for classification at the top (doc/mathematics, "top: interior points"): the
 * dual by Mehrotra's predictor and corrector (SIAM J. Optimization 1992), in double, with a
 * factorisation of the kernel matrix, or of the features' if these are fewer, at each step.
 *
 * Ten to forty steps whatever the cost, the scale of the data and the gap that is asked for, but
 * each takes the cube of the matrix: it finishes what the other engines leave, for some thousands
 * of rows. */
#ifndef FAMILIES_TOP_SOLVER_INTERIOR_POINT_H
#define FAMILIES_TOP_SOLVER_INTERIOR_POINT_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/score_map.h"

#include <stdbool.h>

/* Work (fit/work.h) of a solve; INFINITY where the problem is too large. */
double top_interior_work(const struct problem *problem, const struct top_risk *risk);

/* Solves min 1/2 |f|^2 + cost risk to the relative gap epsilon, or until rounding stops the
 * progress; with in_set (n) over the rows that it marks, as if there were no others: the dual point
 * and its bound are those of all rows too, the primal is not. Shares of those rows must sum to more
 * than 1. norm_bound (n): of the rows, see certify_reach; then rounding that shows, or has made a
 * certificate fail, is met with features of a factor of K, where the rows are few. NULL: it is not.
 * The caller calls fit_free. */
int top_interior_solve(const struct problem *problem, const struct score_map *map,
                       struct top_risk *risk, const bool *in_set, const double *norm_bound,
                       bool certificate_failed, double cost, double epsilon,
                       const struct monitor *monitor, struct fit *fit, struct error *err);

#endif
