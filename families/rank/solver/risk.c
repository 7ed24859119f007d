/* Value, subgradient, curvature and breakpoints of the losses over all pairs (risk.h). */
#include "families/rank/solver/risk.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "families/rank/solver/multipliers.h"
#include "fit/score_map.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int rank_risk_create(struct rank_risk *risk, struct rank_pairs *pairs, enum rank_risk_type type,
                     struct error *err) {
    *risk = (struct rank_risk){.pairs = pairs, .type = type, .mu = 1};
    risk->block = ARRAYS_CREATE(
        "counts", err, ARRAYS(pairs->n, double, &risk->count, &risk->moment, &risk->inner));
    if (!risk->block) {
        return -1;
    }
    for (size_t g = 0; g < pairs->n_groups; g++) {
        risk->total += pairs->weight[g] * pairs->group_relative_weight[g];
    }
    risk->total = cluster_total(pairs->cluster, risk->total);
    double terms = (double)pairs->max_rows + (double)pairs->n_groups + (double)pairs->n / 32 + 64 +
                   (pairs->gain ? (double)pairs->max_levels : 0);
    double weights = cluster_largest(pairs->cluster, pairs->weight_error);
    double groups = (double)pairs->n_groups + 4;
    double process_sums = (double)cluster_size(pairs->cluster) - 1;
    risk->sums_rounding =
        (cluster_largest(pairs->cluster, terms) + process_sums) * DBL_EPSILON + weights;
    risk->groups_rounding = (cluster_largest(pairs->cluster, groups) + process_sums) * DBL_EPSILON;
    return 0;
}

void rank_risk_free(struct rank_risk *risk) {
    free(risk->block);
    *risk = (struct rank_risk){0};
}

/* Sums over pairs with margins m < delta: of their weights, and of what gives the sums of delta - m
 * and of its square. */
enum { ACTIVE, COUNT, MOMENT, N_SUMS };

/* The sums of this process's rows. moment = minus half the gradient of the sum of squares. */
static void sum_pairs(struct rank_risk *risk, const double *s, double delta, double *moment,
                      double *sums_of_pairs) {
    sums_of_pairs[ACTIVE] = rank_pairs_sums(risk->pairs, s, delta, risk->count, moment);
    sums_of_pairs[COUNT] = array_dot(risk->count, s, risk->pairs->n);
    sums_of_pairs[MOMENT] = array_dot(moment, s, risk->pairs->n);
}

static double first_sum(const double *sums_of_pairs, double delta) {
    return fmax(0, delta * sums_of_pairs[ACTIVE] - sums_of_pairs[COUNT]);
}

static double second_sum(const double *sums_of_pairs, double delta) {
    return fmax(0, delta * first_sum(sums_of_pairs, delta) - sums_of_pairs[MOMENT]);
}

static double cut_hinge(struct rank_risk *risk, const double *s, double *g, double *offset) {
    size_t n = risk->pairs->n;
    double sums[2] = {rank_pairs_sums(risk->pairs, s, 1, g, NULL), 0};
    sums[1] = array_dot(g, s, n);
    cluster_sum(risk->pairs->cluster, sums, 2);
    array_scale(g, -1, n);
    risk->active = *offset = risk->dual_offset = sums[0];
    risk->true_value = fmax(0, sums[0] - sums[1]);
    return risk->true_value;
}

static double cut_square(struct rank_risk *risk, const double *s, double *g, double *offset) {
    double sums_of_pairs[N_SUMS];
    sum_pairs(risk, s, 1, risk->moment, sums_of_pairs);
    cluster_sum(risk->pairs->cluster, sums_of_pairs, N_SUMS);
    array_multiple(g, -2, risk->moment, risk->pairs->n);
    double second = second_sum(sums_of_pairs, 1);
    risk->active = sums_of_pairs[ACTIVE];
    risk->true_value = second;
    *offset = risk->dual_offset = 2 * first_sum(sums_of_pairs, 1) - second;
    return second;
}

/* The Huber loss is u^2 minus the square of the part of u above mu, over 2 mu. */
static double cut_huber(struct rank_risk *risk, const double *s, double *g, double *offset) {
    size_t n = risk->pairs->n;
    double mu = risk->mu, sums[2 * N_SUMS + 1], *inner = sums + N_SUMS;
    sum_pairs(risk, s, 1, risk->moment, sums);
    sum_pairs(risk, s, 1 - mu, risk->inner, inner);
    for (size_t i = 0; i < n; i++) {
        g[i] = (risk->inner[i] - risk->moment[i]) / mu;
    }
    sums[2 * N_SUMS] = array_dot(g, s, n);
    cluster_sum(risk->pairs->cluster, sums, 2 * N_SUMS + 1);
    double first = first_sum(sums, 1);
    double value = (second_sum(sums, 1) - second_sum(inner, 1 - mu)) / (2 * mu);
    *offset = value - sums[2 * N_SUMS];
    risk->active = sums[ACTIVE];
    risk->true_value = first;
    risk->dual_offset = (first - first_sum(inner, 1 - mu)) / mu;
    return value;
}

static double cut_centred(struct rank_risk *risk, const double *s, double *g, double *offset) {
    struct rank_centred_loss at = rank_multipliers_evaluate(risk->multipliers, risk->mu, s, g);
    *offset = at.value - array_dot(g, s, risk->pairs->n);
    risk->dual_offset = at.total;
    risk->true_value = at.loss;
    return at.value;
}

double rank_risk_evaluate(struct rank_risk *risk, const double *s, double *g, double *offset) {
    risk->s = s;
    switch (risk->type) {
    case RANK_RISK_HINGE:
        return cut_hinge(risk, s, g, offset);
    case RANK_RISK_SQUARE:
        return cut_square(risk, s, g, offset);
    case RANK_RISK_HUBER:
        return cut_huber(risk, s, g, offset);
    case RANK_RISK_CENTRED:
        break;
    }
    return cut_centred(risk, s, g, offset);
}

/* Upper bound of |u| and of the scores. */
static double scores_size(const struct rank_risk *risk) {
    double largest = array_largest(risk->s, risk->pairs->n);
    return 1 + 2 * cluster_largest(risk->pairs->cluster, largest);
}

/* Rounding-error bounds of dual_offset and g of the last evaluation. */
static struct risk_rounding rounding(const void *context) {
    const struct rank_risk *risk = context;
    double active = risk->active;
    if (active == 0) { /* both are 0 */
        return (struct risk_rounding){0};
    }
    if (risk->type == RANK_RISK_HINGE && risk->pairs->gain) {
        return (struct risk_rounding){risk->sums_rounding * active, risk->sums_rounding,
                                      1 + risk->sums_rounding};
    }
    if (risk->type == RANK_RISK_HINGE) {
        /* counts are integers; the weights of their groups may not be */
        return (struct risk_rounding){risk->groups_rounding * active, 4 * DBL_EPSILON, 1};
    }
    double size = scores_size(risk);
    if (risk->type == RANK_RISK_SQUARE) {
        double unit = 4 * risk->sums_rounding * size;
        return (struct risk_rounding){3 * unit * size * active, unit, 2 * size};
    }
    double unit = 2 * risk->sums_rounding * size / risk->mu;
    return (struct risk_rounding){2 * unit * active, 2 * unit, 1 + 2 * unit};
}

void rank_risk_model_gradient(struct rank_risk *risk, const double *s, double region_mu,
                              double *g) {
    size_t n = risk->pairs->n;
    double *inner_count = g;
    rank_pairs_sums(risk->pairs, s, 1, risk->count, risk->moment);
    rank_pairs_sums(risk->pairs, s, 1 - region_mu, inner_count, risk->inner);
    for (size_t i = 0; i < n; i++) {
        /* moments of u in the smoothed region, then 1 for each pair above it */
        double in_region = risk->moment[i] - risk->inner[i] - region_mu * inner_count[i];
        g[i] = -in_region / risk->mu - inner_count[i];
    }
}

static double risk_cut(void *context, const double *s, double *g, double *offset) {
    return rank_risk_evaluate(context, s, g, offset);
}

static int risk_record(void *context, void **record, struct error *err) {
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

struct risk rank_risk_functions(struct rank_risk *risk, bool keep) {
    return (struct risk){.n = risk->pairs->n,
                         .context = risk,
                         .cut = risk_cut,
                         .rounding = rounding,
                         .record = keep ? risk_record : NULL};
}
