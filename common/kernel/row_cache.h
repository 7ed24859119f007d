/* Rows of the kernel matrix for solvers that move one or two coefficients at a time: computed when
 * they are asked for, kept as float, the least recently used forgotten first.
 *
 * The columns stand in an order that the solver may change, so that it can shrink: the columns in
 * use come first, and only those are computed, kept and moved. Rows are found by their place in the
 * same order. Values come from the gram where it keeps the whole matrix, else from the kernel; a
 * problem without gram has the linear kernel. */
#ifndef COMMON_KERNEL_ROW_CACHE_H
#define COMMON_KERNEL_ROW_CACHE_H

#include "common/base/error.h"
#include "common/kernel/problem.h"

#include <stddef.h>
#include <stdint.h>

struct rows;

/* However small the cache, so many of the last rows asked for are there. */
enum { ROWS_LEAST = 4 };

/* Rows and columns of problem (borrowed), in its order. cache_bytes bounds the values that are
 * kept. The caller frees. */
int rows_create(struct rows **rows, const struct problem *problem, size_t cache_bytes,
                struct error *err);
void rows_free(struct rows *rows);

/* The first `length` values of the row in place i, or NULL with err set. They stay until
 * ROWS_LEAST more rows were asked for, or the order is changed. */
const float *rows_get(struct rows *rows, size_t i, size_t length, struct error *err);

/* diagonal (n) = k(x_i, x_i) in double, in the order at hand. */
void rows_diagonal(const struct rows *rows, double *diagonal);

/* Changes the order: what stood in place from[a] comes to place a, a < length; from is a
 * permutation of 0..length-1. Rows that are kept with at least so many values are kept. */
int rows_reorder(struct rows *rows, const uint32_t *from, size_t length, struct error *err);

#endif
