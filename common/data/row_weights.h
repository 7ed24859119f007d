/* Weights of rows, from a file of their own. */
#ifndef COMMON_DATA_ROW_WEIGHTS_H
#define COMMON_DATA_ROW_WEIGHTS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"

#include <stddef.h>

/* Reads weights from a text file (plain or gzip, "-": standard input), one number on each line.
 * Fails unless there are n lines, each a finite number that is not negative. weight (count) = those
 * of rows first .. first + count of the n. */
int row_weights_read(const char *path, double *weight, size_t first, size_t count, size_t n,
                     struct error *err);

/* Fails if a row of the data has the weight 0, for the family of that name. Called by all processes
 * of the cluster (NULL: this one), over which the rows are distributed. */
int row_weights_refuse_zero(const struct data *data, struct cluster *cluster, const char *family,
                            struct error *err);

#endif
