/* Preferences of rows and the order of a sweep. */
#include "families/mc/solver/row_sampling.h"

#include "common/base/memory.h"

#include <stdlib.h>

enum { RANDOM_STREAM = 5 }; /* distinguishes this use of the seed */

int mc_sampling_create(struct mc_sampling *sampling, size_t n, uint64_t seed, struct error *err) {
    *sampling =
        (struct mc_sampling){.n = n,
                             .preference = memory_array(n, sizeof(float), "sampling", err),
                             .due = memory_array(n, sizeof(float), "sampling", err),
                             .order = memory_array(n, 2 * sizeof(uint32_t), "sampling", err)};
    random_start(&sampling->random, seed, RANDOM_STREAM);
    if (!sampling->preference || !sampling->due || !sampling->order) {
        return -1;
    }
    mc_sampling_reset(sampling);
    return 0;
}

void mc_sampling_free(struct mc_sampling *sampling) {
    free(sampling->preference);
    free(sampling->due);
    free(sampling->order);
    *sampling = (struct mc_sampling){0};
}

void mc_sampling_reset(struct mc_sampling *sampling) {
    for (size_t i = 0; i < sampling->n; i++) {
        sampling->preference[i] = 1;
        sampling->due[i] = 0;
    }
    sampling->average = 0;
}

size_t mc_sampling_sweep(struct mc_sampling *sampling) {
    size_t n = 0, max = 2 * sampling->n;
    double sum = 0;
    for (size_t i = 0; i < sampling->n; i++) {
        sum += (double)sampling->preference[i];
    }
    float scale = (float)((double)sampling->n / sum);
    for (size_t i = 0; i < sampling->n; i++) {
        sampling->due[i] += sampling->preference[i] * scale;
        for (; sampling->due[i] >= 1 && n < max; sampling->due[i] -= 1) {
            sampling->order[n++] = (uint32_t)i;
        }
    }
    random_shuffle(&sampling->random, sampling->order, n);
    return n;
}
