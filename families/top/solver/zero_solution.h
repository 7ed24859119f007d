/* The zero solution w = 0, if it is optimal. */
#ifndef FAMILIES_TOP_SOLVER_ZERO_SOLUTION_H
#define FAMILIES_TOP_SOLVER_ZERO_SOLUTION_H

#include "common/base/error.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether w = 0 is optimal for topmeank: the positives' centroid is among the means of K rows,
 * because each positive's part of the cost is at most its share of the threshold. All processes of
 * the risk call it. */
bool top_zero_is_optimal(const struct top_risk *risk);

/* Makes the fit that proves it: weights (dimension) 0, and at scores 0 alpha = beta. The caller
 * calls fit_free, also after a failure. */
int top_zero_fit(const struct top_risk *risk, double cost, size_t dimension, struct fit *fit,
                 struct error *err);

/* The reason why w = 0 is optimal, as a message for the user begins. */
const char *top_zero_explain(enum top_kind kind);

#endif
