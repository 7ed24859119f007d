/* Cholesky factorisations and the systems that they solve, by LAPACK and BLAS. Matrices are
 * row-major. */
#ifndef COMMON_LINEAR_ALGEBRA_CHOLESKY_H
#define COMMON_LINEAR_ALGEBRA_CHOLESKY_H

#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Factors A (n, n), symmetric with its lower half set, in place: A = L L', L in the lower half.
 * Returns 0, or -1 if A is not numerically positive definite or n is above 2^31 - 1; A is then
 * overwritten. */
int cholesky_factor(double *A, size_t n);

/* The same with several threads, by blocks. The number of threads does not change any bit of L. */
int cholesky_factor_blocks(double *A, size_t n, struct threads *threads);

/* The sequence of regularisations: the ridge, relative to the diagonal, to try after `ridge` (0 at
 * first) has left the matrix numerically indefinite. INFINITY after the last. */
double cholesky_next_ridge(double ridge);

/* Factors A in place like cholesky_factor, with a ridge if rounding requires one. The upper half of
 * A and diagonal (n) are work. Returns -1 if no ridge suffices. */
int cholesky_regularised(double *A, size_t n, double *diagonal);

/* Copies one triangle of A (n, n) to the other: the lower one to the upper with
 * CHOLESKY_FROM_LOWER, the upper one to the lower with CHOLESKY_FROM_UPPER. */
static const bool CHOLESKY_FROM_LOWER = true, CHOLESKY_FROM_UPPER = false;
void cholesky_mirror(double *A, size_t n, bool from_lower);

/* Solves L L' x = b in place: x (n) holds b on entry. */
void cholesky_solve(const double *L, size_t n, double *x);

/* The same for k columns, X (n, k), n and k up to 2^31 - 1. The number of threads does not change
 * any bit of X. */
void cholesky_solve_columns(const double *L, size_t n, double *X, size_t k,
                            struct threads *threads);

/* Replaces L by the lower half of (L L')^-1. Returns -1 if n is above 2^31 - 1 or the diagonal of L
 * has a zero. */
int cholesky_invert(double *L, size_t n);

/* Cholesky factorisation with complete pivoting: P'A P = L L', L (n, *rank). Row i of L is stored
 * in A's row i and belongs to row pivot[i] of the matrix; entries right of the diagonal are
 * undefined and stand for 0. Ends, after the first column, if no remaining diagonal entry exceeds
 * `least` or n eps of the largest entry, which is rounding. Returns -1 with err set only if n is
 * too large or memory short. */
int cholesky_pivoted(double *A, size_t n, double least, size_t *rank, uint32_t *pivot,
                     struct error *err);

#endif
