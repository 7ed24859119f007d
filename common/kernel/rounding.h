/* Rounding-error bounds of kernel values in double and float, which certificates add to their
 * bounds. */
#ifndef COMMON_KERNEL_ROUNDING_H
#define COMMON_KERNEL_ROUNDING_H

#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* norm_bound (n_rows) gets numbers b with |k(x_i, x_j)| <= b_i b_j, that is sqrt(k(x, x)) for a
 * positive semidefinite kernel. */
void kernel_norm_bounds(const struct kernel_rows *rows, double *norm_bound);

/* The factor f such that values of kernel_block_double and kernel_scores are within f b_i b_j of
 * k(x_i, z_j), b the norm bounds, and of the values of each of the two with itself. The float
 * values of the features are taken as exact; the norms of the linear kernel are not used. Source:
 * the standard model of rounding (Higham, "Accuracy and stability of numerical algorithms", 2002,
 * sections 2 and 3), with |x'z| <= |x| |z|, x'z <= (|x|^2 + |z|^2) / 2 and exp(-v) v <= 1/e. */
double kernel_rounding(const struct kernel_rows *x, const struct kernel_rows *z);

/* Bounds for each entry, which may be far smaller: for values near 0, and for equal rows. */
struct kernel_rounding {
    const struct kernel_rows *rows;
    double terms;  /* length of the longest row */
    double units;  /* additional roundings of each value */
    bool positive; /* no feature value is negative */
};

/* Initialises the bounds. units: number of roundings that the caller adds to each value. */
void kernel_rounding_open(struct kernel_rounding *rounding, const struct kernel_rows *rows,
                          double units);

/* value (n): in, k(x_row, x_column[c]) evaluated in double; out, bounds of their errors. */
void kernel_rounding_entries(const struct kernel_rounding *rounding, size_t row,
                             const uint32_t *column, size_t n, double *value);

/* error (rows, n_outputs) = the sum over j of size (rows, n_outputs) at j, 0 or more, times the
 * bound of value (i, j). Computed as kernel_scores: the same holds for threads and clusters. */
int kernel_rounding_scores(const struct kernel_rounding *rounding, const double *size,
                           size_t n_outputs, double *error, struct threads *threads,
                           struct error *err);

#endif
