/* F = 2 K S K of a skew matrix S = sum_p b_p (e_i e_j' - e_j e_i'), p = (i, j), at the pairs
 * themselves: in double-double, for the certificate. Kernels of rows whose features are counts are
 * 10^4 and more, those of features of 10^5 10^10, and products of two of them leave margins of 1:
 * what sums in double, or in long double, lose of them is soon more than the gap. */
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
    size_t n;          /* rows */
    const double *K;   /* (n, n), symmetric */
    const double *off; /* (n, n) what K's double lacks of it; NULL: not known */
    const struct skew_pair *pair;
    const size_t *first; /* (n + 1) the pairs of each row as `high` */
    struct threads *threads;
};

/* Of products of K, over their size: with |k(u, v)| <= reach_u reach_v each margin is within this
 * times 2 reach_i reach_j sum_p 2 |b_p| reach reach, but for the rounding to double and for what K
 * is off by. */
double skew_rounding(size_t n);

/* s (pairs) = F of b (pairs), within a unit of double besides. */
int skew_margins(const struct skew *skew, const double *b, double *s, struct error *err);

#endif
