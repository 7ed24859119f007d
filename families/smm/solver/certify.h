/* The certificate of one machine with a free bias, with or without the nuclear norm: its loss and
 * its dual point at the door of all families (fit/certify.h). */
#ifndef FAMILIES_SMM_SOLVER_CERTIFY_H
#define FAMILIES_SMM_SOLVER_CERTIFY_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "fit/certify.h"

struct smm_claim {
    const struct smm_matrices *matrices;
    const struct binary_loss *loss; /* margins are 1 */
    double tau;                     /* of the nuclear norm; 0: none */
    const double *W;                /* (height, width), and */
    double bias;                    /* as they will be written */
    const double *alpha;            /* (n) in [0, C_i], with y'alpha = 0 but for rounding */
};

/* The primal of W = 0 with its best bias, at least. n rows are this rank's; all ranks, here and
 * below. */
double smm_loss_of_zero(const struct binary_loss *loss, size_t n);

/* Both bounds of 1/2 |W|^2 + tau |W|_* + loss. A dual point whose y'alpha no small change brings to
 * 0 gives the bound 0. */
int smm_certify(struct certify *certify, const struct smm_claim *claim,
                struct certificate *certificate, struct error *err);

#endif
