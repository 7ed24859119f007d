/* The exact minimum of 1/2 |f + theta h|^2 + C R(s + theta d) over theta >= 0, by values and
 * slopes of R alone. */
#ifndef METHODS_LINE_SEARCH_H
#define METHODS_LINE_SEARCH_H

#include "common/distributed/cluster.h"
#include "fit/risk.h"

#include <stddef.h>

struct linesearch {
    const struct risk *risk;
    struct cluster *cluster; /* over whose ranks the scores are spread; NULL: none */
    double cost;
    const double *s, *d;           /* (n) scores at 0 and their direction */
    double norm, mixed, curvature; /* |f|^2, <f, h>, |h|^2 */
    double value, slope;           /* R and R' = g'd at theta = 0, known on entry */
    double first;                  /* where to look first, > 0 */
    double *trial, *g;             /* (n) work; on return scores and subgradient at theta */
};

struct linesearch_result {
    double theta;
    double value;  /* R there */
    double offset; /* of the subgradient in g */
};

/* Brackets the minimum between two points, and shrinks the bracket. Below, R is bounded by its
 * tangents at the two ends, which meet at a kink: when R does reach that bound the minimum is found
 * exactly, for no breakpoint is left in between. Otherwise the slope's secant, kept off the ends,
 * gives the next point. Ends also when the bound shows that no more is left to gain than
 * `tolerance`, or than a thousandth of what is gained. theta = 0 if nothing is; but with a
 * tolerance of 0, where all that can be gained is rounding of the values, it is as far as slopes,
 * which know more of it, are below 0, within a tenth. */
struct linesearch_result linesearch_minimise(const struct linesearch *search, double tolerance);

#endif
