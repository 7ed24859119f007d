/* Weights of rows, from a file of their own. */
#ifndef COMMON_DATA_ROW_WEIGHTS_H
#define COMMON_DATA_ROW_WEIGHTS_H

#include "common/base/error.h"

#include <stddef.h>

/* Reads weights from a text file (plain or gzip, "-": standard input), one number on each line.
 * Fails unless there are n lines, each a finite number that is not negative. weight (count) = those
 * of rows first .. first + count of the n. */
int row_weights_read(const char *path, double *weight, size_t first, size_t count, size_t n,
                     struct error *err);

#endif
