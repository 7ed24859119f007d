/* Kernels that are not known to be positive semidefinite (doc/mathematics, "Kernels"). */
#ifndef CHECK_DEFINITE_H
#define CHECK_DEFINITE_H

#include "check/points.h"
#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the kernel is positive semidefinite whatever the rows. */
bool definite_always(const struct kernel *kernel);

enum {
    DEFINITE_EXACT = 1500, /* points whose matrix is factored in double-double: their cube counts */
    DEFINITE_MOST = 6000   /* and in long double; no trainer certifies more of such a kernel */
};

/* Points whose kernel matrix is looked at, m of them, at most DEFINITE_MOST. */
struct definite {
    size_t m;
    const uint32_t *point; /* (m) */
    const double
        *copies;        /* (m) how many each stands for, 1 or more: its shift is divided by them */
    const double *cost; /* (m) what a shift of 1 takes from the bounds, at each; NULL: ... */
    double *shift;  /* (m) ... it is the same for all. Found: makes the matrix positive semidefinite
                       on its diagonal */
    bool found;     /* there is such a shift, among those that rounding excuses */
    bool symmetric; /* the matrix is */
};

/* The largest shift that rounding excuses. */
double definite_largest_shift(const struct points *points);

/* Finds by Cholesky's factorisation a shift, nearly the least: of one size for all points or, if
 * that costs less, of one part of each point's own value. The caller has filled in all but what is
 * found, and has the room for it. */
int definite_shift(struct definite *definite, const struct points *points, struct threads *threads,
                   struct error *err);

#endif
