/* The preference pairs of RankSVM, counted and never listed.
 *
 * Rows are held group by group, sorted by target. A pair (i, j) of one group is a preference when
 * the dense ranks of its targets differ by low <= r_i - r_j <= high; it is active at margin delta
 * when s_i - s_j < delta. With the group sorted by score, the active partners of a row are a run
 * of the sorted group, and those of them within the window of ranks are counted by a Fenwick tree
 * over ranks: all sums over pairs cost O(n log n); a small group's are faster pair by pair, on
 * vector registers (Lee & Lin, "Large-scale linear RankSVM", 2014; Airola, Pahikkala & Salakoski,
 * "Training linear ranking SVMs in linearithmic time", 2011). A sample of the pairs is the one case
 * in which pairs are listed.
 *
 * A pair has the weight of its group, or (RANK_NDCG, RANK_GAIN) that times a worth of its own,
 * which the two targets fix: sums are then taken target by target, of which there are few. */
#ifndef FAMILIES_RANK_SOLVER_PAIRS_H
#define FAMILIES_RANK_SOLVER_PAIRS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/rank.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A score and the place in its group's row[] that it belongs to. */
struct rank_scored {
    double score;
    uint32_t place;
};

struct rank_pairs {
    size_t n;                          /* rows of the problem */
    size_t n_groups;                   /* groups that have a pair */
    size_t n_groups_without;           /* groups that have none: left out of everything */
    double n_pairs;                    /* preferences, after sampling */
    uint32_t low, high;                /* the window on differences of ranks */
    size_t *start;                     /* (n_groups + 1) of each group in row, level and order */
    uint32_t *row;                     /* problem rows, by group, ascending targets within */
    uint32_t *level;                   /* dense rank of each row's target in its group, from 0 */
    uint32_t *n_levels;                /* (n_groups) */
    uint32_t *below_first, *below_end; /* of each row: the places in its group of the window's rows
                                          that it is preferred to, [first, end) */
    double *weight;                    /* (n_groups) of a pair of the group, of worth 1 */
    double *group_relative_weight;     /* (n_groups) sum over the preferences of the group of what
                                          they are worth: their number, but for RANK_NDCG and
                                          RANK_GAIN */
    double *gain, *discount;           /* of each level of a group, from start[] on: of RANK_NDCG,
                                          where a pair is worth the product of its levels'
                                          differences, and gain alone of RANK_GAIN */
    double weight_error; /* a weight of a pair may be off by that part of it, where it is worth
                            more or less than 1; else 0 */
    struct rank_scored *order; /* each group in the score order of the last pass: sorting begins
                                 there, since scores change little from pass to pass */
    size_t *partner_start;     /* sampled: (rows held + 1) of each row in partner; else NULL */
    uint32_t *partner;         /* sampled: places in the group of the pairs' other ends */
    size_t *task;              /* (n_tasks + 1) first group of each task: a fixed partition */
    size_t n_tasks;
    uint32_t max_levels, max_rows; /* of any group */
    struct cluster
        *cluster; /* over whose ranks the groups are spread: these are one's own; or NULL */
    struct threads *threads;
    double *scratch; /* per worker: Fenwick nodes */
    size_t scratch_stride;
    double *group_sum; /* (n_groups): per-group results, summed in order */
};

/* Finds groups and pairs of the problem's rows. Fails when there is no pair, on any rank. The
 * caller calls rank_pairs_free. */
int rank_pairs_create(struct rank_pairs *pairs, const struct problem *problem,
                      const struct rank_preferences *preferences, struct error *err);
void rank_pairs_free(struct rank_pairs *pairs);

/* What a pair of two levels of the group that begins at `base` is worth. */
static inline double rank_pairs_relative_weight(const struct rank_pairs *pairs, size_t base,
                                                uint32_t one, uint32_t other) {
    if (!pairs->gain) {
        return 1;
    }
    double gain = pairs->gain[base + one] - pairs->gain[base + other];
    return pairs->discount ? gain * (pairs->discount[base + one] - pairs->discount[base + other])
                           : fabs(gain);
}

/* A walk over the preferences of some groups, one by one, in the order of row[]. */
struct rank_pairs_walk {
    const struct rank_pairs *pairs;
    size_t group, better, worse;  /* of the current pair; rows as positions in row[] */
    size_t next_row, end_row;     /* rows whose pairs follow */
    size_t next_other, end_other; /* other pairs of `better` */
};

/* Before the first pair of the groups first .. end - 1. */
static inline struct rank_pairs_walk rank_pairs_walk(const struct rank_pairs *pairs, size_t first,
                                                     size_t end) {
    return (struct rank_pairs_walk){.pairs = pairs,
                                    .group = first,
                                    .next_row = pairs->start[first],
                                    .end_row = pairs->start[end]};
}

/* Goes to the next pair; false: there is none. */
static inline bool rank_pairs_next(struct rank_pairs_walk *walk) {
    const struct rank_pairs *pairs = walk->pairs;
    const size_t *sampled = pairs->partner_start;
    while (walk->next_other == walk->end_other) {
        if (walk->next_row == walk->end_row) {
            return false;
        }
        size_t k = walk->better = walk->next_row++;
        walk->group += k == pairs->start[walk->group + 1];
        walk->next_other = sampled ? sampled[k] : pairs->below_first[k];
        walk->end_other = sampled ? sampled[k + 1] : pairs->below_end[k];
    }
    size_t other = walk->next_other++;
    walk->worse = pairs->start[walk->group] + (sampled ? pairs->partner[other] : other);
    return true;
}

/* What the current pair is worth, and its weight. */
static inline double rank_pairs_walk_relative_weight(const struct rank_pairs_walk *walk) {
    const struct rank_pairs *pairs = walk->pairs;
    return rank_pairs_relative_weight(pairs, pairs->start[walk->group], pairs->level[walk->better],
                                      pairs->level[walk->worse]);
}

static inline double rank_pairs_walk_weight(const struct rank_pairs_walk *walk) {
    return walk->pairs->weight[walk->group] * rank_pairs_walk_relative_weight(walk);
}

/* Sorts places (m) by score; equal ones stay in the order that they had. spare: room for m. */
void rank_scored_sort(struct rank_scored *places, size_t m, struct rank_scored *spare);

/* Sorts the group's part of `order` by s (n); spare: room for the group's places. */
void rank_pairs_sort(struct rank_pairs *pairs, size_t group, const double *s, void *spare);

/* Sums over the pairs active at s (n) and margin delta, by their weights. count (n): active pairs
 * that prefer the row less those that prefer another to it. moment (n), if not NULL: the same with
 * each pair counted delta - (s_i - s_j) times. Returns the sum of the weights of active pairs.
 *   hinge sum   sum (delta - m)   = delta sum - count's
 *   square sum  sum (delta - m)^2 = delta (delta sum - count's) - moment's. */
double rank_pairs_sums(struct rank_pairs *pairs, const double *s, double delta, double *count,
                       double *moment);

#endif
