/* A convex risk in score space: the sum of losses that a family adds to 1/2 |f|^2.
 *
 * Cutting planes and conditional gradients know a family through this table alone. For any convex
 * combination of planes, D = C sum mu_t o_t - C^2/2 |sum mu_t A'g_t|^2 bounds the primal below. */
#ifndef FIT_RISK_H
#define FIT_RISK_H

#include "common/base/error.h"

#include <stddef.h>

/* What rounding may have done to a cut: bounds of errors. A row's `weight` is a number of the
 * risk's own, for rank the weight of its pairs. */
struct risk_rounding {
    double offset;   /* of the offset */
    double gradient; /* of each g_i, over the row's weight */
    double size;     /* |g_i| is at most this, over the row's weight */
};

struct risk {
    size_t
        n; /* scores; where rows are spread over ranks these are one's own, and R, offsets and what
                 `rounding` gives are of all: a cut is for all ranks */
    void *context;
    /* Returns R(s). g (n) gets a subgradient of R at s and *offset = R(s) - g's, both without the
     * factor C. R must be bounded below by 0. */
    double (*cut)(void *context, const double *s, double *g, double *offset);
    /* Of the last cut. NULL: its dual points are not made of planes. */
    struct risk_rounding (*rounding)(const void *context);
    /* What the last cut is made of, for a family whose dual point says more than the sum of planes:
     * kept with the plane, released by free(). NULL: nothing is. */
    int (*record)(void *context, void **record, struct error *err);
};

#endif
