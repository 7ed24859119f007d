/* Sums over the partners of a row on one side: the rows of its group that it is preferred to, or
 * that are preferred to it. Partners are added and removed one by one, in score order, and summed
 * over the levels of the window.
 *
 * Each partner has `width` numbers. They are stored in a Fenwick tree over the levels 0 .. n - 1
 * (Fenwick, "A new data structure for cumulative frequency tables", 1994): nodes are numbered 1 ..
 * n, and node k holds the sum of the levels k - (k & -k) .. k - 1, where k & -k is the lowest bit
 * of k. Adding a partner and summing a prefix of the levels cost O(log n). If pairs have relative
 * weights, each level has a node of its own, and a sum costs O(n). Private to the solver of rank.
 * Inline, for constant widths. Numbers are double, or PARTNERS_NUMBER if that is defined. */
#ifndef FAMILIES_RANK_SOLVER_PARTNERS_H
#define FAMILIES_RANK_SOLVER_PARTNERS_H

#include "common/base/array.h"
#include "families/rank/solver/pairs.h"

#include <stdbool.h>
#include <string.h>

#ifdef PARTNERS_NUMBER
typedef PARTNERS_NUMBER partners_number;
#else
typedef double partners_number;
#endif

struct partners {
    const struct rank_pairs *pairs;
    size_t base; /* first position of the group */
    uint32_t n_levels;
    bool flip;             /* levels count from the top, so that partners above are a prefix too */
    partners_number *node; /* (n_levels + 1, width) */
};

/* Starts without partners. */
static inline struct partners partners_begin(const struct rank_pairs *pairs, size_t group,
                                             bool flip, partners_number *node, size_t width) {
    uint32_t n_levels = pairs->n_levels[group];
    memset(node, 0, ((size_t)n_levels + 1) * width * sizeof *node);
    return (struct partners){pairs, pairs->start[group], n_levels, flip, node};
}

/* The level of the row at a position of the group, from the end that levels count from. */
static inline uint32_t partners_level(const struct partners *partners, uint32_t position) {
    uint32_t level = partners->pairs->level[partners->base + position];
    return partners->flip ? partners->n_levels - 1 - level : level;
}

/* y += factor x. */
static inline void partners_move(partners_number *y, partners_number factor,
                                 const partners_number *x, size_t width) {
#ifndef PARTNERS_NUMBER
    if (width > 2) {
        array_add(y, factor, x, width);
        return;
    }
#endif
    for (size_t c = 0; c < width; c++) {
        y[c] += factor * x[c];
    }
}

/* Adds the partner at a position; sign -1: removes it. */
static inline void partners_add(const struct partners *partners, uint32_t position,
                                partners_number sign, const partners_number *x, size_t width) {
    uint32_t level = partners_level(partners, position);
    if (partners->pairs->gain) {
        partners_move(partners->node + level * width, sign, x, width);
        return;
    }
    for (uint32_t k = level + 1; k <= partners->n_levels; k += k & (0 - k)) {
        partners_move(partners->node + k * width, sign, x, width);
    }
}

/* out (width) += factor times the sum over the partners in the window of the row at a position, by
 * relative weight. */
static inline void partners_sum(const struct partners *partners, uint32_t position,
                                partners_number factor, partners_number *out, size_t width) {
    const struct rank_pairs *pairs = partners->pairs;
    uint32_t own = partners_level(partners, position);
    if (own < pairs->low) {
        return;
    }
    uint32_t to = own - pairs->low + 1, from = own > pairs->high ? own - pairs->high : 0;
    if (pairs->gain) {
        for (uint32_t l = from; l < to; l++) {
            uint32_t level = partners->flip ? partners->n_levels - 1 - l : l;
            double relative_weight = rank_pairs_relative_weight(
                pairs, partners->base, pairs->level[partners->base + position], level);
            partners_move(out, factor * relative_weight, partners->node + l * width, width);
        }
        return;
    }
    for (uint32_t k = to; k > 0; k -= k & (0 - k)) {
        partners_move(out, factor, partners->node + k * width, width);
    }
    for (uint32_t k = from; k > 0; k -= k & (0 - k)) {
        partners_move(out, -factor, partners->node + k * width, width);
    }
}

#endif
