#include "solvers/rank/risk.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "solvers/methods/score_map.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int rank_risk_create(struct rank_risk *risk, struct rank_pairs *pairs, enum rank_risk_type type,
                     struct error *err) {
    *risk = (struct rank_risk){.pairs = pairs, .type = type, .mu = 1};
    risk->count = memory_array(pairs->n, sizeof(double), "counts", err);
    risk->moment = memory_array(pairs->n, sizeof(double), "counts", err);
    risk->inner = memory_array(pairs->n, sizeof(double), "counts", err);
    if (!risk->count || !risk->moment || !risk->inner) {
        rank_risk_free(risk);
        return -1;
    }
    for (size_t g = 0; g < pairs->n_groups; g++) {
        risk->total += pairs->weight[g] * pairs->group_pairs[g];
    }
    risk->total = cluster_total(pairs->cluster, risk->total);
    double terms = (double)pairs->most_rows + (double)pairs->n_groups + (double)pairs->n / 32 + 64;
    double groups = (double)pairs->n_groups + 4;
    double ranks = (double)cluster_size(pairs->cluster) - 1;
    risk->sums_rounding = (cluster_largest(pairs->cluster, terms) + ranks) * DBL_EPSILON;
    risk->groups_rounding = (cluster_largest(pairs->cluster, groups) + ranks) * DBL_EPSILON;
    return 0;
}

void rank_risk_free(struct rank_risk *risk) {
    free(risk->count);
    free(risk->moment);
    free(risk->inner);
    *risk = (struct rank_risk){0};
}

/* Sums of (delta - m)_+ and of its square over all pairs, and in `moment` half the square's
 * gradient, negated. Returns the weight of the active pairs. */
static double square_sums(struct rank_risk *risk, const double *s, double delta, double *moment,
                          double *first, double *second) {
    size_t n = risk->pairs->n;
    double sums[3];
    sums[0] = rank_pairs_sums(risk->pairs, s, delta, risk->count, moment);
    sums[1] = array_dot(risk->count, s, n);
    sums[2] = array_dot(moment, s, n);
    cluster_sum(risk->pairs->cluster, sums, 3);
    *first = fmax(0, delta * sums[0] - sums[1]);
    *second = fmax(0, delta * *first - sums[2]);
    return sums[0];
}

/* No |u| is larger, nor a score. */
static double scores_size(const struct rank_risk *risk, const double *s) {
    double largest = 0;
    for (size_t i = 0; i < risk->pairs->n; i++) {
        largest = fmax(largest, fabs(s[i]));
    }
    return 1 + 2 * cluster_largest(risk->pairs->cluster, largest);
}

double rank_risk_cut(struct rank_risk *risk, const double *s, double *g, double *offset) {
    size_t n = risk->pairs->n;
    risk->s = s;
    if (risk->type == RANK_RISK_HINGE) {
        double sums[2] = {rank_pairs_sums(risk->pairs, s, 1, g, NULL), 0};
        sums[1] = array_dot(g, s, n);
        cluster_sum(risk->pairs->cluster, sums, 2);
        double active = sums[0], value = fmax(0, active - sums[1]);
        for (size_t i = 0; i < n; i++) {
            g[i] = -g[i];
        }
        *offset = active;
        risk->true_value = value;
        risk->dual_offset = active;
        /* counts are whole numbers; their groups' weights may not be */
        risk->rounding = (struct risk_rounding){risk->groups_rounding * active, 4 * DBL_EPSILON, 1};
        return value;
    }
    double first, second;
    double active = square_sums(risk, s, 1, risk->moment, &first, &second);
    if (risk->type == RANK_RISK_SQUARE) {
        for (size_t i = 0; i < n; i++) {
            g[i] = -2 * risk->moment[i];
        }
        *offset = 2 * first - second;
        risk->true_value = second;
        risk->dual_offset = *offset;
        double size = scores_size(risk, s), unit = 4 * risk->sums_rounding * size;
        risk->rounding = (struct risk_rounding){3 * unit * size * active, unit, 2 * size};
        return second;
    }
    /* u^2 less the square of what exceeds mu, over 2 mu */
    double inner_first, inner_second, mu = risk->mu;
    square_sums(risk, s, 1 - mu, risk->inner, &inner_first, &inner_second);
    double value = (second - inner_second) / (2 * mu);
    for (size_t i = 0; i < n; i++) {
        g[i] = (risk->inner[i] - risk->moment[i]) / mu;
    }
    *offset = value - cluster_total(risk->pairs->cluster, array_dot(g, s, n));
    risk->true_value = first;
    risk->dual_offset = (first - inner_first) / mu;
    double unit = 2 * risk->sums_rounding * scores_size(risk, s) / mu;
    risk->rounding = (struct risk_rounding){2 * unit * active, 2 * unit, 1 + 2 * unit};
    return value;
}

void rank_risk_follow(struct rank_risk *risk, const double *s, double band, double *g) {
    size_t n = risk->pairs->n;
    double *inner_count = g;
    rank_pairs_sums(risk->pairs, s, 1, risk->count, risk->moment);
    rank_pairs_sums(risk->pairs, s, 1 - band, inner_count, risk->inner);
    for (size_t i = 0; i < n; i++) {
        /* moments of u over the band, then 1 for each pair above it */
        double in_band = risk->moment[i] - risk->inner[i] - band * inner_count[i];
        g[i] = -in_band / risk->mu - inner_count[i];
    }
}

static double table_cut(void *context, const double *s, double *g, double *offset) {
    return rank_risk_cut(context, s, g, offset);
}

static struct risk_rounding table_rounding(const void *context) {
    const struct rank_risk *risk = context;
    return risk->rounding;
}

static int table_record(void *context, void **record, struct error *err) {
    const struct rank_risk *risk = context;
    size_t n = risk->pairs->n;
    double *scores = memory_array(n, sizeof *scores, "a plane", err);
    if (!scores) {
        return -1;
    }
    memcpy(scores, risk->s, n * sizeof *scores);
    *record = scores;
    return 0;
}

struct risk rank_risk_table(struct rank_risk *risk, bool keep) {
    return (struct risk){.n = risk->pairs->n,
                         .context = risk,
                         .cut = table_cut,
                         .rounding = table_rounding,
                         .record = keep ? table_record : NULL};
}
