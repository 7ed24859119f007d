/* The interior point for the binary SVM, where rounding and kinks hold Newton's method up: features
 * in mixed units, rows that are nearly alike, large C. */
#ifndef FAMILIES_SMM_SOLVER_BINARY_INTERIOR_POINT_H
#define FAMILIES_SMM_SOLVER_BINARY_INTERIOR_POINT_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "fit/monitor.h"
#include "methods/interior_point.h"

#include <stdbool.h>
#include <stddef.h>

/* Values of a dense matrix of rows, at most. */
enum { SMM_INTERIOR_VALUES = 1 << 25 };

/* The rows of an interior-point method, with a column of ones for the bias. It comes first in what
 * the callbacks get as their context. */
struct interior_rows {
    size_t n, m;          /* rows, columns of F with the last, of ones */
    double *F;            /* (n, m) */
    const double *y;      /* (n) */
    double *signed_alpha; /* (n) work */
    double *counted;      /* (m) */
};

/* Makes them, F but for its last column of zeros. The caller ends with interior_rows_free. */
int interior_rows_create(struct interior_rows *rows, size_t n, size_t m, struct error *err);
void interior_rows_free(struct interior_rows *rows);

/* Solves with the `factor`, `solve` and `term` of the problem, afresh; the rest of it is filled in.
 * fit, whose w (m - 1 of the weights) and alpha are the caller's, gets bounds as far as running sums
 * can tell; y'alpha is 0 up to rounding. */
int interior_rows_solve(struct interior_rows *rows, struct interior_problem *problem,
                        const struct binary_loss *loss, double epsilon,
                        const struct monitor *monitor, struct binary_fit *fit, struct error *err);

/* Whether the rows are few enough, or their features, and all are here. */
bool binary_interior_possible(const struct binary_rows *rows);

/* Solves to a relative gap of epsilon, afresh; fit as above. */
int binary_interior_solve(const struct binary_rows *rows, const struct binary_loss *loss,
                          double epsilon, const struct monitor *monitor, struct binary_fit *fit,
                          struct error *err);

/* y'alpha = 0 up to rounding: the side with the larger sum is scaled down. alpha (n) >= 0. All
 * ranks of the cluster that the rows are spread over, NULL: none. */
void binary_balance(struct cluster *cluster, const double *y, size_t n, double *alpha);

#endif
