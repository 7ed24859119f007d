/* Systems with the kernel matrix of a problem's rows, or of row_work of them, and a diagonal: what an
 * interior-point method solves at each step (doc/mathematics, "top: interior points").
 *
 * With the linear kernel and fewer features than rows, (K + E)^-1 = E^-1 - E^-1 X (I + X'E^-1 X)^-1
 * X'E^-1 is taken through the matrix of features; else K (m, m) is formed in double. Where that has
 * no digits for scores that coefficients make by cancelling, a factor of K may make the features
 * (methods/row_features_dd.h). */
#ifndef FAMILIES_TOP_SOLVER_KERNEL_SYSTEM_H
#define FAMILIES_TOP_SOLVER_KERNEL_SYSTEM_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "fit/score_map.h"
#include "methods/row_features_dd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top_system;

/* Work (fit/work.h) of one factorisation of m rows, of all ranks where the problem's are spread,
 * and the products that go with it; INFINITY if the matrix has more than row_work thousand rows, or
 * does not fit into the problem's cache. */
double top_system_work(const struct problem *problem, size_t m);

/* How many rows a kernel matrix may have for that to be finite. */
size_t top_system_max_rows(const struct problem *problem);

/* Where rows are spread over ranks the system is that of all, rows and vectors of m are of one's
 * factor_features, and the functions below are for all ranks. */

/* The matrix of rows[0..m) (numbers of the problem's rows; all borrowed). With centre, n
 * coefficients c that sum to 1, it is that of the rows less their combination: phi_i - sum c_j
 * phi_j. factor_features: the rows' features, which is then all that is used, with add_constant the problem's
 * constant feature behind them; NULL: those of the problem, or K.
 * The caller frees. */
int top_system_create(struct top_system **system, const struct problem *problem,
                      const struct score_map *map, const uint32_t *rows, size_t m,
                      const double *centre, const struct row_features *factor_features,
                      bool add_constant, struct error *err);
void top_system_free(struct top_system *system);

/* The diagonal of K (m). */
const double *top_system_diagonal(const struct top_system *system);

/* True if the matrix is taken through the features. Then a function f has weights (n_features) of
 * its factor_features, and its scores keep digits that those of sum b_i phi_i lose where terms cancel. */
bool top_system_by_features(const struct top_system *system);

/* How many weights such a function has; 0 without features. */
size_t top_system_width(const struct top_system *system);

/* From here on systems with features are solved in double-double. *uses_dd is false, and nothing
 * has changed, where they are too large for that, spread over ranks, or solved so already. */
int top_system_use_dd(struct top_system *system, bool *uses_dd, struct error *err);

/* *square = |sum b_i phi_i|^2, b (m). s (m) is its scores, K b, without features; else
 * untouched. */
int top_system_square(struct top_system *system, const double *b, double *s, double *square,
                      struct error *err);

/* With features: weights (n_features) = sum b_i phi_i, and s (m) = the scores of weights. */
int top_system_weights(struct top_system *system, const double *b, double *weights,
                       struct error *err);
int top_system_scores(struct top_system *system, const double *weights, double *s,
                      struct error *err);

/* Factors K + diag(E), E (m) above 0. Returns false where that is not positive definite
 * numerically: then there is no factor. */
bool top_system_factor(struct top_system *system, const double *E);

/* x (m) = (K + E)^-1 x, with the last factor. */
int top_system_solve(struct top_system *system, double *x, struct error *err);

/* With features: b and weights of E b + s = x, weights = sum b_i phi_i + residual (n_features; NULL:
 * 0), where s is the scores of weights; b in x (m). */
int top_system_solve_both(struct top_system *system, const double *residual, double *x,
                          double *weights, struct error *err);

#endif
