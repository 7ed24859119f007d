/* Singular value decompositions, the smallest eigenvalue and products, by LAPACK and BLAS. Matrices
 * are row-major. */
#ifndef COMMON_LINEAR_ALGEBRA_SVD_H
#define COMMON_LINEAR_ALGEBRA_SVD_H

#include "common/base/error.h"

#include <stddef.h>

/* C (m, n) = A (m, k) B (k, n). */
void matrix_product(const double *A, const double *B, size_t m, size_t k, size_t n, double *C);

/* A (m, n) = U diag(s) V', k = min(m, n): U (m, k), s (k) descending, Vt (k, n). A is not
 * changed. Fails if memory is short, a side is above 2^31 - 1, or A is not finite. */
int svd_thin(const double *A, size_t m, size_t n, double *U, double *s, double *Vt,
             struct error *err);

/* The same for the r largest singular values of the product L (m, k) R (k, n), which is not
 * formed: U (m, r), s (r), Vt (r, n). r is at most min(m, k, n). */
int svd_product(const double *L, const double *R, size_t m, size_t k, size_t n, size_t r, double *U,
                double *s, double *Vt, struct error *err);

/* *least: the smallest eigenvalue of A (n, n), symmetric, which is overwritten; NaN if it is not
 * found. Returns -1 only if memory is short. */
int least_eigenvalue(double *A, size_t n, double *least, struct error *err);

#endif
