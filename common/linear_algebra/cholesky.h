/* Positive definite systems, by LAPACK. */
#ifndef COMMON_LINEAR_ALGEBRA_CHOLESKY_H
#define COMMON_LINEAR_ALGEBRA_CHOLESKY_H

#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Factors A (n, n), symmetric, stored row-major with its lower half set, in place: A = L L', L in
 * the lower half. Returns 0, or -1 when A is not numerically positive definite or n is over
 * 2^31 - 1; A is then spoilt. */
int cholesky_factor(double *A, size_t n);

/* The same by blocks of rows, each by one of the threads: their number changes no bit of L. */
int cholesky_factor_blocks(double *A, size_t n, struct threads *threads);

/* The ridge, relative to the diagonal, that is added to a matrix where the one before, 0 at first,
 * leaves it indefinite in rounding; INFINITY after the last. */
double cholesky_next_ridge(double ridge);

/* Factors A in place as cholesky_factor does, with a ridge where rounding needs one. The upper half
 * of A and diagonal (n) are work. Returns -1 where no ridge helps. */
int cholesky_regularised(double *A, size_t n, double *diagonal);

/* What is above the diagonal of A (n, n) = what is below it; or, up false, the other way round. */
void cholesky_mirror(double *A, size_t n, bool up);

/* Solves L L' x = b in place: x (n) holds b on entry. */
void cholesky_solve(const double *L, size_t n, double *x);

/* The same for k columns at once, X (n, k) row-major, n and k up to 2^31 - 1: L is read once for
 * all of them. The number of threads changes no bit of X. */
void cholesky_solve_columns(const double *L, size_t n, double *X, size_t k,
                            struct threads *threads);

/* The lower half of (L L')^-1 in place of L. Returns -1 when n is over 2^31 - 1, or the diagonal of
 * L has a 0. */
int cholesky_invert(double *L, size_t n);

/* The factor with the largest diagonal entry left in front: P'A P = L L', L (n, *rank), row i at
 * A's row i for row pivot[i] of the matrix; entries right of the diagonal are to be taken as 0.
 * Ends, after the first, where no diagonal entry that is left is over `least`, or it is rounding, n
 * eps of the largest entry. Returns -1 only if n is too large or memory short. */
int cholesky_pivoted(double *A, size_t n, double least, size_t *rank, uint32_t *pivot,
                     struct error *err);

#endif
