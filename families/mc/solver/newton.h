/* Linear multi-class SVMs with few weights (hessian.h): Newton's method on smoothed losses
 * (methods/smoothing_path.h), with the exact Hessian.
 *
 * A loss max over a of a'u, a in a box or simplex, is smoothed to max a'u - mu/2 |a|^2 (Nesterov,
 * "Smooth minimization of non-smooth functions", 2005), and mu goes to 0. alpha = C a is feasible
 * for the dual of the original loss, so every step gives a gap of the original problem. A step
 * costs the outer products of the rows with terms in the smoothed region, and a Cholesky
 * factorisation of the order of the weights. */
#ifndef FAMILIES_MC_SOLVER_NEWTON_H
#define FAMILIES_MC_SOLVER_NEWTON_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

/* The number of features, with the constant one, up to which the square of the number of weights
 * that one matrix couples is at most 60 times the rows: a step is then cheap compared to sweeps of
 * coordinate descent. */
size_t mc_newton_cheap_features(const struct mc_task *task);

/* The estimated work of a solve (fit/work.h); INFINITY if there are too many features
 * (mc_hessian_max_features) or scores. */
double mc_newton_work(const struct mc_task *task);

/* Solves from the weights start (n_features + 1, k; NULL: 0). The caller calls mc_fit_free. */
int mc_newton_solve(const struct mc_task *task, const struct mc_goal *goal, const double *start,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err);

#endif
