/* Least-squares systems (A'A + E) x = r, E = diag(1, ..., 1, 0, ..., 0), by the rows of A: where
 * rows differ in size by many orders, the sum has lost the small ones in rounding, and its Cholesky
 * factor is not theirs. Householder's method with columns by size and rows in descending order
 * keeps each row to the precision of its own (Cox & Higham, "Stability of Householder QR
 * factorization for weighted least squares problems", 1998). */
#ifndef COMMON_LINEAR_ALGEBRA_LEAST_SQUARES_H
#define COMMON_LINEAR_ALGEBRA_LEAST_SQUARES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct stacked;

/* Room for A (rows, n), all 0, and the first `ones` <= n entries 1 of E; rows + ones >= n > 0.
 * refined: what stacked_solve finds is refined by the caller, so that the sum itself, with columns
 * of length 1, is factored where its condition is below 10^12 (three times faster), and elsewhere
 * columns are sorted by their size before the first of them is taken, not again by what is left of
 * them (less than the theory asks for, two to three times faster from a thousand columns on). The
 * caller ends with stacked_free. */
int stacked_create(struct stacked **stacked, size_t rows, size_t n, size_t ones, bool refined,
                   struct error *err);
void stacked_free(struct stacked *stacked);

/* Row i (n) of A, for the caller to fill, in any order; the next one follows it. What is there
 * stays. */
double *stacked_row(struct stacked *stacked, size_t i);

/* Factors A'A + E. Returns 0, or -1 where it is singular to the last digit or A is not finite. */
int stacked_factor(struct stacked *stacked);

/* x (n) = (A'A + E)^-1 x. */
void stacked_solve(const struct stacked *stacked, double *x);

#endif
