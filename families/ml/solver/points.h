/* What a method that finishes fits hands over: a primal and a dual point, each the best it has
 * found. */
#ifndef FAMILIES_ML_SOLVER_POINTS_H
#define FAMILIES_ML_SOLVER_POINTS_H

#include "families/ml/solver/bias.h"
#include "fit/stop.h"

#include <stdbool.h>
#include <stdint.h>

/* Owned by the method, there until it is run again. */
struct ml_fit {
    struct ml_alphas alphas; /* the dual point; with free bias its sums are 0 up to rounding only */
    /* the primal point: (n_features, q) of a linear problem with features not more than rows, or
     * coefficients (n, q) of rows; both NULL: the weights are those of the dual point */
    const double *weights, *coefficients;
    const double *bias;    /* (q) that goes with them; or the free bias */
    double primal, dual;   /* as far as running sums can tell */
    uint64_t iterations;   /* since the start */
    enum stop_reason stop; /* of the monitor, or why no more can be gained */
};

#endif
