/* Scaling, ranks and measures of candidates (candidates.h). */
#include "families/rank/frontend/candidates.h"

#include "common/base/memory.h"
#include "common/base/order.h"

#include <math.h>
#include <stdlib.h>

/* The half width of an interval of 90% over the standard deviation, for normal errors. */
static const double HALF_WIDTH = 1.6448536269514722;
/* The largest z^2 / 2: beyond two standard deviations a time says no more against a candidate, as
 * maps have outliers. */
static const double MAX_PENALTY = 2;

const double candidate_tops[CANDIDATE_TOPS] = {1, 5, 10, 20};

/* The standard deviation of the finite scores of a feature, over `unit`; 0 if all are equal. */
static double deviation(const struct candidate_feature *feature, const double *ms, double unit) {
    double sum = 0, squares = 0, n = 0, least = INFINITY, largest = -INFINITY;
    for (size_t k = feature->first; k < feature->first + feature->n; k++) {
        if (isfinite(ms[k])) {
            least = fmin(least, ms[k]);
            largest = fmax(largest, ms[k]);
            sum += ms[k] / unit;
            n++;
        }
    }
    if (least >= largest) { /* their mean may be rounded to another value */
        return 0;
    }
    for (size_t k = feature->first; k < feature->first + feature->n; k++) {
        if (isfinite(ms[k])) {
            double off = ms[k] / unit - sum / n;
            squares += off * off;
        }
    }
    return sqrt(squares / n);
}

static double lowest(const struct candidate_feature *feature, const double *ms) {
    double low = INFINITY;
    for (size_t k = feature->first; k < feature->first + feature->n; k++) {
        low = isfinite(ms[k]) ? fmin(low, ms[k]) : low;
    }
    return low < INFINITY ? low : 0;
}

void candidates_scale(const struct candidates *candidates, const double *ms, double *scaled) {
    double unit = 0, sum = 0, n = 0;
    for (size_t k = 0; k < candidates->n; k++) {
        unit = isfinite(ms[k]) ? fmax(unit, fabs(ms[k])) : unit;
    }
    unit = unit > 0 ? unit : 1;
    for (size_t i = 0; i < candidates->n_features; i++) {
        double own = deviation(&candidates->feature[i], ms, unit);
        sum += own;
        n += own > 0;
    }
    double mean = n > 0 ? sum / n : 1;
    for (size_t i = 0; i < candidates->n_features; i++) {
        const struct candidate_feature *feature = &candidates->feature[i];
        double low = lowest(feature, ms);
        for (size_t k = feature->first; k < feature->first + feature->n; k++) {
            scaled[k] = (isfinite(ms[k]) ? ms[k] : low) / unit / mean;
        }
    }
}

size_t candidates_time_terms(const struct candidates *candidates,
                             const struct target_map *const *map, double *term) {
    size_t n_terms = 0;
    for (size_t i = 0; i < candidates->n_features; i++) {
        const struct candidate_feature *feature = &candidates->feature[i];
        const struct target_map *own = isnan(feature->time) ? NULL : map[feature->run];
        bool used = own && isfinite(own->half_width) && own->half_width > 0;
        n_terms += used;
        for (size_t k = feature->first; k < feature->first + feature->n; k++) {
            double minutes = used ? target_map_value(own, candidates->f[k]) : 0;
            double z = used ? (feature->time - minutes) / own->half_width * HALF_WIDTH : 0;
            term[k] = -fmin(0.5 * z * z, MAX_PENALTY);
        }
    }
    return n_terms;
}

/* ---- ranks ---- */

/* The mid-rank of a candidate within its feature, the largest score first: 1 + the number of larger
 * scores + half the number of other equal ones. */
static double mid_rank(const struct candidate_feature *feature, const double *score,
                       size_t candidate) {
    double larger = 0, equal = 0;
    for (size_t k = feature->first; k < feature->first + feature->n; k++) {
        larger += score[k] > score[candidate];
        equal += score[k] == score[candidate];
    }
    return larger + 0.5 * (equal + 1);
}

struct scored {
    double score;
    size_t number;
};

static int compare_scored(const void *a, const void *b) {
    const struct scored *x = a, *y = b;
    int order = order_doubles(y->score, x->score);
    return order ? order : order_integers(x->number, y->number);
}

int candidates_ranks(const struct candidates *candidates, const double *score, double *rank,
                     size_t n_best, bool *best, struct error *err) {
    struct scored *scored = memory_array(candidates->max_n, sizeof *scored, "ranks", err);
    if (!scored) {
        return -1;
    }
    for (size_t i = 0; i < candidates->n_features; i++) {
        const struct candidate_feature *feature = &candidates->feature[i];
        for (size_t k = 0; k < feature->n; k++) {
            scored[k] = (struct scored){score[feature->first + k], feature->first + k};
        }
        qsort(scored, feature->n, sizeof *scored, compare_scored);
        for (size_t first = 0, end; first < feature->n; first = end) {
            for (end = first; end < feature->n && scored[end].score == scored[first].score;) {
                end++;
            }
            for (size_t k = first; k < end; k++) {
                rank[scored[k].number] = 0.5 * (double)(first + 1 + end);
            }
        }
        for (size_t k = 0; best && k < feature->n; k++) {
            best[scored[k].number] = k < n_best;
        }
    }
    free(scored);
    return 0;
}

/* ---- right candidates ---- */

void candidates_reciprocal_ranks(const struct candidates *candidates,
                                 const struct known_features *known, const double *score,
                                 double *reciprocal) {
    for (size_t t = 0; t < known->n; t++) {
        const struct candidate_feature *feature = &candidates->feature[known->feature[t]];
        size_t right = known->candidate[t];
        reciprocal[t] = right == SIZE_MAX ? 0 : 1 / mid_rank(feature, score, right);
    }
}

struct candidate_measures candidates_measure(const double *reciprocal, size_t n) {
    struct candidate_measures measures = {.mrr = 0};
    for (size_t t = 0; t < n; t++) {
        for (size_t k = 0; k < CANDIDATE_TOPS; k++) {
            measures.top[k] += reciprocal[t] * candidate_tops[k] >= 1;
        }
        measures.mrr += reciprocal[t];
    }
    for (size_t k = 0; k < CANDIDATE_TOPS; k++) {
        measures.top[k] /= (double)n;
    }
    measures.mrr /= (double)n;
    return measures;
}

size_t candidates_choose(const double *reciprocal, size_t points, size_t n, double *left_out) {
    size_t best = 0;
    double max = -INFINITY;
    for (size_t p = 0; p < points; p++) {
        double sum = 0;
        for (size_t t = 0; t < n; t++) {
            sum += reciprocal[p * n + t];
        }
        best = sum > max ? p : best;
        max = fmax(max, sum);
    }
    for (size_t t = 0; left_out && t < n; t++) {
        double max_others = -INFINITY;
        for (size_t p = 0; p < points; p++) {
            double others = 0;
            for (size_t u = 0; u < n; u++) {
                others += u == t ? 0 : reciprocal[p * n + u];
            }
            if (others > max_others) {
                max_others = others;
                left_out[t] = reciprocal[p * n + t];
            }
        }
    }
    return best;
}
