/* The map of one query, and the widths of its intervals. */
#include "common/base/order.h"
#include "families/rank/frontend/targets.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From TWO_BINS rows on there are two bins or more: five rows are no two bins of three. */
enum { MAX_BINS = 32, TWO_BINS = 4 };

static const double COVERAGE = 0.9;

/* Breakpoints while they are made: means of bins, then pooled. */
struct knots {
    double score[MAX_BINS + 2], value[MAX_BINS + 2], weight[MAX_BINS + 2];
    size_t n;
};

static int compare_rows(const void *a, const void *b) {
    const struct target_row *x = a, *y = b;
    int order = order_doubles(x->score, y->score);
    return order ? order : order_doubles(x->label, y->label);
}

/* Pool adjacent violators: joins breakpoints while their values decrease. Scores are distinct. */
static void join_violators(struct knots *knots) {
    size_t n = 0;
    for (size_t i = 0; i < knots->n; i++) {
        double score = knots->score[i], value = knots->value[i], weight = knots->weight[i];
        while (n > 0 && knots->value[n - 1] > value) {
            double sum = weight + knots->weight[n - 1];
            score += (knots->score[n - 1] - score) * (knots->weight[n - 1] / sum);
            value += (knots->value[n - 1] - value) * (knots->weight[n - 1] / sum);
            weight = sum;
            n--;
        }
        knots->score[n] = score;
        knots->value[n] = value;
        knots->weight[n++] = weight;
    }
    knots->n = n;
}

/* Fits the breakpoints of rows in ascending order of scores. The outer segments are extended to the
 * first and the last score, within the range of the labels. */
static void fit_knots(struct knots *knots, const struct target_row *row, size_t n) {
    size_t bin = (size_t)ceil(sqrt((double)n)), min_bin = (n + MAX_BINS - 1) / MAX_BINS;
    double low = INFINITY, high = -INFINITY;
    bin = bin > min_bin ? bin : min_bin;
    size_t bins = larger(n / bin, n < TWO_BINS ? 1 : 2);
    knots->n = 0;
    for (size_t b = 0; b < bins; b++) {
        size_t first = n / bins * b + n % bins * b / bins;
        size_t end = n / bins * (b + 1) + n % bins * (b + 1) / bins;
        double score = 0, value = 0;
        for (size_t i = first; i < end; i++) {
            score += (row[i].score - row[first].score) / (double)(end - first);
            value += row[i].label / (double)(end - first);
            low = fmin(low, row[i].label);
            high = fmax(high, row[i].label);
        }
        score += row[first].score;
        if (knots->n > 0 && !(score > knots->score[knots->n - 1])) {
            double *own = &knots->value[knots->n - 1], *weight = &knots->weight[knots->n - 1];
            *weight += (double)(end - first);
            *own += (value - *own) * ((double)(end - first) / *weight);
            continue;
        }
        knots->score[knots->n] = score;
        knots->value[knots->n] = value;
        knots->weight[knots->n++] = (double)(end - first);
    }
    join_violators(knots);
    size_t last = knots->n - 1;
    if (last == 0) {
        return;
    }
    double first_slope = (knots->value[1] - knots->value[0]) / (knots->score[1] - knots->score[0]);
    double last_slope = (knots->value[last] - knots->value[last - 1]) /
                        (knots->score[last] - knots->score[last - 1]);
    double first_score = row[0].score, last_score = row[n - 1].score;
    if (last_score > knots->score[last]) {
        knots->score[last + 1] = last_score;
        knots->value[last + 1] =
            fmin(high, knots->value[last] + last_slope * (last_score - knots->score[last]));
        knots->value[last + 1] = fmax(knots->value[last], knots->value[last + 1]);
        knots->n++;
    }
    if (first_score < knots->score[0]) {
        double value = fmax(low, knots->value[0] - first_slope * (knots->score[0] - first_score));
        memmove(knots->score + 1, knots->score, knots->n * sizeof(double));
        memmove(knots->value + 1, knots->value, knots->n * sizeof(double));
        knots->score[0] = first_score;
        knots->value[0] = fmin(value, knots->value[1]);
        knots->n++;
    }
}

static double value_at(const double *score, const double *value, size_t n, double at) {
    size_t low = 0, high = n - 1;
    if (!(at > score[0])) {
        return value[0];
    }
    if (!(at < score[high])) {
        return value[high];
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (score[middle] <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double part = (at - score[low]) / (score[high] - score[low]);
    return value[low] + part * (value[high] - value[low]);
}

double target_map_value(const struct target_map *map, double score) {
    return value_at(map->score, map->value, map->n_knots, score);
}

double target_map_width(const struct target_map *map, double score) {
    bool known = isfinite(map->width[0]);
    return known ? value_at(map->score, map->width, map->n_knots, score) : (double)INFINITY;
}

double target_quantile(double *residual, size_t n) {
    size_t order = (size_t)ceil(COVERAGE * ((double)n + 1));
    if (order > n) {
        return INFINITY;
    }
    qsort(residual, n, sizeof *residual, order_double);
    return residual[order - 1];
}

double target_range(const struct target_row *row, size_t n) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, row[i].label);
        high = fmax(high, row[i].label);
    }
    return high - low;
}

/* The residual of each row, by a map fitted without its part of the rows: the rows i with the same
 * i % TARGETS_MIN_ROWS. others (n): workspace. */
static void find_residuals(const struct target_row *row, size_t n, struct target_row *others,
                           double *residual) {
    for (size_t part = 0; part < TARGETS_MIN_ROWS; part++) {
        struct knots knots;
        size_t m = 0;
        for (size_t i = 0; i < n; i++) {
            if (i % TARGETS_MIN_ROWS != part) {
                others[m++] = row[i];
            }
        }
        fit_knots(&knots, others, m);
        for (size_t i = part; i < n; i += TARGETS_MIN_ROWS) {
            residual[i] =
                fabs(row[i].label - value_at(knots.score, knots.value, knots.n, row[i].score));
        }
    }
}

/* The local spread at each breakpoint: the mean residual of a fifth of the rows, at least
 * TARGETS_MIN_ROWS, around its score, and of one more row with the mean residual of all, so that it
 * is 0 only if all are. Rows are in ascending order of scores. */
static void find_spread(const struct target_map *map, const struct target_row *row,
                        const double *residual, size_t n, double *spread) {
    size_t window = (n + 4) / 5, below = 0;
    double mean = 0;
    window = window > TARGETS_MIN_ROWS ? window : TARGETS_MIN_ROWS;
    window = window < n ? window : n;
    for (size_t i = 0; i < n; i++) {
        mean += residual[i] / (double)n;
    }
    for (size_t k = 0; k < map->n_knots; k++) {
        while (below < n && row[below].score < map->score[k]) {
            below++;
        }
        size_t first = below > window / 2 ? below - window / 2 : 0;
        first = first < n - window ? first : n - window;
        spread[k] = mean / (double)(window + 1);
        for (size_t i = first; i < first + window; i++) {
            spread[k] += residual[i] / (double)(window + 1);
        }
    }
}

/* Divides each residual by the spread that the residuals outside its part give at its score.
 * others, other (n): workspace. */
static void find_ratios(const struct target_map *map, const struct target_row *row,
                        const double *residual, size_t n, struct target_row *others, double *other,
                        double *ratio) {
    double spread[MAX_BINS + 2];
    for (size_t part = 0; part < TARGETS_MIN_ROWS; part++) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++) {
            if (i % TARGETS_MIN_ROWS != part) {
                others[m] = row[i];
                other[m++] = residual[i];
            }
        }
        find_spread(map, others, other, m, spread);
        for (size_t i = part; i < n; i += TARGETS_MIN_ROWS) {
            double local = value_at(map->score, spread, map->n_knots, row[i].score);
            ratio[i] = residual[i] > 0 ? residual[i] / local : 0;
        }
    }
}

/* Finds both kinds of widths from at least TARGETS_MIN_ROWS rows in ascending order of scores. */
static int find_widths(struct target_map *map, const struct target_row *row, size_t n,
                       struct error *err) {
    struct target_row *others;
    double *residual, *other, *ratio;
    void *block = ARRAYS_CREATE("targets", err, ARRAYS(n, struct target_row, &others),
                                ARRAYS(n, double, &residual, &other, &ratio));
    if (!block) {
        return -1;
    }
    find_residuals(row, n, others, residual);
    find_ratios(map, row, residual, n, others, other, ratio);
    find_spread(map, row, residual, n, map->width);
    double factor = target_quantile(ratio, n);
    for (size_t k = 0; k < map->n_knots; k++) {
        map->width[k] = isfinite(factor) ? fmin(factor * map->width[k], DBL_MAX) : (double)INFINITY;
    }
    map->half_width = target_quantile(residual, n); /* last: it sorts */
    free(block);
    return 0;
}

int target_map_fit(struct target_map *map, struct target_row *row, size_t n, const double *few,
                   struct error *err) {
    struct knots knots;
    *map = (struct target_map){0};
    qsort(row, n, sizeof *row, compare_rows);
    if (n < 2 || row[0].score == row[n - 1].score) {
        return 0;
    }
    fit_knots(&knots, row, n);
    map->score = memory_array(knots.n, 3 * sizeof(double), "targets", err);
    if (!map->score) {
        return -1;
    }
    map->n_knots = knots.n;
    map->value = map->score + knots.n;
    map->width = map->value + knots.n;
    memcpy(map->score, knots.score, knots.n * sizeof(double));
    memcpy(map->value, knots.value, knots.n * sizeof(double));
    if (n < TARGETS_MIN_ROWS) {
        double range = target_range(row, n);
        map->half_width = range > 0 ? few[n] * range : (double)INFINITY;
        for (size_t k = 0; k < map->n_knots; k++) {
            map->width[k] = map->half_width;
        }
        return 0;
    }
    if (find_widths(map, row, n, err) < 0) {
        target_map_free(map);
        return -1;
    }
    return 0;
}

void target_map_free(struct target_map *map) {
    free(map->query);
    free(map->score);
    *map = (struct target_map){0};
}
