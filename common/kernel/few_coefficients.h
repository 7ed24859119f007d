/* Products of tiles of kernel columns, in float, with sparse coefficients. */
#ifndef COMMON_KERNEL_FEW_COEFFICIENTS_H
#define COMMON_KERNEL_FEW_COEFFICIENTS_H

#include "common/base/error.h"

#include <stddef.h>

enum { FEW_COLUMNS = 128 }; /* columns of a tile */

struct few_coefficients;

/* Copies the non-zero entries of b (m, k) row-major; FEW_COLUMNS rows of b belong to a tile. *few
 * is NULL if so many are non-zero that a dense product by BLAS is faster. The caller calls
 * few_coefficients_free. Fails if memory runs out. */
int few_coefficients_create(struct few_coefficients **few, const float *b, size_t m, size_t k,
                            struct error *err);
void few_coefficients_free(struct few_coefficients *few);

/* sums (k, n), rows sums_stride apart, = the products of tile number `tile`, whose columns are the
 * rows of values (FEW_COLUMNS, n), `stride` apart. values, sums and both strides are aligned to 64
 * bytes; rows are read and written up to the next multiple of ADD_ROWS_FLOATS (add_rows.h) of n. */
void few_coefficients_multiply(const struct few_coefficients *few, size_t tile, const float *values,
                               size_t stride, size_t n, float *sums, size_t sums_stride);

#endif
