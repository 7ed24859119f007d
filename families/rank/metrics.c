#include "families/rank/metrics.h"

#include "common/base/memory.h"
#include "families/rank/places.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(double a, double b) {
    return (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b) {
    const struct metrics_row *x = a, *y = b;
    if (x->query != y->query) {
        return x->query < y->query ? -1 : 1;
    }
    int order = compare_doubles(x->target, y->target);
    return order ? order : compare_doubles(x->score, y->score);
}

/* Pairs among n. */
static double pairs_of(size_t n) {
    return 0.5 * (double)n * ((double)n - 1);
}

/* Sorts rows by score, and returns how many pairs were the other way round (strictly). Bottom-up
 * merge sort: buffer has room for n rows. */
static double sort_by_score(struct metrics_row *rows, size_t n, struct metrics_row *buffer) {
    double inversions = 0;
    struct metrics_row *from = rows, *to = buffer;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t start = 0; start < n; start += 2 * width) {
            size_t middle = n - start > width ? start + width : n;
            size_t end = n - middle > width ? middle + width : n;
            size_t a = start, b = middle;
            for (size_t out = start; out < end; out++) {
                if (b == end || (a < middle && from[a].score <= from[b].score)) {
                    to[out] = from[a++];
                } else {
                    inversions += (double)(middle - a);
                    to[out] = from[b++];
                }
            }
        }
        struct metrics_row *swap = from;
        from = to;
        to = swap;
    }
    if (from != rows) {
        memcpy(rows, from, n * sizeof *rows);
    }
    return inversions;
}

/* First row after `start` whose target differs from rows[start]'s. */
static size_t target_tie_end(const struct metrics_row *rows, size_t start, size_t n) {
    size_t end = start + 1;
    while (end < n && rows[end].target == rows[start].target) {
        end++;
    }
    return end;
}

/* The same for scores. */
static size_t score_tie_end(const struct metrics_row *rows, size_t start, size_t n) {
    size_t end = start + 1;
    while (end < n && rows[end].score == rows[start].score) {
        end++;
    }
    return end;
}

/* Pearson's correlation of target_rank with the ranks of the scores; rows sorted by score. */
static double rank_correlation(const struct metrics_row *rows, size_t n) {
    double mean = 0.5 * ((double)n + 1);
    double product = 0, target_square = 0, score_square = 0;
    for (size_t start = 0; start < n;) {
        size_t end = score_tie_end(rows, start, n);
        double b = 0.5 * (double)(start + end + 1) - mean;
        for (size_t i = start; i < end; i++) {
            double a = rows[i].target_rank - mean;
            product += a * b;
            target_square += a * a;
            score_square += b * b;
        }
        start = end;
    }
    return score_square > 0 ? product / sqrt(target_square * score_square) : 0;
}

/* Measures one group, sorted by target and then score, into value. Concordant pairs are counted by
 * what is left of all pairs (Knight 1966). */
static void measure_group(struct metrics_row *rows, size_t n, struct metrics_row *buffer,
                          const struct metrics_settings *settings, bool graded, double *value) {
    double target_ties = 0, both_ties = 0;
    for (size_t start = 0; start < n;) {
        size_t end = target_tie_end(rows, start, n);
        target_ties += pairs_of(end - start);
        for (size_t i = start; i < end;) {
            size_t next = score_tie_end(rows, i, end);
            both_ties += pairs_of(next - i);
            i = next;
        }
        for (size_t i = start; i < end; i++) {
            rows[i].target_rank = 0.5 * (double)(start + end + 1);
        }
        start = end;
    }
    places_begin(rows, n, settings, graded, value);
    double discordant = sort_by_score(rows, n, buffer);
    double score_ties = 0;
    for (size_t start = 0; start < n;) {
        size_t end = score_tie_end(rows, start, n);
        score_ties += pairs_of(end - start);
        start = end;
    }
    double pairs = pairs_of(n) - target_ties;
    double undecided = score_ties - both_ties;
    double concordant = pairs - undecided - discordant;
    double decided = pairs_of(n) - score_ties;
    value[METRICS_PAIRWISE] = pairs > 0 ? (concordant + 0.5 * undecided) / pairs : NAN;
    value[METRICS_KENDALL] = !(pairs > 0)  ? NAN
                             : decided > 0 ? (concordant - discordant) / sqrt(pairs) / sqrt(decided)
                                           : 0;
    value[METRICS_SPEARMAN] = pairs > 0 ? rank_correlation(rows, n) : NAN;
    places_end(rows, n, settings, graded, value);
}

/* Copies the rows with a target and sorts them. Returns how many, or SIZE_MAX for a score that is
 * not finite. */
static size_t collect(struct metrics_row *rows, size_t n, const double *target, const double *score,
                      const uint64_t *query, bool *graded) {
    size_t kept = 0;
    *graded = true;
    for (size_t i = 0; i < n; i++) {
        if (isnan(target[i])) {
            continue;
        }
        if (!isfinite(score[i])) {
            return SIZE_MAX;
        }
        *graded = *graded && fabs(target[i]) <= METRICS_MOST_GRADE && target[i] == floor(target[i]);
        rows[kept++] = (struct metrics_row){query ? query[i] : 0, target[i], score[i], 0};
    }
    qsort(rows, kept, sizeof *rows, compare_rows);
    return kept;
}

/* Adds what a group has of each measure to the sums, and counts it. */
static void add_group(const double *value, size_t n, double *sum, double *count) {
    for (size_t m = 0; m < n; m++) {
        if (!isnan(value[m])) {
            sum[m] += value[m];
            count[m]++;
        }
    }
}

/* Measures the groups of n rows, sorted; buffer has room for n rows, value for n_measures numbers.
 * */
static void measure_groups(struct metrics_row *rows, size_t n, struct metrics_row *buffer,
                           const struct metrics_settings *settings, bool graded, double *value,
                           double *mean, double *count, double *n_relevant) {
    size_t n_measures = METRICS_CUTS + settings->n_cuts;
    for (size_t start = 0, end; start < n; start = end) {
        for (end = start + 1; end < n && rows[end].query == rows[start].query;) {
            end++;
        }
        if (end - start >= settings->min_group) {
            measure_group(rows + start, end - start, buffer, settings, graded, value);
            add_group(value, n_measures, mean, count);
            *n_relevant += places_relevant(rows + start, end - start, settings, graded);
        }
    }
    for (size_t m = 0; m < n_measures; m++) {
        mean[m] = count[m] > 0 ? mean[m] / count[m] : (double)NAN;
    }
}

int metrics_rank(size_t n, const double *target, const double *score, const uint64_t *query,
                 const struct metrics_settings *settings, double *mean, double *count,
                 double *n_relevant, struct error *err) {
    size_t n_measures = METRICS_CUTS + settings->n_cuts;
    bool graded;
    struct metrics_row *rows = memory_array(n, 2 * sizeof *rows, "rows to measure", err);
    double *value = memory_array(n_measures, sizeof *value, "measures", err);
    int status = rows && value ? 0 : -1;
    size_t kept = status == 0 ? collect(rows, n, target, score, query, &graded) : 0;
    if (kept == SIZE_MAX) {
        status = error_set(err, ERROR_RUNTIME,
                           "cannot measure a ranking: a score is not a finite number");
    }
    if (status == 0) {
        for (size_t m = 0; m < n_measures; m++) {
            mean[m] = count[m] = 0;
        }
        *n_relevant = 0;
        measure_groups(rows, kept, rows + n, settings, graded, value, mean, count, n_relevant);
    }
    free(rows);
    free(value);
    return status;
}

void metrics_pairs(size_t n_i, const double *target_i, size_t n_j, const double *target_j,
                   const double *margin, double *n_right, double *n_pairs) {
    for (size_t i = 0; i < n_i; i++) {
        const double *row = margin + i * n_j;
        size_t pairs = 0, above = 0, zero = 0;
        for (size_t j = 0; j < n_j; j++) {
            size_t preferred = target_i[i] > target_j[j];
            pairs += preferred;
            above += preferred & (row[j] > 0);
            zero += preferred & (row[j] == 0);
        }
        *n_pairs += (double)pairs;
        *n_right += (double)above + 0.5 * (double)zero;
    }
}
