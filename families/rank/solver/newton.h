/* Newton's method for RankSVM (doc/mathematics, "rank: Newton"; Chapelle & Keerthi, "Efficient
 * algorithms for ranking with SVMs", 2010).
 *
 * Squared hinge: the Hessian is I + 2C A'LA, L the Laplacian of the active pairs. Hinge: the same
 * for its Huber smoothing, with Hessian I + (C/mu) A'LA over the pairs 0 < u < mu, while mu goes to
 * 0 (methods/smoothing_path.h). alpha = C clip(u/mu, 0, 1) is feasible for the dual of the hinge,
 * so every iteration knows the duality gap of the original problem. With multipliers the Hessian of
 * both losses is I + C/(q + mu) A'LA over the smoothed region, and mu need not be small
 * (multipliers.h).
 *
 * With few features the Hessian is formed and factored: O(n d^2 + d^3) per iteration. Otherwise
 * conjugate gradients compute the step, one product with L, A and A' each; for kernels in the inner
 * product of K. */
#ifndef FAMILIES_RANK_SOLVER_NEWTON_H
#define FAMILIES_RANK_SOLVER_NEWTON_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/newton_preconditioner.h"
#include "families/rank/solver/pairs.h"
#include "families/rank/solver/rank.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/score_map.h"

/* Maximal number of features for which the Hessian is formed. */
enum { RANK_MAX_HESSIAN_FEATURES = 2048 };

/* Solves to a relative gap of epsilon from `start` (dimension; NULL: from zero), with at most
 * `max_cg_steps` steps of conjugate gradients (0: no limit; STOP_ITERATIONS if they are used up).
 * preconditioner: for kernels, and `map` is then its map; NULL: none. With a preconditioner this is
 * the algorithm newton-direct, without one it is newton. multipliers, only with a preconditioner:
 * the loss is smoothed about their centre, also that of an earlier run, and the dual point of fit
 * is their alpha. NULL: the hinge is smoothed about 0, and mu goes to 0. Fills fit; the caller
 * calls fit_free. -1 if memory is short or scores overflow. */
int rank_newton_solve(const struct problem *problem, const struct score_map *map,
                      struct rank_pairs *pairs, enum rank_loss loss, double cost, double epsilon,
                      const double *start, uint64_t max_cg_steps,
                      struct rank_preconditioner *preconditioner,
                      struct rank_multipliers *multipliers, const struct monitor *monitor,
                      struct fit *fit, struct error *err);

#endif
