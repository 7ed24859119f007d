/* A growing list of dual variables. */
#include "families/ml/solver/proof_point.h"

#include "common/base/memory.h"

#include <stdlib.h>

void ml_proof_point_clear(struct ml_proof_point *proof) {
    if (proof) {
        proof->n = 0;
    }
}

void ml_proof_point_free(struct ml_proof_point *proof) {
    free(proof->entry);
    *proof = (struct ml_proof_point){0};
}

int ml_proof_point_add(struct ml_proof_point *proof, const struct ml_proof_entry *entry,
                       struct error *err) {
    if (memory_grow(&proof->entry, proof->capacity, proof->n + 1, sizeof *proof->entry,
                    "a dual point", err) < 0) {
        return -1;
    }
    proof->capacity = memory_room(proof->capacity, proof->n + 1);
    proof->entry[proof->n++] = *entry;
    return 0;
}

int ml_proof_point_add_beta(struct ml_proof_point *proof, uint32_t row, const double *beta,
                            uint32_t q, struct error *err) {
    for (uint32_t p = 0; p < q; p++) {
        const struct ml_proof_entry entry = {row, p, p, beta[p]};
        if (beta[p] != 0 && ml_proof_point_add(proof, &entry, err) < 0) {
            return -1;
        }
    }
    return 0;
}
