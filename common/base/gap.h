/* The relative duality gap. */
#ifndef COMMON_BASE_GAP_H
#define COMMON_BASE_GAP_H

#include <stdbool.h>

/* (P - D) / P; 0 if P is 0 and D is not below it. */
static inline double gap_relative(double primal, double dual) {
    double gap = primal - dual;
    return gap <= 0 ? 0 : gap / (primal > 0 ? primal : 1);
}

/* The stopping criterion of all fits: a relative gap of at most epsilon. False if a bound is NaN.
 */
static inline bool gap_reached(double primal, double dual, double epsilon) {
    return gap_relative(primal, dual) <= epsilon;
}

/* (P - D) / max(P, 1e-12 zero_primal), zero_primal the primal of f = 0: if the optimum is 0, a gap
 * relative to P never becomes small. If P is below 1e-9 zero_primal, the rounding-error bound
 * `rounding` is subtracted from the gap, but at most 1e-13 zero_primal, so that it is not all of P.
 */
static inline double gap_relative_to(double primal, double dual, double zero_primal,
                                     double rounding) {
    double min_primal = 1e-12 * zero_primal, max_rounding = 1e-13 * zero_primal;
    double gap = primal - dual -
                 (primal >= 1e-9 * zero_primal ? 0
                  : rounding < max_rounding    ? rounding
                                               : max_rounding);
    return gap <= 0 ? 0 : gap / (primal > min_primal ? primal : min_primal > 0 ? min_primal : 1);
}

#endif
