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
    certifier->twin = memory_array(problem->n, sizeof *certifier->twin, "equal rows", err);
    if (!certifier->twin ||
        twins_find(problem->data, problem->rows, problem->n, certifier->twin, err) < 0) {
        top_certifier_free(certifier);
        return -1;
    }
    return 0;
}

void top_certifier_free(struct top_certifier *certifier) {
    certify_free(certifier->certify);
    score_map_free(&certifier->plain);
    free(certifier->twin);
    *certifier = (struct top_certifier){0};
}

/* What the constant feature adds to the scores by weights (dimension of the map). */
static double bias_of(const struct top_certifier *certifier, const double *weights) {
    const struct score_map *map = certifier->map;
    double sum = 0;
    if (certifier->constant == 0) {
        return 0;
    }
    if (map->primal) {
        return certifier->constant * weights[map->dimension - 1];
    }
    for (size_t i = 0; i < map->n; i++) {
        sum += weights[i];
    }
    return certifier->constant * certifier->constant * sum;
}

/* The same function with the coefficients of equal rows added up at the first of them: where they
 * cancel, less is lost by rounding. */
static void join_twins(const struct top_certifier *certifier, double *b) {
    for (size_t i = 0; certifier->twin && i < certifier->map->n; i++) {
        uint32_t first = certifier->twin[i];
        if (first != i) {
            b[first] += b[i];
            b[i] = 0;
        }
    }
}

/* ---- the loss ---- */

struct loss {
    struct top_risk *risk;
    double cost;
    double epsilon;   /* the gap that is wanted */
    double threshold; /* of the last evaluation */
    double slack;     /* how far a margin may be off, at most */
    double coarse; /* the largest of all evaluations: in double, about what that does to weights */
    double *s;     /* (n) gets the scores; NULL: unwanted */
};

/* What a sum over ranks may be off by, over the sum of sizes. */
static double ranks_rounding(const struct top_risk *risk) {
    return ((double)cluster_size(risk->cluster) - 1) * DBL_EPSILON;
}

/* The mean's threshold in long double, from its gradient p: the part of the last row is what the
 * whole ones leave. *rounding: bound of its error. Where there is no last row, what they leave is
 * rounding, and added to the lowest of them: the threshold is no higher. */
static double sum_mean(const struct top_risk *risk, const double *s, double *rounding) {
    long double left = 0, sum = 0, size = 0;
    double last = -INFINITY, least = INFINITY;
    for (size_t i = 0; i < risk->n; i++) {
        if (risk->p[i] > 0 && risk->p[i] >= risk->share[i]) {
            left -= (long double)risk->mass[i];
            sum += (long double)risk->mass[i] * (long double)s[i];
            size += (long double)risk->mass[i] * fabsl((long double)s[i]);
            least = fmin(least, s[i]);
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
        last = cluster_largest(risk->cluster, last); /* one rank has it */
        least = -cluster_largest(risk->cluster, -least);
    }
    long double k = (long double)risk->k, lowest = (long double)(last > -INFINITY ? last : least);
    left += k;
    sum += left * lowest;
    size += fabsl(left * lowest);
    double apart = isfinite(least) ? fabs(least) + fabs((double)lowest) : 0; /* else left is K */
    double sums = (double)risk->n_all * (double)LDBL_EPSILON + ranks_rounding(risk);
    *rounding = (sums + 4 * DBL_EPSILON) * (double)(size / k) + (sums + risk->mass_error) * apart;
    return (double)(sum / k);
}

/* What the rows add at the quantile's threshold t, less the budget, in long double. */
struct excess {
    long double value;
    long double slope; /* what it falls by with t, at t */
    long double error; /* bound of value's, to which rows that may be at the threshold add theirs */
};

static struct excess find_excess(const struct top_risk *risk, const double *s, long double t) {
    const long double theta = (long double)risk->theta;
    long double sum = 0, slope = 0, error = 0;
    for (size_t i = 0; i < risk->n; i++) {
        long double mass = (long double)risk->mass[i];
        long double lift = theta * ((long double)s[i] - t), v = 1 + lift;
        long double off = 4 * LDBL_EPSILON * (1 + fabsl(lift));
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
    long double budget = (long double)risk->budget + (long double)risk->budget_rest;
    long double unit = (long double)(risk->n_all + 8) * (long double)LDBL_EPSILON;
    unit += (long double)ranks_rounding(risk) + (long double)risk->mass_error;
    return (struct excess){sum - budget, slope, error + unit * (sum + budget)};
}

/* The quantile's threshold, from that in double by a step of Newton's method in long double.
 * *rounding: half of an interval around it at whose ends the excess, which falls with t, has the
 * two signs for certain; INFINITY if none is found. */
static double sum_quantile(const struct top_risk *risk, const double *s, double *rounding) {
    enum { WIDER = 4 };
    struct excess at = find_excess(risk, s, (long double)risk->threshold);
    double end = risk->threshold, half = INFINITY;
    if (at.slope > 0) {
        end = (double)((long double)end + at.value / at.slope);
        half = DBL_EPSILON * fabs(end) + (double)(2 * at.error / at.slope);
    }
    for (bool inside = false; half < INFINITY && !inside; half *= inside ? 1 : WIDER) {
        struct excess low = find_excess(risk, s, (long double)end - (long double)half);
        struct excess high = find_excess(risk, s, (long double)end + (long double)half);
        inside = low.value > low.error && high.value < -high.error;
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

/* Adds weight l(u), and what it may be more where u is off by slack. */
static void add_loss(bool square, double weight, double u, double slack, double *value,
                     double *rounding) {
    double loss = weight * top_loss(square, u);
    *value += loss;
    double most = top_loss(square, u + slack);
    *rounding += fmax(0, weight * most - loss) + (most > 0 ? (2 + most) * CERTIFY_UNDERFLOW : 0);
}

/* The most that errors of scores move the threshold t by, which rounding has moved by `off`: the
 * largest error of those rows whose scores may be among what makes it. With e >= 0 the errors, t of
 * s + e is no more than t + max e over the rows where s_j + e_j is above the level below which a
 * row adds nothing: others still add nothing. And t of s - e no less than t - max e over those that
 * make it. The level is t - 1 / theta of the quantile, of the mean the least score that makes
 * it. */
static double threshold_error(const struct loss *loss, const double *s, const double *error,
                              double off) {
    const struct top_risk *risk = loss->risk;
    if (risk->kind == TOP_NONE) {
        return 0;
    }
    double least = INFINITY, t = loss->threshold, largest = 0;
    for (size_t i = 0; i < risk->n; i++) {
        least = risk->p[i] > 0 ? fmin(least, s[i]) : least;
    }
    least = -cluster_largest(risk->cluster, -least);
    double level = risk->kind == TOP_MEAN ? least : t - 1 / risk->theta;
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
    double t, off;
    t = loss->threshold = find_threshold(loss, s, &off);
    /* the largest error of a score that counts, and that of the sum */
    off = 2 * fmax(cluster_largest(risk->cluster, off), threshold_error(loss, s, error, off));
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
    }
    *rounding += ((double)n + 8) * DBL_EPSILON * (*value + *rounding);
    loss->slack = cluster_largest(risk->cluster, loss->slack);
    loss->coarse = fmax(loss->coarse, loss->slack);
    if (loss->s) {
        memcpy(loss->s, s, n * sizeof *s);
    }
    return 0;
}

/* The primal of w = 0, at least. */
static double primal_of_nothing(const struct loss *loss, double *zeros) {
    double value, rounding;
    memset(zeros, 0, loss->risk->n * sizeof *zeros);
    struct loss own = {.risk = loss->risk, .cost = loss->cost};
    struct error ignored;
    evaluate_loss(&own, 0, loss->risk->n, zeros, zeros, &value, &rounding, &ignored);
    double all = cluster_total(loss->risk->cluster, value + rounding);
    return all + ranks_rounding(loss->risk) * all;
}

int top_loss_of_nothing(struct top_risk *risk, double cost, double *nothing, struct error *err) {
    double *zeros = memory_array(risk->n, sizeof *zeros, "a certificate", err);
    struct loss loss = {.risk = risk, .cost = cost};
    *nothing = zeros ? primal_of_nothing(&loss, zeros) : 0;
    free(zeros);
    return zeros ? 0 : -1;
}

/* ---- both bounds ---- */

/* scores (n) are those of the weights, by the plain map; NULL: not at hand. */
static int find_bounds(const struct top_certifier *certifier, struct loss *loss,
                       const double *weights, double bias, const double *scores,
                       const struct top_dual_function *dual, double nothing,
                       struct certificate *certificate, struct error *err) {
    const double dual_bias = bias_of(certifier, dual->weights);
    const bool constant = certifier->constant > 0;
    const struct certify_function f = {
        .weights = weights, .bias = constant ? &bias : NULL, .exact = scores};
    const struct certify_function g = {
        .weights = dual->weights, .error = dual->error, .bias = constant ? &dual_bias : NULL};
    const struct certify_family family = {.context = loss,
                                          .loss = evaluate_loss,
                                          .linear = dual->linear,
                                          .linear_rounding = dual->rounding,
                                          .nothing = nothing,
                                          .enough = loss->epsilon};
    return certify_bounds(certifier->certify, 1, &f, &g, &family, certificate, err);
}

/* The slope of the objective in the bias, of scores that are `more` than those that were kept. */
static double bias_slope(const struct loss *loss, double constant, double bias, double more) {
    const struct top_risk *risk = loss->risk;
    double sum = 0;
    for (size_t i = 0; i < risk->n; i++) {
        double s = loss->s[i] + more;
        sum -= risk->cost[i] > 0 ? risk->cost[i] * top_slope(risk->square, -s) : 0;
        sum += risk->mass[i] > 0 ? risk->mass[i] * top_slope(risk->square, s) : 0;
    }
    return (bias + more) / constant / constant + loss->cost * cluster_total(risk->cluster, sum);
}

/* What is best to add to a bias, for the scores that were kept: by bisection. */
static double find_more_bias(const struct loss *loss, double constant, double bias) {
    enum { DOUBLINGS = 1000, BISECTIONS = 200 };
    double low = 0, high = 0, step = fmax(loss->slack, DBL_EPSILON * fabs(bias));
    for (int i = 0; i < DOUBLINGS && bias_slope(loss, constant, bias, low) > 0; i++) {
        low -= step;
        step *= 2;
    }
    for (int i = 0; i < DOUBLINGS && bias_slope(loss, constant, bias, high) < 0; i++) {
        high += step;
        step *= 2;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = low + (high - low) / 2;
        *(bias_slope(loss, constant, bias, middle) > 0 ? &high : &low) = middle;
    }
    return low;
}

/* Tries the bias that is best for the scores, and takes it where that is better. */
static int improve_bias(const struct top_certifier *certifier, struct loss *loss,
                        const struct top_dual_function *dual, double nothing, struct fit *fit,
                        struct certificate *certificate, double *threshold, struct error *err) {
    const struct score_map *map = certifier->map;
    struct certificate found;
    double *s = loss->s, bias = fit->bias;
    bias += find_more_bias(loss, certifier->constant, bias);
    loss->s = NULL;
    int status = find_bounds(certifier, loss, fit->weights, bias, NULL, dual, nothing, &found, err);
    loss->s = s;
    if (status == 0 && found.primal < certificate->primal) {
        for (size_t i = 0; i < map->n; i++) {
            s[i] += bias - fit->bias;
        }
        *certificate = found;
        *threshold = loss->threshold;
        fit->bias = bias;
        if (map->primal) {
            fit->weights[map->dimension - 1] = bias / certifier->constant;
        }
    }
    return status;
}

/* Tries the weights at the length that is best for their scores, and a little more than that: by
 * what scores may be off, and where that is known in double-double by what the rounding of longer
 * weights may do. */
static int stretch(const struct top_certifier *certifier, struct loss *loss,
                   const struct top_dual_function *dual, double nothing, struct fit *fit,
                   struct certificate *certificate, double *threshold, struct error *err) {
    const struct score_map *map = certifier->map;
    double *weights = fit->weights;
    size_t n = map->n, d = map->dimension;
    double *trial = memory_array(d, sizeof *trial, "a certificate", err);
    double *work = memory_array(n, 2 * sizeof *work, "a certificate", err);
    if (!trial || !work) {
        free(trial);
        free(work);
        return -1;
    }
    double norm = array_dot(weights, map->primal ? weights : loss->s, d), primal, factor = 1;
    double best =
        top_risk_multiple(loss->risk, loss->cost, norm, loss->s, TOP_MULTIPLE_EXACT, work, &primal);
    const double slack = loss->slack, coarse = loss->coarse;
    /* rounding to double is some hundredth of its bound as a rule */
    const double more[] = {0,           2 * slack,  8 * slack,  coarse / 512,
                           coarse / 64, coarse / 8, 2 * coarse, 8 * coarse};
    size_t trials = coarse > 4 * slack ? sizeof more / sizeof *more : 3;
    loss->s = NULL;
    int status = 0;
    for (size_t k = 0; k < trials && status == 0 && certificate->gap > loss->epsilon; k++) {
        struct certificate found;
        double length = best * (1 + more[k]);
        for (size_t j = 0; j < d; j++) {
            trial[j] = length * weights[j];
        }
        status = find_bounds(certifier, loss, trial, length * fit->bias, NULL, dual, nothing,
                             &found, err);
        if (status == 0 && found.primal < certificate->primal) {
            *certificate = found;
            *threshold = loss->threshold;
            factor = length;
        }
    }
    for (size_t j = 0; j < d && factor != 1; j++) {
        weights[j] = factor * weights[j];
    }
    fit->bias *= factor;
    free(trial);
    free(work);
    return status;
}

int top_certify(const struct top_certifier *certifier, struct top_risk *risk, double cost,
                double epsilon, struct fit *fit, struct certificate *certificate, double *threshold,
                struct error *err) {
    double *s = memory_array(risk->n, sizeof *s, "a certificate", err);
    struct loss loss = {.risk = risk, .cost = cost, .epsilon = epsilon, .s = s};
    struct top_dual_function dual = {.b = NULL};
    int status = s ? 0 : -1;
    if (status == 0) {
        join_twins(certifier, fit->weights);
        top_dual_repair(risk, cost, fit->alpha, fit->beta);
        status = top_dual_function_make(certifier, risk, cost, fit, &dual, err);
    }
    if (status == 0) {
        double nothing = primal_of_nothing(&loss, s);
        fit->bias = fit->has_bias ? fit->bias : bias_of(certifier, fit->weights);
        fit->has_bias = true;
        status = find_bounds(certifier, &loss, fit->weights, fit->bias, fit->scores, &dual, nothing,
                             certificate, err);
        *threshold = loss.threshold;
        if (status == 0 && certifier->constant > 0 && certificate->certified &&
            certificate->gap > epsilon) {
            status =
                improve_bias(certifier, &loss, &dual, nothing, fit, certificate, threshold, err);
        }
        if (status == 0 && certificate->certified && certificate->gap > epsilon) {
            status = stretch(certifier, &loss, &dual, nothing, fit, certificate, threshold, err);
        }
    }
    top_dual_function_free(&dual);
    free(s);
    return status;
}
