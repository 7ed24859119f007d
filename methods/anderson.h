/* Anderson's acceleration of a fixed-point iteration y = f(y) (Anderson, "Iterative procedures for
 * nonlinear integral equations", Journal of the ACM 12, 1965; of the second type in Walker and Ni,
 * SIAM J. Numer. Anal. 49, 2011): the next point is the combination of the last values of f whose
 * residuals f(y) - y combine to the least. What makes the residual larger is taken back, as
 * operator splitting has it (Zhang, O'Donoghue, Boyd, SIAM J. Optim. 30, 2020). */
#ifndef METHODS_ANDERSON_H
#define METHODS_ANDERSON_H

#include "common/base/error.h"

#include <stddef.h>

struct anderson;

/* Arrays of `size` numbers that are held for `memory` differences, 1 or more. */
size_t anderson_arrays(size_t memory);

/* For points of `size` numbers. The caller ends with anderson_free. */
int anderson_create(struct anderson **anderson, size_t size, size_t memory, struct error *err);
void anderson_free(struct anderson *anderson);

/* f (size), f(y) of y (size) on entry, becomes the next point. */
void anderson_next(struct anderson *anderson, const double *y, double *f);

/* Forgets all points: f is another one. */
void anderson_restart(struct anderson *anderson);

#endif
