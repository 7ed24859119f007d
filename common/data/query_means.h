/* Features of queries: behind those of a row stand the means of each over all rows of its query. A
 * score can then depend on what the others of the query are like. */
#ifndef COMMON_DATA_QUERY_MEANS_H
#define COMMON_DATA_QUERY_MEANS_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stdint.h>

/* Whether rows can have them: fails if none has a query, and for compact rows or too many
 * columns. */
int query_means_check(const struct data *data, struct error *err);

/* Gives rows `width` columns (what is stored beyond goes), and as many behind them: the means over
 * the rows of `data` of one query, summed in their order in double. The rows become dense, and
 * their columns twice `width`. Fails as query_means_check does, and for lack of memory. */
int query_means_append(struct data *data, uint32_t width, struct error *err);

#endif
