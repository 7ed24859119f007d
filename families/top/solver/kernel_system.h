/* Linear systems with the kernel matrix of a problem's rows, or of some of them, plus a diagonal:
 * the systems of an interior-point method (doc/mathematics, "top: interior points").
 *
 * With the linear kernel and at most as many features as rows, (K + E)^-1 = E^-1 - E^-1 X (I +
 * X'E^-1 X)^-1 X'E^-1 (Sherman-Morrison-Woodbury) uses the matrix of features; otherwise K (m, m)
 * is formed in double. If cancelling coefficients leave scores by K without correct digits,
 * features of a factor of K can be used (methods/row_features_dd.h). A factorisation costs the cube
 * of the matrix's order. */
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

/* Work (fit/work.h) of one factorisation of m rows (of all processes, if rows are distributed) and
 * of the products that go with it; INFINITY if the matrix has more than some thousand rows, or does
 * not fit into the problem's cache. */
double top_system_work(const struct problem *problem, size_t m);

/* The largest number of rows of a kernel matrix for which that is finite. */
size_t top_system_max_rows(const struct problem *problem);

/* If rows are distributed over processes, the system is that of all rows, arrays of m belong to the
 * process's own rows, and all processes call the functions below together. */

/* Makes the system of rows[0..m) (row numbers of the problem). Borrows problem, map, rows and
 * factor_features. centre: n coefficients c that sum to 1; then the rows are phi_i - sum c_j phi_j.
 * NULL: not centred. factor_features: features of the rows that replace the problem's, with the
 * constant feature behind them if add_constant, and centre NULL; NULL: the problem's features, or
 * K. The caller calls top_system_free. */
int top_system_create(struct top_system **system, const struct problem *problem,
                      const struct score_map *map, const uint32_t *rows, size_t m,
                      const double *centre, const struct row_features *factor_features,
                      bool add_constant, struct error *err);
void top_system_free(struct top_system *system);

/* The diagonal of K (m). */
const double *top_system_diagonal(const struct top_system *system);

/* True if the system is that of the features. Then a function f has weights (n_features), whose
 * scores keep digits that those of sum b_i phi_i lose by cancellation. */
bool top_system_by_features(const struct top_system *system);

/* The number of these weights; 0 without features. */
size_t top_system_width(const struct top_system *system);

/* Solves systems with features in double-double from now on. *uses_dd is false, and nothing
 * changes, if they are too large for that, distributed over processes, or solved so already. */
int top_system_use_dd(struct top_system *system, bool *uses_dd, struct error *err);

/* *square = |sum b_i phi_i|^2, b (m). Without features s (m) = K b, its scores; else s is not
 * changed. */
int top_system_square(struct top_system *system, const double *b, double *s, double *square,
                      struct error *err);

/* With features: weights (n_features) = sum b_i phi_i, and s (m) = the scores of weights. */
int top_system_weights(struct top_system *system, const double *b, double *weights,
                       struct error *err);
int top_system_scores(struct top_system *system, const double *weights, double *s,
                      struct error *err);

/* Factors K + diag(E), E (m) above 0. Returns false if that is not numerically positive definite;
 * then there is no factor. */
bool top_system_factor(struct top_system *system, const double *E);

/* x (m) = (K + E)^-1 x, with the last factorisation. */
int top_system_solve(struct top_system *system, double *x, struct error *err);

/* With features: solves E b + s = x, weights = sum b_i phi_i + residual (n_features; NULL: 0),
 * where s are the scores of weights; b in x (m). */
int top_system_solve_both(struct top_system *system, const double *residual, double *x,
                          double *weights, struct error *err);

#endif
