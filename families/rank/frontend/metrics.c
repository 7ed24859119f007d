/* Measures of one query, and their means over queries (metrics.h). */
#include "families/rank/frontend/metrics.h"

#include "common/base/memory.h"
#include "common/base/order.h"
#include "families/rank/solver/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row of a group. */
struct metrics_row {
    uint64_t query;
    double target, score;
    double target_rank; /* average rank within the group, from 1 */
};

/* ---- measures of the first positions ---- */

/* The start of the run of equal scores that ends before `end`. Positions count from the last row.
 */
static size_t score_tie_start(const struct metrics_row *rows, size_t end) {
    size_t start = end - 1;
    while (start > 0 && rows[start - 1].score == rows[end - 1].score) {
        start--;
    }
    return start;
}

static bool is_relevant(double target, const struct metrics_settings *settings) {
    return isnan(settings->threshold) ? target > 0 : target >= settings->threshold;
}

/* Whether it is defined which rows are relevant. */
static bool has_relevance(const struct metrics_settings *settings, bool graded) {
    return graded || !isnan(settings->threshold);
}

/* Whether a row is relevant; false if that is not defined. */
static bool any_relevant(const struct metrics_row *rows, size_t n,
                         const struct metrics_settings *settings, bool graded) {
    bool any = false;
    for (size_t i = 0; i < n && has_relevance(settings, graded); i++) {
        any |= is_relevant(rows[i].target, settings);
    }
    return any;
}

/* ---- NDCG ---- */

static double gain(double target, bool linear) {
    double grade = fmax(0, target);
    return linear ? grade : exp2(grade) - 1;
}

static double discount(size_t position) {
    return 1 / log2(1 + (double)position);
}

/* DCG of the best order. Rows are sorted by target. */
static double ideal_dcg(const struct metrics_row *rows, size_t n, size_t k, bool linear) {
    double dcg = 0;
    for (size_t position = 1; position <= n && position <= k; position++) {
        dcg += gain(rows[n - position].target, linear) * discount(position);
    }
    return dcg;
}

/* Expected DCG. Rows are sorted by score. */
static double score_dcg(const struct metrics_row *rows, size_t n, size_t k, bool linear) {
    double dcg = 0;
    for (size_t end = n; end > 0 && n - end < k;) {
        size_t start = score_tie_start(rows, end);
        double gains = 0, discounts = 0;
        for (size_t i = start; i < end; i++) {
            gains += gain(rows[i].target, linear);
        }
        for (size_t position = n - end + 1; position <= n - start && position <= k; position++) {
            discounts += discount(position);
        }
        dcg += gains / (double)(end - start) * discounts;
        end = start;
    }
    return dcg;
}

/* ---- precision ---- */

static double count_relevant(const struct metrics_row *rows, size_t start, size_t end,
                             const struct metrics_settings *settings) {
    double r = 0;
    for (size_t i = start; i < end; i++) {
        r += is_relevant(rows[i].target, settings);
    }
    return r;
}

/* Expected average precision and reciprocal rank. Rows are sorted by score. Consider a tie of m
 * rows, r of them relevant, after `above` positions with `relevant_above` relevant rows. Position j
 * of the tie holds a relevant row with probability r/m, and then (j-1)(r-1)/(m-1) relevant rows of
 * the tie are before it on average. The first relevant row is at j with probability p_j = r/(m-j+1)
 * prod_{i<j} (1 - r/(m-i+1)). */
static void precision(const struct metrics_row *rows, size_t n,
                      const struct metrics_settings *settings, double *average,
                      double *reciprocal) {
    double sum = 0, relevant_above = 0;
    *reciprocal = settings->empty;
    for (size_t end = n; end > 0;) {
        size_t start = score_tie_start(rows, end);
        double m = (double)(end - start), above = (double)(n - end);
        double r = count_relevant(rows, start, end, settings);
        if (r > 0) {
            double before = m > 1 ? (r - 1) / (m - 1) : 0;
            double first = 0, none = 1;
            for (double j = 1; j <= m; j++) {
                sum += r / m * (relevant_above + 1 + (j - 1) * before) / (above + j);
                double here = m - j + 1 > r ? r / (m - j + 1) : 1;
                first += none * here / (above + j);
                none *= 1 - here;
            }
            if (relevant_above == 0) {
                *reciprocal = first;
            }
        }
        relevant_above += r;
        end = start;
    }
    *average = relevant_above > 0 ? sum / relevant_above : settings->empty;
}

/* Expected share of relevant rows among k positions; positions beyond the last row have none. Rows
 * are sorted by score. */
static double precision_at(const struct metrics_row *rows, size_t n, size_t k,
                           const struct metrics_settings *settings) {
    double relevant_above = 0;
    for (size_t end = n; end > 0 && n - end < k;) {
        size_t start = score_tie_start(rows, end), positions = end - start, left = k - (n - end);
        double r = count_relevant(rows, start, end, settings);
        relevant_above += positions <= left ? r : r / (double)positions * (double)left;
        end = start;
    }
    return relevant_above / (double)k;
}

/* ---- ERR ---- */

/* The probability that a row does not satisfy the user. */
static double passes(double target, double max_grade) {
    return 1 - gain(fmin(target, max_grade), false) / exp2(max_grade);
}

/* Expected reciprocal rank of the first row that satisfies the user. Rows are sorted by score. In a
 * tie, the first j rows are any j of its m. Let mean_j be the mean over these sets of the product
 * of q, the probabilities not to satisfy; the user stops at position j with probability mean_{j-1}
 * - mean_j. One more row q turns mean_j of c rows into ((c + 1 - j) mean_j + j q mean_{j-1}) / (c +
 * 1). */
static double err_at(const struct metrics_row *rows, size_t n, size_t k, double max_grade) {
    double mean[METRICS_MAX_ERR + 1], sum = 0, left = 1;
    for (size_t end = n; end > 0 && n - end < k;) {
        size_t start = score_tie_start(rows, end), above = n - end;
        size_t positions = end - start < k - above ? end - start : k - above;
        for (size_t j = 0; j <= positions; j++) {
            mean[j] = j == 0;
        }
        for (size_t c = 0; c < end - start; c++) {
            double q = passes(rows[start + c].target, max_grade), all = (double)c + 1;
            for (size_t j = c + 1 < positions ? c + 1 : positions; j > 0; j--) {
                mean[j] = ((all - (double)j) * mean[j] + (double)j * q * mean[j - 1]) / all;
            }
        }
        for (size_t j = 1; j <= positions; j++) {
            sum += left * (mean[j - 1] - mean[j]) / (double)(above + j);
        }
        left *= mean[positions]; /* if the tie has more positions than k, the loop ends here */
        end = start;
    }
    return sum;
}

/* ---- one group ---- */

/* First step, rows sorted by target: value (METRICS_CUTS + n_cuts) gets the ideal DCG of ndcg@k,
 * NaN elsewhere. */
static void start_values(const struct metrics_row *rows, size_t n,
                         const struct metrics_settings *settings, bool graded, double *value) {
    for (size_t i = 0; i < settings->n_cuts; i++) {
        const struct metrics_cut *cut = &settings->cut[i];
        value[METRICS_CUTS + i] = cut->kind == METRICS_NDCG && graded
                                      ? ideal_dcg(rows, n, cut->at, settings->linear_gain)
                                      : NAN;
    }
}

static double cut_value(const struct metrics_row *rows, size_t n,
                        const struct metrics_settings *settings, const struct metrics_cut *cut,
                        double ideal) {
    switch (cut->kind) {
    case METRICS_NDCG:
        return score_dcg(rows, n, cut->at, settings->linear_gain) / ideal;
    case METRICS_PRECISION:
        return precision_at(rows, n, cut->at, settings);
    case METRICS_ERR:
        return err_at(rows, n, cut->at, settings->max_grade);
    }
    return NAN;
}

/* Second step, rows sorted by ascending score: fills value. */
static void finish_values(const struct metrics_row *rows, size_t n,
                          const struct metrics_settings *settings, bool graded, double *value) {
    bool relevant = any_relevant(rows, n, settings, graded), gains = false;
    for (size_t i = 0; i < n; i++) {
        gains |= rows[i].target > 0;
    }
    value[METRICS_MAP] = value[METRICS_MRR] = NAN;
    if (has_relevance(settings, graded)) {
        precision(rows, n, settings, &value[METRICS_MAP], &value[METRICS_MRR]);
    }
    for (size_t i = 0; i < settings->n_cuts; i++) {
        const struct metrics_cut *cut = &settings->cut[i];
        bool by_threshold = cut->kind == METRICS_PRECISION;
        double *own = &value[METRICS_CUTS + i];
        if (!(by_threshold ? has_relevance(settings, graded) : graded)) {
            *own = NAN;
        } else if (!(by_threshold ? relevant : gains)) {
            *own = settings->empty;
        } else {
            *own = cut_value(rows, n, settings, cut, *own);
        }
    }
}

/* ---- rank correlation and pairs ---- */

static int compare_rows(const void *a, const void *b) {
    const struct metrics_row *x = a, *y = b;
    int order = order_integers(x->query, y->query);
    order = order ? order : order_doubles(x->target, y->target);
    return order ? order : order_doubles(x->score, y->score);
}

/* The number of pairs of n rows. */
static double pairs_of(size_t n) {
    return 0.5 * (double)n * ((double)n - 1);
}

/* Sorts rows by score and returns the number of inversions (pairs in strictly wrong order).
 * Bottom-up merge sort; buffer has room for n rows. */
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

/* The end of the run of rows with the target, or score, of rows[start]. */
static size_t tie_end(const struct metrics_row *rows, size_t start, size_t n, bool targets) {
    size_t end = start + 1;
    while (end < n && (targets ? rows[end].target == rows[start].target
                               : rows[end].score == rows[start].score)) {
        end++;
    }
    return end;
}

/* Pearson's correlation of target_rank with the ranks of the scores. Rows are sorted by score. */
static double rank_correlation(const struct metrics_row *rows, size_t n) {
    double mean = 0.5 * ((double)n + 1);
    double product = 0, target_square = 0, score_square = 0;
    for (size_t start = 0; start < n;) {
        size_t end = tie_end(rows, start, n, false);
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

/* Measures one group, sorted by target and then score, into value. The concordant pairs are what
 * remains of all pairs (Knight 1966). */
static void measure_group(struct metrics_row *rows, size_t n, struct metrics_row *buffer,
                          const struct metrics_settings *settings, bool graded, double *value) {
    double target_ties = 0, both_ties = 0;
    for (size_t start = 0; start < n;) {
        size_t end = tie_end(rows, start, n, true);
        target_ties += pairs_of(end - start);
        for (size_t i = start; i < end;) {
            size_t next = tie_end(rows, i, end, false);
            both_ties += pairs_of(next - i);
            i = next;
        }
        for (size_t i = start; i < end; i++) {
            rows[i].target_rank = 0.5 * (double)(start + end + 1);
        }
        start = end;
    }
    start_values(rows, n, settings, graded, value);
    double discordant = sort_by_score(rows, n, buffer);
    double score_ties = 0;
    for (size_t start = 0; start < n;) {
        size_t end = tie_end(rows, start, n, false);
        score_ties += pairs_of(end - start);
        start = end;
    }
    double pairs = pairs_of(n) - target_ties;
    double undecided = score_ties - both_ties;
    double concordant = pairs - undecided - discordant;
    double decided = pairs_of(n) - score_ties;
    value[METRICS_PAIRWISE] = pairs > 0 ? (concordant + 0.5 * undecided) / pairs : NAN;
    double tau = decided > 0 ? (concordant - discordant) / sqrt(pairs) / sqrt(decided) : 0;
    value[METRICS_KENDALL] = pairs > 0 ? fmax(-1, fmin(tau, 1)) : NAN;
    value[METRICS_SPEARMAN] = pairs > 0 ? rank_correlation(rows, n) : NAN;
    finish_values(rows, n, settings, graded, value);
}

/* Copies the rows with a target and sorts them. Returns their number, or SIZE_MAX if a score is not
 * finite. */
static size_t collect(struct metrics_row *rows, size_t n, const double *target, const double *score,
                      const uint64_t *query, bool *graded) {
    size_t n_rows = 0;
    *graded = true;
    for (size_t i = 0; i < n; i++) {
        if (isnan(target[i])) {
            continue;
        }
        if (!isfinite(score[i])) {
            return SIZE_MAX;
        }
        *graded = *graded && fabs(target[i]) <= RANK_MAX_GRADE && target[i] == floor(target[i]);
        rows[n_rows++] = (struct metrics_row){query ? query[i] : 0, target[i], score[i], 0};
    }
    qsort(rows, n_rows, sizeof *rows, compare_rows);
    return n_rows;
}

/* Adds a group's values, if they are not NaN, to the sums, and counts them. */
static void add_group(const double *value, size_t n, double *sum, double *count) {
    for (size_t m = 0; m < n; m++) {
        if (!isnan(value[m])) {
            sum[m] += value[m];
            count[m]++;
        }
    }
}

/* Measures the groups of n sorted rows. buffer: room for n rows; value: n_measures numbers. */
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
            *n_relevant += any_relevant(rows + start, end - start, settings, graded);
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
    size_t n_rows = status == 0 ? collect(rows, n, target, score, query, &graded) : 0;
    if (n_rows == SIZE_MAX) {
        status = error_set(err, ERROR_RUNTIME,
                           "cannot measure a ranking: a score is not a finite number");
    }
    if (status == 0) {
        for (size_t m = 0; m < n_measures; m++) {
            mean[m] = count[m] = 0;
        }
        *n_relevant = 0;
        measure_groups(rows, n_rows, rows + n, settings, graded, value, mean, count, n_relevant);
    }
    free(rows);
    free(value);
    return status;
}
