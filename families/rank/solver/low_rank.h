/* Kernel RankSVM with many rows: the problem of a Nystrom approximation K~ of the kernel matrix
 * (common/kernel/landmarks.h), solved by cutting planes (hinge) or Newton's method (squared hinge);
 * if its features are exact (explicit_features.h), by Newton's method for the linear kernel.
 *
 * Its solution is a combination of the landmarks, a function of the problem itself with the same
 * norm and scores, so its primal is an upper bound of the optimum. Its dual point beta is feasible,
 * and its dual is D~ - beta'(K - K~) beta / 2, with the dual D~ of the approximate problem; that
 * difference is estimated from some rows of K. Only the certificate multiplies by K.
 *
 * Cost for n rows and m landmarks: n m^2, and 2 n m for a plane or a step of conjugate
 * gradients. */
#ifndef FAMILIES_RANK_SOLVER_LOW_RANK_H
#define FAMILIES_RANK_SOLVER_LOW_RANK_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/pairs.h"
#include "families/rank/solver/rank.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/risk.h"
#include "methods/cutting_planes.h"

#include <stddef.h>
#include <stdint.h>

struct rank_low_rank;

/* *size = the number of landmarks to begin with, and *exact whether their features are expected to
 * be exact (explicit_features.h). 0: the approximation does not apply, because the
 * kernel matrix is stored whole, the kernel is not known to be positive semidefinite, rows are few
 * or of several processes, memory is short, or a few landmarks leave too much of the kernel matrix.
 * Not for features of pairs. */
int rank_low_rank_size(const struct problem *problem, uint64_t seed, size_t *size, bool *exact,
                       struct error *err);

/* Chooses `size` landmarks. Borrows problem and pairs. The caller calls rank_low_rank_free. */
int rank_low_rank_create(struct rank_low_rank **low, const struct problem *problem,
                         struct rank_pairs *pairs, size_t size, uint64_t seed,
                         const struct monitor *monitor, struct error *err);
void rank_low_rank_free(struct rank_low_rank *low);

/* Up to twice the number of landmarks; 0: limit or memory allow few more, or the rows have none. */
size_t rank_low_rank_next_size(const struct rank_low_rank *low);

/* The time that their choice and a solution will take, if the monitor has a time limit, from the
 * times of the last. */
double rank_low_rank_next_seconds(const struct rank_low_rank *low);

/* Solves the approximate problem to a part of the gap epsilon, from the last solution for this
 * loss. fit gets the solution and its dual point, and both bounds in the problem itself, of which
 * the dual is an estimate. risk: that of the loss. */
int rank_low_rank_solve(struct rank_low_rank *low, enum rank_loss loss, const struct risk *risk,
                        double cost, double epsilon, const struct monitor *monitor, struct fit *fit,
                        struct error *err);

/* *seconds = the time of one exact product with the kernel matrix, from that of some of its rows; 0
 * without a time limit, and with few rows. */
int rank_low_rank_time_product(const struct problem *problem, const struct monitor *monitor,
                               double *seconds, struct error *err);

/* The planes of the last solution, of the hinge. */
const struct cutting_planes *rank_low_rank_planes(const struct rank_low_rank *low);

#endif
