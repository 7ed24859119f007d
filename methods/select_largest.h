/* The rows with the largest values, where the rows are spread over ranks. */
#ifndef METHODS_SELECT_LARGEST_H
#define METHODS_SELECT_LARGEST_H

#include "common/distributed/cluster.h"

#include <stddef.h>
#include <stdint.h>

/* Of the rows of all ranks, in the order of their values from the largest down, those with a share
 * of `amount` in all: puts those of this rank's rows order[0..n) that have their whole share first,
 * and returns their number. *left is what the next one of this rank has of its share: not 0 on one
 * rank at most. Among equals ranks come in their order. value and share are by row; share >= 0.
 *
 * *last (NULL: unwanted) is the value of the first row that has not its whole share, on all ranks
 * the same; -INFINITY if all have theirs.
 *
 * Values are looked at as whole numbers of 64 bits in the same order, 8 bits at a time from the
 * top: each time one sum of what shares and rows the 256 values of these bits have. So the choice
 * does not depend on how rows are spread, but among equals and for rounding of sums of shares. All
 * ranks. */
size_t select_largest(struct cluster *cluster, const double *value, const double *share,
                      double amount, uint32_t *order, size_t n, double *left, double *last);

#endif
