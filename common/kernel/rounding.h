/* How far a kernel value that is evaluated in double may be from the true one: what a certificate
 * pays for. */
#ifndef COMMON_KERNEL_ROUNDING_H
#define COMMON_KERNEL_ROUNDING_H

#include "common/kernel/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* reach (rows->data->n_rows) gets numbers with |k(x_i, x_j)| <= reach_i reach_j. */
void kernel_reach(const struct kernel_rows *rows, double *reach);

/* The factor f for which kernel_block_double and kernel_scores are within f reach_i reach_j of
 * k(x_i, x_j). Values of the features are taken as they are held; the linear kernel's norms are not
 * looked at. Sources: standard model of rounding (Higham, "Accuracy and stability of numerical
 * algorithms", 2002, sections 2 and 3), with |x'z| <= |x| |z|, x'z <= (|x|^2 + |z|^2) / 2 and
 * exp(-v) v <= 1/e. */
double kernel_rounding(const struct kernel_rows *rows);

/* The same entry by entry, which may be far less: where a value is next to 0, or of rows that are
 * equal. */
struct kernel_rounding {
    const struct kernel_rows *rows;
    double terms;  /* the longest row */
    double units;  /* of each value, besides */
    bool positive; /* no value of a feature is below 0 */
};

/* Makes it ready. `units`: roundings that whoever uses a value adds to it. */
void kernel_rounding_open(struct kernel_rounding *rounding, const struct kernel_rows *rows,
                          double units);

/* value (n): k(x_row, x_column[c]) as evaluated in double become bounds of how far each is off. */
void kernel_rounding_entries(const struct kernel_rounding *rounding, size_t row,
                             const uint32_t *column, size_t n, double *value);

/* error (rows, n_outputs) = the sums over j of size (rows, n_outputs) at j, 0 or more, times what
 * value (i, j) may be off by. As kernel_scores does it: what that says of threads and clusters
 * holds here. */
int kernel_rounding_scores(const struct kernel_rounding *rounding, const double *size,
                           size_t n_outputs, double *error, struct threads *threads,
                           struct error *err);

/* Values in float: relative (rows->data->n_rows) gets numbers r with |~k(x_i, x_j) - k(x_i, x_j)|
 * <= r_i k(x_i, x_j) + FLT_MIN for all j and what kernel_block_float makes of them, INFINITY for a
 * row that has none below 1%. k is in [0, 1]. Returns false for kernels, or values, of which it
 * knows none. */
bool kernel_rounding_float(const struct kernel_rows *rows, double *relative);

#endif
