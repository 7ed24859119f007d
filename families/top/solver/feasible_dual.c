/* Clipping and scaling of dual points to their feasible set (feasible_dual.h). */
#include "families/top/solver/feasible_dual.h"

#include "common/base/array.h"
#include "common/base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

int top_dual_allocate(struct fit *fit, size_t n, size_t dimension, struct error *err) {
    if (!fit->weights) {
        fit->weights = memory_zeros(dimension, sizeof(double), "weights", err);
    }
    fit->alpha = memory_zeros(n, sizeof(double), "the dual point", err);
    fit->beta = memory_zeros(n, sizeof(double), "the dual point", err);
    return fit->weights && fit->alpha && fit->beta ? 0 : -1;
}

/* Clips to the fixed bounds; returns whether all entries are finite. */
static bool clip(const struct top_risk *risk, double C, double *alpha, double *beta) {
    bool finite = true;
    for (size_t i = 0; i < risk->n; i++) {
        double max_alpha = risk->square ? INFINITY : C * risk->cost[i];
        double max_beta = risk->kind == TOP_NONE && !risk->square ? C * risk->mass[i] : INFINITY;
        alpha[i] = risk->cost[i] > 0 ? fmin(fmax(alpha[i], 0), max_alpha) : 0;
        beta[i] = risk->mass[i] > 0 ? fmin(fmax(beta[i], 0), max_beta) : 0;
        finite = finite && isfinite(alpha[i]) && isfinite(beta[i]);
    }
    return finite;
}

/* The sum of x (risk->n) over the rows of all processes. */
static double sum_of(const struct top_risk *risk, const double *x) {
    return cluster_total(risk->cluster, array_sum(x, risk->n));
}

/* Increases the entries between 0 and their caps in proportion, until beta sums to m or none is
 * left; each iteration that does not reach m puts an entry at its cap. Returns the missing part of
 * m. */
static double raise_entries(const struct top_risk *risk, double m, double *beta) {
    for (;;) {
        double sum = 0, moving = 0;
        for (size_t j = 0; j < risk->n; j++) {
            sum += beta[j];
            moving += beta[j] < risk->share[j] * m ? beta[j] : 0;
        }
        double sums[] = {sum, moving};
        cluster_sum(risk->cluster, sums, 2);
        moving = sums[1];
        double missing = m - sums[0];
        if (missing <= 0 || moving <= 0) {
            return missing;
        }
        double factor = 1 + missing / moving;
        bool capped = false;
        for (size_t j = 0; j < risk->n; j++) {
            double cap = risk->share[j] * m;
            if (beta[j] < cap) {
                beta[j] *= factor;
                capped = capped || beta[j] >= cap;
                beta[j] = fmin(beta[j], cap);
            }
        }
        if (!cluster_any(risk->cluster, capped)) {
            return 0;
        }
    }
}

/* Moves beta to 0 <= beta_j <= share_j m with sum m; the shares sum to at least 1. */
static void repair_mean(const struct top_risk *risk, double m, double *beta) {
    size_t n = risk->n;
    for (size_t j = 0; j < n; j++) {
        beta[j] = fmin(beta[j], risk->share[j] * m);
    }
    double sum = sum_of(risk, beta);
    if (sum > m) {
        array_scale(beta, m / sum, n);
        return;
    }
    double missing = raise_entries(risk, m, beta), slack = 0;
    for (size_t j = 0; j < n; j++) {
        slack += risk->share[j] * m - beta[j];
    }
    slack = cluster_total(risk->cluster, slack);
    if (missing > 0 && slack > 0) {
        double part = fmin(1, missing / slack);
        for (size_t j = 0; j < n; j++) {
            beta[j] += part * (risk->share[j] * m - beta[j]);
        }
    }
}

void top_dual_repair(const struct top_risk *risk, double C, double *alpha, double *beta) {
    size_t n = risk->n;
    bool finite = !cluster_any(risk->cluster, !clip(risk, C, alpha, beta));
    if (risk->kind == TOP_NONE && finite) {
        return;
    }
    double m = sum_of(risk, alpha), sum = sum_of(risk, beta);
    if (!finite || !(m > 0) || !isfinite(m) || !isfinite(sum)) {
        memset(alpha, 0, n * sizeof *alpha);
        memset(beta, 0, n * sizeof *beta);
        return;
    }
    if (risk->kind == TOP_MEAN) {
        repair_mean(risk, m, beta);
        return;
    }
    for (size_t j = 0; j < n && sum <= 0; j++) {
        beta[j] = m * (risk->mass[j] / risk->total_mass);
    }
    if (sum > 0) {
        array_scale(beta, m / sum, n);
    }
}
