/* A list of the preferences of few distinct rows, for the interior-point method (interior_point.h)
 * and the method of multipliers (multipliers.h). Duplicate rows, of any groups, share one score,
 * and preferences of the same two distinct rows are summed. In data with many duplicates, such as
 * fingerprints of molecules, few preferences remain. */
#ifndef FAMILIES_RANK_SOLVER_LISTED_PAIRS_H
#define FAMILIES_RANK_SOLVER_LISTED_PAIRS_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/pairs.h"
#include "families/rank/solver/proof_points.h"
#include "fit/score_map.h"
#include "methods/row_features_dd.h"

#include <stdint.h>

struct fit; /* fit/fit.h */

/* Maximal number of distinct rows of the interior-point method: an iteration with them takes some
 * seconds. */
enum { RANK_MAX_LISTED_ROWS = 2896 };

struct rank_listed {
    const struct rank_pairs *pairs;
    size_t n;        /* distinct rows of groups with preferences; or scores that are margins */
    size_t n_scores; /* scores of the problem */
    uint32_t *row;   /* (n) first score of each distinct row */
    uint32_t *distinct_row; /* (n_scores) distinct row of each score, or RANK_LISTED_NONE */
    /* groups of distinct rows; groups that share a duplicate are one. Empty if scores are
     * margins */
    struct row_groups groups;
    /* preferences; the first n_hinges are of two distinct rows, the others of duplicates, whose
     * margin is 0 for all weights */
    size_t n_pairs, n_hinges;
    uint32_t *better, *worse; /* (n_pairs) distinct rows; worse is NULL if scores are margins */
    double *weight; /* (n_pairs) sums of the weights of pairs, rounded down if there are several */
    double *W;      /* (n, n) work of the interior-point method and of rank_listed_points; NULL if
                       scores are margins */
    size_t *group_start; /* arrays of groups */
    uint32_t *group_row;
};

#define RANK_LISTED_NONE UINT32_MAX

/* For the interior-point method: *n = number of distinct rows, or of all rows for linear problems
 * of few rows; 0: there are too many rows (11,584 at most), distinct rows or features. margins:
 * scores are margins of pairs. -1 if memory is short. */
int rank_listed_count(const struct problem *problem, const struct score_map *map, bool margins,
                      size_t *n, struct error *err);

/* Lists the preferences. weight (map->n): weight of each score if scores are margins of pairs
 * (exterior products); NULL: scores are of rows. n_hinges is 0 if all preferences are of equal
 * rows. While it is made, 4 bytes for each entry of W are needed in addition. Borrows pairs. -1 if
 * memory is short. The caller calls rank_listed_free, also then. */
int rank_listed_create(struct rank_listed *listed, const struct problem *problem,
                       const struct score_map *map, const struct rank_pairs *pairs,
                       const double *weight, struct error *err);
void rank_listed_free(struct rank_listed *listed);

/* weights (map->dimension) = those of the function with coefficients b (n) of the distinct rows. -1
 * if memory is short. */
int rank_listed_adjoint(const struct rank_listed *listed, const struct score_map *map,
                        const double *b, double *weights, struct error *err);

/* weights (map->dimension) = A'alpha, alpha (n_pairs). error (map->n), if not NULL: bounds of the
 * errors of the coefficients, with that of the sum of rows into weights. -1 if memory is short. */
int rank_listed_weights(const struct rank_listed *listed, const struct score_map *map,
                        const double *alpha, double *weights, double *error, struct error *err);

/* Sets the dual point of fit to alpha (n_pairs): dual_weights and dual_error, which the caller has
 * allocated, dual_offset and rounding. -1 if memory is short. */
int rank_listed_dual(const struct rank_listed *listed, const struct score_map *map,
                     const double *alpha, double cost, bool squared, struct fit *fit,
                     struct error *err);

/* Adds the dual point alpha (n_pairs) to points: the alpha of a listed preference is divided among
 * its pairs by their weights, to at most C times each weight if `capped` (hinge), with an exact
 * sum. Only if scores are of rows. Overwrites W. -1 if memory is short. */
int rank_listed_points(struct rank_listed *listed, const double *alpha, double cost, bool capped,
                       struct rank_points *points, struct error *err);

#endif
