/* Weighted sums of rows of floats that are held in registers: the innermost loop of products with
 * sparse coefficients. It is compiled where it is included, for each instruction set
 * (common/base/dispatch.h). */
#ifndef COMMON_KERNEL_ADD_ROWS_H
#define COMMON_KERNEL_ADD_ROWS_H

#include <stddef.h>
#include <stdint.h>

enum { ADD_ROWS_FLOATS = 64 }; /* floats of one sum: four of the longest vectors */

typedef float add_rows_vector __attribute__((vector_size(64), may_alias));

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
    add_rows_vector *sums = (add_rows_vector *)sum;
    add_rows_vector sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
    for (size_t e = 0; e < n; e++) {
        const add_rows_vector *values = (const add_rows_vector *)(row[entry[e].at] + first);
        sum0 += entry[e].by * values[0];
        sum1 += entry[e].by * values[1];
        sum2 += entry[e].by * values[2];
        sum3 += entry[e].by * values[3];
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}

#endif
