/* Compiled without contraction, see common/double_double/dd.h. */
#include "families/top/solver/dual_function_dd.h"

#include "common/base/memory.h"
#include "common/double_double/dd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sum of n numbers in double-double is within (n + 8) of these of the sum of sizes. */
static const double SUM = 0x1p-104;
/* A cap is off by half an epsilon for each of seven roundings at the most: of a product of weights,
 * its quotient with K, another that makes shares sum to 1, and that sum; of the sum of alpha; of
 * the products of the two, and with this. */
static const double CAP = 3.51 * DBL_EPSILON;

/* ---- sums ---- */

static struct dd sum_of(const double *x, size_t n) {
    struct dd sum = {0, 0};
    for (size_t i = 0; i < n; i++) {
        sum = dd_add(sum, (struct dd){x[i], 0});
    }
    return sum;
}

/* The sums of alpha and of beta over all ranks, and what alpha sums to more; off: what that may be
 * off by. caps: of TOP_MEAN, the part by which shares times the sum of alpha may be too high. */
struct sums {
    double alpha, beta, apart, off, caps;
};

/* Shares that would not sum to 1 are made to, in plain double: what they sum to more is
 * rounding. */
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
    struct dd apart = dd_add(a, dd_negative(b));
    struct sums sums = {.alpha = a.hi, .beta = b.hi, .apart = apart.hi};
    double units = ((double)risk->n_all + 8) * SUM;
    if (risk->cluster) {
        long double all[] = {(long double)a.hi + (long double)a.lo,
                             (long double)b.hi + (long double)b.lo};
        cluster_sum_long(risk->cluster, all, 2);
        sums.alpha = (double)all[0];
        sums.beta = (double)all[1];
        sums.apart = (double)(all[0] - all[1]);
        units += ((double)cluster_size(risk->cluster) + 1) * (double)LDBL_EPSILON;
    }
    sums.off = units * (sums.alpha + sums.beta);
    sums.caps = risk->kind == TOP_MEAN ? CAP + shares_over(risk) : 0;
    return sums;
}

/* ---- sums that are equal ---- */

/* The cap of an entry of TOP_MEAN, at least. */
static double cap_of(const struct top_risk *risk, const struct sums *sums, size_t j) {
    return risk->share[j] < 1 || risk->mass_error > 0
               ? (1 - sums->caps) * risk->share[j] * sums->alpha
               : INFINITY; /* a cap of the whole sum is none */
}

/* An entry that takes `more` is rounded, and its cap holds then. */
static bool has_room(const struct top_risk *risk, const struct sums *sums, size_t j, double beta,
                     double more) {
    return more <= 0 || risk->kind != TOP_MEAN ||
           (beta + more) * (1 + DBL_EPSILON) < cap_of(risk, sums, j);
}

/* Gives the difference of the sums to the smallest entries of beta that can take it: the smaller an
 * entry the finer its unit. */
static void settle(const struct top_risk *risk, const double *alpha, double *beta) {
    enum { TRIES = 3 };
    for (int k = 0; k < TRIES; k++) {
        struct sums sums = sum_both(risk, alpha, beta);
        size_t best = risk->n;
        for (size_t j = 0; j < risk->n; j++) {
            bool fits =
                beta[j] > 2 * fabs(sums.apart) && has_room(risk, &sums, j, beta[j], sums.apart);
            best = fits && (best == risk->n || beta[j] < beta[best]) ? j : best;
        }
        if (best == risk->n || sums.apart == 0) {
            return;
        }
        beta[best] += sums.apart;
    }
}

/* ---- what is paid ---- */

/* TOP_MEAN, rows in one place: errors (n) of entries above their caps, and of the one entry, of the
 * least reach, that takes what caps leave over. False, and nothing is added, where none can. */
static bool pay_caps(const struct top_risk *risk, const double *reach, const double *beta,
                     const struct sums *sums, double *error) {
    double over = fabs(sums->apart) + sums->off;
    size_t taker = risk->n;
    for (size_t j = 0; j < risk->n; j++) {
        over += fmax(0, beta[j] - cap_of(risk, sums, j));
    }
    over *= 1 + DBL_EPSILON * (double)risk->n;
    for (size_t j = 0; j < risk->n; j++) {
        bool takes = beta[j] >= over && has_room(risk, sums, j, beta[j], over);
        taker = takes && (taker == risk->n || reach[j] < reach[taker]) ? j : taker;
    }
    for (size_t j = 0; j < risk->n && taker < risk->n; j++) {
        error[j] += fmax(0, beta[j] - cap_of(risk, sums, j));
        error[j] += j == taker ? over : 0;
    }
    return taker < risk->n;
}

/* Whether this rank is the first that has the largest reach. */
static bool holds_farthest(struct cluster *cluster, double reach) {
    double rank = (double)cluster_rank(cluster), largest = cluster_largest(cluster, reach);
    return -cluster_largest(cluster, reach == largest ? -rank : -INFINITY) == rank;
}

/* Errors (n) of beta, scaled to the sum of alpha; of TOP_MEAN then cut to its caps, which leaves
 * over as much for rows wherever they are. Returns the part that scaling changes. */
static double pay_scaling(const struct top_risk *risk, const double *reach, const double *beta,
                          const struct sums *sums, double *error) {
    size_t n = risk->n, far = 0;
    double part = sums->beta > 0 ? (fabs(sums->apart) + sums->off) / sums->beta : 0, cut = 0;
    for (size_t i = 0; i < n; i++) {
        double scaled = (1 + part) * beta[i] * (1 + 2 * DBL_EPSILON);
        double over = risk->kind == TOP_MEAN ? fmax(0, scaled - cap_of(risk, sums, i)) : 0;
        error[i] += part * beta[i] + over;
        cut += over;
        far = reach[i] > reach[far] ? i : far;
    }
    bool has_far = holds_farthest(risk->cluster, n > 0 ? reach[far] : -INFINITY);
    cut = cluster_total(risk->cluster, cut) * (1 + DBL_EPSILON * ((double)risk->n_all + 8));
    if (has_far && risk->kind == TOP_MEAN) {
        error[far] += part * sums->beta + cut;
    }
    return part;
}

/* ---- the function ---- */

/* b (n) and errors of what double has no digits for, of equal rows at the first of them. */
static int subtract(const struct top_certifier *certifier, const struct top_risk *risk,
                    const struct fit *fit, double *b, double *error, struct error *err) {
    size_t n = risk->n;
    double units = ((double)n + 8) * SUM;
    struct dd *sum = memory_zeros(n, sizeof *sum, "a certificate", err);
    if (!sum) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = certifier->twin ? certifier->twin[i] : i;
        sum[at] = dd_add(sum[at], dd_two_sum(fit->alpha[i], -fit->beta[i]));
        error[at] += certifier->twin ? units * (fit->alpha[i] + fit->beta[i]) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        b[i] = sum[i].hi;
        error[i] += fabs(sum[i].lo);
    }
    free(sum);
    return 0;
}

/* What top_risk_dual may be off by. */
static double linear_rounding(const struct top_risk *risk, double cost, const struct fit *fit,
                              const struct sums *sums, double part, double linear) {
    bool quantile = risk->kind == TOP_QUANTILE, none = risk->kind == TOP_NONE;
    double squares = 0, under = 0; /* that: what caps that underflow may do */
    for (size_t i = 0; i < risk->n; i++) {
        double a = fit->alpha[i], b = fit->beta[i];
        double of_a = risk->square && a > 0 ? a / (4 * cost * risk->cost[i]) : 0;
        double of_b = risk->square && none && b > 0 ? b / (4 * cost * risk->mass[i]) : 0;
        squares += a * of_a + b * of_b;
        under += (4 + 4 * (of_a * of_a + of_b * of_b)) * CERTIFY_UNDERFLOW;
    }
    under = cluster_total(risk->cluster, under);
    /* of the quantile's pull a quotient, which the budget multiplies, and a product */
    under += quantile ? (1 + risk->budget) / risk->theta * CERTIFY_UNDERFLOW : 0;
    squares = cluster_total(risk->cluster, squares);
    double ranks = ((double)cluster_size(risk->cluster) - 1) * DBL_EPSILON;
    double units = ((double)risk->n_all + 8) * DBL_EPSILON + ranks;
    double lifted = quantile ? sums->beta / risk->theta : none ? sums->beta : 0;
    double pull = quantile ? fabs(sums->alpha + lifted - squares - linear) : 0;
    return units * (sums->alpha + squares + lifted + pull) +
           (quantile ? part * (lifted + pull) : 0) + under;
}

int top_dual_function_make(const struct top_certifier *certifier, const struct top_risk *risk,
                           double cost, struct fit *fit, struct top_dual_function *function,
                           struct error *err) {
    const struct score_map *map = certifier->map;
    const double *reach = certify_reach(certifier->certify);
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
        settle(risk, fit->alpha, fit->beta);
    }
    struct sums sums = sum_both(risk, fit->alpha, fit->beta);
    double part = 0;
    bool paid = !balanced || (risk->kind == TOP_MEAN && !risk->cluster &&
                              pay_caps(risk, reach, fit->beta, &sums, function->error));
    if (!paid) {
        part = pay_scaling(risk, reach, fit->beta, &sums, function->error);
    }
    if (subtract(certifier, risk, fit, function->b, function->error, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        used += function->b[i] != 0;
    }
    used = risk->cluster ? cluster_count(risk->cluster, used) + cluster_size(risk->cluster) : used;
    for (size_t i = 0; i < n && map->primal; i++) {
        function->error[i] += certify_sum_rounding(used) * fabs(function->b[i]);
    }
    function->linear = top_risk_dual(risk, cost, fit->alpha, fit->beta);
    function->rounding = linear_rounding(risk, cost, fit, &sums, part, function->linear);
    return map->adjoint(map, function->b, function->weights, err);
}

void top_dual_function_free(struct top_dual_function *function) {
    free(function->b);
    free(function->error);
    free(function->weights);
    *function = (struct top_dual_function){0};
}
