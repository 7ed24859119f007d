/* The result of a fallback solver: a primal and a dual point, each the best of the run. */
#ifndef FAMILIES_ML_SOLVER_FALLBACK_FIT_H
#define FAMILIES_ML_SOLVER_FALLBACK_FIT_H

#include "families/ml/solver/bias.h"
#include "fit/stop.h"

#include <stdbool.h>
#include <stdint.h>

/* Owned by the solver; valid until its next run. */
struct ml_fit {
    /* the dual point; with a free bias its sums over rows are 0 up to rounding */
    struct ml_alphas alphas;
    /* The primal point: weights (n_features, q) of a linear problem with at most as many features
     * as rows, or that is distributed; else NULL, and coefficients (n, q) of rows. */
    const double *weights, *coefficients;
    bool dual_first;       /* the weights of the dual point are tried first */
    const double *bias;    /* (q) bias of that point, or the free bias */
    double primal, dual;   /* accumulated in double, not certified */
    uint64_t iterations;   /* since ml_interior_start or ml_admm_create */
    enum stop_reason stop; /* of the monitor, or a stall; 0 if the gap was reached */
};

#endif
