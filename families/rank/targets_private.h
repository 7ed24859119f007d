/* What one map and all of them share. */
#ifndef FAMILIES_RANK_TARGETS_PRIVATE_H
#define FAMILIES_RANK_TARGETS_PRIVATE_H

#include "families/rank/targets.h"

#include <stddef.h>

/* The conformal quantile: that of rank ceil(0.9 (n + 1)), INFINITY if n is less. Sorts. */
double target_quantile(double *residual, size_t n);

/* The range of the labels of rows. */
double target_few_range(const struct target_row *row, size_t n);

#endif
