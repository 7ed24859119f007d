/* Positive definite systems in double-double: for matrices of which double keeps no digit of what
 * is small. Some 50 times slower than LAPACK. */
#ifndef COMMON_LINEAR_ALGEBRA_CHOLESKY_DD_H
#define COMMON_LINEAR_ALGEBRA_CHOLESKY_DD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dd; /* common/double_double/dd.h */

/* About how many nanoseconds a factorisation of n rows takes. */
double cholesky_precise_work(size_t n);

/* Factors A (n, n), symmetric, row-major with its lower half set, in place: A = L L', L in the
 * lower half. False where A is not numerically positive definite; it is then spoilt. */
bool cholesky_precise_factor(struct dd *A, size_t n);

/* Solves L L' x = b in place: x (n) holds b on entry. */
void cholesky_precise_solve(const struct dd *L, size_t n, struct dd *x);

/* The same with the largest diagonal entry left in front: P'A P = L L', row i of L at A's row i for
 * row pivot[i] (n) of the matrix; entries right of the diagonal are to be taken as 0. L has the
 * returned number of columns: then no row is left whose diagonal entry is over its `least` (n). */
size_t cholesky_precise_pivoted(struct dd *A, size_t n, const double *least, uint32_t *pivot);

#endif
