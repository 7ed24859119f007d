/* Factors of positive semidefinite matrices in double-double, where double keeps no digit of what
 * is small. Some 50 times slower than LAPACK. */
#ifndef SOLVERS_METHODS_CHOLESKY_PRECISE_H
#define SOLVERS_METHODS_CHOLESKY_PRECISE_H

#include <stddef.h>
#include <stdint.h>

struct dd; /* common/base/dd.h */

/* About how many nanoseconds a factorisation of n rows takes. */
double cholesky_precise_work(size_t n);

/* Factors A (n, n), symmetric, row-major with its lower half set, in place, with the largest
 * diagonal entry left in front: P'A P = L L', row i of L at A's row i for row pivot[i] (n) of the
 * matrix; entries right of the diagonal are to be taken as 0. L has the returned number of columns:
 * then no row is left whose diagonal entry is over its `least` (n). */
size_t cholesky_precise_pivoted(struct dd *A, size_t n, const double *least, uint32_t *pivot);

#endif
