/* Selection of the rows with the largest values, with the rows distributed over processes: a radix
 * select. */
#ifndef METHODS_SELECT_LARGEST_H
#define METHODS_SELECT_LARGEST_H

#include "common/distributed/cluster.h"

#include <stddef.h>
#include <stdint.h>

/* Selects rows in descending order of `value` until their shares sum to `amount`. The rows are
 * those of all processes; order[0..n) lists this process's. Moves its rows that are selected with
 * their whole share to the front of order, and returns their number. *left: the selected part
 * of the share of the next row in order, not 0 on at most one process. Among equal values processes
 * come in their order. value and share are indexed by row; share >= 0.
 *
 * *last (may be NULL): the value of the first row that is not selected with its whole share, the
 * same on all processes; -INFINITY if all are.
 *
 * Values are mapped to 64-bit integers in the same order and compared 8 bits at a time from the
 * top, with one sum over processes of the shares and row counts of 256 bins. So the selection does
 * not depend on the distribution of rows, except among equal values and for rounding of sums of
 * shares. Cost: O(n) and at most 8 sums. All processes call it. */
size_t select_largest(struct cluster *cluster, const double *value, const double *share,
                      double amount, uint32_t *order, size_t n, double *left, double *last);

#endif
