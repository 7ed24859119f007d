/* A starting point of smo for kernels and many rows: the dual point of an approximate problem, in
 * which the kernel matrix is Z Z' + diag(rest), with the features Z of landmarks
 * (common/kernel/landmarks.h).
 *
 * smo takes about as many steps as rows end above 0, and from its own starting point another step
 * for each row that begins there and ends at 0, with all rows in use. Cutting planes solve the
 * approximate problem in some 15 to 40 products with Z. Their dual point is dense. But given the
 * scores u = Z Z' b of their function, the rows interact through the threshold and the level of the
 * caps only, and the dual with the kernel matrix diag(rest) and the scores u added has the
 * entries of all rows in closed form (doc/mathematics, "top: low rank"): most are 0 or at a bound.
 *
 * Nothing of the approximation is claimed: the point is feasible in the problem itself, and smo
 * computes its scores. Cost: n m^2 for m landmarks, and 4 n m for each plane. */
#ifndef FAMILIES_TOP_SOLVER_LOW_RANK_H
#define FAMILIES_TOP_SOLVER_LOW_RANK_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/risk.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stdint.h>

/* False if rows are few or distributed over processes, or memory is short; without a kernel matrix,
 * with a stored one, or one that is not known to be positive semidefinite. */
bool top_low_rank_applies(const struct problem *problem);

/* Draws landmarks by seed, and fills alpha and beta (n each) with the dual point at this cost,
 * which is feasible. *iterations: the number of planes. With a time limit there are fewer
 * landmarks, and planes take at most half of the time. *has_point: false if the gap needs too many
 * planes, as at large costs; alpha and beta are then left as they are. Planes that end by time give
 * a point. */
int top_low_rank_solve(const struct problem *problem, struct top_risk *risk, double cost,
                       uint64_t seed, const struct monitor *monitor, double *alpha, double *beta,
                       uint64_t *iterations, bool *has_point, struct error *err);

#endif
