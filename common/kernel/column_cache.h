/* Columns of the kernel matrix for solvers that move many coefficients before they look at all
 * scores again: computed in tiles by all threads when they are first multiplied, kept as float
 * where there is room, those that are longest out of use forgotten first.
 *
 * Where the gram keeps the whole matrix, everything is taken from there and nothing is kept here.
 * Rows are numbers 0..n of the problem. No result depends on the number of threads; the last bits
 * of float values do on what is kept, and so on the memory there is. After an error
 * there is nothing to do but columns_free. */
#ifndef COMMON_KERNEL_COLUMN_CACHE_H
#define COMMON_KERNEL_COLUMN_CACHE_H

#include "common/base/error.h"
#include "common/kernel/problem.h"

#include <stddef.h>
#include <stdint.h>

struct columns;

/* Columns of the matrix of problem's rows; problem (borrowed) has a gram and outlives them.
 * cache_bytes bounds what is kept. The caller frees. */
int columns_create(struct columns **columns, const struct problem *problem, size_t cache_bytes,
                   struct error *err);
void columns_free(struct columns *columns);

/* Gives back memory: keeps no more than cache_bytes from now on. */
void columns_limit(struct columns *columns, size_t cache_bytes);

/* block (m, m of stride) = the matrix at rows[0..m), as float; what is between its rows stays. */
int columns_square(struct columns *columns, const uint32_t *rows, size_t m, float *block,
                   size_t stride, struct error *err);

/* out (n, k) row-major += the columns rows[0..m), all different, times b (m, k); at rows
 * at[0..n_at), which ascend, alone, if `at` is not NULL. b is rounded to float, unless the gram has
 * the whole matrix in double; sums are in float over some hundred entries, beyond in double. */
int columns_multiply(struct columns *columns, const uint32_t *rows, size_t m, const double *b,
                     size_t k, const uint32_t *at, size_t n_at, double *out, struct error *err);

/* The most that columns_multiply may be off by, over the sum of |b| |k| of each output, beside what
 * kernel values in float are. */
double columns_rounding(const struct columns *columns);

#endif
