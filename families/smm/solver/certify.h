/* The certificate of a binary subproblem with a free bias, with or without the nuclear norm: gives
 * the common certificate (fit/certify.h) the loss and the dual point of smm. */
#ifndef FAMILIES_SMM_SOLVER_CERTIFY_H
#define FAMILIES_SMM_SOLVER_CERTIFY_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "fit/certify.h"

struct smm_claim {
    const struct smm_matrices *matrices;
    const struct binary_loss *loss;
    double tau;          /* weight of the nuclear norm; 0: none */
    const double *W;     /* (height, width), as the model will have it */
    double bias;         /* the same */
    const double *alpha; /* (n) in [0, C_i], y'alpha = 0 up to rounding */
};

/* Upper bound of the primal of W = 0 with its best bias. n: rows of this process. All processes,
 * here and below. */
double smm_loss_of_zero(const struct binary_loss *loss, size_t n);

/* Certifies both bounds of 1/2 |W|^2 + tau |W|_* + loss. The dual bound is 0 if no small change of
 * alpha makes y'alpha 0. */
int smm_certify(struct certify *certify, const struct smm_claim *claim,
                struct certificate *certificate, struct error *err);

#endif
