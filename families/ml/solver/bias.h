/* Dual points for the free bias of the multi-label problem, which requires sum_i beta_i = 0 for
 * each label.
 *
 * The proximal point method (policy_ascent.c) brings that sum towards 0, but a dual bound needs it
 * exactly. alpha_pr summed over rows is a flow from label p to label r, and sum_i beta_ip is the
 * net outflow of p. Cancelling flow along paths from labels with a positive net outflow to labels
 * with a negative one leaves a circulation. Each alpha_pr is then scaled by the remaining share of
 * its flow, and stays feasible. Costs O(n pairs) for the flow, and O(q^2) per path. */
#ifndef FAMILIES_ML_SOLVER_BIAS_H
#define FAMILIES_ML_SOLVER_BIAS_H

#include "common/base/error.h"
#include "families/ml/solver/label_sets.h"
#include "families/ml/solver/proof_point.h"

#include <stdbool.h>
#include <stddef.h>

/* A dual point given by its alphas, row by row. */
struct ml_alphas {
    const struct ml_rows *rows;
    enum ml_loss loss;
    double cost;
    const void *context;
    /* Writes alpha (n_relevant, q - n_relevant), row-major, of row i. */
    void (*row)(const void *context, size_t i, const struct ml_block *block, double *alpha);
};

/* beta (n, width) of the alphas, and *linear, the linear part of D over all processes. If
 * `balance`, of a feasible point near them whose sums over rows are 0 up to rounding. That point is
 * stored in proof, unless it is NULL. */
int ml_bias_beta(const struct ml_alphas *alphas, bool balance, size_t width, double *beta,
                 double *linear, struct ml_proof_point *proof, struct error *err);

/* Reduces the entries of a flow (q, q) until the outflow of each label equals its inflow. */
int ml_bias_circulate(double *flow, size_t q, struct error *err);

#endif
