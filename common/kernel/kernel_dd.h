/* Kernel values and scores in double-double, for certificates with coefficients so large that the
 * rounding errors of kernel values in double exceed the duality gap. About 50 times slower than
 * tiles in double. */
#ifndef COMMON_KERNEL_KERNEL_DD_H
#define COMMON_KERNEL_KERNEL_DD_H

#include "common/kernel/kernel.h"

#include <stddef.h>
#include <stdint.h>

struct dd; /* common/double_double/type.h */

/* A factor f: with b the norm bounds of kernel_norm_bounds, a kernel value is within f b_i b_j of
 * k(x_i, x_j), and a score of kernel_scores_dd with m coefficients c is within f b_i sum_j
 * |c_j| b_j of the exact one. Both have an additional absolute error of at most
 * KERNEL_MIN_ERROR_DD, for a score times sum_j |c_j|. */
double kernel_rounding_dd(const struct kernel_rows *rows, size_t m);
#define KERNEL_MIN_ERROR_DD 0x1p-960

/* Estimated time in nanoseconds of one thread for the scores of n rows with k outputs, if m rows
 * have coefficients. */
double kernel_work_dd(const struct kernel_rows *rows, size_t n, size_t m, size_t k);

/* s (n, k) = K b, b (n, k), both row-major, K the matrix of rows at[0..n). Rows whose coefficients
 * are all 0 are skipped. The result does not depend on the number of threads. If the rows have a
 * cluster, the call is collective: each process does a part of the work, and all get all scores. */
int kernel_scores_dd(const struct kernel_rows *rows, const uint32_t *at, size_t n,
                     const struct dd *b, size_t k, struct dd *s, struct threads *threads,
                     struct error *err);

/* rest (n, n) = the exact kernel values of rows at[0..n) less K (n, n), their values in double. The
 * error is that of one value, see kernel_rounding_dd, and one rounding of the difference. */
int kernel_remainder_dd(const struct kernel_rows *rows, const uint32_t *at, size_t n,
                        const double *K, double *rest, struct threads *threads, struct error *err);

#endif
