/* Linear multi-class SVMs with few weights (features times classes): Newton's method on smoothed
 * losses, with the exact Hessian.
 *
 * A loss max over a of a'u, a in the box or the simplex, becomes max a'u - mu/2 |a|^2, with mu
 * going to 0. alpha = C a is feasible for the dual of the loss itself at every step, so the gap of
 * the true problem is always known. */
#ifndef FAMILIES_MC_SOLVER_NEWTON_H
#define FAMILIES_MC_SOLVER_NEWTON_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

/* Largest number of weights for which the Hessian is formed. */
enum { MC_NEWTON_WEIGHTS = 2048 };

/* Solves from start (n_features + 1, k; NULL: 0), with the smoothing mu at first: 1, or less for a
 * start near the optimum. The caller calls mc_fit_free. */
int mc_newton_solve(const struct mc_task *task, const struct mc_goal *goal, const double *start,
                    double mu, const struct monitor *monitor, struct mc_fit *fit,
                    struct error *err);

#endif
