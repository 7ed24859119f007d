/* Least-squares systems A'A x = r, by the rows of A: where rows differ in size by many orders,
 * A'A has lost the small ones in rounding, and its Cholesky factor is not theirs. Householder's
 * method with columns by size and rows in descending order keeps each row to the precision of
 * its own (Cox & Higham, "Stability of Householder QR factorization for weighted least squares
 * problems", 1998). */
#ifndef SOLVERS_METHODS_STACKED_H
#define SOLVERS_METHODS_STACKED_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct stacked;

/* Room for A (rows, n), rows >= n > 0, all 0. once: columns are sorted by their size before the
 * first of them is taken, not again by what is left of them: less than the theory asks for, and two
 * to three times faster from a thousand columns on. The caller ends with stacked_free. */
int stacked_create(struct stacked **stacked, size_t rows, size_t n, bool once, struct error *err);
void stacked_free(struct stacked *stacked);

/* A = 0, and a row (n) of it, for the caller to fill, in any order; the next one follows it. */
void stacked_clear(struct stacked *stacked);
double *stacked_row(struct stacked *stacked, size_t i);

/* Factors A'A. Returns 0, or -1 where it is singular to the last digit or A is not finite. */
int stacked_factor(struct stacked *stacked);

/* x (n) = (A'A)^-1 x. */
void stacked_solve(const struct stacked *stacked, double *x);

#endif
