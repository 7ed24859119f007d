/* Regularised least-squares systems (A'A + E) x = r, E = diag(1, ..., 1, 0, ..., 0), by a QR
 * factorisation of A. If the sizes of rows differ by many orders of magnitude, the rounded sum A'A
 * loses the small ones. The Householder method with columns sorted by size and rows in descending
 * order has a small backward error in each row, relative to that row (Cox & Higham, "Stability of
 * Householder QR factorization for weighted least squares problems", 1998). */
#ifndef COMMON_LINEAR_ALGEBRA_LEAST_SQUARES_H
#define COMMON_LINEAR_ALGEBRA_LEAST_SQUARES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct least_squares;

/* Allocates A (rows, n), all 0, and E with its first `ones` <= n entries 1; rows + ones >= n > 0.
 * refined: the caller applies iterative refinement to solutions. Then A'A + E, with columns scaled
 * to length 1, is factored itself if its condition number is below 10^12 (three times faster).
 * Otherwise columns are sorted once by size, without further pivoting (less than the theory
 * requires, two to three times faster from a thousand columns on). Returns -1 with err set if
 * memory is short or sizes too large. The caller ends with least_squares_free. */
int least_squares_create(struct least_squares **stacked, size_t rows, size_t n, size_t ones,
                         bool refined, struct error *err);
void least_squares_free(struct least_squares *stacked);

/* Row i (n) of A, which the caller fills, in any order; row i + 1 follows it. Factorisations keep
 * A. */
double *least_squares_row(struct least_squares *stacked, size_t i);

/* Factors A'A + E. Returns 0, or -1 if it is numerically singular or A is not finite. */
int least_squares_factor(struct least_squares *stacked);

/* x (n) = (A'A + E)^-1 x. */
void least_squares_solve(const struct least_squares *stacked, double *x);

#endif
