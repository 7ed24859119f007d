/* Anderson acceleration of a fixed-point iteration y = f(y) (Anderson, "Iterative procedures for
 * nonlinear integral equations", Journal of the ACM 12, 1965; of the second type in Walker and Ni,
 * SIAM J. Numer. Anal. 49, 2011): the next point is the combination of the last values of f whose
 * combined residuals f(y) - y have the least norm. A combination that increases the residual is
 * rejected, as in operator splitting (Zhang, O'Donoghue, Boyd, SIAM J. Optim. 30, 2020). Without
 * that 3,000 rows of letter (mc, cs, rbf 1/16, C = 1e5) take 14 iterations instead of 8. Cost per
 * iteration: O(size memory + memory^3). */
#ifndef METHODS_ANDERSON_H
#define METHODS_ANDERSON_H

#include "common/base/error.h"

#include <stddef.h>

struct anderson;

/* Number of arrays of `size` numbers that are stored for `memory` differences, 1 or more. */
size_t anderson_arrays(size_t memory);

/* For points of `size` numbers and `memory` differences. The caller ends with anderson_free. */
int anderson_create(struct anderson **anderson, size_t size, size_t memory, struct error *err);
void anderson_free(struct anderson *anderson);

/* f (size): on entry f(y) of y (size), on return the next point. */
void anderson_next(struct anderson *anderson, const double *y, double *f);

/* Discards all points, because the function f has changed. */
void anderson_restart(struct anderson *anderson);

#endif
