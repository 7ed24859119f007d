/* The certificate of a multi-label problem: its loss and its dual point at the door of all families
 * (fit/certify.h). */
#ifndef FAMILIES_ML_SOLVER_CERTIFY_H
#define FAMILIES_ML_SOLVER_CERTIFY_H

#include "common/base/error.h"
#include "families/ml/solver/label_sets.h"
#include "fit/certify.h"

#include <stdbool.h>

/* Of the betas of a row. Those that some alpha within 0 .. lambda makes have signs, relevant labels
 * above 0, and add up to 0; and if most is no more than lambda, that is enough: alpha_pr may be
 * beta_p |beta_r| over the sum of the beta_p. */
struct ml_feasibility {
    double sum;   /* of |beta_k| */
    double infeasibility; /* how far they are from such signs and sums, at most */
    double max_product;  /* the largest beta_p times the largest |beta_r|, over the sum of the beta_p */
    double excess;  /* hinge: what of their sum no alpha up to lambda carry, where most is above it */
};

struct ml_claim {
    const struct ml_rows *rows;
    enum ml_loss loss;
    double cost, epsilon;             /* epsilon: the gap that is wanted */
    const struct certify_function *f; /* the primal point, scores (n_all, q) exact */
    const struct certify_function *g; /* the function of beta, without errors; may be f */
    const struct ml_feasibility *size;       /* (n_all) of each row's betas */
    const double *residual;           /* (q) sum of beta over rows, with a free bias; else NULL */
    double linear; /* sum of beta over relevant labels, less the conjugates, of all
                                         ranks, as the residual */
    struct ml_scratch *scratch;
};

/* The primal of f = 0, at least, of the rows of all ranks. */
double ml_loss_of_zero(const struct ml_rows *rows, double cost);

/* Both bounds. A dual point is within rounding of one that some alpha within its bounds makes, and
 * with a free bias of one whose sums are 0: what that may cost is taken off. All ranks. */
int ml_certify(struct certify *certify, const struct ml_claim *claim,
               struct certificate *certificate, struct error *err);

#endif
