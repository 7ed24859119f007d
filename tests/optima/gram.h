/* Kernels by their definitions. */
#ifndef TESTS_OPTIMA_GRAM_H
#define TESTS_OPTIMA_GRAM_H

#include "tests/optima/number.h"
#include "tests/optima/trial.h"

/* All n x n values and bounds of their errors. */
void gram_fill(const struct trial *trial, num *k, num *off);

/* Eigenvalues (n) and, as columns, vectors (n, n; NULL: unwanted) of a symmetric matrix, by
 * Jacobi's rotations; the matrix is lost. */
void eigen(num *a, size_t n, num *value, num *vector);

/* The least eigenvalue of a symmetric matrix (n, n), which stays. */
num least_eigenvalue(const num *a, size_t n);

/* True if the kernel is positive semidefinite whatever the rows. */
bool kernel_known(const struct trial *trial);

#endif
