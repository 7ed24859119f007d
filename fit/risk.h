/* A convex risk R in score space: the sum of losses that a family adds to 1/2 |f|^2.
 *
 * These functions are all that cutting planes and conditional gradient know of a family. A cutting
 * plane is a subgradient g of R with its offset o: R(s) >= g's + o. For any convex combination mu
 * of planes, D = C sum mu_t o_t - C^2/2 |sum mu_t A'g_t|^2 is a lower bound on the primal. */
#ifndef FIT_RISK_H
#define FIT_RISK_H

#include "common/base/error.h"

#include <stddef.h>

/* Rounding-error bounds of a cutting plane. A row's `weight` is defined by the risk; for rank it is
 * the weight of the row's pairs. */
struct risk_rounding {
    double offset;   /* of the offset */
    double gradient; /* of each g_i, divided by the row's weight */
    double size;     /* an upper bound of |g_i|, divided by the row's weight */
};

struct risk {
    /* Number of scores. With rows distributed over processes these are the scores of this one's
     * rows, while R, offsets and `rounding` are totals; all processes call `cut` together. */
    size_t n;
    void *context;
    /* Returns R(s). g (n) gets a subgradient of R at s and *offset = R(s) - g's, both without the
     * factor C. R must be bounded below by 0. */
    double (*cut)(void *context, const double *s, double *g, double *offset);
    /* Of the last plane. NULL: dual points are not combinations of planes. */
    struct risk_rounding (*rounding)(const void *context);
    /* A record of the last plane, for a family whose dual point needs more than the sum of planes.
     * It is stored with the plane and released by free(). NULL: no record. */
    int (*record)(void *context, void **record, struct error *err);
};

#endif
