/* Cholesky factorisations in double-double, for matrices whose condition number exceeds the
 * precision of double. About 50 times slower than LAPACK. */
#ifndef COMMON_LINEAR_ALGEBRA_CHOLESKY_DD_H
#define COMMON_LINEAR_ALGEBRA_CHOLESKY_DD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dd; /* common/double_double/type.h */

/* The estimated nanoseconds of a factorisation of n rows. */
double cholesky_dd_nanoseconds(size_t n);

/* Factors A (n, n), symmetric, row-major with its lower half set, in place: A = L L', L in the
 * lower half. False if A is not numerically positive definite; it is then overwritten. */
bool cholesky_dd_factor(struct dd *A, size_t n);

/* Solves L L' x = b in place: x (n) holds b on entry. */
void cholesky_dd_solve(const struct dd *L, size_t n, struct dd *x);

/* Factorisation with complete pivoting: P'A P = L L'. Row i of L is stored in A's row i and belongs
 * to row pivot[i] (n) of the matrix; entries right of the diagonal stand for 0. Returns the number
 * of columns of L; no remaining row has a diagonal entry above its `least` (n). */
size_t cholesky_dd_pivoted(struct dd *A, size_t n, const double *least, uint32_t *pivot);

#endif
