/* Features of queries: after the features of a row, the means of each feature over all rows of its
 * query. A score can then depend on the other rows of the query. */
#ifndef COMMON_DATA_QUERY_MEANS_H
#define COMMON_DATA_QUERY_MEANS_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stdint.h>

/* Fails if rows cannot have them: if none has a query, for compact rows, and for too many columns.
 */
int query_means_check(const struct data *data, struct error *err);

/* Gives rows `width` columns (values in others are dropped) and appends as many: the means over the
 * rows of `data` of one query, summed in their order in double. The rows become dense with 2 width
 * columns. Fails as query_means_check does, and if memory runs out. */
int query_means_append(struct data *data, uint32_t width, struct error *err);

#endif
