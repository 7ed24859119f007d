/* Kernel matrices from the definitions. */
#ifndef TESTS_OPTIMA_GRAM_H
#define TESTS_OPTIMA_GRAM_H

#include "tests/optima/number.h"
#include "tests/optima/trial.h"

/* k (n, n) = kernel values, off (n, n) = bounds of their errors. */
void gram_fill(const struct trial *trial, num *k, num *off);

/* Eigenvalues (n) and eigenvectors (n, n, as columns; may be NULL) of a symmetric matrix, by Jacobi
 * rotations. The matrix is overwritten. */
void eigen(num *a, size_t n, num *value, num *vector);

/* The smallest eigenvalue of a symmetric matrix (n, n). */
num least_eigenvalue(const num *a, size_t n);

/* True if the kernel is positive semidefinite for all rows. */
bool kernel_known(const struct trial *trial);

#endif
