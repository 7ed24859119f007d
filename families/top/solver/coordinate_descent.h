/* Dual coordinate descent for the C-SVC with the linear kernel (Hsieh, Chang, Lin, Keerthi &
 * Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML 2008): a row at
 * a time takes its dual variable to the best there is for it, and the weights with it; rows that
 * rest at a bound are left out. Over the ranks of a cluster in rounds
 * (methods/distributed_ascent.h).
 *
 * It needs few sweeps where C is not large beside the features; else it crawls, and cutting planes
 * or interior points are better. */
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
 * is a positive or in J, not both. Borrows all three; length (n) has |x| of the rows, the constant
 * feature with them, about. The order of rows is by the seed. All ranks; the caller ends with
 * top_descent_free. */
int top_descent_create(struct top_descent **descent, const struct problem *problem,
                       const struct score_map *map, struct top_risk *risk, const double *length,
                       uint64_t seed, struct error *err);
void top_descent_free(struct top_descent *descent);

/* Solves min 1/2 |w|^2 + cost risk to the relative gap epsilon, from the last solution if there is
 * one; an iteration is a sweep. Ends early as the monitor says, or where no row moves (STOP_STUCK).
 * All ranks. The caller calls fit_free. */
int top_descent_solve(struct top_descent *descent, double cost, double epsilon,
                      const struct monitor *monitor, struct fit *fit, struct error *err);

#endif
