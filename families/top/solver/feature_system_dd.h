/* The system of the features, (I + X'E^-1 X) w = t, in double-double: what is left where E ranges
 * over so many decades that double loses all digits of its solution (doc/mathematics, "top:
 * interior points"). */
#ifndef FAMILIES_TOP_SOLVER_FEATURE_SYSTEM_DD_H
#define FAMILIES_TOP_SOLVER_FEATURE_SYSTEM_DD_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct top_wide;

/* True if m rows of d features are so few that a factorisation takes some tenths of a second at
 * most. */
bool top_wide_fits(size_t m, size_t d);

/* Borrows X (m, d). The caller calls top_wide_free. */
int top_wide_create(struct top_wide **wide, const double *X, size_t m, size_t d, struct error *err);
void top_wide_free(struct top_wide *wide);

/* Factors for E (m) above 0, which is borrowed until the next. False where that is not positive
 * definite numerically. */
bool top_wide_factor(struct top_wide *wide, const double *E);

/* b and w of E b + X w = x, w = X'b + lack (d; NULL: 0): b in x (m), w (d). */
void top_wide_solve(struct top_wide *wide, const double *lack, double *x, double *w);

#endif
