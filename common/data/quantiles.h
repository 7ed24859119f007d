/* Ranks of values among those of training rows, a feature at a time: what --scale quantile is made
 * of.
 *
 * Of n training values the mid-rank of v is the number of those below v and half of those equal to
 * v. The rank of v is its mid-rank, moved and stretched so that the least value has 0 and the
 * greatest 1. Values between two training values are interpolated, values outside get 0 or 1. A
 * feature that is constant in training has rank 0 throughout.
 *
 * Knots are training values with their ranks. Of more than 2 RANKS_STEPS rows only some of the
 * values are kept, at most 2 RANKS_STEPS + 2: between two that are kept the rank rises by 1 /
 * RANKS_STEPS at the most, if there is any training value between, so that none is further off. */
#ifndef COMMON_DATA_QUANTILES_H
#define COMMON_DATA_QUANTILES_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stddef.h>
#include <stdint.h>

enum { RANKS_STEPS = 256 };

struct knot {
    float value, rank;
};

struct ranks {
    uint32_t n; /* features; 0: there is none, and no arrays */
    uint64_t
        *start; /* (n + 1) the knots of feature c are knot[start[c]..start[c + 1]), one at least */
    struct knot
        *knot; /* values ascend, ranks do not descend; the first is 0, the last of several 1 */
};

/* The ranks of the features of `data`, which has a row at least. Values that are not stored are 0.
 * The caller calls ranks_free. Fails for lack of memory. */
int ranks_fit(struct ranks *ranks, const struct data *data, struct error *err);

/* The rank of a value of feature c < n. */
double ranks_of(const struct ranks *ranks, size_t c, double value);

/* Releases what it owns, and leaves none. Arrays may be from malloc or memory_array. */
void ranks_free(struct ranks *ranks);

#endif
