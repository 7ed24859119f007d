/* Feasible dual points of classification at the top (doc/mathematics, "top: the dual"):
 *
 *   0 <= alpha_i [<= C cost_i], 0 <= beta_j, sum alpha = sum beta
 *   mean: beta_j <= share_j sum alpha        none: without the sum, beta_j [<= C mass_j]
 *
 * where [] is for the hinge. Only at such a point is top_risk_dual - |f|^2 / 2 a lower bound. */
#ifndef FAMILIES_TOP_SOLVER_FEASIBLE_DUAL_H
#define FAMILIES_TOP_SOLVER_FEASIBLE_DUAL_H

#include "common/base/error.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"

#include <stddef.h>

/* Allocates the dual point (n each) of a fit and, unless it has them, its weights (dimension), all
 * zero. fit_free releases them, also after a failure. */
int top_dual_allocate(struct fit *fit, size_t n, size_t dimension, struct error *err);

/* Moves alpha and beta (n each) to a feasible point: entries are clipped, then beta is scaled to
 * the sum of alpha within its caps, and the remaining difference goes to entries below their caps.
 * A feasible point changes by rounding only. A point that is not finite becomes 0. */
void top_dual_repair(const struct top_risk *risk, double C, double *alpha, double *beta);

#endif
