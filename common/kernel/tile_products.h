/* Products of kernel tiles, in double, with the coefficients of a list of rows. If most
 * coefficients are zero, as with many classes, only the non-zero ones are multiplied. */
#ifndef COMMON_KERNEL_TILE_PRODUCTS_H
#define COMMON_KERNEL_TILE_PRODUCTS_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
    TILE_COLUMNS = 256, /* maximum columns of a tile */
    /* distance of the rows of a tile: padded, so that columns do not compete for cache sets */
    TILE_STRIDE = TILE_COLUMNS + 8,
    TILE_CHUNK = 32 /* tiles begin at multiples of this in the list of rows */
};

struct tile_coefficients;

/* Copies the coefficients (., k) row-major of the rows list[0..m). The caller calls
 * tile_coefficients_free; NULL is allowed. Fails if memory runs out. */
int tile_coefficients_create(struct tile_coefficients **coefficients, const double *values,
                             size_t k, const uint32_t *list, size_t m, struct error *err);
void tile_coefficients_free(struct tile_coefficients *coefficients);

/* out (n, k) += T C, T (n, columns) a tile with rows TILE_STRIDE apart, C the coefficients from
 * position `at` of the list on. The tile is aligned to 64 bytes, and its rows are read up to a
 * multiple of TILE_CHUNK columns; `at` is a multiple of TILE_CHUNK, and so is `columns`, except at
 * the end of the list. */
void tile_multiply(const struct tile_coefficients *coefficients, const double *tile, size_t n,
                   size_t at, size_t columns, double *out);

/* The same, and out_columns (columns, k) += U'D, U the first `used` rows of T, D the coefficients
 * from position `first` on; `first` and `used` obey the rules of `at` and `columns`. */
void tile_multiply_both(const struct tile_coefficients *coefficients, const double *tile, size_t n,
                        size_t at, size_t columns, double *out, size_t first, size_t used,
                        double *out_columns);

#endif
