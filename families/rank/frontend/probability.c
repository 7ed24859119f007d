/* Platt's sigmoid on pairwise margins (probability.h). */
#include "families/rank/frontend/probability.h"

#include "common/base/memory.h"
#include "common/base/order.h"
#include "common/base/random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ---- the sigmoid ---- */

enum { MAX_STEPS = 200 };

/* F' at slope a for margins m * scale; *second = F''. */
static double derivative(const double *m, size_t n, double scale, double a, double *second) {
    double prior = 1 / ((double)n + 2);
    double f1 = 0, f2 = 0;
    for (size_t i = 0; i < n; i++) {
        double x = m[i] * scale, z = a * x;
        double e = exp(-fabs(z)); /* cannot overflow: the exponent is not positive */
        double q = (z < 0 ? 1 : e) / (1 + e);
        f1 += x * (prior - q);
        f2 += x * x * (e / ((1 + e) * (1 + e)));
    }
    *second = f2;
    return f1;
}

int sigmoid_fit(double *slope, const double *margin, size_t n, struct error *err) {
    double largest = 0;
    *slope = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(margin[i])) {
            return error_set(err, ERROR_RUNTIME,
                             "cannot fit probabilities: a margin is not a finite number");
        }
        largest = fmax(largest, fabs(margin[i]));
    }
    if (n == 0) {
        return error_set(err, ERROR_RUNTIME, "cannot fit probabilities: there is no pair");
    }
    if (largest == 0) {
        return 0;
    }
    if (largest < DBL_MIN || largest > 1 / DBL_MIN) {
        return error_set(err, ERROR_RUNTIME, "cannot fit probabilities: the largest margin is %g",
                         largest);
    }
    /* Margins are scaled to [-1, 1], so that the stopping rule does not depend on their scale. */
    double scale = 1 / largest, a = 0, second;
    double first = derivative(margin, n, scale, a, &second);
    for (int step = 0; step < MAX_STEPS && first != 0; step++) {
        /* The lower bound keeps the step finite if the curvature has underflowed. */
        double newton = -first / fmax(second, 1e-12);
        /* Line search on |F'|. As F is convex, |F'| decreases towards the minimum as F does, and
         * keeps full precision there, where F changes in its last bit only. */
        double length = 1, next = derivative(margin, n, scale, a + newton, &second);
        while (!(fabs(next) <= (1 - 1e-4 * length) * fabs(first)) && length > 1e-10) {
            length /= 2;
            next = derivative(margin, n, scale, a + length * newton, &second);
        }
        if (length <= 1e-10) {
            break; /* no decrease beyond rounding: this is the minimum */
        }
        a += length * newton;
        first = next;
        if (fabs(length * newton) <= 1e-13 * fabs(a)) {
            break;
        }
    }
    *slope = a * scale;
    if (!isfinite(*slope)) {
        return error_set(err, ERROR_RUNTIME, "cannot fit probabilities: the slope overflows");
    }
    return 0;
}

double sigmoid_probability(double slope, double margin) {
    double z = slope * margin;
    double e = exp(-fabs(z));
    return (z < 0 ? e : 1) / (1 + e);
}

/* ---- margins of held-out rows ---- */

/* A sample of this size is as good as all pairs, see sigmoid_fit. */
enum { MAX_MARGINS = 200000, RANDOM_STREAM = 3 };

struct row {
    size_t fold;
    uint64_t query;
    double target, score;
    uint64_t below; /* number of the first pair that prefers this row */
    size_t first;   /* first row of its group in its fold */
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    int order = order_integers(x->fold, y->fold);
    order = order ? order : order_integers(x->query, y->query);
    order = order ? order : order_doubles(x->target, y->target);
    return order ? order : order_doubles(x->score, y->score);
}

/* Numbers the pairs: those that prefer row i have the numbers rows[i].below and following, one for
 * each row from rows[i].first on with a smaller target. Returns the number of pairs. */
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

/* The margin of a pair by its number. */
static double margin_of(const struct row *rows, size_t n, uint64_t pair) {
    size_t low = 0,
           high = n; /* binary search: the last row whose pairs start at or before `pair` */
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
    size_t n_margins = pairs < MAX_MARGINS ? (size_t)pairs : MAX_MARGINS;
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
