/* Kernels that need not be positive semidefinite (doc/mathematics, "Kernels"). */
#ifndef CHECK_DEFINITE_H
#define CHECK_DEFINITE_H

#include "check/points.h"
#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the kernel is positive semidefinite for all rows. */
bool definite_always(const struct kernel *kernel);

enum {
    /* maximum points whose matrix is factored in double-double, at a cost of their cube */
    DEFINITE_MAX_EXACT = 1500,
    DEFINITE_MAX = 6000 /* and in long double; no trainer certifies more points of such a kernel */
};

/* The points whose kernel matrix is tested: m of them, at most DEFINITE_MAX. */
struct definite {
    size_t m;
    uint32_t *point; /* (m) */
    /* (m) number of equal points of each, >= 1: its shift is divided by this */
    double *copies;
    /* (m) change of the bounds by a shift of 1 at each point; NULL: equal for all */
    double *cost;
    double *shift;  /* (m) result: makes the matrix positive semidefinite on its diagonal */
    bool found;     /* result: such a shift exists that rounding may explain */
    bool symmetric; /* result: the matrix is symmetric */
};

/* The largest shift that rounding may explain. */
double definite_largest_shift(const struct points *points);

/* Finds, by Cholesky factorisation and bisection, nearly the smallest shift: of equal size for all
 * points or, if that costs less, proportional to the diagonal. The caller sets all members but the
 * results, and sets shift to 0, which remains if no shift is found. */
int definite_shift(struct definite *definite, const struct points *points, struct threads *threads,
                   struct error *err);

#endif
