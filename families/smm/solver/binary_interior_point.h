/* The interior-point method (methods/interior_point.h) for the binary SVM: the fallback solver
 * where Newton's method stalls because of rounding or of many breakpoints, with features in mixed
 * units, nearly equal rows, or a large C. An iteration is one QR factorisation, O(n m^2) for n rows
 * and m = min(n, d) + 1 features. */
#ifndef FAMILIES_SMM_SOLVER_BINARY_INTERIOR_POINT_H
#define FAMILIES_SMM_SOLVER_BINARY_INTERIOR_POINT_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "fit/monitor.h"
#include "methods/interior_point.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximal number of values of a dense matrix of rows. */
enum { SMM_INTERIOR_VALUES = 1 << 25 };

/* The rows of an interior-point method of smm, with a column of ones for the bias. It must be the
 * first member of the callbacks' context. */
struct interior_rows {
    size_t n, m;          /* rows; columns of F, whose last is ones */
    double *F;            /* (n, m) */
    const double *y;      /* (n) */
    double *signed_alpha; /* (n) work */
};

/* Allocates them; F is 0 except for its last column. The caller calls interior_rows_free. */
int interior_rows_create(struct interior_rows *rows, size_t n, size_t m, struct error *err);
void interior_rows_free(struct interior_rows *rows);

/* Solves from zero with the `factor`, `solve` and `term` of the problem, whose other members are
 * set here. fit->w (m - 1) and fit->alpha are the caller's arrays; the bounds are not certified;
 * y'alpha is 0 up to rounding. */
int interior_rows_solve(struct interior_rows *rows, struct interior_problem *problem,
                        const struct binary_loss *loss, double epsilon,
                        const struct monitor *monitor, struct binary_fit *fit, struct error *err);

/* Whether the rows or their features are few enough, and all rows are in this process. */
bool binary_interior_possible(const struct binary_rows *rows);

/* Solves to a relative gap of epsilon, from zero; fit as above, with w (d). */
int binary_interior_solve(const struct binary_rows *rows, const struct binary_loss *loss,
                          double epsilon, const struct monitor *monitor, struct binary_fit *fit,
                          struct error *err);

/* Makes y'alpha 0 up to rounding: scales down the side with the larger sum. alpha (n) >= 0. All
 * processes of the cluster that the rows are distributed over; NULL: one process. */
void binary_balance(struct cluster *cluster, const double *y, size_t n, double *alpha);

#endif
