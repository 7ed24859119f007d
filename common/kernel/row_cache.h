/* A least-recently-used cache of rows of the kernel matrix, in float, for solvers that change one
 * or two coefficients in an iteration (SMO, coordinate ascent).
 *
 * The columns stand in an order that the solver may change, for shrinking: the columns in use come
 * first, and only these are computed and stored. Rows are found by their position in the same
 * order. Values come from the Gram matrix if it is cached as a whole, else from the kernel; a
 * problem without Gram matrix has the linear kernel. */
#ifndef COMMON_KERNEL_ROW_CACHE_H
#define COMMON_KERNEL_ROW_CACHE_H

#include "common/base/error.h"
#include "common/kernel/problem.h"

#include <stddef.h>
#include <stdint.h>

struct rows;

/* The rows of the last MIN_CACHED_ROWS requests stay in the cache, however small it is. */
enum { MIN_CACHED_ROWS = 4 };

/* Creates an empty cache of the rows of problem (borrowed), in the order of its rows. cache_bytes
 * bounds the stored values. The caller calls row_cache_free. */
int row_cache_create(struct rows **rows, const struct problem *problem, size_t cache_bytes,
                     struct error *err);
void row_cache_free(struct rows *rows);

/* The first `length` values of the row at position i, or NULL with err set. They are valid until
 * MIN_CACHED_ROWS more rows, or more values of this row, have been requested, or the order is
 * changed. */
const float *row_cache_get(struct rows *rows, size_t i, size_t length, struct error *err);

/* diagonal (n) = k(x_i, x_i) in double, in the current order. */
void row_cache_diagonal(const struct rows *rows, double *diagonal);

/* Changes the order: the row at position from[a] moves to position a, a < length; from is a
 * permutation of 0..length-1. Cached rows with at least `length` values stay in the cache, the
 * others are dropped. */
int row_cache_reorder(struct rows *rows, const uint32_t *from, size_t length, struct error *err);

#endif
