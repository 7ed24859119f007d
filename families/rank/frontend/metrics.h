/* Measures of a ranking, for each group of rows (query) and averaged over the groups.
 *
 * With targets t (larger is better) and scores s of the n rows of a group; the row with the largest
 * score is at position 1:
 *   pairwise   of the pairs with different targets, the share that the scores order the same way;
 *              a pair with equal scores counts 1/2
 *   kendall    tau-b = (C - D) / sqrt((pairs not tied in t) (pairs not tied in s))  (Kendall 1945)
 *   spearman   Pearson's correlation of the ranks; ties share the average of their ranks
 *   map        average precision: mean over the relevant rows of the precision at their position;
 *              its mean over groups is MAP
 *   mrr        1 / position of the first relevant row
 *   ndcg@k     sum over the first k positions of gain(t) / log2(1 + position), divided by its value
 *              for the best order (Jarvelin and Kekalainen 2002; gain 2^t - 1: Burges et al. 2005)
 *   precision@k  relevant rows among the first k positions, over k, even with fewer than k rows
 *   err@k      sum over the first k positions p of R_p / p times the product of 1 - R before p,
 *              R = (2^t - 1) / 2^max_grade  (Chapelle et al. 2009)
 * With equal scores, these are expected values over all orders of the tied rows (McSherry and
 * Najork 2008), so the order of the rows in the file has no influence.
 *
 * Rows with t > 0 are relevant, or with t >= threshold if there is one; t < 0 has gain 0. Targets
 * are grades if all of them are integers of magnitude at most RANK_MAX_GRADE. ndcg and err require
 * grades; map, mrr and precision require grades or a threshold. pairwise, kendall and spearman of a
 * group are NaN if all its targets are equal; the other measures are `empty` if no row is relevant
 * (ndcg and err: has a gain). If all scores are equal, the first three are 1/2, 0 and 0. */
#ifndef FAMILIES_RANK_FRONTEND_METRICS_H
#define FAMILIES_RANK_FRONTEND_METRICS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Indices of the measures; METRICS_CUTS + i is settings->cut[i]. */
enum {
    METRICS_PAIRWISE,
    METRICS_KENDALL,
    METRICS_SPEARMAN,
    METRICS_MAP,
    METRICS_MRR,
    METRICS_CUTS
};

/* Maximal k of err@k. */
enum { METRICS_MAX_ERR = 1000 };

/* A measure of the first `at` positions, at >= 1. */
enum metrics_kind { METRICS_NDCG, METRICS_PRECISION, METRICS_ERR };
struct metrics_cut {
    enum metrics_kind kind;
    uint32_t at;
};

/* How groups are measured. */
struct metrics_settings {
    size_t min_group; /* smallest group that counts in means */
    const struct metrics_cut *cut;
    size_t n_cuts;
    bool linear_gain; /* gain(t) = t, else 2^t - 1 */
    double threshold; /* NaN: none */
    double empty;     /* value of groups without relevant rows; NaN: they are left out */
    double max_grade; /* err: the largest grade, to which larger ones are clipped */
};

/* Measures n rows: target and score (n), query (n) in any order or NULL for one group. Rows with
 * target NaN are left out. mean (METRICS_CUTS + n_cuts) = the mean over the groups of at least
 * min_group rows that have a value, NaN if there is none; count = the number of these groups;
 * *n_relevant = groups of at least min_group rows with a relevant row. -1 if a score is not finite
 * or memory is short. O(n log n) time, 64 bytes for each row. */
int metrics_rank(size_t n, const double *target, const double *score, const uint64_t *query,
                 const struct metrics_settings *settings, double *mean, double *count,
                 double *n_relevant, struct error *err);

#endif
