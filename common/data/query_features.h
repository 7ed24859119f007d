/* Features that depend on the other rows of a query: scaling by query, and the means of features
 * over the rows of the query. Absent values of sparse rows are 0. */
#ifndef COMMON_DATA_QUERY_FEATURES_H
#define COMMON_DATA_QUERY_FEATURES_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stdbool.h>
#include <stdint.h>

/* Fails if rows cannot have them: if none has a query, for compact rows, and for too many columns.
 */
int query_features_check(const struct data *data, struct error *err);

/* Scales the rows of each query by themselves: each column to (x - mean) / sd, with the standard
 * deviation of the population, or without `std` to (x - min) / (max - min); a column that is
 * constant in the query becomes 0. The rows become dense with `width` columns (values in others are
 * dropped). Fails as query_features_check does, and if memory runs out. */
int query_features_scale(struct data *data, uint32_t width, bool std, struct error *err);

/* Gives rows `width` columns (values in others are dropped) and appends as many: the means over the
 * rows of `data` of one query, summed in their order in double. The rows become dense with 2 width
 * columns. Fails as query_features_check does, and if memory runs out. */
int query_features_append_means(struct data *data, uint32_t width, struct error *err);

#endif
