/* A Cholesky factor that is updated when rows and columns are removed from the matrix, as in an
 * active-set method when a variable reaches its bound: O(n^2) per removal instead of O(n^3) for a
 * new factor (Golub & Van Loan, "Matrix Computations", 6.5.4). */
#ifndef COMMON_LINEAR_ALGEBRA_CHOLESKY_UPDATE_H
#define COMMON_LINEAR_ALGEBRA_CHOLESKY_UPDATE_H

#include "common/base/error.h"

#include <stddef.h>

/* U'U = A, both (n, n) row-major; U in the upper half. Removed rows become those of the
 * identity. */
struct factor {
    size_t n, room;
    double *U;    /* capacity (room, room), used (n, n) */
    double *work; /* (room) */
};

/* Allocates U (n, n), whose upper half the caller sets. Contents are lost if U grows. Returns -1
 * with err set when memory is short. The caller ends with factor_free. */
int factor_allocate(struct factor *factor, size_t n, struct error *err);
void factor_free(struct factor *factor);

/* Factors the matrix in U's upper half in place. Returns 0, or -1 if it is not numerically positive
 * definite; U is then overwritten. */
int factor_compute(struct factor *factor);

/* x (n) = A^-1 x; entries of removed rows are 0 on entry and return. */
void factor_solve(const struct factor *factor, double *x);

/* Removes row and column r from A. */
void factor_remove(struct factor *factor, size_t r);

/* Changes A to the basis in which b_j is replaced by b_j - b_i, i < j: subtracts row i from row j
 * and column i from column j. */
void factor_subtract(struct factor *factor, size_t j, size_t i);

#endif
