/* Products of kernel tiles in double with the coefficients of a list of rows. Of many outputs that
 * most rows have no coefficient of, as with many classes, sums go over those that are not 0. */
#ifndef COMMON_KERNEL_TILE_PRODUCTS_H
#define COMMON_KERNEL_TILE_PRODUCTS_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
    TILE_COLUMNS = 256,             /* most of a tile, */
    TILE_STRIDE = TILE_COLUMNS + 8, /* numbers from one row to the next: a column's lines have
                                        places of their own in the cache */
    TILE_CHUNK = 32                 /* tiles begin at multiples of it in the list */
};

struct tile_coefficients;

/* Of the rows list[0..m) of coefficients (., k) row-major, which are copied. The caller frees, NULL
 * too. Fails for lack of memory. */
int tile_coefficients_create(struct tile_coefficients **coefficients, const double *values,
                             size_t k, const uint32_t *list, size_t m, struct error *err);
void tile_coefficients_free(struct tile_coefficients *coefficients);

/* out (n, k) += T C, T (n, columns of TILE_STRIDE) a tile, C the coefficients at `at` and after in
 * the list. The tile is aligned to 64 bytes, its rows are read to a multiple of TILE_CHUNK columns;
 * `at` is one, and so is `columns` but at the end of the list. */
void tile_multiply(const struct tile_coefficients *coefficients, const double *tile, size_t n,
                   size_t at, size_t columns, double *out);

/* The same, and along (columns, k) += U' D, U the first `used` rows of T, D the coefficients at
 * `first` and after; these two are as `at` and `columns` are. */
void tile_multiply_both(const struct tile_coefficients *coefficients, const double *tile, size_t n,
                        size_t at, size_t columns, double *out, size_t first, size_t used,
                        double *along);

#endif
