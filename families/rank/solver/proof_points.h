/* A dual point of RankSVM for who wants to check it, as the methods know it: by the scores that its
 * planes or its smoothed loss were cut at, or pair by pair. */
#ifndef FAMILIES_RANK_SOLVER_PROOF_POINTS_H
#define FAMILIES_RANK_SOLVER_PROOF_POINTS_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* With the hinge, alpha / (C weight_group) of a pair is the sum over points of weight clip(u /
 * smoothing, 0, 1), u = 1 - (s_i - s_j), where smoothing 0 is for the step at u = 0; with its
 * square, of weight 2 max(0, u). */
struct rank_point {
    double weight, smoothing;
    double *scores; /* (n) */
};

/* alpha of a preference of two rows. */
struct rank_pair {
    uint32_t better, worse;
    double alpha;
};

/* Points or pairs, not both. */
struct rank_points {
    size_t n;                 /* rows */
    struct rank_point *point; /* (n_points) weights sum to at most 1, but for rounding */
    size_t n_points;
    struct rank_pair *pair; /* (n_pairs) by better and worse; alpha is above 0 */
    size_t n_pairs;
};

/* Forgets what is there; it is then of n rows. */
void rank_points_clear(struct rank_points *points, size_t n);

/* Adds a point, of which the scores (n) are copied. */
int rank_points_add(struct rank_points *points, double weight, double smoothing,
                    const double *scores, struct error *err);

/* Adds a pair, in any order; rank_points_sort is called behind the last. */
int rank_points_add_pair(struct rank_points *points, uint32_t better, uint32_t worse, double alpha,
                         struct error *err);
void rank_points_sort(struct rank_points *points);

#endif
