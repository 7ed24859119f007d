/* Dense rows rounded to a byte for each value, for products that need few digits. A pass over them
 * reads a quarter of the memory of one over the data, which is its time where the rows do not fit
 * into a cache. */
#ifndef FAMILIES_SMM_SOLVER_QUANTISED_ROWS_H
#define FAMILIES_SMM_SOLVER_QUANTISED_ROWS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"

#include <stdbool.h>
#include <stddef.h>

struct quantised_rows;

/* Whether x is dense and so large that its rows do not fit into a cache. */
bool quantised_rows_pay(const struct data *x);

/* Rounds the rows of dense data, which it borrows: value j of row i is r_i s_j q_ij / 127 for
 * |q_ij| <= 127, within 1/2 of a unit of q, where s_j is the largest magnitude of column j, and r_i
 * that of x_ij / s_j in row i; rows and columns below 1e-35 count as 0. The caller calls
 * quantised_rows_free. Fails if memory runs out. */
int quantised_rows_create(struct quantised_rows **rows, const struct data *x,
                          struct threads *threads, struct error *err);
void quantised_rows_free(struct quantised_rows *rows);

/* w (n_features) = X'r with the rounded X, for r (n_rows). Sums are in float over fixed chunks of
 * rows: they do not depend on the number of threads. Rows with r = 0 are skipped. */
void quantised_rows_adjoint(struct quantised_rows *rows, const double *r, double *w);

/* w = X' diag(r) X v, and products (n_rows) = diag(r) X v, but for rows with r = 0, for v
 * (n_features), by one pass over the rounded X. */
void quantised_rows_normal(struct quantised_rows *rows, const double *r, const double *v,
                           double *products, double *w);

#endif
