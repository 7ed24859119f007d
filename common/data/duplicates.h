/* Rows that are equal. */
#ifndef COMMON_DATA_DUPLICATES_H
#define COMMON_DATA_DUPLICATES_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stddef.h>
#include <stdint.h>

/* twin[i] (n) = the smallest k with rows[k] equal to rows[i] in all values; labels and what else
 * rows have do not count, nor does the sign of a 0. rows (n) are numbers of data's rows; NULL: all
 * of them. */
int twins_find(const struct data *data, const uint32_t *rows, size_t n, uint32_t *twin,
               struct error *err);

#endif
