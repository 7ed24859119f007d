/* Sums of the capped block, the dual value, and the step length along a selected direction. */
#include "families/top/solver/dual_state.h"

#include <math.h>
#include <string.h>

static bool quantile_squared(const struct top_state *state) {
    return state->risk->kind == TOP_QUANTILE && state->risk->square;
}

size_t top_state_count_above(const struct top_state *state, size_t n) {
    size_t above = 0;
    for (size_t p = 0; p < n; p++) {
        above += top_state_above(state, p);
    }
    return above;
}

double top_state_cap(const struct top_state *state, size_t position) {
    return state->cap_rate[position] * state->level;
}

/* sqrt(budget) / theta: the dual's term in sqrt(squares) has this factor. */
static double root_factor(const struct top_state *state) {
    return sqrt(state->risk->budget) / state->risk->theta;
}

static void set_quadratic(struct top_state *state) {
    if (quantile_squared(state)) {
        state->quadratic = state->squares > 0 ? root_factor(state) / sqrt(state->squares) : 0;
    }
}

void top_state_find_capped(struct top_state *state) {
    bool levelled = top_risk_levelled(state->risk);
    if (levelled && state->risk->kind == TOP_QUANTILE) {
        state->level = 0; /* delta is as small as beta permits */
        for (size_t p = 0; p < state->n; p++) {
            if (state->cap_rate[p] > 0) {
                state->level = fmax(state->level, state->beta[p] / state->cap_rate[p]);
            }
        }
    } else if (levelled) {
        state->level = 0;
        for (size_t p = 0; p < state->n; p++) {
            state->level += state->alpha[p];
        }
    }
    state->n_capped = 0;
    state->squares = 0;
    for (size_t p = 0; p < state->n; p++) {
        double cap = top_state_cap(state, p);
        state->capped[p] = state->cap_rate[p] > 0 && state->beta[p] >= cap * (1 - 1e-13);
        if (state->capped[p]) {
            state->beta[p] = cap;
            state->n_capped++;
        }
        state->squares += state->beta[p] * state->beta[p] * state->inverse_mass[p];
    }
    set_quadratic(state);
}

/* The terms of the dual without f, of all positions that may be above 0. */
static double linear_terms(const struct top_state *state) {
    size_t n = state->risk->kind == TOP_NONE ? state->n : state->active;
    double value = 0, betas = 0, squares = 0;
    for (size_t p = 0; p < n; p++) {
        double alpha = state->alpha[p], beta = state->beta[p];
        value += alpha - 0.5 * state->h[p] * alpha * alpha;
        betas += beta;
        squares += beta * beta * state->inverse_mass[p];
    }
    value += state->beta_offset * betas;
    if (state->risk->kind == TOP_NONE) {
        return value - 0.5 * state->quadratic * squares;
    }
    if (state->risk->kind == TOP_QUANTILE) {
        return value - (state->risk->square ? root_factor(state) * sqrt(squares)
                                            : state->risk->budget * state->level);
    }
    return value;
}

double top_state_product(const struct top_state *state) {
    double sum = 0;
    for (size_t p = 0; p < state->active; p++) {
        sum += (state->alpha[p] - state->beta[p]) * state->s[p];
    }
    return sum;
}

/* The sums of a capped block without entries. */
static void empty_block(struct top_state *state) {
    state->A = top_risk_levelled(state->risk) && state->risk->kind == TOP_QUANTILE
                   ? -state->risk->budget
                   : 0;
    state->kappa = state->omega = 0;
}

void top_state_sums(struct top_state *state) {
    empty_block(state);
    state->dual = linear_terms(state) - 0.5 * top_state_product(state);
    for (size_t p = 0; p < state->n && top_risk_levelled(state->risk); p++) {
        if (state->capped[p]) {
            state->A += state->cap_rate[p] * (state->s[p] + state->beta_offset);
            state->kappa += state->cap_rate[p] * state->U[p];
            state->omega += state->cap_rate[p];
        }
    }
}

double top_state_dual(const struct top_state *state, double *squared_norm) {
    double value = linear_terms(state);
    if (state->risk->kind == TOP_NONE) {
        *squared_norm = 2 * (value - state->dual);
        return state->dual;
    }
    *squared_norm = top_state_product(state);
    return value - 0.5 * *squared_norm;
}

/* ---- taking a step ---- */

/* The rate of the level along the step. */
static double level_rate(const struct top_state *state, const struct top_step *step) {
    if (state->risk->kind != TOP_MEAN) {
        return step->block;
    }
    double rate = 0;
    for (int e = 0; e < step->n; e++) {
        rate += step->entry[e].beta ? 0 : step->entry[e].rate;
    }
    return rate;
}

/* The maximal step length. *stop_position: the position, other than the step's entries, whose beta
 * reaches its cap there; or TOP_NO_POSITION. */
static double max_step_length(const struct top_state *state, const struct top_step *step,
                              double rate, ptrdiff_t *stop_position) {
    double max_length = INFINITY;
    *stop_position = TOP_NO_POSITION;
    for (int e = 0; e < step->n; e++) {
        size_t p = step->entry[e].position;
        double entry_rate = step->entry[e].rate;
        if (!step->entry[e].beta) {
            max_length =
                fmin(max_length, entry_rate > 0 ? (state->C[p] - state->alpha[p]) / entry_rate
                                                : state->alpha[p] / -entry_rate);
            continue;
        }
        double rate_over_cap = entry_rate; /* rate relative to the moving cap */
        if (state->capped[p]) {
            entry_rate += top_risk_levelled(state->risk) ? state->cap_rate[p] * rate : 0;
        } else {
            rate_over_cap -= top_risk_levelled(state->risk) ? state->cap_rate[p] * rate : 0;
        }
        if (entry_rate < 0) {
            max_length = fmin(max_length, state->beta[p] / -entry_rate);
        }
        if (rate_over_cap > 0) {
            max_length =
                fmin(max_length, fmax(0, top_state_cap(state, p) - state->beta[p]) / rate_over_cap);
        }
    }
    if (rate < 0 && top_risk_levelled(state->risk)) {
        max_length = fmin(max_length, state->level / -rate);
        for (size_t p = 0; p < state->active; p++) {
            bool is_entry = (step->n > 0 && step->entry[0].beta && step->entry[0].position == p) ||
                            (step->n > 1 && step->entry[1].beta && step->entry[1].position == p);
            if (state->beta[p] > 0 && !state->capped[p] && !is_entry) {
                double length = fmax(0, top_state_cap(state, p) - state->beta[p]) /
                                (state->cap_rate[p] * -rate);
                if (length < max_length) {
                    max_length = length;
                    *stop_position = (ptrdiff_t)p;
                }
            }
        }
    }
    return max_length;
}

/* TOP_QUANTILE squared: the maximiser in [0, max_length] of slope d - curvature d^2/2 - root_factor
 * N(d) with N(d)^2 = squares + 2 first d + second d^2; `slope` does not include N. The derivative
 * decreases, so Newton's method is safeguarded by a bracket of its root. */
static double quantile_step_length(const struct top_state *state, double slope, double curvature,
                                   double first, double second, double max_length) {
    double low = 0, high = max_length, factor = root_factor(state);
    double d = 0;
    if (!(high < INFINITY)) { /* |N'| <= sqrt(second), and alpha's h gives some curvature */
        high = (fmax(0, slope) + factor * sqrt(second)) / fmax(curvature, 1e-300);
    }
    for (int iteration = 0; iteration < 60; iteration++) {
        double norm = sqrt(fmax(state->squares + 2 * first * d + second * d * d, 1e-300));
        double inner = first + second * d;
        double derivative = slope - curvature * d - factor * inner / norm;
        double second_derivative =
            curvature + factor * fmax(0, second / norm - inner * inner / (norm * norm * norm));
        if (derivative > 0) {
            low = d;
        } else {
            high = d;
        }
        double next = d + derivative / second_derivative;
        if (!(next > low && next < high)) {
            next = next >= high && derivative > 0 && iteration == 0 ? high : 0.5 * (low + high);
        }
        if (fabs(next - d) <= 1e-14 * fabs(d) || next == d) {
            break;
        }
        d = next;
    }
    return d;
}

/* Adds beta of position p to the capped block (sign 1), or takes it out (-1). */
static int change_block(struct top_state *state, size_t p, double sign, struct error *err) {
    const float *row = row_cache_get(state->cache, p, state->active, err);
    if (!row) {
        return -1;
    }
    double rate = sign * state->cap_rate[p];
    state->kappa += rate * (2 * state->U[p] + rate * state->diagonal[p]);
    state->A += rate * (state->s[p] + state->beta_offset);
    state->omega += rate;
    for (size_t q = 0; q < state->active; q++) {
        state->U[q] += rate * (double)row[q];
    }
    return 0;
}

static int enter(struct top_state *state, size_t p, struct error *err) {
    if (change_block(state, p, 1, err) < 0) {
        return -1;
    }
    state->capped[p] = 1;
    state->n_capped++;
    state->beta[p] = top_state_cap(state, p);
    return 0;
}

static int leave(struct top_state *state, size_t p, struct error *err) {
    if (change_block(state, p, -1, err) < 0) {
        return -1;
    }
    state->capped[p] = 0;
    if (--state->n_capped == 0) { /* no rounding errors remain */
        memset(state->U, 0, state->n * sizeof *state->U);
        empty_block(state);
    }
    return 0;
}

/* TOP_QUANTILE, hinge, without capped entries: lowers delta until an entry is at its cap. */
static int lower_level(struct top_state *state, struct error *err) {
    ptrdiff_t top = TOP_NO_POSITION;
    double level = 0;
    for (size_t p = 0; p < state->active; p++) {
        if (state->beta[p] > 0 && state->beta[p] / state->cap_rate[p] > level) {
            level = state->beta[p] / state->cap_rate[p];
            top = (ptrdiff_t)p;
        }
    }
    state->level = level;
    return top == TOP_NO_POSITION ? 0 : enter(state, (size_t)top, err);
}

/* Moves the entries by d, sets those that reach a bound exactly to it, and marks those that reach
 * or leave their caps. */
static int move_entries(struct top_state *state, const struct top_step *step, double d,
                        double max_length, double rate, struct error *err) {
    bool levelled = top_risk_levelled(state->risk);
    for (int e = 0; e < step->n; e++) {
        size_t p = step->entry[e].position;
        double entry_rate = step->entry[e].rate;
        if (!step->entry[e].beta) {
            double alpha = state->alpha[p] + entry_rate * d;
            double bound = entry_rate > 0 ? state->C[p] : 0;
            bool at_bound = d == max_length &&
                            fabs(bound - alpha) <= 1e-14 * (state->alpha[p] + fabs(entry_rate) * d);
            state->alpha[p] = at_bound || alpha < 0 || alpha > state->C[p] ? bound : alpha;
            continue;
        }
        double old = state->beta[p];
        bool was_capped = state->capped[p];
        double moved =
            old + (entry_rate + (was_capped && levelled ? state->cap_rate[p] * rate : 0)) * d;
        double cap = top_state_cap(state, p) + (levelled ? state->cap_rate[p] * rate * d : 0);
        double rounding = 1e-14 * (old + fabs(entry_rate) * d);
        bool is_empty = moved <= 0 || (d == max_length && moved <= rounding);
        bool is_full = !is_empty && !was_capped &&
                       (moved >= cap || (d == max_length && cap - moved <= rounding));
        moved = is_empty ? 0 : is_full ? cap : moved;
        state->squares += (moved * moved - old * old) * state->inverse_mass[p];
        if (was_capped && d > 0) {
            if (levelled && leave(state, p, err) < 0) {
                return -1;
            }
            state->capped[p] = 0;
        }
        state->beta[p] = moved;
        if (is_full && levelled) {
            state->capped[p] = 2; /* joins the block once the level has moved */
        } else if (is_full) {
            state->capped[p] = 1;
        }
    }
    return 0;
}

static int move_scores(struct top_state *state, const struct top_step *step, double d,
                       struct error *err) {
    const float *row[2] = {NULL, NULL};
    double factor[2] = {0, 0}, block = -step->block * d, change = block * state->kappa;
    bool with_block = block != 0 && state->omega > 0;
    for (int e = 0; e < step->n; e++) {
        row[e] = row_cache_get(state->cache, step->entry[e].position, state->active, err);
        if (!row[e]) {
            return -1;
        }
        factor[e] = (step->entry[e].beta ? -1 : 1) * step->entry[e].rate * d;
        change += factor[e] * state->U[step->entry[e].position];
    }
    double *s = state->s;
    const double *U = state->U;
    size_t n = state->active;
    if (with_block) {
        for (size_t p = 0; p < n; p++) {
            s[p] += block * U[p];
        }
    }
    if (row[1]) {
        for (size_t p = 0; p < n; p++) {
            s[p] += factor[0] * (double)row[0][p] + factor[1] * (double)row[1][p];
        }
    } else {
        for (size_t p = 0; p < n; p++) {
            s[p] += factor[0] * (double)row[0][p];
        }
    }
    state->A += change;
    return 0;
}

/* Sets the capped entries to the moved cap. */
static void move_block(struct top_state *state) {
    for (size_t p = 0; p < state->active; p++) {
        if (state->capped[p] == 1) {
            state->beta[p] = top_state_cap(state, p);
        }
    }
}

int top_state_take(struct top_state *state, const struct top_step *step, struct error *err) {
    bool levelled = top_risk_levelled(state->risk);
    double rate = level_rate(state, step);
    ptrdiff_t stop_position;
    double max_length = max_step_length(state, step, rate, &stop_position), d;
    if (quantile_squared(state)) {
        double first = 0, second = 0, curvature = 0;
        for (int e = 0; e < step->n; e++) {
            const struct top_entry *entry = &step->entry[e];
            curvature +=
                state->diagonal[entry->position] + (entry->beta ? 0 : state->h[entry->position]);
            if (entry->beta) {
                first += entry->rate * state->beta[entry->position] *
                         state->inverse_mass[entry->position];
                second += entry->rate * entry->rate * state->inverse_mass[entry->position];
            }
        }
        /* without the term in sqrt(squares); the rest may be 0 if rows are equal */
        const float *row = row_cache_get(state->cache, step->entry[0].position, state->active, err);
        if (!row) {
            return -1;
        }
        /* the two rows have opposite signs in f */
        curvature -= 2 * (double)row[step->entry[1].position];
        d = second > 0
                ? quantile_step_length(
                      state, step->slope + state->quadratic * first,
                      fmax(curvature, TOP_MIN_CURVATURE * state->diagonal[step->entry[0].position]),
                      first, second, max_length)
                : fmin(max_length, step->slope / step->curvature);
    } else {
        d = fmin(max_length, step->slope / step->curvature);
    }
    state->dual += d * (step->slope - 0.5 * step->curvature * d);
    if (move_scores(state, step, d, err) < 0 ||
        move_entries(state, step, d, max_length, rate, err) < 0) {
        return -1;
    }
    if (levelled && rate != 0) {
        state->level = fmax(0, state->level + rate * d);
        move_block(state);
    }
    for (int e = 0; levelled && e < step->n; e++) {
        size_t p = step->entry[e].position;
        if (step->entry[e].beta && state->capped[p] == 2 && enter(state, p, err) < 0) {
            return -1;
        }
    }
    if (stop_position != TOP_NO_POSITION && d == max_length &&
        enter(state, (size_t)stop_position, err) < 0) {
        return -1;
    }
    if (levelled && state->risk->kind == TOP_QUANTILE && state->n_capped == 0 &&
        lower_level(state, err) < 0) {
        return -1;
    }
    set_quadratic(state);
    return 0;
}
