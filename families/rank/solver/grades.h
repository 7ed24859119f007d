/* What preferences are worth in NDCG (doc/mathematics, "rank: the problem").
 *
 * With the rows of a group in the order of their grades g, the best one at place 1, DCG* the sum
 * over places of (2^g - 1) / log2(1 + place) (or of g instead of 2^g - 1), and d the mean of 1 /
 * log2(1 + place) over the places that a grade takes up, a pair of grades a > b has the weight
 *   (2^a - 2^b) (d_a - d_b) / DCG*:
 * what NDCG loses on average if two of their rows swap places (LambdaRank's factor, Burges et al.
 * 2006, at the best order instead of the present one: so it is fixed, and the problem convex). By
 * gain alone (RANK_GAIN) the weight is 2^a - 2^b, or a - b. */
#ifndef FAMILIES_RANK_SOLVER_GRADES_H
#define FAMILIES_RANK_SOLVER_GRADES_H

#include "common/base/error.h"
#include "families/rank/solver/pairs.h"

#include <stdbool.h>

/* The grade that a target stands for: below 0 counts as 0. Fails if it is none. */
int rank_grades_of(double target, double *grade, struct error *err);

/* From gain[], which has the grade of each level, fills gain and, if it is there, discount, and
 * then divides the groups' weights by their DCG*; sums up what pairs are worth; a sample is drawn
 * already. */
int rank_grades_weigh(struct rank_pairs *pairs, bool linear, struct error *err);

#endif
