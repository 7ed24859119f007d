/* w = 0, where it is the best that there is. */
#ifndef FAMILIES_TOP_SOLVER_ZERO_SOLUTION_H
#define FAMILIES_TOP_SOLVER_ZERO_SOLUTION_H

#include "common/base/error.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"

#include <stdbool.h>
#include <stddef.h>

/* topmeank, where the positives' own centroid is among the means of K rows: each positive's part of
 * the cost is no more than its share of the threshold. All ranks of the risk. */
bool top_zero_is_optimal(const struct top_risk *risk);

/* The fit that shows it: weights (dimension) 0, and at scores 0 the same of alpha and of beta. The
 * caller calls fit_free, also when it fails. */
int top_zero_fit(const struct top_risk *risk, double cost, size_t dimension, struct fit *fit,
                 struct error *err);

/* Why w = 0 is optimal, in words for the user. */
const char *top_zero_explain(enum top_kind kind);

#endif
