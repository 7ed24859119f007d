/* Newton's method for RankSVM (doc/mathematics, "rank: Newton").
 *
 * Squared hinge: the Hessian is I + 2C A'LA with L the Laplacian of the active pairs. Hinge: the
 * same for its huberised form, whose Hessian is I + (C/mu) A'LA over the pairs of the band
 * 0 < u < mu, with mu going to 0; alpha = C clip(u/mu, 0, 1) is feasible for the hinge's own dual
 * at each step, so the gap of the true problem is always known.
 *
 * In few dimensions the Hessian is formed and factored; otherwise the step comes from conjugate
 * gradients, for kernels in the inner product of K. */
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

/* Largest number of features for which the Hessian is formed. */
enum { RANK_NEWTON_DIRECT = 2048 };

/* Solves to a relative gap of epsilon from `start` (dimension; NULL: from 0), with no more than
 * `most` steps of conjugate gradients (0: as many as it wants; STOP_ITERATIONS where these end it).
 * preconditioner: their preconditioner for kernels, of this problem, whose map it has; NULL: none. The
 * caller calls fit_free. */
int rank_newton_solve(const struct problem *problem, const struct score_map *map,
                      struct rank_pairs *pairs, enum rank_loss loss, double cost, double epsilon,
                      const double *start, uint64_t most,
                      struct rank_preconditioner *preconditioner, const struct monitor *monitor,
                      struct fit *fit, struct error *err);

#endif
