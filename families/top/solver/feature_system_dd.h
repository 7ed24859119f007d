/* The feature system (I + X'E^-1 X) w = t of the interior-point method in double-double, by a
 * Cholesky factorisation. It is used when E ranges over so many decades that a solution in double
 * has no correct digits (doc/mathematics, "top: interior points"). */
#ifndef FAMILIES_TOP_SOLVER_FEATURE_SYSTEM_DD_H
#define FAMILIES_TOP_SOLVER_FEATURE_SYSTEM_DD_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct top_system_dd;

/* True if a factorisation with m rows and d features takes at most some tenths of a second. */
bool top_system_dd_fits(size_t m, size_t d);

/* Borrows X (m, d). The caller calls top_system_dd_free. */
int top_system_dd_create(struct top_system_dd **system, const double *X, size_t m, size_t d,
                         struct error *err);
void top_system_dd_free(struct top_system_dd *system);

/* Factors the system for E (m) above 0, which is borrowed until the next call. Returns false if the
 * matrix is not numerically positive definite. */
bool top_system_dd_factor(struct top_system_dd *system, const double *E);

/* Solves E b + X w = x, w = X'b + residual (d; NULL: 0): b in x (m), w (d). */
void top_system_dd_solve(struct top_system_dd *system, const double *residual, double *x,
                         double *w);

#endif
