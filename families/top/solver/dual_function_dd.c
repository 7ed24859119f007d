/* The function of a dual point in double-double, and the rounding-error bounds of its coefficients:
 * the sums of alpha and beta must be equal, and entries must not exceed their caps. Compiled
 * without contraction, see common/double_double/dd.h. */
#include "families/top/solver/dual_function_dd.h"

#include "common/base/memory.h"
#include "common/double_double/dd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative error of a sum of n numbers in double-double, over (n + 8) times the sum of
 * magnitudes. */
static const double SUM_ROUNDING = 0x1p-104;
/* Relative rounding error of a cap: half an epsilon for each of at most seven roundings. These are
 * a product of weights, its quotient with K, the quotient that makes shares sum to 1 and that sum,
 * the sum of alpha, the product of share and sum, and the product with this bound. */
static const double CAP_ROUNDING = 3.51 * DBL_EPSILON;

/* ---- sums ---- */

static struct dd sum_of(const double *x, size_t n) {
    struct dd sum = {0, 0};
    for (size_t i = 0; i < n; i++) {
        sum = dd_add(sum, (struct dd){x[i], 0});
    }
    return sum;
}

/* Sums of alpha and beta over all processes. difference = alpha - beta, rounding_bound its error.
 * caps: for TOP_MEAN, the relative excess of share times the sum of alpha over the exact cap. */
struct sums {
    double alpha, beta, difference, rounding_bound, caps;
};

/* Shares whose sum was below 1 are scaled to sum to 1 in double. Returns their excess over 1 if it
 * is rounding, else 0. */
static double shares_over(const struct top_risk *risk) {
    struct dd sum = sum_of(risk->share, risk->n);
    double rounding = ((double)risk->n_all + 8) * DBL_EPSILON, over;
    if (risk->cluster) {
        long double all = (long double)sum.hi + (long double)sum.lo;
        cluster_sum_long(risk->cluster, &all, 1);
        over = (double)(all - 1);
    } else {
        over = dd_add(sum, (struct dd){-1, 0}).hi;
    }
    return over > 0 && over <= rounding ? over : 0;
}

static struct sums sum_both(const struct top_risk *risk, const double *alpha, const double *beta) {
    struct dd a = sum_of(alpha, risk->n), b = sum_of(beta, risk->n);
    struct dd difference = dd_add(a, dd_negative(b));
    struct sums sums = {.alpha = a.hi, .beta = b.hi, .difference = difference.hi};
    double units = ((double)risk->n_all + 8) * SUM_ROUNDING;
    if (risk->cluster) {
        long double all[] = {(long double)a.hi + (long double)a.lo,
                             (long double)b.hi + (long double)b.lo};
        cluster_sum_long(risk->cluster, all, 2);
        sums.alpha = (double)all[0];
        sums.beta = (double)all[1];
        sums.difference = (double)(all[0] - all[1]);
        units += ((double)cluster_size(risk->cluster) + 1) * (double)LDBL_EPSILON;
    }
    sums.rounding_bound = units * (sums.alpha + sums.beta);
    sums.caps = risk->kind == TOP_MEAN ? CAP_ROUNDING + shares_over(risk) : 0;
    return sums;
}

/* ---- sums that are equal ---- */

/* A lower bound of the cap of entry j (TOP_MEAN). */
static double cap_of(const struct top_risk *risk, const struct sums *sums, size_t j) {
    return risk->share[j] < 1 || risk->mass_error > 0
               ? (1 - sums->caps) * risk->share[j] * sums->alpha
               : INFINITY; /* a cap of the whole sum does not restrict */
}

/* Whether the entry stays below its cap after it has been increased by `more` and rounded. */
static bool has_room(const struct top_risk *risk, const struct sums *sums, size_t j, double beta,
                     double more) {
    return more <= 0 || risk->kind != TOP_MEAN ||
           (beta + more) * (1 + DBL_EPSILON) < cap_of(risk, sums, j);
}

/* Adds the difference of the sums to the smallest entry of beta that can take it: the smaller an
 * entry, the finer its unit in the last place. */
static void balance_sums(const struct top_risk *risk, const double *alpha, double *beta) {
    struct sums sums = sum_both(risk, alpha, beta);
    size_t best = risk->n;
    for (size_t j = 0; j < risk->n; j++) {
        bool fits = beta[j] > 2 * fabs(sums.difference) &&
                    has_room(risk, &sums, j, beta[j], sums.difference);
        best = fits && (best == risk->n || beta[j] < beta[best]) ? j : best;
    }
    if (best < risk->n) {
        beta[best] += sums.difference;
    }
}

/* ---- error bounds of beta ---- */

/* TOP_MEAN on one process: adds the errors (n) of entries above their caps, and of one entry that
 * receives the excess: the one with the smallest feature norm. Returns false, and adds nothing, if
 * no entry has room for it. */
static bool bound_cap_errors(const struct top_risk *risk, const double *norm_bound,
                             const double *beta, const struct sums *sums, double *error) {
    double over = fabs(sums->difference) + sums->rounding_bound;
    size_t receiver = risk->n;
    for (size_t j = 0; j < risk->n; j++) {
        over += fmax(0, beta[j] - cap_of(risk, sums, j));
    }
    over *= 1 + DBL_EPSILON * (double)risk->n;
    for (size_t j = 0; j < risk->n; j++) {
        bool takes = beta[j] >= over && has_room(risk, sums, j, beta[j], over);
        receiver =
            takes && (receiver == risk->n || norm_bound[j] < norm_bound[receiver]) ? j : receiver;
    }
    for (size_t j = 0; j < risk->n && receiver < risk->n; j++) {
        error[j] += fmax(0, beta[j] - cap_of(risk, sums, j));
        error[j] += j == receiver ? over : 0;
    }
    return receiver < risk->n;
}

/* Whether this process is the first that has the largest feature norm. */
static bool holds_largest_norm(struct cluster *cluster, double norm_bound) {
    double rank = (double)cluster_rank(cluster), largest = cluster_largest(cluster, norm_bound);
    return -cluster_largest(cluster, norm_bound == largest ? -rank : -INFINITY) == rank;
}

/* Adds the errors (n) of beta scaled to the sum of alpha. For TOP_MEAN beta is then cut to its
 * caps, and the excess may go to any row, so it counts with the largest feature norm. Returns the
 * relative change by the scaling. */
static double bound_scaling_errors(const struct top_risk *risk, const double *norm_bound,
                                   const double *beta, const struct sums *sums, double *error) {
    size_t n = risk->n, largest = 0;
    double part = sums->beta > 0 ? (fabs(sums->difference) + sums->rounding_bound) / sums->beta : 0,
           cut = 0;
    for (size_t i = 0; i < n; i++) {
        double scaled = (1 + part) * beta[i] * (1 + 2 * DBL_EPSILON);
        double over = risk->kind == TOP_MEAN ? fmax(0, scaled - cap_of(risk, sums, i)) : 0;
        error[i] += part * beta[i] + over;
        cut += over;
        largest = norm_bound[i] > norm_bound[largest] ? i : largest;
    }
    bool has_largest = holds_largest_norm(risk->cluster, n > 0 ? norm_bound[largest] : -INFINITY);
    cut = cluster_total(risk->cluster, cut) * (1 + DBL_EPSILON * ((double)risk->n_all + 8));
    if (has_largest && risk->kind == TOP_MEAN) {
        error[largest] += part * sums->beta + cut;
    }
    return part;
}

/* ---- the function ---- */

/* b (n) = alpha - beta rounded to double, with the coefficients of equal rows added up at the first
 * of them; adds the parts that double cannot hold to error (n). */
static int subtract(const struct top_certifier *certifier, const struct top_risk *risk,
                    const struct fit *fit, double *b, double *error, struct error *err) {
    size_t n = risk->n;
    double units = ((double)n + 8) * SUM_ROUNDING;
    struct dd *sum = memory_zeros(n, sizeof *sum, "a certificate", err);
    if (!sum) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = certifier->first_equal ? certifier->first_equal[i] : i;
        sum[at] = dd_add(sum[at], dd_two_sum(fit->alpha[i], -fit->beta[i]));
        error[at] += certifier->first_equal ? units * (fit->alpha[i] + fit->beta[i]) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        b[i] = sum[i].hi;
        error[i] += fabs(sum[i].lo);
    }
    free(sum);
    return 0;
}

/* The rounding-error bound of top_risk_dual: relative errors of its terms in alpha, the squares,
 * beta and the budget. */
static double linear_rounding(const struct top_risk *risk, double cost, const struct fit *fit,
                              const struct sums *sums, double part, double linear) {
    bool quantile = risk->kind == TOP_QUANTILE, none = risk->kind == TOP_NONE;
    double squares = 0, underflow = 0; /* underflow: effect of caps that underflow */
    for (size_t i = 0; i < risk->n; i++) {
        double a = fit->alpha[i], b = fit->beta[i];
        double of_a = risk->square && a > 0 ? a / (4 * cost * risk->cost[i]) : 0;
        double of_b = risk->square && none && b > 0 ? b / (4 * cost * risk->mass[i]) : 0;
        squares += a * of_a + b * of_b;
        underflow += (4 + 4 * (of_a * of_a + of_b * of_b)) * CERTIFY_UNDERFLOW;
    }
    underflow = cluster_total(risk->cluster, underflow);
    /* the quantile's root term: a quotient times the budget, and a product */
    underflow += quantile ? (1 + risk->budget) / risk->theta * CERTIFY_UNDERFLOW : 0;
    squares = cluster_total(risk->cluster, squares);
    double process_sums = ((double)cluster_size(risk->cluster) - 1) * DBL_EPSILON;
    double units = ((double)risk->n_all + 8) * DBL_EPSILON + process_sums;
    double of_beta = quantile ? sums->beta / risk->theta : none ? sums->beta : 0;
    double of_budget = quantile ? fabs(sums->alpha + of_beta - squares - linear) : 0;
    return units * (sums->alpha + squares + of_beta + of_budget) +
           (quantile ? part * (of_beta + of_budget) : 0) + underflow;
}

/* The fit's dual_weights, whose scores are known, in place of the coefficients, if they are equal
 * up to rounding. The differences go into the error bounds. */
static bool take_scored(const struct top_certifier *certifier, const struct fit *fit,
                        struct top_dual_function *function) {
    const double max_part = 1e-9;
    size_t n = certifier->map->n;
    double difference = 0, size = 0;
    if (!fit->dual_scores) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        difference += fabs(function->b[i] - fit->dual_weights[i]);
        size += fabs(function->b[i]);
    }
    if (!(difference <= max_part * size)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        function->error[i] += fabs(function->b[i] - fit->dual_weights[i]) * (1 + 4 * DBL_EPSILON);
    }
    memcpy(function->weights, fit->dual_weights, n * sizeof *function->weights);
    function->scores = fit->dual_scores;
    return true;
}

int top_dual_function_make(const struct top_certifier *certifier, const struct top_risk *risk,
                           double cost, struct fit *fit, struct top_dual_function *function,
                           struct error *err) {
    const struct score_map *map = certifier->map;
    const double *norm_bound = certify_norm_bounds(certifier->certify);
    size_t n = map->n, used = 0;
    *function = (struct top_dual_function){
        .b = memory_array(n, sizeof(double), "a certificate", err),
        .error = memory_zeros(n, sizeof(double), "a certificate", err),
        .weights = memory_array(map->dimension, sizeof(double), "a certificate", err)};
    if (!function->b || !function->error || !function->weights) {
        return -1;
    }
    bool balanced = risk->kind != TOP_NONE;
    if (balanced && !risk->cluster) {
        balance_sums(risk, fit->alpha, fit->beta);
    }
    struct sums sums = sum_both(risk, fit->alpha, fit->beta);
    double part = 0;
    bool bounded =
        !balanced || (risk->kind == TOP_MEAN && !risk->cluster &&
                      bound_cap_errors(risk, norm_bound, fit->beta, &sums, function->error));
    if (!bounded) {
        part = bound_scaling_errors(risk, norm_bound, fit->beta, &sums, function->error);
    }
    if (subtract(certifier, risk, fit, function->b, function->error, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        used += function->b[i] != 0;
    }
    used = risk->cluster ? cluster_count(risk->cluster, used) + cluster_size(risk->cluster) : used;
    for (size_t i = 0; i < n && map->primal; i++) {
        function->error[i] += certify_coefficient_rounding(used) * fabs(function->b[i]);
    }
    function->linear = top_risk_dual(risk, cost, fit->alpha, fit->beta);
    function->rounding = linear_rounding(risk, cost, fit, &sums, part, function->linear);
    if (take_scored(certifier, fit, function)) {
        return 0;
    }
    return map->adjoint(map, function->b, function->weights, err);
}

void top_dual_function_free(struct top_dual_function *function) {
    free(function->b);
    free(function->error);
    free(function->weights);
    *function = (struct top_dual_function){0};
}
