#include "families/rank/probability.h"

#include "common/base/memory.h"
#include "common/base/random.h"
#include "families/rank/sigmoid.h"

#include <stdlib.h>

/* A sample of this many pairs serves as well as all of them, see sigmoid.h. */
enum { MOST_MARGINS = 200000, RANDOM_STREAM = 3 };

struct row {
    size_t fold;
    uint64_t query;
    double target, score;
    uint64_t below; /* pairs of all rows before this one with rows preferred to them */
    size_t first;   /* row of its group in its fold */
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->fold != y->fold) {
        return x->fold < y->fold ? -1 : 1;
    }
    if (x->query != y->query) {
        return x->query < y->query ? -1 : 1;
    }
    if (x->target != y->target) {
        return x->target < y->target ? -1 : 1;
    }
    return (x->score > y->score) - (x->score < y->score);
}

/* Numbers the pairs: those in which row i is the larger are rows[i].below and following, one with
 * each row from rows[i].first on that has a smaller target. Returns how many there are. */
static uint64_t number_pairs(struct row *rows, size_t n) {
    uint64_t pairs = 0;
    size_t group = 0, tie = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].fold != rows[group].fold || rows[i].query != rows[group].query) {
            group = tie = i;
        }
        if (rows[i].target != rows[tie].target) {
            tie = i;
        }
        rows[i].first = group;
        rows[i].below = pairs;
        pairs += tie - group;
    }
    return pairs;
}

/* The margin of pair number `pair`. */
static double margin_of(const struct row *rows, size_t n, uint64_t pair) {
    size_t low = 0, high = n; /* the last row whose pairs begin at or before `pair` */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].below <= pair) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return rows[low].score - rows[rows[low].first + (size_t)(pair - rows[low].below)].score;
}

static int fit(double *slope, struct row *rows, size_t n, uint64_t seed, struct error *err) {
    qsort(rows, n, sizeof *rows, compare_rows);
    uint64_t pairs = number_pairs(rows, n);
    size_t n_margins = pairs < MOST_MARGINS ? (size_t)pairs : MOST_MARGINS;
    if (n_margins == 0) {
        return error_set(err, ERROR_RUNTIME,
                         "no probabilities: no held-out rows of one query with different targets");
    }
    double *margin = memory_array(n_margins, sizeof *margin, "margins", err);
    if (!margin) {
        return -1;
    }
    struct random random;
    random_start(&random, seed, RANDOM_STREAM);
    for (size_t i = 0; i < n_margins; i++) {
        margin[i] = margin_of(rows, n, n_margins < pairs ? random_below(&random, pairs) : i);
    }
    int status = sigmoid_fit(slope, margin, n_margins, err);
    free(margin);
    return status;
}

int rank_probability_slope(double *slope, const struct held_out *folds, size_t n_folds,
                           uint64_t seed, struct error *err) {
    size_t n = 0;
    for (size_t fold = 0; fold < n_folds; fold++) {
        n += folds[fold].n;
    }
    struct row *rows = memory_array(n, sizeof *rows, "out-of-fold rows", err);
    if (!rows) {
        return -1;
    }
    n = 0;
    for (size_t fold = 0; fold < n_folds; fold++) {
        const struct held_out *held = &folds[fold];
        for (size_t i = 0; i < held->n; i++) {
            uint32_t row = held->rows[i];
            rows[n++] = (struct row){.fold = fold,
                                     .query = held->data->query ? held->data->query[row] : 0,
                                     .target = held->data->target[row],
                                     .score = held->scores[i]};
        }
    }
    int status = fit(slope, rows, n, seed, err);
    free(rows);
    return status;
}
