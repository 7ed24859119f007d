/* The kernel matrix of the training rows, as float or double, kept as far as memory is given
 * (common/kernel/panels.h); equal rows may be taken together. */
#ifndef COMMON_KERNEL_GRAM_H
#define COMMON_KERNEL_GRAM_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/kernel/distinct_rows.h"
#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dd; /* common/double_double/dd.h */

struct gram;

/* Builds the matrix of `data`'s rows (borrowed, with kernel, for the life of the gram). cache_bytes
 * bounds what is kept; wide asks for double instead of float entries. A precomputed kernel must
 * have serial numbers 1..n_features and be symmetric up to the rounding of its text; the later
 * row's value is used. The caller frees. */
int gram_create(struct gram **gram, const struct kernel *kernel, const struct data *data,
                size_t cache_bytes, bool wide, struct threads *threads, struct error *err);
/* The same over the ranks of a cluster (NULL: none), which all have the rows: each keeps panels of
 * its own, of cache_bytes at most, and does its part of a gram_product; no gram_products. */
int gram_create_spread(struct gram **gram, const struct kernel *kernel, const struct data *data,
                       size_t cache_bytes, bool wide, struct cluster *cluster,
                       struct threads *threads, struct error *err);
/* The same, kept and computed as the matrix of the distinct rows of data; `distinct`, those of
 * data, is taken over, and freed with the gram or if that cannot be made. Not for precomputed
 * kernels. Products and entries are of all rows as ever, but in their last bits. */
int gram_create_distinct(struct gram **gram, const struct kernel *kernel, const struct data *data,
                         struct distinct *distinct, size_t cache_bytes, bool wide,
                         struct cluster *cluster, struct threads *threads, struct error *err);
void gram_free(struct gram *gram);

/* Number of rows of the whole matrix, and its prepared rows (for exact evaluation). */
size_t gram_size(const struct gram *gram);
const struct kernel_rows *gram_rows(const struct gram *gram);

/* The distinct rows that it is kept of; NULL: it is of all rows. */
const struct distinct *gram_distinct(const struct gram *gram);

/* True if the entries are double: gram_product is then as exact as kernel_scores. */
bool gram_is_wide(const struct gram *gram);

/* Bytes of the entries that are kept. */
size_t gram_kept_bytes(const struct gram *gram);

/* out = K b, both of length gram_size, summed in double. Rows where b is zero are not read for
 * their part of the sum. The result does not depend on the number of threads. May be called from
 * several threads at once, with threads = NULL. Of a spread matrix: all ranks. */
int gram_product(const struct gram *gram, const double *b, double *out, struct threads *threads,
                 struct error *err);

/* s (gram_size, k) = K B in double and from the rows, of which equal ones may be taken together
 * (kernel_scores). Of a spread matrix: all ranks. */
int gram_exact_scores(const struct gram *gram, const double *b, size_t k, double *s,
                      struct threads *threads, struct error *err);

/* error (gram_size, k) = bounds of the errors of gram_exact_scores, entry by entry, for
 * coefficients of sizes `size` (gram_size, k) whose sum is off by `units` units besides
 * (kernel_rounding_scores). Of a spread matrix: all ranks. */
int gram_rounding_scores(const struct gram *gram, double units, const double *size, size_t k,
                         double *error, struct threads *threads, struct error *err);

/* s (n, k) = K B in double-double, of rows[0..n) alone (NULL: all), B (n, k); equal rows may be
 * taken together (kernel_precise_scores). Of a spread matrix: all ranks. */
int gram_precise_scores(const struct gram *gram, const uint32_t *rows, size_t n, const struct dd *b,
                        size_t k, struct dd *s, struct threads *threads, struct error *err);

/* The factor of what these scores may be off by where m of the n rows have coefficients, see
 * kernel_precise_rounding. */
double gram_precise_rounding(const struct gram *gram, size_t n, size_t m);

/* About how many nanoseconds of one thread that takes, where m rows have coefficients. */
double gram_precise_work(const struct gram *gram, size_t n, size_t m, size_t k);

/* Moves the coefficients b (n) of rows[0..n), NULL: all, that are taken together to the first of
 * these among them: the function stays, but for the rounding of the sums. Changes nothing in other
 * matrices. */
int gram_merge(const struct gram *gram, const uint32_t *rows, size_t n, double *b,
               struct error *err);

/* True if all entries are kept, here. */
bool gram_is_whole(const struct gram *gram);

/* row[c] = K at row i and columns j[0..n) as float, if the whole matrix is kept; else returns
 * false. */
bool gram_kept_row(const struct gram *gram, uint32_t i, const uint32_t *j, size_t n, float *row);

/* out = K B with K the matrix at rows[0..n) of the whole one (NULL: all of them), B and out (n, k)
 * row-major. One pass over the matrix serves all k columns; sums are in float over some hundred
 * entries, unless the matrix is in double, and beyond in double. The result does not depend on the
 * number of threads. */
int gram_products(const struct gram *gram, const uint32_t *rows, size_t n, const double *b,
                  size_t k, double *out, struct threads *threads, struct error *err);

/* The most that gram_products may be off by, over the sum of |B| |K| of each output, beside what
 * the entries are. */
double gram_products_rounding(void);

/* block (n_i, n_j) row-major in double = K at rows i[0..n_i) and columns j[0..n_j), as kept;
 * computed in double where it is not. */
int gram_block(const struct gram *gram, const uint32_t *i, size_t n_i, const uint32_t *j,
               size_t n_j, double *block, struct error *err);

/* The same in double throughout: entries that are kept in float are computed again. */
int gram_block_exact(const struct gram *gram, const uint32_t *i, size_t n_i, const uint32_t *j,
                     size_t n_j, double *block, struct error *err);

#endif
