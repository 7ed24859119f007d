/* Singular values with error bounds. */
#ifndef CHECK_SINGULAR_H
#define CHECK_SINGULAR_H

#include "check/ball.h"
#include "common/base/error.h"

#include <stddef.h>

/* value (min(height, width)) = the singular values, in no order, of a matrix (height, width)
 * row-major.
 *
 * One-sided Jacobi rotations (Hestenes 1958) of the vectors of the shorter side make these nearly
 * orthogonal: B = R A with R nearly orthogonal. It is then verified that, with B = D Q and D the
 * lengths of its rows, |Q Q' - I| <= e and |R R' - I| <= d: each singular value of A is within a
 * factor of sqrt((1 -+ e) / (1 +- d)) of one of the lengths (Ostrowski 1959). Rows that are tiny
 * compared to the longest are left out, and all values get their size as an additional error. Cost:
 * a constant times min^2 max for each sweep. */
int singular_values(const struct ball *matrix, size_t height, size_t width, struct ball *value,
                    struct error *err);

#endif
