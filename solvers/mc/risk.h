/* A multi-class loss as a risk of n k scores, and the map from weights to these scores: what the
 * engines that know no family need. */
#ifndef SOLVERS_MC_RISK_H
#define SOLVERS_MC_RISK_H

#include "common/base/error.h"
#include "solvers/mc/task.h"
#include "solvers/methods/risk.h"
#include "solvers/methods/score_map.h"

/* R(s) = sum_i weight_i L(y_i, s_i), s (n, k) row-major; context is the task, which is borrowed. */
struct risk mc_risk(const struct mc_task *task);

/* Weights are W (n_features + 1, k) row-major, its last row that of the constant feature, or
 * coefficients (n, k). Borrows task; the caller releases it with score_map_free. */
int mc_map_create(struct score_map *map, const struct mc_task *task, struct error *err);

#endif
