/* The result of one run of a solver, before certification: a primal and a dual point, with the
 * bounds that the solver itself computed. The certified result is struct solution (solution.h). */
#ifndef FIT_FIT_H
#define FIT_FIT_H

#include "common/data/data.h"
#include "fit/risk.h"
#include "fit/stop.h"

#include <stdbool.h>
#include <stdint.h>

/* A primal and a dual point. `primal` and `dual` are estimates from running sums. */
struct fit {
    double *weights; /* (dimension) of the primal point */
    /* kernels, borrowed, of a fit that is only certified: rows that have the coefficients, in the
     * first entries of weights, in place of the problem's rows; NULL: none */
    const struct data *points;
    /* (n) the map's exact scores of weights, of top without the constant feature; NULL: not
     * available */
    double *scores;
    double *dual_weights; /* (dimension) of the dual point: -A' g, its part of D is -1/2 |.|^2 */
    double dual_offset;   /* the linear part of D */
    /* (n) rank: the dual point is that of the smoothed loss, with parameter `smoothing`, at these
     * scores. NULL: it is a combination of cutting planes, with rounding errors up to `rounding`.
     * top: the same as scores, of dual_weights. NULL: they are not available. */
    double *dual_scores;
    double smoothing;
    struct risk_rounding rounding; /* divided by the cost; see struct risk */
    double *dual_error;   /* (n) error bounds of the coefficients of dual_weights, rounding of the
                           sums into weights included; NULL: use `rounding` */
    double *alpha, *beta; /* (n) the dual point, if the family's dual has two blocks; else NULL */
    double bias;          /* top: contribution of the constant feature to the scores */
    bool has_bias;        /* `bias` is set; false: it follows from the weights */
    double primal, dual;
    uint64_t iterations;
    bool converged;
    enum stop_reason reason; /* if not converged */
};

/* Frees the arrays of the fit and sets it to zero. */
void fit_free(struct fit *fit);

/* Sets the first fit to the better primal point and the better dual point of the two, each with all
 * its members, and frees the second. */
void fit_take_better(struct fit *fit, struct fit *other);

#endif
