/* Dual coordinate descent for the C-SVC with the linear kernel (Hsieh, Chang, Lin, Keerthi &
 * Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML 2008). Each
 * step moves the dual variable of one row to its best value and updates the weights; rows at a
 * bound are shrunk. A sweep costs two products with the data. Over processes, steps are combined
 * after each part of a sweep (methods/distributed_ascent.h).
 *
 * It needs few sweeps if C is small relative to the feature norms; otherwise it converges slowly,
 * and cutting planes or interior points are faster. */
#ifndef FAMILIES_TOP_SOLVER_COORDINATE_DESCENT_H
#define FAMILIES_TOP_SOLVER_COORDINATE_DESCENT_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/score_map.h"

#include <stdint.h>

struct top_descent;

/* Prepares a linear problem (map->primal) and a risk without threshold (TOP_NONE), in which a row
 * is a positive or in J, not both. Borrows all three. norm_bound (n): bounds of the feature norms
 * |x|, with the constant feature (certify_norm_bounds). `seed` determines the order of rows. All
 * processes call it; the caller calls top_descent_free. */
int top_descent_create(struct top_descent **descent, const struct problem *problem,
                       const struct score_map *map, struct top_risk *risk, const double *norm_bound,
                       uint64_t seed, struct error *err);
void top_descent_free(struct top_descent *descent);

/* Solves min 1/2 |w|^2 + cost risk to the relative gap epsilon, with a warm start from the last
 * solution if there is one. An iteration is a sweep. Ends early when the monitor stops it, or when
 * no row moves (STOP_STUCK). All processes call it. The caller calls fit_free. */
int top_descent_solve(struct top_descent *descent, double cost, double epsilon,
                      const struct monitor *monitor, struct fit *fit, struct error *err);

#endif
