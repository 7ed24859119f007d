/* Measures of a ranking: by group of rows (query), and averaged over the groups.
 *
 * With targets t (larger is better) and scores s within one group of n rows:
 *   pairwise   of the pairs with different targets, the share that the scores order the same way;
 *              a pair with equal scores counts 1/2
 *   kendall    tau-b = (C - D) / sqrt((pairs not tied in t) (pairs not tied in s))  (Kendall 1945)
 *   spearman   Pearson's correlation of the ranks, ties sharing the average of their ranks
 *   map        average precision: mean over the relevant rows of the precision at their place; its
 *              mean over groups is MAP
 *   mrr        1 / place of the first relevant row
 *   ndcg@k     sum over the first k places of gain(t) / log2(1 + place), divided by what the best
 *              order gives  (Jarvelin and Kekalainen 2002; gain 2^t - 1: Burges et al. 2005)
 *   precision@k  relevant rows among the first k places, over k, also where there are fewer rows
 *   err@k      sum over the first k places of R_place / place times prod of 1 - R of those before,
 *              R = (2^t - 1) / 2^max_grade  (Chapelle et al. 2009)
 * Where rows have equal scores, these are the expected values over all orders of these rows
 * (McSherry and Najork 2008): the order of the rows in the file has no influence.
 *
 * Relevant are rows with t > 0, or t >= threshold if there is one; t below 0 has the gain of 0.
 * Targets are grades if all of the set are whole numbers of at most RANK_MAX_GRADE in size;
 * ndcg and err are of grades only, map, mrr and precision of grades or where a threshold is given.
 * A group has no value (NaN) for pairwise, kendall and spearman when all its targets are equal; and
 * `empty` for the others when no row is relevant (ndcg and err: has a gain). Equal scores
 * throughout give 1/2, 0 and 0. */
#ifndef FAMILIES_RANK_FRONTEND_METRICS_H
#define FAMILIES_RANK_FRONTEND_METRICS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of the measures; METRICS_CUTS + i is that of settings->cut[i]. */
enum {
    METRICS_PAIRWISE,
    METRICS_KENDALL,
    METRICS_SPEARMAN,
    METRICS_MAP,
    METRICS_MRR,
    METRICS_CUTS
};

/* The most places that err looks at. */
enum { METRICS_MAX_ERR = 1000 };

/* A measure of the first `at` places, at >= 1. */
enum metrics_kind { METRICS_NDCG, METRICS_PRECISION, METRICS_ERR };
struct metrics_cut {
    enum metrics_kind kind;
    uint32_t at;
};

/* How groups are measured. */
struct metrics_settings {
    size_t min_group; /* fewest rows of a group that counts in means */
    const struct metrics_cut *cut;
    size_t n_cuts;
    bool linear_gain; /* gain(t) = t, else 2^t - 1 */
    double threshold; /* NaN: none */
    double empty;     /* NaN: such groups are left out */
    double max_grade; /* of err; targets above count as it */
};

/* Measures n rows: target and score (n), query (n) in any order or NULL for one group. Rows with
 * target NaN are left out. mean (METRICS_CUTS + n_cuts) = over the groups of min_group rows and
 * more that have a value, NaN when there is none, and count how many these are; *n_relevant = such
 * groups with a relevant row. Scores that are not finite are an error. Takes O(n log n) time and 64
 * bytes a row. */
int metrics_rank(size_t n, const double *target, const double *score, const uint64_t *query,
                 const struct metrics_settings *settings, double *mean, double *count,
                 double *n_relevant, struct error *err);

#endif
