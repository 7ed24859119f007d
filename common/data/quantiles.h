/* Quantiles of feature values among the training rows, for --scale quantile.
 *
 * Of n training values the mid-rank of v is the number of values below v, and half of those equal
 * to v. The quantile of v is its mid-rank, shifted and scaled so that the smallest value has 0 and
 * the largest 1. Values between two training values are interpolated, values outside get 0 or 1. A
 * feature that is constant in training has quantile 0.
 *
 * The piecewise linear function is stored by breakpoints: training values with their quantiles. Of
 * more than 2 QUANTILE_STEPS rows at most 2 QUANTILE_STEPS + 2 values are stored: between two of
 * them the quantile rises by at most 1 / QUANTILE_STEPS if there is a training value between, so
 * that no quantile has a larger error. */
#ifndef COMMON_DATA_QUANTILES_H
#define COMMON_DATA_QUANTILES_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stddef.h>
#include <stdint.h>

enum { QUANTILE_STEPS = 256 };

struct breakpoint {
    float value, quantile;
};

struct quantiles {
    uint32_t n; /* number of features; 0: there is no function, and there are no arrays */
    /* (n + 1) the breakpoints of feature c are breakpoint[start[c]..start[c + 1]), at least one */
    uint64_t *start;
    /* values ascend strictly, quantiles weakly; the first quantile is 0, the last of several 1 */
    struct breakpoint *breakpoint;
};

/* Computes the quantiles of the features of `data`, which has at least one row. Values that are not
 * stored are 0. The caller calls quantiles_free. Fails if memory runs out. */
int quantiles_fit(struct quantiles *quantiles, const struct data *data, struct error *err);

/* The quantile of a value of feature c < n. */
double quantiles_of(const struct quantiles *quantiles, size_t c, double value);

/* Frees the arrays and empties the struct. Arrays may be from malloc or memory_array. */
void quantiles_free(struct quantiles *quantiles);

#endif
