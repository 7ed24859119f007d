/* The function of a dual point of classification at the top with its rounding-error bounds
 * (doc/mathematics, "top: the dual"). */
#ifndef FAMILIES_TOP_SOLVER_DUAL_FUNCTION_DD_H
#define FAMILIES_TOP_SOLVER_DUAL_FUNCTION_DD_H

#include "common/base/error.h"
#include "families/top/solver/certify.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"

/* The function f = sum b_i phi_i, and the distance of its coefficients from a feasible point. Its
 * weights are b or, if the fit has them, dual_weights that are as close to that point. */
struct top_dual_function {
    double *b, *error;       /* (n) coefficients, bounds of their errors */
    double *weights;         /* (dimension) of f */
    const double *scores;    /* (n) exact scores of weights, of the fit; NULL: not known */
    double linear, rounding; /* top_risk_dual, and a bound of its rounding error */
};

/* Makes the function of the fit's dual point, which top_dual_repair has made feasible up to
 * rounding. On one process one entry of beta takes the rounding difference of the sums; what double
 * cannot hold goes into the error bounds. The coefficients of equal rows are added up at the first
 * of them (struct top_certifier). The caller calls top_dual_function_free, also after a failure. */
int top_dual_function_make(const struct top_certifier *certifier, const struct top_risk *risk,
                           double cost, struct fit *fit, struct top_dual_function *function,
                           struct error *err);
void top_dual_function_free(struct top_dual_function *function);

#endif
