/* Measures of a ranking: by group of rows (query), and averaged over the groups.
 *
 * With targets t (larger is better) and scores s within one group of n rows:
 *   pairwise   of the pairs with different targets, the share that the scores order the same way;
 *              a pair with equal scores counts 1/2
 *   kendall    tau-b = (C - D) / sqrt((pairs not tied in t) (pairs not tied in s))  (Kendall 1945)
 *   spearman   Pearson's correlation of the ranks, ties sharing the average of their ranks
 *   map        average precision: mean over the relevant rows (t > 0) of the precision at their
 *              place; its mean over groups is MAP
 *   mrr        1 / place of the first relevant row
 *   ndcg@k     sum over the first k places of (2^t - 1) / log2(1 + place), divided by what the
 *              best order gives  (Burges et al. 2005)
 * Where rows have equal scores, map, mrr and ndcg are the expected values over all orders of these
 * rows (McSherry and Najork 2008): the order of the rows in the file has no influence.
 *
 * A group has no value (NaN) for pairwise, kendall and spearman when all its targets are equal,
 * for map and mrr when no row is relevant, for ndcg when no target is above 0. Equal scores
 * throughout give 1/2, 0 and 0. If any target of the set is below 0 or above METRICS_MOST_GRADE,
 * targets are not grades and no group has an ndcg. */
#ifndef FAMILIES_RANK_METRICS_H
#define FAMILIES_RANK_METRICS_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Numbers of the measures; METRICS_NDCG + i is ndcg@at[i]. */
enum {
    METRICS_PAIRWISE,
    METRICS_KENDALL,
    METRICS_SPEARMAN,
    METRICS_MAP,
    METRICS_MRR,
    METRICS_NDCG
};

/* The largest target that passes for a grade. */
enum { METRICS_MOST_GRADE = 60 };

struct metrics_group {
    uint64_t query; /* 0 when there are no queries */
    size_t n_rows;
    double n_pairs; /* pairs with different targets, exact below 2^53 */
};

struct metrics {
    size_t n_measures;           /* METRICS_NDCG + n_at */
    double *mean;                /* (n_measures): over groups of min_group rows and more that have
                                    a value; NaN when there is none */
    size_t *n_counted;           /* (n_measures): groups in each mean */
    size_t n_groups;             /* all groups, small ones too */
    size_t n_small;              /* groups of less than min_group rows, in no mean */
    struct metrics_group *group; /* (n_groups), by ascending query */
    double *value;               /* (n_groups, n_measures) row-major; NaN: none */
};

/* Measures n rows: target and score (n), query (n) in any order or NULL for one group, ndcg at
 * each of at[0..n_at), all at least 1. Rows with target NaN are left out. Scores that are not
 * finite are an error, as is a set without a row. Takes O(n log n) time and 64 bytes a row. The
 * caller calls metrics_free. */
int metrics_rank(struct metrics *metrics, size_t n, const double *target, const double *score,
                 const uint64_t *query, const uint32_t *at, size_t n_at, size_t min_group,
                 struct error *err);
void metrics_free(struct metrics *metrics);

/* Pairwise accuracy from margins instead of scores: adds to *n_pairs the pairs of the block with
 * target_i[r] > target_j[c], and to *n_right those of them with margin (n_i, n_j) row-major above
 * 0, half of those with margin 0. Blocks that tile a group's full square count each of its pairs
 * once. */
void metrics_pairs(size_t n_i, const double *target_i, size_t n_j, const double *target_j,
                   const double *margin, double *n_right, double *n_pairs);

#endif
