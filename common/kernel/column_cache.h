/* A cache of columns of the kernel matrix, in float, for solvers that change many coefficients
 * before they evaluate all scores again. Columns are computed in tiles by all threads when they are
 * first multiplied, and stored while there is room; the least recently used ones are dropped first.
 *
 * If the Gram matrix is cached as a whole, all values are read from it and nothing is stored here.
 * Rows are numbers 0..n-1 of the problem. No result depends on the number of threads; the last bits
 * of float values depend on what is cached, and so on the memory given. After an error only
 * column_cache_free may be called. */
#ifndef COMMON_KERNEL_COLUMN_CACHE_H
#define COMMON_KERNEL_COLUMN_CACHE_H

#include "common/base/error.h"
#include "common/kernel/problem.h"

#include <stddef.h>
#include <stdint.h>

struct columns;

/* Creates an empty cache of the columns of problem (borrowed), which has a Gram matrix. cache_bytes
 * bounds the stored values. The caller calls column_cache_free. */
int column_cache_create(struct columns **columns, const struct problem *problem, size_t cache_bytes,
                        struct error *err);
void column_cache_free(struct columns *columns);

/* Reduces the size of the cache to cache_bytes, if it is larger. */
void column_cache_limit(struct columns *columns, size_t cache_bytes);

/* block (m, m), with rows `stride` apart, = the matrix at rows[0..m), in float. The padding between
 * rows is not written. */
int column_cache_square(struct columns *columns, const uint32_t *rows, size_t m, float *block,
                        size_t stride, struct error *err);

/* out (n, k) row-major += the columns rows[0..m), all different, times b (m, k); only at rows
 * at[0..n_at), in ascending order, if `at` is not NULL. b is rounded to float, unless the Gram
 * matrix is cached as a whole in double; sums are in float over some hundred entries, and in double
 * beyond. */
int column_cache_multiply(struct columns *columns, const uint32_t *rows, size_t m, const double *b,
                          size_t k, const uint32_t *at, size_t n_at, double *out,
                          struct error *err);

#endif
