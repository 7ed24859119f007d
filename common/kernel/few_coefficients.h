/* Products of tiles of kernel columns in float with coefficients of which most are 0. */
#ifndef COMMON_KERNEL_FEW_COEFFICIENTS_H
#define COMMON_KERNEL_FEW_COEFFICIENTS_H

#include "common/base/error.h"

#include <stddef.h>

enum { FEW_COLUMNS = 128 }; /* of a tile */

struct few_coefficients;

/* Of b (m, k) row-major, FEW_COLUMNS rows of it to a tile: those that are not 0 are copied. *few is
 * NULL where they are so many that BLAS does better. The caller frees. Fails for lack of memory. */
int few_coefficients_create(struct few_coefficients **few, const float *b, size_t m, size_t k,
                            struct error *err);
void few_coefficients_free(struct few_coefficients *few);

/* sums (k, n of sums_stride) = the products of tile number `tile`, whose columns are `stride` apart
 * in values (FEW_COLUMNS, n). values, sums and both strides are aligned to 64 bytes; rows are read
 * and written to the next multiple of ADD_ROWS_FLOATS (add_rows.h) of n. */
void few_coefficients_multiply(const struct few_coefficients *few, size_t tile, const float *values,
                               size_t stride, size_t n, float *sums, size_t sums_stride);

#endif
