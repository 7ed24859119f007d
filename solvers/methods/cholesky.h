/* Positive definite systems, by LAPACK. */
#ifndef SOLVERS_METHODS_CHOLESKY_H
#define SOLVERS_METHODS_CHOLESKY_H

#include <stddef.h>

/* Factors A (n, n), symmetric, stored row-major with its lower half set, in place: A = L L', L in
 * the lower half. Returns 0, or -1 when A is not numerically positive definite or n is over
 * 2^31 - 1; A is then spoilt. */
int cholesky_factor(double *A, size_t n);

/* Solves L L' x = b in place: x (n) holds b on entry. */
void cholesky_solve(const double *L, size_t n, double *x);

#endif
