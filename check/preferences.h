/* The preferences of RankSVM and their costs: with r the dense ranks of the targets in their query,
 * the pairs (i, j) of one query with low <= r_i - r_j <= high, or a sample of them. */
#ifndef CHECK_PREFERENCES_H
#define CHECK_PREFERENCES_H

#include "check/ball.h"
#include "check/task.h"
#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct preference_row {
    uint64_t query;
    double target;
    uint32_t number, level; /* number of the row, and rank of its target in the query */
};

struct preferences {
    const struct task *task;
    size_t n;
    /* (n) sorted by query, target and number; the index is the position of the row */
    struct preference_row *row;
    uint32_t *place; /* (n) position of each row */
    double low, high;
    /* (n) by position, with a cost per ndcg; per gain: only gain; else NULL */
    struct ball *gain, *discount;
    struct ball *ideal;    /* (n) likewise: DCG* of the query that begins at a position */
    size_t *bit;           /* (n) first bit in `sampled` of each position */
    uint8_t *sampled;      /* a bit for each two rows of a query; NULL: there is no sample */
    void *block, *weights; /* of rows and bits; of gains, discounts and ideals */
};

/* Reads the options of pairs in the proof, and draws the sample if there is one. Borrows task. The
 * caller calls preferences_free, also on failure. */
int preferences_create(struct preferences *preferences, const struct task *task, struct error *err);
void preferences_free(struct preferences *preferences);

/* The end of the query that begins at position `first`. */
size_t preferences_end(const struct preferences *preferences, size_t first);

/* The number of pairs of a query. */
double preferences_count(const struct preferences *preferences, size_t first, size_t end);

/* The sum of the weights of the pairs of a query: their number or, with a cost per ndcg or gain,
 * the sum of preferences_weight. */
struct ball preferences_total(const struct preferences *preferences, size_t first, size_t end,
                              double pairs);

/* *cost = C times the weight of a pair of weight 1, of the query at position `first` with this
 * number of pairs. */
int preferences_cost(const struct preferences *preferences, size_t first, double pairs,
                     struct ball *cost, struct error *err);

/* The weight of the pair of rows at positions a and b of one query. */
static inline struct ball preferences_weight(const struct preferences *preferences, size_t a,
                                             size_t b) {
    if (!preferences->gain) {
        return ball_of(1);
    }
    struct ball gain = ball_subtract(preferences->gain[a], preferences->gain[b]);
    return preferences->discount ? ball_multiply(gain, ball_subtract(preferences->discount[a],
                                                                     preferences->discount[b]))
                                 : gain;
}

/* True if the row at position a is preferred to that at position b < a of its query. */
static inline bool preferences_has(const struct preferences *preferences, size_t a, size_t b) {
    const struct preference_row *row = preferences->row;
    double gap = (double)row[a].level - (double)row[b].level;
    if (!(gap >= preferences->low && gap <= preferences->high)) {
        return false;
    }
    if (!preferences->sampled) {
        return true;
    }
    size_t bit = preferences->bit[a] + b;
    return preferences->sampled[bit / 8] >> bit % 8 & 1;
}

#endif
