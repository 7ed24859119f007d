/* Products of the data matrix X and its transpose with vectors. Sparse rows stay sparse; dense rows
 * use vectorised loops. Values are float, vectors and sums double. */
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

/* The same with |X|, for one output: scores (n_rows) = |X| w. */
void linear_sizes(const struct data *x, const double *w, size_t n_weights, double *scores,
                  struct threads *threads);

/* scores (n_at) = (X w)[at], for rows at[0..n_at) and one output. The last digits may differ from
 * those of linear_scores. */
void linear_scores_at(const struct data *x, const double *w, size_t n_weights, const uint32_t *at,
                      size_t n_at, double *scores, struct threads *threads);

/* w (n_features) = X'r, r (n_rows). The sum is over fixed chunks of rows: it does not depend on the
 * number of threads. */
int linear_adjoint(const struct data *x, const double *r, double *w, struct threads *threads,
                   struct error *err);

/* w (n_features) = X' diag(r) X v for v (n_features), products (n_rows) = diag(r) X v, by one pass
 * over X. Rows with r = 0 are skipped, as are their products. Sums as in linear_adjoint. */
int linear_normal(const struct data *x, const double *r, const double *v, double *products,
                  double *w, struct threads *threads, struct error *err);

/* linear_adjoint with |X|: w = |X|' r. */
int linear_adjoint_sizes(const struct data *x, const double *r, double *w, struct threads *threads,
                         struct error *err);

#endif
