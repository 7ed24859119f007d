/* The Cholesky factor of a matrix from which rows and columns are taken one after the other, as an
 * active-set method does when a variable meets its bound: each in O(n^2), where a factor anew is
 * O(n^3) (Golub & Van Loan, "Matrix Computations", 6.5.4). */
#ifndef COMMON_LINEAR_ALGEBRA_CHOLESKY_UPDATE_H
#define COMMON_LINEAR_ALGEBRA_CHOLESKY_UPDATE_H

#include "common/base/error.h"

#include <stddef.h>

/* U'U = A, both (n, n) row-major; U in the upper half. Rows that were dropped stay, as those of the
 * identity. */
struct factor {
    size_t n, room;
    double *U;    /* (room, room) at the most; in use (n, n) */
    double *work; /* (room) */
};

/* Makes room for matrices of n rows: U (n, n), for the caller to set its upper half. Contents are
 * lost where there was less room. The caller ends with factor_free. */
int factor_reserve(struct factor *factor, size_t n, struct error *err);
void factor_free(struct factor *factor);

/* Factors the matrix in U's upper half in place. Returns 0, or -1 when it is not numerically
 * positive definite; U is then spoilt. */
int factor_make(struct factor *factor);

/* x (n) = A^-1 x; entries of dropped rows are 0 in both. */
void factor_solve(const struct factor *factor, double *x);

/* Takes row and column r out of A. */
void factor_drop(struct factor *factor, size_t r);

/* A becomes that of a basis in which b_j gives way to b_j - b_i, i < j: row i leaves row j, and
 * column i column j. */
void factor_subtract(struct factor *factor, size_t j, size_t i);

#endif
