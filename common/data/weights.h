/* Weights of rows, from a file beside the data, and of labels, from an option. */
#ifndef COMMON_DATA_WEIGHTS_H
#define COMMON_DATA_WEIGHTS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "driver/options.h"

#include <stddef.h>

/* Reads weight[0..n) from a text file (plain or gzip, "-": standard input), a number a line. Fails
 * unless there are n lines, each a finite number that is not negative. */
int weights_read(const char *path, double *weight, size_t n, struct error *err);

/* weight (data->names.n): 1, or what the option LABEL:WEIGHT,... says of a label. Fails for a label
 * that no row has. */
int weights_by_label(const struct data *data, const struct option *option, double *weight,
                     struct error *err);

#endif
