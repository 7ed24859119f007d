/* Measures of each query of a test file, and the rows of a table of them (--by-query).
 *
 * Each query has a state of the family's measures, as if its rows were a file; so this serves every
 * family. Rows of a query need not stand together. */
#ifndef DRIVER_BY_QUERY_H
#define DRIVER_BY_QUERY_H

#include "common/base/error.h"
#include "common/base/output.h"
#include "common/data/data.h"
#include "common/model/model.h"
#include "driver/measures.h"
#include "driver/options.h"

#include <stddef.h>

struct by_query;

/* Begins a file; everything is borrowed. The caller ends with by_query_free. */
int by_query_create(struct by_query **queries, const struct measures *measures,
                    const struct options *options, const struct model *model, struct error *err);
void by_query_free(struct by_query *queries);

/* Takes all rows of data with their scores (rows, n_scores) row-major. */
int by_query_add(struct by_query *queries, const struct data *data, const double *scores,
                 size_t n_scores, struct error *err);

/* The columns of the table before the measures. */
#define BY_QUERY_COLUMNS "file\tquery\trows\tpairs"

/* Writes a row for each query, in the order of their first rows in the file `path`: its qid (empty
 * where the file has none), its rows, its pairs of rows with different labels (where labels are
 * numbers), and the measures. Empty is what cannot be measured: there is nothing in the query, or
 * the file as a whole has no value, file_value (n) is NaN. */
int by_query_write(const struct by_query *queries, const char *path, const struct measure *list,
                   size_t n, const double *file_value, struct output *output, struct error *err);

#endif
