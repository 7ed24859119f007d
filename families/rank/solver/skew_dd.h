/* F = 2 K S K of a skew-symmetric matrix S = sum_p b_p (e_i e_j' - e_j e_i'), p = (i, j), at the
 * pairs themselves, in double-double, for the certificate of pair features. Kernel values of counts
 * are 10^4 and more, of features of size 10^5 they are 10^10, and products of two of them leave
 * margins of about 1: rounding errors of sums in double or long double exceed the gap. Cost: O(n
 * n_pairs). */
#ifndef FAMILIES_RANK_SOLVER_SKEW_DD_H
#define FAMILIES_RANK_SOLVER_SKEW_DD_H

#include "common/base/error.h"
#include "common/base/threads.h"

#include <stddef.h>
#include <stdint.h>

struct skew_pair {
    uint32_t high, low; /* i, j */
};

struct skew {
    size_t n;            /* rows */
    const double *K;     /* (n, n), symmetric */
    const double *K_low; /* (n, n) low-order part of K; NULL: unknown */
    const struct skew_pair *pair;
    const size_t *first; /* (n + 1) first pair of each row as `high` */
    struct threads *threads;
};

/* Rounding-error factor of the products: if |k(u, v)| <= norm_u norm_v, each margin is within this
 * times 2 norm_i norm_j sum_p 2 |b_p| norm norm, without the rounding to double and the error of K.
 */
double skew_rounding(size_t n);

/* s (pairs) = F of b (pairs), rounded to double. -1 if memory is short. */
int skew_margins(const struct skew *skew, const double *b, double *s, struct error *err);

#endif
