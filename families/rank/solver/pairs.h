/* The preference pairs of RankSVM, which are counted and not listed.
 *
 * Rows are stored group by group, sorted by target. The level of a row is the dense rank of its
 * target in its group, from 0. A pair (i, j) of one group is a preference if low <= level_i -
 * level_j <= high. It is active at margin delta if s_i - s_j < delta. In score order, the active
 * partners of a row are a run of its group, and a Fenwick tree over the levels counts those whose
 * level is in the window: all sums over pairs cost O(n log n) (Lee & Lin, "Large-scale linear
 * RankSVM", 2014; Airola, Pahikkala & Salakoski, "Training linear ranking SVMs in linearithmic
 * time", 2011). Small groups are faster pair by pair, vectorised. Only a sample of the pairs is
 * listed.
 *
 * The weight of a pair is that of its group, times a relative weight for RANK_NDCG and RANK_GAIN,
 * which depends on the levels of both rows. Sums are then taken level by level: there are few. */
#ifndef FAMILIES_RANK_SOLVER_PAIRS_H
#define FAMILIES_RANK_SOLVER_PAIRS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/rank.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A score and the position of its row in its group's row[]. */
struct rank_scored {
    double score;
    uint32_t position;
};

struct rank_pairs {
    size_t n;                /* rows of the problem */
    size_t n_groups;         /* groups that have a preference */
    size_t n_groups_without; /* groups without preferences, which are left out */
    double n_pairs;          /* number of preferences, after sampling */
    uint32_t low, high;      /* window of level differences */
    size_t *start;      /* (n_groups + 1) first position of each group in row, level and order */
    uint32_t *row;      /* rows of the problem by group, in ascending order of targets */
    uint32_t *level;    /* level of each row */
    uint32_t *n_levels; /* (n_groups) levels of each group */
    /* for each row, the run [first, end) of positions in its group that it is preferred to */
    uint32_t *below_first, *below_end;
    double *weight; /* (n_groups) weight of a pair of relative weight 1 */
    /* (n_groups) sum of the relative weights of the group's preferences; their number, but for
     * RANK_NDCG and RANK_GAIN */
    double *group_relative_weight;
    /* of each level of a group, from start[] on. Relative weight: the product of the differences
     * of both (RANK_NDCG), or the difference of gains (RANK_GAIN) */
    double *gain, *discount;
    /* bound of the relative error of the weight of a pair that has a relative weight; else 0 */
    double weight_error;
    /* each group in the score order of the last pass, from which the next sort starts: scores
     * change little */
    struct rank_scored *order;
    /* sample: (rows held + 1) first entry of each row in partner; else NULL */
    size_t *partner_start;
    uint32_t *partner; /* sample: position in the group of the pair's other row */
    size_t *task;      /* (n_tasks + 1) first group of each task, independent of the threads */
    size_t n_tasks;
    uint32_t max_levels, max_rows; /* of any group */
    /* the processes over which groups are distributed: these are the groups of this one; or NULL */
    struct cluster *cluster;
    struct threads *threads;
    double
        *scratch; /* per worker: nodes of a Fenwick tree, or the numbers of direct sums and sorts */
    size_t scratch_stride;
    double *group_sum; /* (n_groups) results of the groups, summed in order */
    void *block;       /* the arrays of groups and rows */
};

/* Finds the groups and preferences of the problem's rows. -1 if there is no preference on any
 * process, or memory is short. The caller calls rank_pairs_free. */
int rank_pairs_create(struct rank_pairs *pairs, const struct problem *problem,
                      const struct rank_preferences *preferences, struct error *err);
void rank_pairs_free(struct rank_pairs *pairs);

/* The relative weight of a pair of two levels of the group that starts at `base`. */
static inline double rank_pairs_relative_weight(const struct rank_pairs *pairs, size_t base,
                                                uint32_t one, uint32_t other) {
    if (!pairs->gain) {
        return 1;
    }
    double gain = pairs->gain[base + one] - pairs->gain[base + other];
    return pairs->discount ? gain * (pairs->discount[base + one] - pairs->discount[base + other])
                           : fabs(gain);
}

/* An iterator over the preferences of some groups, in the order of row[]. */
struct rank_pairs_walk {
    const struct rank_pairs *pairs;
    size_t group;                 /* of the current pair */
    size_t better, worse;         /* its rows, as positions in row[] */
    size_t next_row, end_row;     /* rows whose pairs are still to come */
    size_t next_other, end_other; /* pairs of `better` that are still to come */
};

/* Starts before the first pair of the groups first .. end - 1. */
static inline struct rank_pairs_walk rank_pairs_walk(const struct rank_pairs *pairs, size_t first,
                                                     size_t end) {
    return (struct rank_pairs_walk){.pairs = pairs,
                                    .group = first,
                                    .next_row = pairs->start[first],
                                    .end_row = pairs->start[end]};
}

/* Goes to the next pair. False: there is none. */
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

/* The relative weight, and the weight, of the current pair. */
static inline double rank_pairs_walk_relative_weight(const struct rank_pairs_walk *walk) {
    const struct rank_pairs *pairs = walk->pairs;
    return rank_pairs_relative_weight(pairs, pairs->start[walk->group], pairs->level[walk->better],
                                      pairs->level[walk->worse]);
}

static inline double rank_pairs_walk_weight(const struct rank_pairs_walk *walk) {
    return walk->pairs->weight[walk->group] * rank_pairs_walk_relative_weight(walk);
}

/* Sorts scored (m) by score; equal ones keep their order. spare: room for m. */
void rank_scored_sort(struct rank_scored *positions, size_t m, struct rank_scored *spare);

/* Sorts the group's part of `order` by s (n). spare: room for the rows of the group. */
void rank_pairs_sort(struct rank_pairs *pairs, size_t group, const double *s, void *spare);

/* Sums over the pairs that are active at scores s (n) and margin delta, by weight. count (n):
 * weight of the active pairs that prefer the row, minus that of the pairs that prefer another row
 * to it. moment (n), if not NULL: the same with each pair times delta - (s_i - s_j). Returns the
 * total weight of the active pairs. With margins m of the active pairs,
 *   sum (delta - m)   = delta sum - count's,
 *   sum (delta - m)^2 = delta (delta sum - count's) - moment's. */
double rank_pairs_sums(struct rank_pairs *pairs, const double *s, double delta, double *count,
                       double *moment);

#endif
