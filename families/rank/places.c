#include "families/rank/places.h"

#include <math.h>

/* The start of the run of equal scores that ends before `end`: rows are ranked from the back. */
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

/* Whether anything says which rows are relevant. */
static bool has_relevance(const struct metrics_settings *settings, bool graded) {
    return graded || !isnan(settings->threshold);
}

bool places_relevant(const struct metrics_row *rows, size_t n,
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

static double discount(size_t place) {
    return 1 / log2(1 + (double)place);
}

/* DCG of the best order; rows sorted by target. */
static double ideal_dcg(const struct metrics_row *rows, size_t n, size_t k, bool linear) {
    double dcg = 0;
    for (size_t place = 1; place <= n && place <= k; place++) {
        dcg += gain(rows[n - place].target, linear) * discount(place);
    }
    return dcg;
}

/* Expected DCG; rows sorted by score. */
static double score_dcg(const struct metrics_row *rows, size_t n, size_t k, bool linear) {
    double dcg = 0;
    for (size_t end = n; end > 0 && n - end < k;) {
        size_t start = score_tie_start(rows, end);
        double gains = 0, discounts = 0;
        for (size_t i = start; i < end; i++) {
            gains += gain(rows[i].target, linear);
        }
        for (size_t place = n - end + 1; place <= n - start && place <= k; place++) {
            discounts += discount(place);
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

/* Expected average precision and reciprocal rank; rows sorted by score. In a tie of m rows, r of
 * them relevant, after `above` places with `found` relevant rows: place j of the tie holds a
 * relevant row with probability r/m, and then (j-1)(r-1)/(m-1) relevant ones of the tie stand
 * before it on average. The first relevant one is at j with probability
 * p_j = r/(m-j+1) prod_{i<j} (1 - r/(m-i+1)). */
static void precision(const struct metrics_row *rows, size_t n,
                      const struct metrics_settings *settings, double *average,
                      double *reciprocal) {
    double sum = 0, found = 0;
    *reciprocal = settings->empty;
    for (size_t end = n; end > 0;) {
        size_t start = score_tie_start(rows, end);
        double m = (double)(end - start), above = (double)(n - end);
        double r = count_relevant(rows, start, end, settings);
        if (r > 0) {
            double before = m > 1 ? (r - 1) / (m - 1) : 0;
            double first = 0, none = 1;
            for (double j = 1; j <= m; j++) {
                sum += r / m * (found + 1 + (j - 1) * before) / (above + j);
                double here = m - j + 1 > r ? r / (m - j + 1) : 1;
                first += none * here / (above + j);
                none *= 1 - here;
            }
            if (found == 0) {
                *reciprocal = first;
            }
        }
        found += r;
        end = start;
    }
    *average = found > 0 ? sum / found : settings->empty;
}

/* Expected share of relevant rows among k places, of which those beyond the last row have none;
 * rows sorted by score. */
static double precision_at(const struct metrics_row *rows, size_t n, size_t k,
                           const struct metrics_settings *settings) {
    double found = 0;
    for (size_t end = n; end > 0 && n - end < k;) {
        size_t start = score_tie_start(rows, end), places = end - start, left = k - (n - end);
        double r = count_relevant(rows, start, end, settings);
        found += places <= left ? r : r / (double)places * (double)left;
        end = start;
    }
    return found / (double)k;
}

/* ---- ERR ---- */

/* The probability that a row does not satisfy. */
static double passes(double target, double max_grade) {
    return 1 - gain(fmin(target, max_grade), false) / exp2(max_grade);
}

/* Expected reciprocal rank of the row that satisfies; rows sorted by score. In a tie the first j
 * rows are any j of its m: with mean_j the mean of prod q over these, q the probabilities to pass,
 * the user stops at place j with probability mean_{j-1} - mean_j. One row more of q turns mean_j of
 * c rows into ((c + 1 - j) mean_j + j q mean_{j-1}) / (c + 1). */
static double err_at(const struct metrics_row *rows, size_t n, size_t k, double max_grade) {
    double mean[METRICS_MOST_ERR + 1], sum = 0, left = 1;
    for (size_t end = n; end > 0 && n - end < k;) {
        size_t start = score_tie_start(rows, end), above = n - end;
        size_t places = end - start < k - above ? end - start : k - above;
        for (size_t j = 0; j <= places; j++) {
            mean[j] = j == 0;
        }
        for (size_t c = 0; c < end - start; c++) {
            double q = passes(rows[start + c].target, max_grade), all = (double)c + 1;
            for (size_t j = c + 1 < places ? c + 1 : places; j > 0; j--) {
                mean[j] = ((all - (double)j) * mean[j] + (double)j * q * mean[j - 1]) / all;
            }
        }
        for (size_t j = 1; j <= places; j++) {
            sum += left * (mean[j - 1] - mean[j]) / (double)(above + j);
        }
        left *= mean[places]; /* if there were more places than k there are no more */
        end = start;
    }
    return sum;
}

/* ---- all ---- */

void places_begin(const struct metrics_row *rows, size_t n, const struct metrics_settings *settings,
                  bool graded, double *value) {
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

void places_end(const struct metrics_row *rows, size_t n, const struct metrics_settings *settings,
                bool graded, double *value) {
    bool relevant = places_relevant(rows, n, settings, graded), gains = false;
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
