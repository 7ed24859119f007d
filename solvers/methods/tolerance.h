/* The tolerances that a small problem is solved to, one after the other.
 *
 * How accurate a solver's inner steps are depends on the gap that is asked for, and so does its
 * path: a fit to a smaller gap of its own need not pass the points of a fit to a larger one, and
 * where rounding stops it, may end with a worse one. A fit that goes through the tolerances of one
 * sequence, from the largest down to the first that is not above the user's, and takes the best
 * iterate of all, does all that a fit to a larger gap does, and more: its primal is never larger.
 * The sequence costs an evaluation of the bounds for each of its members, so it is for problems
 * where that is little; others begin at the user's tolerance. */
#ifndef SOLVERS_METHODS_TOLERANCE_H
#define SOLVERS_METHODS_TOLERANCE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Rows, times outputs, up to which a problem is small. */
enum { TOLERANCE_ROWS = 512 };

/* The first: that of the sequence, or the user's where the problem is not small. */
static inline double tolerance_first(double epsilon, size_t rows) {
    return rows <= TOLERANCE_ROWS ? 1 : epsilon;
}

/* The next one, or false where the last is at most epsilon. */
static inline bool tolerance_next(double *tolerance, double epsilon) {
    static const double sequence[] = {0.5,  0.1,   1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7, 1e-8,
                                      1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 0};
    size_t k = 0;
    if (*tolerance <= epsilon) {
        return false;
    }
    while (sequence[k] >= *tolerance) {
        k++;
    }
    *tolerance = sequence[k];
    return true;
}

#endif
