#include "families/ml/solver/proof_point.h"

#include "common/base/memory.h"

#include <stdlib.h>

void ml_kept_clear(struct ml_kept *kept) {
    if (kept) {
        kept->n = 0;
    }
}

void ml_kept_free(struct ml_kept *kept) {
    free(kept->number);
    *kept = (struct ml_kept){0};
}

int ml_kept_add(struct ml_kept *kept, const struct ml_number *number, struct error *err) {
    if (memory_grow(&kept->number, kept->room, kept->n + 1, sizeof *kept->number, "a dual point",
                    err) < 0) {
        return -1;
    }
    kept->room = memory_room(kept->room, kept->n + 1);
    kept->number[kept->n++] = *number;
    return 0;
}

int ml_kept_add_beta(struct ml_kept *kept, uint32_t row, const double *beta, uint32_t q,
                     struct error *err) {
    for (uint32_t p = 0; p < q; p++) {
        const struct ml_number number = {row, p, p, beta[p]};
        if (beta[p] != 0 && ml_kept_add(kept, &number, err) < 0) {
            return -1;
        }
    }
    return 0;
}
