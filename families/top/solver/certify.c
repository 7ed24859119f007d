/* The loss at the top with its rounding-error bound, evaluated in long double where double would
 * lose digits, and the rescalings of the primal point that a certificate tries. */
#include "families/top/solver/certify.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/data/duplicates.h"
#include "families/top/solver/dual_function_dd.h"
#include "families/top/solver/feasible_dual.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the problem ---- */

int top_certifier_create(struct top_certifier *certifier, const struct problem *problem,
                         const struct score_map *map, double constant, struct error *err) {
    *certifier = (struct top_certifier){.map = map, .constant = constant};
    if (score_map_create(&certifier->plain, problem, err) < 0 ||
        certify_create(&certifier->certify, problem, &certifier->plain, constant, err) < 0) {
        top_certifier_free(certifier);
        return -1;
    }
    if (!problem->gram || gram_rows(problem->gram)->kernel->type == KERNEL_PRECOMPUTED) {
        return 0;
    }
    certifier->first_equal =
        memory_array(problem->n, sizeof *certifier->first_equal, "equal rows", err);
    if (!certifier->first_equal || duplicates_find(problem->data, problem->rows, problem->n,
                                                   certifier->first_equal, err) < 0) {
        top_certifier_free(certifier);
        return -1;
    }
    return 0;
}

void top_certifier_free(struct top_certifier *certifier) {
    certify_free(certifier->certify);
    score_map_free(&certifier->plain);
    free(certifier->first_equal);
    *certifier = (struct top_certifier){0};
}

/* The bias that the constant feature adds to the scores of weights (map->dimension). */
static double bias_of(const struct top_certifier *certifier, const double *weights) {
    const struct score_map *map = certifier->map;
    if (certifier->constant == 0) {
        return 0;
    }
    if (map->primal) {
        return certifier->constant * weights[map->dimension - 1];
    }
    return certifier->constant * certifier->constant * array_sum(weights, map->n);
}

/* Adds the coefficients of equal rows to that of the first of them. The function stays the same,
 * and less is lost by rounding where coefficients cancel. Returns whether any moved. */
static bool sum_duplicates(const struct top_certifier *certifier, double *b) {
    bool moved = false;
    for (size_t i = 0; certifier->first_equal && i < certifier->map->n; i++) {
        uint32_t first = certifier->first_equal[i];
        if (first != i) {
            moved = moved || b[i] != 0;
            b[first] += b[i];
            b[i] = 0;
        }
    }
    return moved;
}

/* ---- the loss ---- */

/* The loss of a certificate, and what it is evaluated for. */
struct loss {
    struct top_risk *risk;
    double cost;
    double slack;           /* largest possible error of a margin in the last evaluation */
    double *s;              /* (n) receives the scores; NULL: not needed */
    struct top_level level; /* of the last evaluation */
    const struct top_certifier *certifier;
    double epsilon;                  /* the target gap */
    const struct data *points;       /* of the weights (struct fit) */
    struct top_dual_function dual;   /* of the fit's dual point */
    double zero_primal;              /* an upper bound of the primal at w = 0 */
    struct certificate *certificate; /* receives the best bounds */
    struct top_level *best_level;    /* and their level */
};

/* The relative rounding-error bound of a sum over processes. */
static double cluster_rounding(const struct top_risk *risk) {
    return ((double)cluster_size(risk->cluster) - 1) * DBL_EPSILON;
}

/* The mean's threshold in long double, from its gradient p. Rows with their whole share are summed
 * by mass; the last row has the part of K that they leave. *rounding is a bound of the error.
 * Without a last row the part that they leave is rounding: it is given to the lowest of them, since
 * the threshold is no higher than its score. */
static double sum_mean(const struct top_risk *risk, const double *s, double *rounding) {
    long double left = 0, sum = 0, size = 0;
    double last = -INFINITY, min_score = INFINITY;
    for (size_t i = 0; i < risk->n; i++) {
        if (risk->p[i] > 0 && risk->p[i] >= risk->share[i]) {
            left -= (long double)risk->mass[i];
            sum += (long double)risk->mass[i] * (long double)s[i];
            size += (long double)risk->mass[i] * fabsl((long double)s[i]);
            min_score = fmin(min_score, s[i]);
        } else if (risk->p[i] > 0) {
            last = s[i];
        }
    }
    if (risk->cluster) {
        long double sums[] = {left, sum, size};
        cluster_sum_long(risk->cluster, sums, 3);
        left = sums[0];
        sum = sums[1];
        size = sums[2];
        last = cluster_largest(risk->cluster, last); /* one process has it */
        min_score = -cluster_largest(risk->cluster, -min_score);
    }
    long double k = (long double)risk->k,
                lowest = (long double)(last > -INFINITY ? last : min_score);
    left += k;
    sum += left * lowest;
    size += fabsl(left * lowest);
    double difference = isfinite(min_score)
                            ? fabs(min_score) + fabs((double)lowest)
                            : 0; /* infinite: no row has its whole share, and left is K */
    double sums = (double)risk->n_all * (double)LDBL_EPSILON + cluster_rounding(risk);
    *rounding =
        (sums + 4 * DBL_EPSILON) * (double)(size / k) + (sums + risk->mass_error) * difference;
    return (double)(sum / k);
}

/* The left-hand side of the quantile's equation at threshold t less the budget, in long double. */
struct excess {
    long double value;
    long double slope; /* minus the derivative in t */
    long double error; /* error bound of value; includes rows that may be at the threshold */
};

static struct excess find_excess(const struct top_risk *risk, const double *s, long double t) {
    const long double theta = (long double)risk->theta;
    long double sum = 0, slope = 0, error = 0;
    for (size_t i = 0; i < risk->n; i++) {
        long double mass = (long double)risk->mass[i];
        long double shift = theta * ((long double)s[i] - t), v = 1 + shift;
        long double off = 4 * LDBL_EPSILON * (1 + fabsl(shift));
        if (mass > 0 && v > -off) {
            long double above = fmaxl(0, v);
            sum += mass * (risk->square ? above * above : above);
            slope += v > 0 ? mass * theta * (risk->square ? 2 * above : 1) : 0;
            error += mass * off * (risk->square ? 2 * above + off : 1);
        }
    }
    if (risk->cluster) {
        long double sums[] = {sum, slope, error};
        cluster_sum_long(risk->cluster, sums, 3);
        sum = sums[0];
        slope = sums[1];
        error = sums[2];
    }
    long double budget = (long double)risk->budget + (long double)risk->budget_rounding;
    long double unit = (long double)(risk->n_all + 8) * (long double)LDBL_EPSILON;
    unit += (long double)cluster_rounding(risk) + (long double)risk->mass_error;
    return (struct excess){sum - budget, slope, error + unit * (sum + budget)};
}

/* The quantile's threshold: the threshold in double and one step of Newton's method in long double.
 * *rounding is half the length of an interval around it at whose ends the excess, which decreases
 * in t, certainly has both signs; INFINITY if none is found. */
static double sum_quantile(const struct top_risk *risk, const double *s, double *rounding) {
    enum { WIDEN_FACTOR = 4 };
    struct excess at = find_excess(risk, s, (long double)risk->threshold);
    double end = risk->threshold, half = INFINITY;
    if (at.slope > 0) {
        end = (double)((long double)end + at.value / at.slope);
        half = DBL_EPSILON * fabs(end) + (double)(2 * at.error / at.slope);
    }
    for (bool bracketed = false; half < INFINITY && !bracketed;
         half *= bracketed ? 1 : WIDEN_FACTOR) {
        struct excess low = find_excess(risk, s, (long double)end - (long double)half);
        struct excess high = find_excess(risk, s, (long double)end + (long double)half);
        bracketed = low.value > low.error && high.value < -high.error;
    }
    *rounding = half * (1 + 4 * DBL_EPSILON) + DBL_EPSILON * fabs(end);
    return end;
}

static double find_threshold(struct loss *loss, const double *s, double *rounding) {
    struct top_risk *risk = loss->risk;
    risk->threshold = top_risk_threshold(risk, s, risk->p);
    *rounding = 0;
    return risk->kind == TOP_MEAN       ? sum_mean(risk, s, rounding)
           : risk->kind == TOP_QUANTILE ? sum_quantile(risk, s, rounding)
                                        : 0;
}

/* Adds weight l(u) to *value, and to *rounding the largest increase for an error `slack` of u. */
static void add_loss(bool square, double weight, double u, double slack, double *value,
                     double *rounding) {
    double loss = weight * top_loss(square, u);
    *value += loss;
    double max_loss = top_loss(square, u + slack);
    *rounding +=
        fmax(0, weight * max_loss - loss) + (max_loss > 0 ? (2 + max_loss) * CERTIFY_UNDERFLOW : 0);
}

/* Bound of the change of threshold t by the errors of the scores, where t itself has the rounding
 * error `off`: the largest error of the rows that may contribute to t. Let e >= 0 be the errors.
 * Then t(s + e) <= t + max e over the rows with s_j + e_j above the level below which a row
 * contributes nothing, and t(s - e) >= t - max e over the rows that contribute. The level is t - 1
 * / theta for the quantile, and for the mean the smallest score that contributes. */
static double threshold_error(const struct loss *loss, const double *s, const double *error,
                              double off) {
    const struct top_risk *risk = loss->risk;
    if (risk->kind == TOP_NONE) {
        return 0;
    }
    double min_score = INFINITY, t = loss->level.threshold, largest = 0;
    for (size_t i = 0; i < risk->n; i++) {
        min_score = risk->p[i] > 0 ? fmin(min_score, s[i]) : min_score;
    }
    min_score = -cluster_largest(risk->cluster, -min_score);
    double level = risk->kind == TOP_MEAN ? min_score : t - 1 / risk->theta;
    level -= off + 8 * DBL_EPSILON * (fabs(t) + fabs(level));
    for (size_t i = 0; i < risk->n; i++) {
        bool near = risk->mass[i] > 0 && (risk->p[i] > 0 || s[i] + error[i] >= level);
        largest = near ? fmax(largest, error[i]) : largest;
    }
    return cluster_largest(risk->cluster, largest);
}

static int evaluate_loss(void *context, size_t first, size_t n, const double *s,
                         const double *error, double *value, double *rounding, struct error *err) {
    (void)first;
    (void)err;
    struct loss *loss = context;
    const struct top_risk *risk = loss->risk;
    double t, off, highest = -INFINITY;
    t = loss->level.threshold = find_threshold(loss, s, &off);
    /* the errors of a score and of the threshold */
    off = 2 * fmax(cluster_largest(risk->cluster, off), threshold_error(loss, s, error, off));
    loss->level.rounding = off;
    *value = *rounding = loss->slack = 0;
    for (size_t i = 0; i < n; i++) {
        double slack = off + error[i] + 4 * DBL_EPSILON * (1 + fabs(t) + fabs(s[i]));
        if (risk->cost[i] > 0) {
            add_loss(risk->square, loss->cost * risk->cost[i], t - s[i], slack, value, rounding);
            loss->slack = fmax(loss->slack, slack);
        }
        if (risk->kind == TOP_NONE && risk->mass[i] > 0) {
            add_loss(risk->square, loss->cost * risk->mass[i], s[i], slack, value, rounding);
            loss->slack = fmax(loss->slack, slack);
        }
        highest = s[i] > highest ? s[i] : highest;
    }
    loss->level.highest = cluster_largest(risk->cluster, highest);
    *rounding += ((double)n + 8) * DBL_EPSILON * (*value + *rounding);
    loss->slack = cluster_largest(risk->cluster, loss->slack);
    if (loss->s) {
        memcpy(loss->s, s, n * sizeof *s);
    }
    return 0;
}

/* An upper bound of the primal at w = 0. zeros (n) is work. */
static double primal_at_zero(struct top_risk *risk, double cost, double *zeros) {
    double value, rounding;
    memset(zeros, 0, risk->n * sizeof *zeros);
    struct loss loss = {.risk = risk, .cost = cost};
    struct error ignored;
    evaluate_loss(&loss, 0, risk->n, zeros, zeros, &value, &rounding, &ignored);
    double all = cluster_total(risk->cluster, value + rounding);
    return all + cluster_rounding(risk) * all;
}

int top_loss_at_zero(struct top_risk *risk, double cost, double *zero_primal, struct error *err) {
    double *zeros = memory_array(risk->n, sizeof *zeros, "a certificate", err);
    if (!zeros) {
        return -1;
    }
    *zero_primal = primal_at_zero(risk, cost, zeros);
    free(zeros);
    return 0;
}

/* ---- both bounds ---- */

/* scores (n) are those of the weights under the plain map; NULL: not computed. */
static int find_bounds(struct loss *loss, const double *weights, double bias, const double *scores,
                       struct certificate *certificate, struct error *err) {
    const struct top_certifier *certifier = loss->certifier;
    const struct top_dual_function *dual = &loss->dual;
    const double dual_bias = bias_of(certifier, dual->weights);
    const bool constant = certifier->constant > 0;
    const struct certify_function f = {.weights = weights,
                                       .points = loss->points,
                                       .bias = constant ? &bias : NULL,
                                       .exact = scores};
    const struct certify_function g = {.weights = dual->weights,
                                       .error = dual->error,
                                       .bias = constant ? &dual_bias : NULL,
                                       .exact = dual->scores};
    const struct certify_family family = {.context = loss,
                                          .loss = evaluate_loss,
                                          .linear = dual->linear,
                                          .linear_rounding = dual->rounding,
                                          .zero_primal = loss->zero_primal,
                                          .target_gap = loss->epsilon};
    return certify_bounds(certifier->certify, 1, &f, &g, &family, certificate, err);
}

/* Tries other weights, whose scores are not stored. Takes their bounds if the primal is lower. */
static int try_weights(struct loss *loss, const double *weights, double bias, const double *scores,
                       bool *better, struct error *err) {
    struct certificate candidate;
    double *s = loss->s;
    loss->s = NULL;
    int status = find_bounds(loss, weights, bias, scores, &candidate, err);
    loss->s = s;
    *better = status == 0 && candidate.primal < loss->certificate->primal;
    if (*better) {
        *loss->certificate = candidate;
        *loss->best_level = loss->level;
    }
    return status;
}

/* The derivative of the objective in the bias, for the stored scores plus `extra`. */
static double bias_slope(const struct loss *loss, double constant, double bias, double extra) {
    const struct top_risk *risk = loss->risk;
    double sum = 0;
    for (size_t i = 0; i < risk->n; i++) {
        double s = loss->s[i] + extra;
        sum -= risk->cost[i] > 0 ? risk->cost[i] * top_slope(risk->square, -s) : 0;
        sum += risk->mass[i] > 0 ? risk->mass[i] * top_slope(risk->square, s) : 0;
    }
    return (bias + extra) / constant / constant + loss->cost * cluster_total(risk->cluster, sum);
}

/* The change of the bias that minimises the objective for the stored scores, by bisection. */
static double best_bias_change(const struct loss *loss, double constant, double bias) {
    double low = 0, high = 0, step = fmax(loss->slack, DBL_EPSILON * fabs(bias));
    for (; bias_slope(loss, constant, bias, low) > 0; step *= 2) {
        low -= step;
    }
    for (; bias_slope(loss, constant, bias, high) < 0; step *= 2) {
        high += step;
    }
    for (double middle; (middle = low + (high - low) / 2) > low && middle < high;) {
        *(bias_slope(loss, constant, bias, middle) > 0 ? &high : &low) = middle;
    }
    return low;
}

/* Tries the bias that is optimal for the stored scores. */
static int improve_bias(struct loss *loss, struct fit *fit, struct error *err) {
    const struct top_certifier *certifier = loss->certifier;
    const struct score_map *map = certifier->map;
    double bias = fit->bias + best_bias_change(loss, certifier->constant, fit->bias);
    bool better;
    int status = try_weights(loss, fit->weights, bias, fit->scores, &better, err);
    if (better) {
        for (size_t i = 0; i < map->n; i++) {
            loss->s[i] += bias - fit->bias;
        }
        fit->bias = bias;
        if (map->primal) {
            fit->weights[map->dimension - 1] = bias / certifier->constant;
        }
    }
    return status;
}

/* Tries multiples of the weights: the best one for their scores, and slightly longer ones, by the
 * rounding-error bound of the scores. Rows then lie above the threshold in spite of rounding. */
static int rescale(struct loss *loss, struct fit *fit, struct error *err) {
    const struct score_map *map = loss->certifier->map;
    double *weights = fit->weights;
    size_t n = map->n, d = map->dimension;
    double *trial = memory_array(d, sizeof *trial, "a certificate", err);
    double *work = memory_array(n, 2 * sizeof *work, "a certificate", err);
    if (!trial || !work) {
        free(trial);
        free(work);
        return -1;
    }
    double squared_norm = array_dot(weights, map->primal ? weights : loss->s, d);
    double primal, factor = 1;
    double best = top_risk_multiple(loss->risk, loss->cost, squared_norm, loss->s,
                                    TOP_MULTIPLE_EXACT, work, &primal);
    const double extra[] = {0, 2 * loss->slack, 8 * loss->slack};
    size_t trials = sizeof extra / sizeof *extra;
    int status = 0;
    for (size_t k = 0; k < trials && status == 0 && loss->certificate->gap > loss->epsilon; k++) {
        double trial_factor = best * (1 + extra[k]);
        bool better;
        array_multiple(trial, trial_factor, weights, d);
        for (size_t i = 0; fit->scores && i < n; i++) {
            work[i] = trial_factor * fit->scores[i];
        }
        status = try_weights(loss, trial, trial_factor * fit->bias, fit->scores ? work : NULL,
                             &better, err);
        factor = better ? trial_factor : factor;
    }
    for (size_t j = 0; j < d && factor != 1; j++) {
        weights[j] = factor * weights[j];
    }
    fit->bias *= factor;
    free(trial);
    free(work);
    return status;
}

/* The scores of fit are no longer exact: sums of coefficients are rounded. */
static void forget_scores(struct fit *fit) {
    free(fit->scores);
    free(fit->dual_scores);
    fit->scores = fit->dual_scores = NULL;
}

int top_certify(const struct top_certifier *certifier, struct top_risk *risk, double cost,
                double epsilon, struct fit *fit, struct certificate *certificate,
                struct top_level *level, struct error *err) {
    double *s = memory_array(risk->n, sizeof *s, "a certificate", err);
    struct loss loss = {.risk = risk,
                        .cost = cost,
                        .s = s,
                        .certifier = certifier,
                        .epsilon = epsilon,
                        .points = fit->points,
                        .certificate = certificate,
                        .best_level = level};
    int status = s ? 0 : -1;
    if (status == 0) {
        if (!fit->points && sum_duplicates(certifier, fit->weights)) {
            forget_scores(fit);
        }
        top_dual_repair(risk, cost, fit->alpha, fit->beta);
        status = top_dual_function_make(certifier, risk, cost, fit, &loss.dual, err);
    }
    if (status == 0) {
        loss.zero_primal = primal_at_zero(risk, cost, s);
        fit->bias = fit->has_bias ? fit->bias : bias_of(certifier, fit->weights);
        fit->has_bias = true;
        status = find_bounds(&loss, fit->weights, fit->bias, fit->scores, certificate, err);
        *level = loss.level;
        if (status == 0 && certifier->constant > 0 && certificate->certified &&
            certificate->gap > epsilon) {
            status = improve_bias(&loss, fit, err);
        }
        if (status == 0 && certificate->certified && certificate->gap > epsilon && !fit->points) {
            status = rescale(&loss, fit, err);
        }
    }
    top_dual_function_free(&loss.dual);
    free(s);
    return status;
}
