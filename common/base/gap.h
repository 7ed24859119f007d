/* The measure of how far a fit is from the optimum, at most. */
#ifndef COMMON_BASE_GAP_H
#define COMMON_BASE_GAP_H

#include <stdbool.h>

/* The relative duality gap (P - D) / P; 0 when P is 0 and D is not below it. */
static inline double gap_relative(double primal, double dual) {
    double gap = primal - dual;
    return gap <= 0 ? 0 : gap / (primal > 0 ? primal : 1);
}

/* The test of all fits: a gap of epsilon at most. False if a bound is no number. */
static inline bool gap_reached(double primal, double dual, double epsilon) {
    return gap_relative(primal, dual) <= epsilon;
}

/* (P - D) / max(P, 1e-12 nothing), with `nothing` the primal of f = 0: where the optimum is 0 no
 * relative gap is ever small. Where P is below 1e-9 nothing, what rounding alone keeps the bounds
 * apart by, `paid`, is no gap either; but not more than 1e-13 nothing, lest it be all of P. */
static inline double gap_relative_to(double primal, double dual, double nothing, double paid) {
    double least = 1e-12 * nothing, most = 1e-13 * nothing;
    double gap = primal - dual - (primal >= 1e-9 * nothing ? 0 : paid < most ? paid : most);
    return gap <= 0 ? 0 : gap / (primal > least ? primal : least > 0 ? least : 1);
}

#endif
