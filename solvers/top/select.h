/* The rows with the largest scores, where the rows are spread over ranks. */
#ifndef SOLVERS_TOP_SELECT_H
#define SOLVERS_TOP_SELECT_H

#include "common/base/cluster.h"

#include <stddef.h>
#include <stdint.h>

/* As top_risk_select does, of the rows of all ranks: puts those of this rank's rows order[0..n) that are
 * among the first first, and returns their number. *left is what the next one of this rank has of its
 * share: not 0 on one rank at most. Among equals ranks and their rows come in their order.
 *
 * Scores are looked at as whole numbers of 64 bits in the same order, 8 bits at a time from the top:
 * each time one sum of what shares and rows the 256 values of these bits have. So the choice does not
 * depend on how rows are spread, but among equals and for rounding of sums of shares. All ranks. */
size_t top_select(struct cluster *cluster, const double *s, const double *share, uint32_t *order,
                  size_t n, double *left);

#endif
