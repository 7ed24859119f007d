/* A dual point of the multi-label problem, in the form of a proof file: beta for the hinge, from
 * which a flow of alpha follows; all alpha for the squared hinge. */
#ifndef FAMILIES_ML_SOLVER_PROOF_POINT_H
#define FAMILIES_ML_SOLVER_PROOF_POINT_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* beta of label p in a row of the problem (then r = p), or alpha of a relevant label p and another
 * label r. */
struct ml_proof_entry {
    uint32_t row, p, r;
    double value;
};

struct ml_proof_point {
    struct ml_proof_entry *entry; /* (n) sorted by row, p and r; no value is 0 */
    size_t n, capacity;
};

/* Removes all entries; proof may be NULL. */
void ml_proof_point_clear(struct ml_proof_point *proof);
void ml_proof_point_free(struct ml_proof_point *proof);

/* Adds an entry, whose value must not be 0. -1 if memory runs out. */
int ml_proof_point_add(struct ml_proof_point *proof, const struct ml_proof_entry *entry,
                       struct error *err);

/* Adds the entries of a row's beta (q) that are not 0. */
int ml_proof_point_add_beta(struct ml_proof_point *proof, uint32_t row, const double *beta,
                            uint32_t q, struct error *err);

#endif
