/* The certificate of a multi-label problem: gives the common certificate (fit/certify.h) the loss
 * and the dual point of ml. */
#ifndef FAMILIES_ML_SOLVER_CERTIFY_H
#define FAMILIES_ML_SOLVER_CERTIFY_H

#include "common/base/error.h"
#include "families/ml/solver/label_sets.h"
#include "fit/certify.h"

/* Feasibility of a row's betas. Betas of some alpha in [0, lambda] have signs (relevant labels >=
 * 0, others <= 0) and sum to 0. That is sufficient if max_product <= lambda: then alpha_pr = beta_p
 * |beta_r| / sum of the beta_p. */
struct ml_feasibility {
    double sum;           /* of |beta_k| */
    double infeasibility; /* bound of their distance from such signs and sums */
    double max_product;   /* largest beta_p times largest |beta_r|, over the sum of the beta_p */
    double excess;        /* hinge, if max_product > lambda: the part that no alpha carries */
};

struct ml_claim {
    const struct ml_rows *rows;
    enum ml_loss loss;
    double cost, epsilon;             /* epsilon: the target gap */
    const struct certify_function *f; /* the primal point; `exact` has its scores (n_all, q) */
    /* the function of beta, without error bounds; may be f. With a kernel `exact` has its scores */
    const struct certify_function *g;
    const struct ml_feasibility *feasibility; /* (n_all) of each row */
    const double *residual;                   /* (q) free bias: sum of beta over rows; else NULL */
    double linear; /* sum of beta over relevant labels minus the conjugates, over all processes */
    struct ml_scratch *scratch;
};

/* Upper bound of the primal of f = 0 over the rows of all processes. */
double ml_loss_of_zero(const struct ml_rows *rows, double cost);

/* Certifies both bounds. The given dual point is within rounding error of a feasible one, and with
 * a free bias of one whose sums are 0; the cost of that distance is subtracted from the dual. All
 * processes. */
int ml_certify(struct certify *certify, const struct ml_claim *claim,
               struct certificate *certificate, struct error *err);

#endif
