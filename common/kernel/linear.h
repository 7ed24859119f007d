/* Products with the data as it is held: sparse rows stay sparse, dense rows go through dense
 * kernels. Values are float, vectors and sums double. */
#ifndef COMMON_KERNEL_LINEAR_H
#define COMMON_KERNEL_LINEAR_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"

#include <stddef.h>
#include <stdint.h>

/* scores (n_rows, n_outputs) row-major = X W, W (n_features of the model = n_weights, n_outputs)
 * row-major; columns of X at or beyond n_weights count as zero. */
void linear_scores(const struct data *x, const double *w, size_t n_weights, size_t n_outputs,
                   double *scores, struct threads *threads);

/* The same of the values' sizes, for one output: scores (n_rows) = |X| w. */
void linear_sizes(const struct data *x, const double *w, size_t n_weights, double *scores,
                  struct threads *threads);

/* scores (n_at) = (X w)[at], rows at[0..n_at), for one output. A score may differ from the above in
 * its last digits. */
void linear_scores_at(const struct data *x, const double *w, size_t n_weights, const uint32_t *at,
                      size_t n_at, double *scores, struct threads *threads);

/* w (n_features) = X' r, r (n_rows). The sum is in fixed chunks of rows: it does not depend on the
 * number of threads. */
int linear_adjoint(const struct data *x, const double *r, double *w, struct threads *threads,
                   struct error *err);

/* The same with sums in long double, by one thread, each rounded at the end. */
int linear_adjoint_fine(const struct data *x, const double *r, double *w, struct error *err);

/* The same of the values' sizes: w = |X|' r. */
int linear_adjoint_sizes(const struct data *x, const double *r, double *w, struct threads *threads,
                         struct error *err);

#endif
