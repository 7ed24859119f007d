/* Weighted sums of rows of floats that are held in registers: the innermost loop of products with
 * sparse coefficients. It is compiled where it is included, for each instruction set
 * (common/base/dispatch.h). */
#ifndef COMMON_KERNEL_ADD_ROWS_H
#define COMMON_KERNEL_ADD_ROWS_H

#include "common/base/dispatch.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float add_rows_vector __attribute__((vector_size(VECTOR_BYTES), may_alias));

enum {
    ADD_ROWS_FLOATS = 64, /* floats of one sum: four of the longest vectors */
    ADD_ROWS_VECTORS = ADD_ROWS_FLOATS * sizeof(float) / VECTOR_BYTES
};

/* A row, by its position in a list, and its weight. */
struct row_times {
    uint32_t at;
    float by;
};

/* sum (ADD_ROWS_FLOATS) += by row[at][first..] for the n entries, in their order. All arrays are
 * aligned to 64 bytes. */
static inline __attribute__((always_inline)) void add_rows(float *sum,
                                                           const struct row_times *entry, size_t n,
                                                           const float *const *row, size_t first) {
    add_rows_vector sums[ADD_ROWS_VECTORS];
    memcpy(sums, sum, sizeof sums);
    for (size_t e = 0; e < n; e++) {
        const add_rows_vector *values = (const add_rows_vector *)(row[entry[e].at] + first);
        for (size_t v = 0; v < ADD_ROWS_VECTORS; v++) {
            sums[v] += entry[e].by * values[v];
        }
    }
    memcpy(sum, sums, sizeof sums);
}

#endif
