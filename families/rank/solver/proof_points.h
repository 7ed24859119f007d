/* A dual point of RankSVM, stored for a proof (--proof) in the form that the algorithm has it: the
 * scores at which its cutting planes or its smoothed loss were taken, or one coefficient for each
 * pair. */
#ifndef FAMILIES_RANK_SOLVER_PROOF_POINTS_H
#define FAMILIES_RANK_SOLVER_PROOF_POINTS_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* One term of a dual point. The coefficient alpha / (C weight_group) of a pair is the sum over the
 * points of weight clip(u / smoothing, 0, 1) for the hinge, u = 1 - (s_i - s_j), where smoothing =
 * 0 stands for the step function [u > 0]; and of weight 2 max(0, u) for the squared hinge. */
struct rank_point {
    double weight, smoothing;
    double *scores; /* (n) */
};

/* The dual coefficient of one preference. */
struct rank_pair {
    uint32_t better, worse;
    double alpha;
};

/* A dual point: points or pairs, not both. Its arrays are owned. */
struct rank_points {
    size_t n;                 /* rows */
    struct rank_point *point; /* (n_points); the weights sum to at most 1, up to rounding */
    size_t n_points;
    struct rank_pair *pair; /* (n_pairs) sorted by better, then worse; alpha > 0 */
    size_t n_pairs;
};

/* Frees the contents; the next dual point has n rows. */
void rank_points_clear(struct rank_points *points, size_t n);

/* Adds a point; scores (n) is copied. */
int rank_points_add(struct rank_points *points, double weight, double smoothing,
                    const double *scores, struct error *err);

/* Adds a pair, in any order. Call rank_points_sort after the last one. */
int rank_points_add_pair(struct rank_points *points, uint32_t better, uint32_t worse, double alpha,
                         struct error *err);
void rank_points_sort(struct rank_points *points);

#endif
