/* Which pairs of rows RankSVM prefers, and what each costs: with r the dense ranks of the targets
 * in their query the pairs (i, j) of one query with low <= r_i - r_j <= high, or a sample of
 * them. */
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
    uint32_t number, level; /* of the row, and of its target in the query */
};

struct preferences {
    const struct task *task;
    size_t n;
    struct preference_row *row; /* (n) by query, target and number: a row's place */
    uint32_t *place;            /* (n) of each row */
    double low, high;
    struct ball *gain, *discount; /* (n) with a cost per ndcg: of each place; else NULL. Per
                                     gain: gain alone */
    struct ball *ideal;           /* (n) DCG* of the query that begins there */
    size_t *bit;                  /* (n) sampled: of each place's first pair in `kept`; else NULL */
    uint8_t *kept;
};

/* Reads what the proof says of pairs, and draws the sample if there is one. Borrows task. The
 * caller calls preferences_free. */
int preferences_create(struct preferences *preferences, const struct task *task, struct error *err);
void preferences_free(struct preferences *preferences);

/* The end of the query that begins at place `first`. */
size_t preferences_end(const struct preferences *preferences, size_t first);

/* The number of pairs of a query. */
double preferences_count(const struct preferences *preferences, size_t first, size_t end);

/* What the pairs of a query are worth together: their number, or with a cost per ndcg or gain the
 * sum of preferences_worth. */
struct ball preferences_total(const struct preferences *preferences, size_t first, size_t end,
                              double pairs);

/* *cost = C times the weight of a pair of worth 1, of the query at place `first` with so many
 * pairs. */
int preferences_cost(const struct preferences *preferences, size_t first, double pairs,
                     struct ball *cost, struct error *err);

/* What the pair of the rows at places a and b of one query is worth. */
static inline struct ball preferences_worth(const struct preferences *preferences, size_t a,
                                            size_t b) {
    if (!preferences->gain) {
        return ball_of(1);
    }
    struct ball gain = ball_subtract(preferences->gain[a], preferences->gain[b]);
    return preferences->discount ? ball_multiply(gain, ball_subtract(preferences->discount[a],
                                                                     preferences->discount[b]))
                                 : gain;
}

/* Whether the row at place a is preferred to that at place b < a of its query. */
static inline bool preferences_has(const struct preferences *preferences, size_t a, size_t b) {
    const struct preference_row *row = preferences->row;
    double gap = (double)row[a].level - (double)row[b].level;
    if (!(gap >= preferences->low && gap <= preferences->high)) {
        return false;
    }
    if (!preferences->kept) {
        return true;
    }
    size_t bit = preferences->bit[a] + b;
    return preferences->kept[bit / 8] >> bit % 8 & 1;
}

#endif
