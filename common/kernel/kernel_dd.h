/* Kernel values and scores in double-double: for certificates of coefficients so large that what
 * double loses of a kernel value is all that keeps two bounds apart. Some 50 times slower than
 * tiles of double. */
#ifndef COMMON_KERNEL_KERNEL_DD_H
#define COMMON_KERNEL_KERNEL_DD_H

#include "common/kernel/kernel.h"

#include <stddef.h>
#include <stdint.h>

struct dd; /* common/double_double/dd.h */

/* A factor f: with reach as kernel_rounding finds it, a value is within f reach_i reach_j of k(x_i,
 * x_j), and a score of kernel_precise_scores of m coefficients b within f reach_i sum_j |b_j|
 * reach_j of the true one; and within KERNEL_PRECISE_LEAST, and that times sum_j |b_j|, besides. */
double kernel_precise_rounding(const struct kernel_rows *rows, size_t m);
#define KERNEL_PRECISE_LEAST 0x1p-960

/* About how many nanoseconds of one thread the scores of n rows with k outputs take, where m of
 * them have coefficients. */
double kernel_precise_work(const struct kernel_rows *rows, size_t n, size_t m, size_t k);

/* s (n, k) = K b, b (n, k), both row-major, K the matrix of rows at[0..n). Rows whose coefficients
 * are all 0 are left out. The result does not depend on the number of threads. Of rows with a
 * cluster all ranks get all scores, each for a share of the work; all ranks. */
int kernel_precise_scores(const struct kernel_rows *rows, const uint32_t *at, size_t n,
                          const struct dd *b, size_t k, struct dd *s, struct threads *threads,
                          struct error *err);

/* rest (n, n) = what values K (n, n) of rows at[0..n), as double has them, lack of the true ones:
 * off by what one of kernel_precise_rounding is, and by a rounding of itself. */
int kernel_precise_rest(const struct kernel_rows *rows, const uint32_t *at, size_t n,
                        const double *K, double *rest, struct threads *threads, struct error *err);

#endif
