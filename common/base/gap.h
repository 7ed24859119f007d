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

/* Where the optimum is 0 no relative gap is ever small: the primal of f = 0, times this, then stands
 * for it. */
#define GAP_TINY 1e-12

/* (P - D) / max(P, GAP_TINY nothing), with the primal of f = 0, `nothing`. */
static inline double gap_relative_to(double primal, double dual, double nothing) {
    double least = GAP_TINY * nothing;
    double gap = primal - dual;
    return primal > least || gap <= 0 ? gap_relative(primal, dual) : gap / least;
}

#endif
