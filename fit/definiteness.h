/* Whether a kernel's matrix is positive semidefinite, for kernels of which kernel_definite does not
 * know it. */
#ifndef FIT_DEFINITENESS_H
#define FIT_DEFINITENESS_H

#include "common/base/error.h"
#include "common/kernel/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the matrix of rows[0..m) of the gram's rows is positive semidefinite once shift (m) is
 * added to its diagonal: what rounding of its entries may hide, of each row as large as the row is,
 * reach (m) its reach (kernel_rounding), of stored matrices as its own diagonal entry is or the
 * largest, 0 for rows of zeros; and what that of its factorisation may. *definite is false where it
 * has none, and where m is so large that it is not tried. Fails when memory is short. */
int definite_check(const struct kernel_rows *kernel_rows, const uint32_t *rows, const double *reach,
                   size_t m, bool *definite, double *shift, struct error *err);

#endif
