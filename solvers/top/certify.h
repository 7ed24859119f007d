/* The certificate of a convex problem of classification at the top: its loss and its dual point at
 * the door of all families (solvers/methods/certify.h). */
#ifndef SOLVERS_TOP_CERTIFY_H
#define SOLVERS_TOP_CERTIFY_H

#include "common/base/error.h"
#include "solvers/methods/certify.h"
#include "solvers/methods/score_map.h"
#include "solvers/top/risk.h"

struct top_claim {
    const struct score_map *map;
    struct top_risk *risk; /* of the problem; its work is used */
    double cost;
    const double *weights;      /* (dimension) as they will be written */
    const double *alpha, *beta; /* (n) feasible, but for rounding of their sums */
};

/* Both bounds, and the threshold of the scores. What rounding of the sums may cost at a point that is
 * feasible exactly is taken off the dual. */
int top_certify(struct certify *certify, const struct top_claim *claim, double *threshold,
                struct certificate *certificate, struct error *err);

#endif
