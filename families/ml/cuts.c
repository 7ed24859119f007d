#include "families/ml/cuts.h"

#include <math.h>
#include <stdlib.h>

static int compare_weights(const void *a, const void *b) {
    const struct ml_place *x = a, *y = b;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

void ml_cuts_tie(struct ml_place *list, uint32_t first, uint32_t n) {
    uint32_t place = first < n ? list[first].place : 0;
    qsort(list + first, n - first, sizeof *list, compare_weights);
    for (uint32_t i = first; i < n; i++) {
        list[i].place = place++;
    }
}

static double discount(double place) {
    return 1 / log2(1 + place);
}

/* What the relevant labels in the first K places add to precision, or to ndcg. */
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

/* psp, the weights ascending. Both sums begin with the largest of their weights: term by term the
 * best has no smaller ones, so rounding cannot make what was gained larger than it. */
static void add_weights(struct ml_cut *cut, const struct ml_place *list, uint32_t n,
                        uint32_t n_unknown, double unknown_weight) {
    double sum = 0, best = 0;
    uint32_t room = cut->at;
    for (uint32_t i = 0; i < n_unknown && room > 0; i++, room--) {
        best += unknown_weight;
    }
    for (uint32_t i = n; i-- > 0;) {
        sum += list[i].place <= cut->at ? list[i].weight : 0;
        best += room > 0 ? list[i].weight : 0;
        room -= room > 0;
    }
    cut->sum += sum;
    cut->most += best;
}

void ml_cuts_add(struct ml_cut *cut, size_t n_cuts, struct ml_place *list, uint32_t n,
                 uint32_t n_unknown, double unknown_weight) {
    uint64_t labels = (uint64_t)n + n_unknown;
    for (size_t c = 0; c < n_cuts; c++) {
        uint64_t most = labels < cut[c].at ? labels : cut[c].at;
        if (cut[c].kind == ML_PRECISION) {
            cut[c].sum += gained(&cut[c], list, n) / cut[c].at;
            cut[c].most += 1;
        } else if (cut[c].kind == ML_NDCG) {
            double sum = gained(&cut[c], list, n);
            cut[c].sum += sum > 0 ? sum / best_discounts(most) : 0;
            cut[c].most += 1;
        }
    }
    qsort(list, n, sizeof *list, compare_weights);
    for (size_t c = 0; c < n_cuts; c++) {
        if (cut[c].kind == ML_PSP) {
            add_weights(&cut[c], list, n, n_unknown, unknown_weight);
        }
    }
}
