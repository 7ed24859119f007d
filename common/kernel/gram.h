/* The Gram matrix (kernel matrix) of the training rows, in float or double, cached as far as memory
 * is given (panels.h). The caller chooses the type: driver/fit.c. Duplicate rows may share one row
 * of the cached matrix. */
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

struct dd; /* common/double_double/type.h */

struct gram;

/* Builds K, (n, n) with K_ij = k(x_i, x_j), of the n rows of `data` (borrowed, with kernel, for the
 * life of the Gram matrix). cache_bytes bounds the memory of cached entries; entries beyond it are
 * recomputed when they are used. is_double: entries are stored in double, not float. A precomputed
 * kernel must have serial numbers from 1 to the larger of rows and features (more only in rows of
 * zeros) and be symmetric up to the rounding of its text, for which differences of 1e-4 of the two
 * diagonal entries are allowed; the later row's value is used. The caller calls gram_free. */
int gram_create(struct gram **gram, const struct kernel *kernel, const struct data *data,
                size_t cache_bytes, bool is_double, struct threads *threads, struct error *err);
/* The same, distributed over the processes of a cluster (NULL: none). All processes have all rows;
 * each caches a part of the matrix, of cache_bytes at most, and computes its part of a
 * gram_product. gram_products is not available. */
int gram_create_distributed(struct gram **gram, const struct kernel *kernel,
                            const struct data *data, size_t cache_bytes, bool is_double,
                            struct cluster *cluster, struct threads *threads, struct error *err);
/* The same, where the matrix of the distinct rows is computed and cached. `distinct`, the distinct
 * rows of data, is moved into the Gram matrix and freed with it, also on failure. Not for
 * precomputed kernels. Products and entries are still those of all rows; only their last bits may
 * differ. */
int gram_create_distinct(struct gram **gram, const struct kernel *kernel, const struct data *data,
                         struct distinct *distinct, size_t cache_bytes, bool is_double,
                         struct cluster *cluster, struct threads *threads, struct error *err);
void gram_free(struct gram *gram);

/* The number of rows of the whole matrix, and its rows prepared for the kernel, for exact
 * evaluation. */
size_t gram_size(const struct gram *gram);
const struct kernel_rows *gram_rows(const struct gram *gram);

/* The distinct rows, if the matrix of these is cached; NULL: that of all rows is. */
const struct distinct *gram_distinct(const struct gram *gram);

/* True if entries are stored in double: gram_product is then as accurate as kernel_scores. */
bool gram_is_double(const struct gram *gram);

/* Bytes of the cached entries. */
size_t gram_cached_bytes(const struct gram *gram);

/* out = K b, both of length gram_size, summed in double. Rows in which b is zero cost half as much.
 * The result does not depend on the number of threads. May be called from several threads at once,
 * with threads = NULL. Collective if the matrix is distributed. */
int gram_product(const struct gram *gram, const double *b, double *out, struct threads *threads,
                 struct error *err);

/* s (gram_size, k) = K B, with kernel values evaluated in double (kernel_scores). Duplicate rows
 * may be aggregated. Collective if the matrix is distributed. */
int gram_exact_scores(const struct gram *gram, const double *b, size_t k, double *s,
                      struct threads *threads, struct error *err);

/* The same with kernel values in float. */
int gram_float_scores(const struct gram *gram, const double *b, size_t k, double *s,
                      struct threads *threads, struct error *err);

/* kernel_scores_additions of gram_exact_scores, with the additions that aggregate duplicates. */
size_t gram_exact_additions(const struct gram *gram, size_t m);

/* error (gram_size, k) = rounding-error bounds of gram_exact_scores, entry by entry, for
 * coefficients of magnitude `size` (gram_size, k), if each kernel value has `units` more rounding
 * errors of one unit (kernel_rounding_scores). Collective if the matrix is distributed. */
int gram_rounding_scores(const struct gram *gram, double units, const double *size, size_t k,
                         double *error, struct threads *threads, struct error *err);

/* s (n, k) = K B in double-double, K the matrix at rows[0..n) (NULL: all rows), B (n, k). Duplicate
 * rows may be aggregated (kernel_scores_dd). Collective if the matrix is distributed. */
int gram_scores_dd(const struct gram *gram, const uint32_t *rows, size_t n, const struct dd *b,
                   size_t k, struct dd *s, struct threads *threads, struct error *err);

/* The relative rounding-error bound of these scores, if m of the n rows have coefficients, see
 * kernel_rounding_dd. */
double gram_rounding_dd(const struct gram *gram, size_t n, size_t m);

/* Estimated time of gram_scores_dd in nanoseconds of one thread, if m rows have coefficients.
 */
double gram_work_dd(const struct gram *gram, size_t n, size_t m, size_t k);

/* Aggregates the coefficients b (n) of rows[0..n) (NULL: all rows) over duplicate rows: each sum
 * moves to the first duplicate, the others become 0. The function does not change, up to the
 * rounding of the sums. Does nothing if duplicates do not share a row of the matrix. */
int gram_aggregate(const struct gram *gram, const uint32_t *rows, size_t n, double *b,
                   struct error *err);

/* True if all entries are cached, and the matrix is not distributed. */
bool gram_is_cached(const struct gram *gram);

/* row[c] = K at row i and column j[c], 0 <= c < n, in float, if this process caches the whole
 * matrix; else returns false. */
bool gram_cached_row(const struct gram *gram, uint32_t i, const uint32_t *j, size_t n, float *row);

/* out = K B, K the matrix at rows[0..n) (NULL: all rows), B and out (n, k) row-major. One pass over
 * the matrix serves all k columns. Sums are in the type of the entries over some hundred entries,
 * and in double beyond. The result does not depend on the number of threads. */
int gram_products(const struct gram *gram, const uint32_t *rows, size_t n, const double *b,
                  size_t k, double *out, struct threads *threads, struct error *err);

/* block (n_i, n_j) row-major in double = K at rows i[0..n_i) and columns j[0..n_j): the cached
 * entries, or else computed in double. */
int gram_block(const struct gram *gram, const uint32_t *i, size_t n_i, const uint32_t *j,
               size_t n_j, double *block, struct error *err);

/* The same, but cached entries in float are computed again in double. */
int gram_block_exact(const struct gram *gram, const uint32_t *i, size_t n_i, const uint32_t *j,
                     size_t n_j, double *block, struct error *err);

#endif
