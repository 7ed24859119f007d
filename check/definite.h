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

/* Finds by Cholesky's factorisation a *shift, among those that rounding excuses, such that the matrix of
 * m points, m at most DEFINITE_MOST, with `shift` added to its diagonal is positive semidefinite;
 * *found: there is one. *symmetric: the matrix is. */
int definite_shift(const struct points *points, const uint32_t *used, size_t m,
                   struct threads *threads, double *shift, bool *found, bool *symmetric,
                   struct error *err);

#endif
