/* The free bias of the multi-label problem: its dual wants sum_i beta_i = 0, label by label.
 *
 * Proximal steps on b (kernel K + rho, scores shifted by b, then b += rho sum_i beta_i) bring that
 * sum towards 0, and what bounds the optimum must have it at 0. alpha_pr summed over rows is a flow
 * from label p to label r; sum_i beta_ip is what p sends more than it gets. Taking the flow back
 * along paths from labels that send too much to labels that get too much leaves a circulation: each
 * alpha_pr is then scaled by what is left of its flow, and stays feasible. */
#ifndef FAMILIES_ML_SOLVER_BIAS_H
#define FAMILIES_ML_SOLVER_BIAS_H

#include "common/base/error.h"
#include "families/ml/solver/label_sets.h"
#include "families/ml/solver/proof_point.h"

#include <stdbool.h>
#include <stddef.h>

/* A dual point by its alphas, row by row, whoever holds them. */
struct ml_alphas {
    const struct ml_rows *rows;
    enum ml_loss loss;
    double cost;
    const void *context;
    /* Writes those of row i, alpha (n_relevant, q - n_relevant) row-major. */
    void (*row)(const void *context, size_t i, const struct ml_block *block, double *alpha);
};

/* beta (n, width) of the alphas, and *gain, the linear part of D, of all ranks. balance: of a
 * feasible point near them whose sums over rows are 0 up to rounding. kept, if not NULL, gets that
 * point. */
int ml_bias_beta(const struct ml_alphas *alphas, bool balance, size_t width, double *beta,
                 double *gain, struct ml_proof_point *proof, struct error *err);

/* The same for a flow (q, q): reduces its entries until every label sends what it gets. */
int ml_bias_circulate(double *flow, size_t q, struct error *err);

#endif
