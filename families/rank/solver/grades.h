/* Weights of preferences by their effect on NDCG (doc/mathematics, "rank: the problem").
 *
 * Sort the rows of a group by grade g, the best one at position 1. Let DCG* be the sum over
 * positions p of (2^g - 1) / log2(1 + p) (or of g instead of 2^g - 1), and d the mean of 1 / log2(1
 * + p) over the positions of one grade. A pair of grades a > b has the weight
 *   (2^a - 2^b) (d_a - d_b) / DCG*,
 * the mean loss of NDCG if two of their rows swap positions. This is LambdaRank's factor (Burges et
 * al. 2006) at the best order instead of the current one, so it is constant and the problem convex.
 * RANK_GAIN has the weight 2^a - 2^b, or a - b. */
#ifndef FAMILIES_RANK_SOLVER_GRADES_H
#define FAMILIES_RANK_SOLVER_GRADES_H

#include "common/base/error.h"
#include "families/rank/solver/pairs.h"

#include <stdbool.h>

/* *grade = the grade of a target; negative targets have grade 0. -1 with err set if the target is
 * not a grade. */
int rank_grades_of(double target, double *grade, struct error *err);

/* On entry gain[] has the grade of each level. Fills gain and, for RANK_NDCG, discount; divides the
 * weights of the groups by their DCG*; sums the relative weights. A sample of the pairs must have
 * been drawn. -1 if memory is short. */
int rank_grades_weigh(struct rank_pairs *pairs, bool linear, struct error *err);

#endif
