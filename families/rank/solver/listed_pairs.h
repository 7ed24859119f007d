/* The preferences of few rows, listed: what interior points take
 * (families/rank/solver/interior_point.h). Scores of equal rows are one, whatever groups these are
 * in, and so are preferences of the same two: of a set with many equal rows, fingerprints of
 * molecules say, little is left. */
#ifndef FAMILIES_RANK_SOLVER_LISTED_PAIRS_H
#define FAMILIES_RANK_SOLVER_LISTED_PAIRS_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/pairs.h"
#include "families/rank/solver/proof_points.h"
#include "fit/score_map.h"
#include "methods/row_features_dd.h"

#include <stdint.h>

/* Most rows that differ: a step of an interior point with so many takes some seconds. */
enum { RANK_MAX_LISTED_ROWS = 2896 };

struct rank_listed {
    const struct rank_pairs *pairs;
    size_t n;        /* rows that differ, of groups that have preferences; or scores that are
                        margins */
    size_t n_scores; /* of the problem */
    uint32_t *row;   /* (n) the first score of each */
    uint32_t *place; /* (n_scores) where each is in row, or RANK_LISTED_NONE */
    struct row_groups groups; /* of rows, by their place; groups that have equal rows are one. None
                                 where scores are margins */
    size_t n_pairs, n_hinges; /* preferences; the first have two rows that differ, the others one,
                                 and a margin of 0 whatever the weights */
    uint32_t *better, *worse; /* (n_pairs) by place; worse NULL: a score is a margin */
    double *weight;           /* (n_pairs) sums of the weights of pairs, a little lower where there
                                 are several */
    double *W;                /* (n, n) work, of who has the listed; NULL: scores are margins */
    size_t *group_start;      /* of groups */
    uint32_t *group_row;
};

#define RANK_LISTED_NONE UINT32_MAX

/* *n = how many rows differ, or for linear problems of few rows how many there are; 0: too many of
 * them (of 11,584 at most), or of their features. margins: scores are margins. Fails when memory is
 * short, as the others do. */
int rank_listed_count(const struct problem *problem, const struct score_map *map, bool margins,
                      size_t *n, struct error *err);

/* weight (map->n): of each score where scores are margins of pairs (exterior products); NULL:
 * scores are of rows. n_hinges is 0 where there is none. Borrows pairs; the caller
 * ends with rank_listed_free, also where this fails. */
int rank_listed_create(struct rank_listed *listed, const struct problem *problem,
                       const struct score_map *map, const struct rank_pairs *pairs,
                       const double *weight, struct error *err);
void rank_listed_free(struct rank_listed *listed);

/* Adds alpha (n_pairs) to points, shared out among the pairs that a preference is the sum of, by
 * their weights and within C times these where it is `capped`; shares add up to alpha. Not where
 * scores are margins. Overwrites W. */
int rank_listed_points(struct rank_listed *listed, const double *alpha, double cost, bool capped,
                       struct rank_points *points, struct error *err);

#endif
