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

#endif
