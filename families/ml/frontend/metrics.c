/* Sums of the measures of metrics.h: O(q log q) per row. */
#include "families/ml/frontend/metrics.h"

#include "common/base/arrays.h"
#include "families/ml/solver/sort.h"

#include <math.h>
#include <stdlib.h>

/* ---- the K highest labels of a row ---- */

static int compare_weights(const void *a, const void *b) {
    const struct ml_place *x = a, *y = b;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

/* Sorts places first..n, which are tied, by ascending weight, and numbers them from the place that
 * they share. */
static void sort_ties(struct ml_place *list, uint32_t first, uint32_t n) {
    uint32_t place = first < n ? list[first].place : 0;
    qsort(list + first, n - first, sizeof *list, compare_weights);
    for (uint32_t i = first; i < n; i++) {
        list[i].place = place++;
    }
}

static double discount(double place) {
    return 1 / log2(1 + place);
}

/* What the relevant labels among the first K places add to precision or ndcg. */
static double gained(const struct ml_cut *cut, const struct ml_place *list, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n && list[i].place <= cut->at; i++) {
        sum += cut->kind == ML_NDCG ? discount(list[i].place) : 1;
    }
    return sum;
}

static double best_discounts(uint64_t n) {
    double sum = 0;
    for (uint64_t place = 1; place <= n; place++) {
        sum += discount((double)place);
    }
    return sum;
}

/* psp, with ascending weights. Both sums start with their largest weights. Term by term the best
 * sum has no smaller weights, so rounding cannot make the attained sum larger. */
static void add_weights(struct ml_cut *cut, const struct ml_place *list, uint32_t n,
                        uint32_t n_unknown, double unknown_weight) {
    double sum = 0, best = 0;
    uint32_t slots = cut->at;
    for (uint32_t i = 0; i < n_unknown && slots > 0; i++, slots--) {
        best += unknown_weight;
    }
    for (uint32_t i = n; i-- > 0;) {
        sum += list[i].place <= cut->at ? list[i].weight : 0;
        best += slots > 0 ? list[i].weight : 0;
        slots -= slots > 0;
    }
    cut->sum += sum;
    cut->attainable += best;
}

/* Adds a row to all cuts. list has its n relevant labels by place, and is reordered. n_unknown more
 * labels are not in the model; each has unknown_weight, no less than any other. */
static void add_cuts(struct ml_cut *cut, size_t n_cuts, struct ml_place *list, uint32_t n,
                     uint32_t n_unknown, double unknown_weight) {
    uint64_t labels = (uint64_t)n + n_unknown;
    for (size_t c = 0; c < n_cuts; c++) {
        uint64_t attainable = labels < cut[c].at ? labels : cut[c].at;
        if (cut[c].kind == ML_PRECISION) {
            cut[c].sum += gained(&cut[c], list, n) / cut[c].at;
            cut[c].attainable += 1;
        } else if (cut[c].kind == ML_NDCG) {
            double sum = gained(&cut[c], list, n);
            cut[c].sum += sum > 0 ? sum / best_discounts(attainable) : 0;
            cut[c].attainable += 1;
        }
    }
    qsort(list, n, sizeof *list, compare_weights);
    for (size_t c = 0; c < n_cuts; c++) {
        if (cut[c].kind == ML_PSP) {
            add_weights(&cut[c], list, n, n_unknown, unknown_weight);
        }
    }
}

/* ---- all labels ---- */

int ml_metrics_create(struct ml_metrics *metrics, uint32_t q, struct error *err) {
    *metrics = (struct ml_metrics){.q = q};
    metrics->block =
        ARRAYS_CREATE("measures", err, ARRAYS(q, double, &metrics->tp, &metrics->fp, &metrics->fn),
                      ARRAYS(q, struct ml_sort, &metrics->list, &metrics->merge),
                      ARRAYS(q, struct ml_place, &metrics->place));
    return metrics->block ? 0 : -1;
}

void ml_metrics_free(struct ml_metrics *metrics) {
    free(metrics->block);
    *metrics = (struct ml_metrics){0};
}

/* Appends the relevant labels of list[first..end), which have equal scores, behind the others
 * there. */
static void add_places(struct ml_metrics *metrics, const bool *relevant, uint32_t first,
                       uint32_t end, uint32_t own, uint32_t found) {
    uint32_t n = found;
    for (uint32_t i = first; i < end; i++) {
        uint32_t label = metrics->list[i].index;
        if (relevant[label]) {
            double weight = metrics->inverse ? metrics->inverse[label] : 0;
            metrics->place[n++] = (struct ml_place){end - own + 1, weight};
        }
    }
    if (own > 0) {
        sort_ties(metrics->place, found, n);
    }
}

/* Adds the measures of the ordering by score, if n_relevant > 0. */
static void add_ranking(struct ml_metrics *metrics, const double *s, const bool *relevant,
                        double n_relevant) {
    uint32_t q = metrics->q;
    struct ml_sort *list = metrics->list;
    for (uint32_t k = 0; k < q; k++) {
        list[k] = (struct ml_sort){s[k], k};
    }
    ml_sort(list, q, metrics->merge);
    double above = 0, relevant_above = 0, precision = 0, wrong = 0, coverage = 0;
    for (uint32_t first = 0, end; first < q; first = end) {
        double own = 0; /* relevant labels with this score */
        for (end = first; end < q && list[end].key == list[first].key; end++) {
            own += relevant[list[end].index];
        }
        double size = (double)(end - first);
        add_places(metrics, relevant, first, end, (uint32_t)own, (uint32_t)relevant_above);
        above += size;
        relevant_above += own;
        if (first == 0) {
            metrics->sum[ML_ONE_ERROR] += own < size;
        }
        precision += own * relevant_above / above;
        wrong += own * (above - relevant_above);
        coverage = own > 0 ? above - 1 : coverage;
    }
    metrics->sum[ML_AVERAGE_PRECISION] += precision / n_relevant;
    metrics->sum[ML_COVERAGE] += coverage;
    metrics->n_ranked++;
    if (n_relevant < (double)q) {
        metrics->sum[ML_RANKING_LOSS] += wrong / (n_relevant * ((double)q - n_relevant));
        metrics->n_divided++;
    }
}

/* 2 tp / (2 tp + rest), 0/0 = 0 */
static double f1(double tp, double rest) {
    return tp > 0 ? 2 * tp / (2 * tp + rest) : 0;
}

void ml_metrics_add(struct ml_metrics *metrics, const double *s, const bool *relevant,
                    const bool *predicted, uint32_t n_unknown) {
    double n_relevant = 0, tp = 0, wrong = (double)n_unknown;
    for (uint32_t k = 0; k < metrics->q; k++) {
        n_relevant += relevant[k];
        tp += relevant[k] && predicted[k];
        wrong += relevant[k] != predicted[k];
        metrics->tp[k] += relevant[k] && predicted[k];
        metrics->fp[k] += !relevant[k] && predicted[k];
        metrics->fn[k] += relevant[k] && !predicted[k];
    }
    metrics->n_rows++;
    metrics->n_labelled += n_relevant > 0 || n_unknown > 0;
    metrics->unknown += (double)n_unknown;
    metrics->sum[ML_HAMMING_LOSS] += wrong;
    metrics->sum[ML_SUBSET_ACCURACY] += wrong == 0;
    metrics->sum[ML_EXAMPLE_F1] += f1(tp, wrong);
    if (n_relevant > 0) {
        add_ranking(metrics, s, relevant, n_relevant);
    }
    add_cuts(metrics->cut, metrics->n_cuts, metrics->place, (uint32_t)n_relevant, n_unknown,
             metrics->inverse ? metrics->inverse[metrics->q] : 0);
}

void ml_metrics_values(const struct ml_metrics *metrics, size_t n_unknown, double *value,
                       double *weight) {
    double labels = (double)metrics->q + (double)n_unknown, n = metrics->n_rows;
    double tp = 0, rest = metrics->unknown, sum = 0;
    for (uint32_t k = 0; k < metrics->q; k++) {
        tp += metrics->tp[k];
        rest += metrics->fp[k] + metrics->fn[k];
        sum += f1(metrics->tp[k], metrics->fp[k] + metrics->fn[k]);
    }
    for (size_t k = 0; k < ML_METRICS; k++) {
        bool ranking = k == ML_ONE_ERROR || k == ML_COVERAGE || k == ML_AVERAGE_PRECISION;
        weight[k] = k == ML_RANKING_LOSS ? metrics->n_divided : ranking ? metrics->n_ranked : n;
        value[k] = metrics->sum[k] / weight[k];
    }
    value[ML_HAMMING_LOSS] /= labels;
    value[ML_MICRO_F1] = f1(tp, rest);
    value[ML_MACRO_F1] = sum / labels;
    for (size_t k = 0; k < ML_METRICS; k++) {
        if (metrics->n_labelled == 0 || weight[k] == 0) {
            value[k] = NAN;
            weight[k] = 0;
        }
    }
}
