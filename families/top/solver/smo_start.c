/* The starting point of smo, and the scores and sums of a point computed from the data. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/threads.h"
#include "families/top/solver/smo_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* smo->scores (n, n_outputs) by row = the products of K with coefficients by row, from the data;
 * with a kernel without the constant feature. */
static int product(struct top_smo *smo, bool rough, const double *coefficients, size_t n_outputs,
                   struct error *err) {
    const struct score_map *map = smo->map, *plain = smo->plain;
    size_t n = map->n, d = map->dimension;
    if (!map->primal) {
        return (rough ? plain->rough : plain->exact)(plain, coefficients, n_outputs, smo->scores,
                                                     err);
    }
    double *one = memory_array(d, sizeof *one, "weights", err);
    int status = one ? 0 : -1;
    for (size_t k = 0; k < n_outputs && status == 0; k++) {
        for (size_t i = 0; i < n; i++) {
            smo->row_g[i] = coefficients[i * n_outputs + k];
        }
        status = map->adjoint(map, smo->row_g, one, err);
        for (size_t c = 0; c < d && status == 0; c++) {
            smo->weights[c * n_outputs + k] = one[c];
        }
    }
    free(one);
    return status < 0 ? -1 : map->exact(map, smo->weights, n_outputs, smo->scores, err);
}

/* What the constant feature adds to the products of `coefficients` (n), of every n_outputs-th. */
static double constant_part(const struct top_smo *smo, const double *coefficients,
                            size_t n_outputs) {
    double sum = 0, constant = smo->map->primal ? 0 : smo->problem->constant;
    for (size_t i = 0; i < smo->state.n; i++) {
        sum += coefficients[i * n_outputs];
    }
    return constant * constant * sum;
}

bool top_smo_may_be_rough(const struct top_smo *smo) {
    return smo->near && !isfinite(monitor_seconds_left(smo->monitor)) &&
           !gram_is_double(smo->problem->gram);
}

/* The kernel values of a full evaluation of the point. */
static double count_values(const struct top_smo *smo) {
    const struct top_state *state = &smo->state;
    double n = (double)state->n, above = (double)top_state_count_above(state, state->n);
    return above * (n - above / 2);
}

double top_smo_predict_seconds(const struct top_smo *smo) {
    return smo->value_seconds * count_values(smo);
}

/* Evaluations of other than kernels take no longer than some steps. */
static bool is_timed(const struct top_smo *smo) {
    return isfinite(monitor_seconds_left(smo->monitor)) && !smo->map->primal;
}

bool top_smo_wants_time(const struct top_smo *smo) {
    return is_timed(smo) && !(smo->value_seconds > 0);
}

static bool is_late(void *context) {
    const struct top_smo *smo = context;
    return monitor_seconds_left(smo->monitor) < smo->min_seconds;
}

void top_smo_take_scores(struct top_smo *smo) {
    struct top_state *state = &smo->state;
    for (size_t p = 0; p < state->n; p++) {
        smo->work[p] = state->alpha[p] - state->beta[p];
    }
    double added = constant_part(smo, smo->work, 1);
    for (size_t p = 0; p < state->n; p++) {
        state->s[p] = smo->plain_s[state->row_of[p]] + added;
    }
}

int top_smo_recompute(struct top_smo *smo, bool rough, const double *other, struct error *err) {
    struct top_state *state = &smo->state;
    size_t n = state->n;
    state->active = n;
    top_state_find_capped(state);
    bool block = top_risk_levelled(state->risk) && state->n_capped > 0;
    size_t last = block ? 2 : 1, outputs = last + (other != NULL);
    double *coefficients = memory_array(n, outputs * sizeof *coefficients, "coefficients", err);
    if (!coefficients) {
        return -1;
    }
    for (size_t p = 0; p < n; p++) {
        double *out = coefficients + state->row_of[p] * outputs;
        out[0] = state->alpha[p] - state->beta[p];
        if (block) {
            out[1] = state->capped[p] ? state->cap_rate[p] : 0;
        }
        if (other) {
            out[last] = other[state->row_of[p]];
        }
    }
    struct threads *threads = smo->map->threads;
    double left = monitor_seconds_left(smo->monitor), values = count_values(smo);
    threads_limit(threads, smo->min_seconds > 0 ? is_late : NULL, smo);
    int status = product(smo, rough, coefficients, outputs, err);
    bool unfinished = threads_limit_met(threads);
    threads_limit(threads, NULL, NULL);
    double of_block = block ? constant_part(smo, coefficients + 1, outputs) : 0;
    double of_other = other ? constant_part(smo, other, 1) : 0;
    free(coefficients);
    if (status < 0 || unfinished) {
        return status;
    }
    if (is_timed(smo) && values > 0 && !other) {
        smo->value_seconds = (left - monitor_seconds_left(smo->monitor)) / values;
    }
    for (size_t p = 0; p < n; p++) {
        const double *scores = smo->scores + state->row_of[p] * outputs;
        smo->plain_s[state->row_of[p]] = scores[0];
        state->U[p] = block ? scores[1] + of_block : 0;
        if (other) {
            smo->row_s[state->row_of[p]] = scores[last] + of_other;
        }
    }
    top_smo_take_scores(smo);
    top_state_sums(state);
    smo->is_fresh = true;
    smo->is_rough = rough;
    smo->is_exact = !rough;
    return 0;
}

/* Scales the point by the factor that maximises the dual within the bounds. Without this smo takes
 * 1.9 times as many steps (tau-fpl, C = 1e4, 6,000 rows). */
static void scale_point(struct top_smo *smo) {
    struct top_state *state = &smo->state;
    double squared_norm, max_factor = INFINITY, squares = 0;
    /* = linear - (squared_norm + squares) / 2 */
    double dual = top_state_dual(state, &squared_norm);
    for (size_t p = 0; p < state->n; p++) {
        squares += state->h[p] * state->alpha[p] * state->alpha[p];
        if (state->alpha[p] > 0) {
            max_factor = fmin(max_factor, state->C[p] / state->alpha[p]);
        }
        if (state->risk->kind == TOP_NONE && state->beta[p] > 0) {
            squares += state->quadratic * state->inverse_mass[p] * state->beta[p] * state->beta[p];
            max_factor = fmin(max_factor, state->cap_rate[p] / state->beta[p]);
        }
    }
    double linear = dual + 0.5 * (squared_norm + squares);
    double factor = squared_norm + squares > 0 ? linear / (squared_norm + squares) : max_factor;
    factor = fmin(fmax(factor, 0), max_factor);
    if (!(factor < INFINITY)) {
        factor = 1;
    }
    for (size_t p = 0; p < state->n; p++) {
        double alpha = factor * state->alpha[p];
        state->alpha[p] = alpha > state->C[p] * (1 - 1e-14) ? state->C[p] : alpha;
        state->beta[p] *= factor;
        state->s[p] *= factor;
    }
    smo->is_exact = false;
    top_state_find_capped(state);
    top_state_sums(state);
}

/* Sets the dual point of the scores x row_s: the cutting plane of the risk there. */
static void set_point_at_scores(struct top_smo *smo, double cost, double x) {
    struct top_risk *risk = smo->risk;
    struct top_state *state = &smo->state;
    double offset;
    array_multiple(smo->work, x, smo->row_s, state->n);
    top_risk_cut(risk, smo->work, smo->row_g, &offset);
    for (size_t p = 0; p < state->n; p++) {
        state->alpha[p] = cost * risk->slope[state->row_of[p]];
        state->beta[p] = cost * risk->slopes * risk->p[state->row_of[p]];
    }
}

/* Sets a point with a multiple whose dual is above 0: at scores 0, alpha is the cost and beta is in
 * proportion to the masses. The point 0 would not do: no pair of entries increases the dual
 * there. */
static void set_point_at_zero_scores(struct top_smo *smo, double cost) {
    const struct top_risk *risk = smo->risk;
    struct top_state *state = &smo->state;
    memset(smo->row_s, 0, state->n * sizeof *smo->row_s);
    set_point_at_scores(smo, cost, 0);
    double sum = array_sum(state->alpha, state->n);
    for (size_t p = 0; p < state->n; p++) {
        state->beta[p] = sum * (risk->mass[state->row_of[p]] / risk->total_mass);
    }
}

static bool dual_is_positive(const struct top_smo *smo) {
    double squared_norm, dual = top_state_dual(&smo->state, &squared_norm);
    return dual > 0 && isfinite(dual);
}

/* TOP_NONE, whose steps of one entry lead away from it: sets the point 0. */
static int set_zero(struct top_smo *smo, struct error *err) {
    size_t bytes = smo->state.n * sizeof(double);
    memset(smo->state.alpha, 0, bytes);
    memset(smo->state.beta, 0, bytes);
    return top_smo_recompute(smo, false, NULL, err);
}

/* Computes s, U and the sums of the point. Unless it is `near` the solution, takes its best
 * multiple. Replaces it if its dual is not above 0. */
static int complete_point(struct top_smo *smo, double cost, bool near, struct error *err) {
    if (top_smo_recompute(smo, near && top_smo_may_be_rough(smo), NULL, err) < 0) {
        return -1;
    }
    if (near && dual_is_positive(smo)) {
        return 0;
    }
    scale_point(smo);
    if (dual_is_positive(smo)) {
        return 0;
    }
    if (smo->risk->kind == TOP_NONE) {
        return set_zero(smo, err);
    }
    set_point_at_zero_scores(smo, cost);
    if (top_smo_recompute(smo, false, NULL, err) < 0) {
        return -1;
    }
    scale_point(smo);
    return 0;
}

/* Adds sign times the weighted mean of the rows to sum (n). With kernels, whose products cost as
 * much for each row, it is the mean of some rows, taken evenly. */
static void add_mean(const struct top_smo *smo, const double *weight, double sign, double *sum) {
    enum { MAX_MEAN_ROWS = 2048 };
    size_t n = smo->risk->n, weighted = 0, step = 1;
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        weighted += weight[i] > 0;
    }
    if (!smo->map->primal) {
        step += weighted / MAX_MEAN_ROWS;
    }
    for (size_t i = 0, t = 0; i < n; i++) {
        total += weight[i] > 0 && t++ % step == 0 ? weight[i] : 0;
    }
    for (size_t i = 0, t = 0; i < n; i++) {
        sum[i] += weight[i] > 0 && t++ % step == 0 ? sign * (weight[i] / total) : 0;
    }
}

/* For the quantile's hinge if positives are in J: alpha and beta of each positive are its cost, and
 * f = 0. At large cost the optimum is close to it, and steps, which are no longer than losses,
 * would take many to reach it. */
static void set_balanced_point(struct top_smo *smo, double cost) {
    const struct top_risk *risk = smo->risk;
    struct top_state *state = &smo->state;
    for (size_t p = 0; p < state->n; p++) {
        uint32_t row = state->row_of[p];
        state->alpha[p] = state->beta[p] = risk->mass[row] > 0 ? cost * risk->cost[row] : 0;
    }
}

/* The dual value of that point. */
static double dual_of_balanced_point(const struct top_risk *risk, double cost) {
    double sum = 0, max_factor = 0;
    for (size_t i = 0; i < risk->n; i++) {
        if (risk->mass[i] > 0) {
            sum += risk->cost[i];
            max_factor = fmax(max_factor, risk->cost[i] / risk->mass[i]);
        }
    }
    return cost * (sum + (sum - risk->budget * max_factor) / risk->theta);
}

/* Sets the bounds and constants of a cost. */
static void set_cost(struct top_smo *smo, double cost) {
    const struct top_risk *risk = smo->risk;
    struct top_state *state = &smo->state;
    for (size_t p = 0; p < state->n; p++) {
        uint32_t row = state->row_of[p];
        struct top_terms terms = top_risk_terms(risk, cost, row);
        state->C[p] = terms.max_alpha;
        state->h[p] = terms.h;
        state->cap_rate[p] = terms.cap;
    }
    state->beta_offset = top_risk_beta_offset(risk);
    state->quadratic = risk->kind == TOP_NONE && risk->square ? 1 / (2 * cost) : 0;
    state->level = 1;
}

/* Takes the balanced point if its dual is larger than that of the point; or twice as large as that
 * of a point near the solution, which has the right rows at 0. */
static int prefer_balanced_point(struct top_smo *smo, double cost, bool near, struct error *err) {
    static const double NEAR_PART = 0.5;
    const struct top_risk *risk = smo->risk;
    double squared_norm;
    if (risk->kind != TOP_QUANTILE || risk->square ||
        top_state_dual(&smo->state, &squared_norm) >=
            (near ? NEAR_PART : 1) * dual_of_balanced_point(risk, cost)) {
        return 0;
    }
    smo->near = false;
    set_balanced_point(smo, cost);
    return complete_point(smo, cost, false, err);
}

/* Sets the starting point: the direction from the centroid of J to that of the positives, the dual
 * point of its scores at their best multiple, and the best multiple of that; or, if that is 0, a
 * multiple of the dual point of scores 0. TOP_NONE starts from 0. */
static int start(struct top_smo *smo, double cost, struct error *err) {
    struct top_risk *risk = smo->risk;
    size_t n = smo->state.n;
    double squared_norm = 0;
    smo->near = false;
    if (risk->kind == TOP_NONE) {
        return set_zero(smo, err);
    }
    memset(smo->work, 0, n * sizeof *smo->work);
    add_mean(smo, risk->cost, 1, smo->work);
    add_mean(smo, risk->mass, -1, smo->work);
    if (product(smo, false, smo->work, 1, err) < 0) {
        return -1;
    }
    double added = constant_part(smo, smo->work, 1);
    for (size_t i = 0; i < n; i++) {
        smo->row_s[i] = smo->scores[i] + added;
        squared_norm += smo->work[i] * smo->row_s[i];
    }
    double primal;
    double x = squared_norm > 0 ? top_risk_multiple(risk, cost, squared_norm, smo->row_s,
                                                    TOP_MULTIPLE_ROUGH, smo->scores, &primal)
                                : 0;
    set_point_at_scores(smo, cost, x);
    return complete_point(smo, cost, false, err);
}

/* Sets the last solution, scaled to another cost. */
static int restart(struct top_smo *smo, double cost, bool near, struct error *err) {
    struct top_state *state = &smo->state;
    double factor = cost / smo->cost;
    for (size_t p = 0; p < state->n; p++) {
        state->alpha[p] *= factor;
        state->beta[p] *= factor;
        if (state->alpha[p] > state->C[p]) {
            state->alpha[p] = state->C[p];
        }
    }
    return complete_point(smo, cost, near, err);
}

int top_smo_begin(struct top_smo *smo, double cost, struct error *err) {
    double last = smo->cost;
    if (last == cost && smo->is_fresh && smo->state.active == smo->state.n) {
        return 0; /* the last solution is current */
    }
    smo->set_rows = last == cost ? smo->set_rows : 0;
    bool near = smo->near && last == cost;
    set_cost(smo, cost);
    int status = last > 0 ? restart(smo, cost, near, err) : start(smo, cost, err);
    status = status < 0 ? -1 : prefer_balanced_point(smo, cost, near, err);
    smo->cost = status < 0 ? 0 : cost;
    return status;
}
