/* The function of a dual point of classification at the top, and what a certificate has to pay for
 * it (doc/mathematics, "top: the dual"). */
#ifndef FAMILIES_TOP_SOLVER_DUAL_FUNCTION_DD_H
#define FAMILIES_TOP_SOLVER_DUAL_FUNCTION_DD_H

#include "common/base/error.h"
#include "families/top/solver/certify.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"

/* The function, and how far its coefficients are from those of a point that is feasible. */
struct top_dual_function {
    double *b, *error, *weights; /* (n), (n), (dimension) */
    double linear, rounding;     /* top_risk_dual, which is at most that much less */
};

/* Of the fit's dual point, which top_dual_repair has made feasible up to rounding. Where rows are
 * in one place one entry of beta takes what rounding has left of the sums' difference; what double
 * has no digits for is paid. Coefficients of equal rows are joined, see struct top_certifier. The
 * caller calls top_dual_function_free, also when it fails. */
int top_dual_function_make(const struct top_certifier *certifier, const struct top_risk *risk,
                           double cost, struct fit *fit, struct top_dual_function *function,
                           struct error *err);
void top_dual_function_free(struct top_dual_function *function);

#endif
