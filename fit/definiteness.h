/* Whether the matrix of a kernel that is not known to be positive semidefinite (kernel_definite) is
 * so on given rows, by a Cholesky factorisation. */
#ifndef FIT_DEFINITENESS_H
#define FIT_DEFINITENESS_H

#include "common/base/error.h"
#include "common/kernel/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the matrix K of rows[0..m) of kernel_rows is positive semidefinite once E, half of shift
 * (m), is added to its diagonal. E covers the rounding errors of the entries and of the
 * factorisation. That of the entries is relative to norm_bound[i]^2, the norm bound of row i
 * (kernel_rounding); for precomputed matrices to the row's diagonal entry or to the largest one;
 * rows of zeros get none. Weak duality between b'(K + 2 E)b / 2 + L(K b) and the dual with K + 2 E
 * holds for all b and a, as (b - a)'K(b - a) >= -2 (b'E b + a'E a). *definite is false if there is
 * no factor, and also if m is above 6,000, where none is attempted: that would take more than about
 * two seconds. Returns -1 when memory is short. */
int definite_check(const struct kernel_rows *kernel_rows, const uint32_t *rows,
                   const double *norm_bound, size_t m, bool *definite, double *shift,
                   struct error *err);

#endif
