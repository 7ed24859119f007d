/* Singular values, with bounds. */
#ifndef CHECK_SINGULAR_H
#define CHECK_SINGULAR_H

#include "check/ball.h"
#include "common/base/error.h"

#include <stddef.h>

/* value (min(height, width)), in no order, of a matrix (height, width) row-major.
 *
 * Rotations of the shorter side's vectors (one-sided Jacobi; Hestenes 1958) make these nearly
 * orthogonal: B = R A with R nearly orthogonal. What is proven is then, with B = D Q and D the
 * lengths of its rows, |Q Q' - I| <= e and |R R' - I| <= d: each singular value of A is within a
 * factor of sqrt((1 -+ e) / (1 +- d)) of one of the lengths (Ostrowski 1959). Rows that are tiny
 * beside the longest are left out, and all values may be off by their size. */
int singular_values(const struct ball *matrix, size_t height, size_t width, struct ball *value,
                    struct error *err);

#endif
