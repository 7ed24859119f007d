/* Finding duplicate rows. common/kernel/distinct_rows.h builds on it. */
#ifndef COMMON_DATA_DUPLICATES_H
#define COMMON_DATA_DUPLICATES_H

#include "common/base/error.h"
#include "common/data/data.h"

#include <stddef.h>
#include <stdint.h>

/* first[i] (n) = the smallest k with rows[k] equal to rows[i] in all values. Labels and other
 * properties of rows are ignored, and so is the sign of 0. rows (n) are row numbers of data; NULL:
 * all rows. Cost: a sort of n hash values, and comparisons of rows with equal hashes. */
int duplicates_find(const struct data *data, const uint32_t *rows, size_t n, uint32_t *first,
                    struct error *err);

/* Gives duplicate rows the scores of the first of them, s (n, k) of rows with this `first` (n).
 * Scores by products with a kernel matrix depend in their last bits on a row's place in it, and
 * measures must see ties. */
void duplicates_equalise(const uint32_t *first, size_t n, double *s, size_t k);

#endif
