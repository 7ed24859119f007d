/* Measures of each query of a test file: the table of --by-query.
 *
 * Each query has its own state of the family's measures, as if its rows were a file of their own.
 * Rows of a query need not be adjacent. */
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

/* Starts a file; everything is borrowed. The caller ends with by_query_free. */
int by_query_create(struct by_query **queries, const struct measures *measures,
                    const struct options *options, const struct model *model, struct error *err);
void by_query_free(struct by_query *queries);

/* Adds all rows of data with their scores (rows, n_scores) row-major. */
int by_query_add(struct by_query *queries, const struct data *data, const double *scores,
                 size_t n_scores, struct error *err);

/* The header line of the table; labels: those of the family. The caller frees it; NULL if memory is
 * short. */
char *by_query_header(enum data_labels labels, const struct measure *list, size_t n,
                      struct error *err);

/* Writes a row for each query, in order of first occurrence in the file `path`: its qid (empty if
 * the file has none), the number of rows, the number of pairs of rows with different labels (if
 * labels are numbers), and the measures. A cell is empty if the measure is undefined for the query,
 * or for the file as a whole: file_value (n) is NaN. */
int by_query_write(const struct by_query *queries, const char *path, const struct measure *list,
                   size_t n, const double *file_value, struct output *output, struct error *err);

#endif
