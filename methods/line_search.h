/* Line search: the exact minimum of 1/2 |f + theta h|^2 + C R(s + theta d) over theta >= 0, from
 * values and directional derivatives of the convex risk R. */
#ifndef METHODS_LINE_SEARCH_H
#define METHODS_LINE_SEARCH_H

#include "common/distributed/cluster.h"
#include "fit/risk.h"

#include <stddef.h>

struct linesearch {
    const struct risk *risk;
    struct cluster *cluster; /* processes over which the scores are distributed; NULL: one */
    double cost;
    const double *s, *d;                   /* (n) scores at 0 and their direction */
    double squared_norm, mixed, curvature; /* |f|^2, <f, h>, |h|^2 */
    double value, slope;                   /* R and R' = g'd at theta = 0, known on entry */
    double *trial, *g;                     /* (n) on return: scores and subgradient at theta */
};

struct linesearch_result {
    double theta;
    double value;  /* R there */
    double offset; /* of the subgradient in g */
};

/* Brackets the minimum, from a first trial at 1, and shrinks the bracket. The tangents at its two
 * ends are a lower bound of R, with a kink where they meet. If R attains that bound, the minimum is
 * exact, since no breakpoint remains in the bracket. Trials alternate between the minimum of this
 * model and the secant of the derivative. Ends if the bound allows a decrease of at most
 * `tolerance`, or of a thousandth of the decrease so far. theta = 0 if nothing decreases. With a
 * tolerance of 0, where the possible decrease is below the rounding errors of the values, theta is
 * the largest one with a negative derivative, within a tenth, because derivatives are more accurate
 * there. */
struct linesearch_result linesearch_minimise(const struct linesearch *search, double tolerance);

#endif
