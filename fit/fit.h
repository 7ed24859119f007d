/* What an engine hands back to its family. */
#ifndef FIT_FIT_H
#define FIT_FIT_H

#include "fit/risk.h"
#include "fit/stop.h"

#include <stdbool.h>
#include <stdint.h>

/* A primal and a dual point, and what the solver believes of them from running sums. */
struct fit {
    double *weights;      /* (dimension) of the primal point */
    double *scores;       /* (n) the map's exact scores of weights; NULL: not at hand */
    double *dual_weights; /* (dimension) of the dual point: -A' g, its part of D is -1/2 |.|^2 */
    double dual_offset;   /* the other part of D */
    double
        *dual_scores; /* (n) where the dual point is that of a smoothed loss at these scores ... */
    double smoothing; /* ... by so much; NULL: it is made of planes, within ... */
    struct risk_rounding rounding; /* of the dual point, over the cost; see struct risk */
    double *dual_error; /* (n) of the coefficients that make dual_weights: bounds, with those of
                           sums into weights; NULL: as in `rounding` */
    double *alpha,
        *beta;     /* (n) the dual point, where the family's dual has two blocks; else NULL */
    double bias;   /* of top: what the constant feature adds to the scores of weights ... */
    bool has_bias; /* ... or it is what the weights tell */
    double primal, dual;
    uint64_t iterations;
    bool converged;
    enum stop_reason reason; /* when not converged */
};

/* Releases what the fit owns and makes it empty. */
void fit_free(struct fit *fit);

/* Takes the better primal and the better dual of two fits, each with all that goes with it, into
 * the first, and frees the second. */
void fit_join(struct fit *fit, struct fit *other);

#endif
