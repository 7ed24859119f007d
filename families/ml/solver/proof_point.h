/* A dual point of the multi-label problem for who wants to check it: with the hinge beta, of which
 * a flow of alpha is told easily; with the squared hinge all alpha. */
#ifndef FAMILIES_ML_SOLVER_PROOF_POINT_H
#define FAMILIES_ML_SOLVER_PROOF_POINT_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* beta of label p in a row of the problem (r = p), or alpha of a relevant p and another r. */
struct ml_proof_entry {
    uint32_t row, p, r;
    double value;
};

struct ml_proof_point {
    struct ml_proof_entry *number; /* (n) by row, p and r; none is 0 */
    size_t n, room;
};

/* Forgets what is there; kept may be NULL. */
void ml_proof_point_clear(struct ml_proof_point *proof);
void ml_proof_point_free(struct ml_proof_point *proof);

/* Adds a number of a dual point, which may be 0; fails for lack of memory. */
int ml_proof_point_add(struct ml_proof_point *proof, const struct ml_proof_entry *number, struct error *err);

/* Adds what is not 0 of a row's beta (q). */
int ml_proof_point_add_beta(struct ml_proof_point *proof, uint32_t row, const double *beta, uint32_t q,
                     struct error *err);

#endif
