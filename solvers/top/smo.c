#include "solvers/top/smo.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/rows.h"
#include "solvers/top/choose.h"
#include "solvers/top/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK_LEAST = 64,   /* steps between two looks at the gap, or ... */
    CHECK_PART = 16,    /* ... a step for so many rows */
    SHRINK_CHECKS = 4,  /* looks between two shrinkings */
    SLOW_CHECKS = 8,    /* looks with little progress, after which all is computed anew */
    STALL_REFRESHES = 5 /* exact evaluations without progress: rounding has the last word */
};

/* Little progress of the dual, in parts of the gap, from one look to the next; and from one exact
 * evaluation to the next, with no less gap than a part of the least so far. */
static const double SLOW_DUAL = 0.01, STALLED_DUAL = 1e-9, STALLED_GAP = 0.99;

/* Relative gaps up to which the primal of a multiple is looked at. */
static const double WORTH_STRETCHING = 0.9;

struct top_smo {
    const struct problem *problem;
    const struct score_map *map;
    struct top_risk *risk;
    struct top_state state;
    double cost;           /* of the last solution; 0: there is none */
    double multiple;       /* of the point's f that the primal is of */
    bool exact;            /* s and U of all places are from the data, nothing moved since */
    double *weights;       /* (dimension, 2) work */
    double *scores;        /* (n, 2) work, by row */
    double *row_s, *row_g; /* (n) work, by row */
    double *bound;         /* (n) work */
    uint32_t *from;        /* (n) work */
    unsigned char *keep;   /* (n) work */
};

static int allocate(struct top_smo *smo, struct error *err) {
    struct top_state *state = &smo->state;
    size_t n = state->n;
    double **array[] = {&state->alpha, &state->beta,    &state->C,   &state->share,
                        &state->h,     &state->inverse, &state->s,   &state->U,
                        &state->K,     &smo->row_s,     &smo->row_g, &smo->bound};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) {
        *array[i] = memory_zeros(n, sizeof(double), "the dual point", err);
        if (!*array[i]) {
            return -1;
        }
    }
    state->at = memory_array(n, sizeof *state->at, "the dual point", err);
    state->capped = memory_zeros(n, 1, "the dual point", err);
    smo->from = memory_array(n, sizeof *smo->from, "the dual point", err);
    smo->keep = memory_array(n, 1, "the dual point", err);
    smo->weights = memory_array(smo->map->dimension, 2 * sizeof *smo->weights, "weights", err);
    smo->scores = memory_array(n, 2 * sizeof *smo->scores, "scores", err);
    return state->at && state->capped && smo->from && smo->keep && smo->weights && smo->scores ? 0
                                                                                               : -1;
}

int top_smo_create(struct top_smo **smo, const struct problem *problem, const struct score_map *map,
                   struct top_risk *risk, struct error *err) {
    struct top_smo *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->map = map;
    made->risk = risk;
    struct top_state *state = &made->state;
    state->risk = risk;
    state->n = state->active = risk->n;
    if (allocate(made, err) < 0 ||
        rows_create(&state->rows, problem, problem->cache_bytes, err) < 0) {
        top_smo_free(made);
        return -1;
    }
    for (size_t p = 0; p < state->n; p++) {
        state->at[p] = (uint32_t)p;
        state->inverse[p] = risk->mass[p] > 0 ? 1 / risk->mass[p] : 0;
    }
    rows_diagonal(state->rows, state->K);
    *smo = made;
    return 0;
}

void top_smo_free(struct top_smo *smo) {
    if (!smo) {
        return;
    }
    struct top_state *state = &smo->state;
    rows_free(state->rows);
    void *const array[] = {state->at,     state->alpha, state->beta,    state->C,   state->share,
                           state->h,      state->s,     state->inverse, state->U,   state->K,
                           state->capped, smo->weights, smo->scores,    smo->row_s, smo->row_g,
                           smo->bound,    smo->from,    smo->keep};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) {
        free(array[i]);
    }
    free(smo);
}

/* Bounds and constants of a cost. */
static void set_cost(struct top_smo *smo, double cost) {
    const struct top_risk *risk = smo->risk;
    struct top_state *state = &smo->state;
    for (size_t p = 0; p < state->n; p++) {
        uint32_t row = state->at[p];
        double C = cost * risk->cost[row], mass = risk->mass[row];
        state->C[p] = C <= 0 ? 0 : risk->square ? INFINITY : C;
        state->h[p] = risk->square && C > 0 ? 1 / (2 * C) : 0;
        switch (risk->kind) {
        case TOP_MEAN:
            state->share[p] = risk->share[row];
            break;
        case TOP_QUANTILE:
            state->share[p] = mass <= 0 ? 0 : risk->square ? INFINITY : risk->theta * mass;
            break;
        case TOP_NONE:
            state->share[p] = mass <= 0 ? 0 : risk->square ? INFINITY : cost * mass;
            break;
        }
    }
    state->lift = risk->kind == TOP_QUANTILE ? 1 / risk->theta : risk->kind == TOP_NONE ? 1 : 0;
    state->curl = risk->kind == TOP_NONE && risk->square ? 1 / (2 * cost) : 0;
    state->level = 1;
}

/* scores (n, n_outputs) by row = the products of K with coefficients by row, from the data. */
static int product(struct top_smo *smo, const double *coefficients, size_t n_outputs,
                   struct error *err) {
    const struct score_map *map = smo->map;
    size_t n = map->n, d = map->dimension;
    if (!map->primal) {
        return map->exact(map, coefficients, n_outputs, smo->scores, err);
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

/* Recomputes s, U and the sums from the data, with all places in use. */
static int refresh(struct top_smo *smo, struct error *err) {
    struct top_state *state = &smo->state;
    size_t n = state->n;
    state->active = n;
    top_state_classify(state);
    bool block = top_state_levelled(state) && state->n_capped > 0;
    size_t outputs = block ? 2 : 1;
    double *coefficients = memory_array(n, outputs * sizeof *coefficients, "coefficients", err);
    if (!coefficients) {
        return -1;
    }
    for (size_t p = 0; p < n; p++) {
        double *out = coefficients + state->at[p] * outputs;
        out[0] = state->alpha[p] - state->beta[p];
        if (block) {
            out[1] = state->capped[p] ? state->share[p] : 0;
        }
    }
    int status = product(smo, coefficients, outputs, err);
    free(coefficients);
    if (status < 0) {
        return -1;
    }
    for (size_t p = 0; p < n; p++) {
        state->s[p] = smo->scores[state->at[p] * outputs];
        state->U[p] = block ? smo->scores[state->at[p] * outputs + 1] : 0;
    }
    top_state_sums(state);
    smo->exact = true;
    return 0;
}

/* ---- the start ---- */

/* The factor that is best for the whole point, as far as bounds allow, and the point with it. */
static void scale_point(struct top_smo *smo) {
    struct top_state *state = &smo->state;
    double norm, most = INFINITY, squares = 0;
    double dual = top_state_dual(state, &norm); /* = linear - (norm + squares) / 2 */
    for (size_t p = 0; p < state->n; p++) {
        squares += state->h[p] * state->alpha[p] * state->alpha[p];
        if (state->alpha[p] > 0) {
            most = fmin(most, state->C[p] / state->alpha[p]);
        }
        if (state->risk->kind == TOP_NONE && state->beta[p] > 0) {
            squares += state->curl * state->inverse[p] * state->beta[p] * state->beta[p];
            most = fmin(most, state->share[p] / state->beta[p]);
        }
    }
    double linear = dual + 0.5 * (norm + squares);
    double factor = norm + squares > 0 ? linear / (norm + squares) : most;
    factor = fmin(fmax(factor, 0), most);
    if (!(factor < INFINITY)) {
        factor = 1;
    }
    for (size_t p = 0; p < state->n; p++) {
        double alpha = factor * state->alpha[p];
        state->alpha[p] = alpha > state->C[p] * (1 - 1e-14) ? state->C[p] : alpha;
        state->beta[p] *= factor;
        state->s[p] *= factor;
    }
    top_state_classify(state);
    top_state_sums(state);
}

/* The multiple of the scores in row_s that has the least primal: by doubling, then by thirds. */
static double best_multiple(struct top_smo *smo, double cost, double norm) {
    double offset, best = 1, least = INFINITY;
    const size_t n = smo->risk->n;
    for (int k = -40; k <= 40; k++) {
        double x = ldexp(1, k);
        for (size_t i = 0; i < n; i++) {
            smo->bound[i] = x * smo->row_s[i];
        }
        double primal =
            0.5 * x * x * norm + cost * top_risk_cut(smo->risk, smo->bound, smo->row_g, &offset);
        if (primal < least) {
            least = primal;
            best = x;
        }
    }
    return best;
}

/* The dual point that belongs to the scores x row_s: the plane of the risk there, of which *offset
 * is the part of the dual that is not a square. */
static void point_at(struct top_smo *smo, double cost, double x, double *offset) {
    struct top_risk *risk = smo->risk;
    struct top_state *state = &smo->state;
    for (size_t i = 0; i < state->n; i++) {
        smo->bound[i] = x * smo->row_s[i];
    }
    top_risk_cut(risk, smo->bound, smo->row_g, offset);
    for (size_t p = 0; p < state->n; p++) {
        state->alpha[p] = cost * risk->slope[state->at[p]];
        state->beta[p] = cost * risk->slopes * risk->p[state->at[p]];
    }
}

/* A point of which some multiple has a dual above 0, so that steps never come back to 0, from
 * which no pair of entries rises: at scores 0, all of the cost and beta as the masses are. */
static void point_at_nothing(struct top_smo *smo, double cost) {
    const struct top_risk *risk = smo->risk;
    struct top_state *state = &smo->state;
    memset(smo->row_s, 0, state->n * sizeof *smo->row_s);
    double offset, sum = 0;
    point_at(smo, cost, 0, &offset);
    for (size_t p = 0; p < state->n; p++) {
        sum += state->alpha[p];
    }
    for (size_t p = 0; p < state->n && risk->kind != TOP_NONE; p++) {
        state->beta[p] = sum * (risk->mass[state->at[p]] / risk->total_mass);
    }
}

/* Computes everything of the point, and takes its best multiple. */
static int settle(struct top_smo *smo, double cost, struct error *err) {
    if (refresh(smo, err)) {
        return -1;
    }
    scale_point(smo);
    double norm;
    if (top_state_dual(&smo->state, &norm) > 0) {
        return 0;
    }
    point_at_nothing(smo, cost);
    if (refresh(smo, err)) {
        return -1;
    }
    scale_point(smo);
    return 0;
}

/* A first point: the direction from the centroid of J to that of the positives, the dual point
 * that belongs to its scores at the best multiple, and the best multiple of that. Where the best
 * multiple takes all positives above the threshold the point is 0, and says nothing: then a
 * smaller one. */
static int start(struct top_smo *smo, double cost, struct error *err) {
    enum { HALVINGS = 60 };
    struct top_risk *risk = smo->risk;
    size_t n = smo->state.n;
    double norm = 0, offset;
    for (size_t i = 0; i < n; i++) {
        smo->bound[i] = risk->cost[i] / risk->total_cost - risk->mass[i] / risk->total_mass;
    }
    if (product(smo, smo->bound, 1, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        smo->row_s[i] = smo->scores[i];
        norm += smo->bound[i] * smo->scores[i];
    }
    double x = norm > 0 ? best_multiple(smo, cost, norm) : 0;
    point_at(smo, cost, x, &offset);
    for (int k = 0; !(offset > 0) && k < HALVINGS; k++) {
        x *= 0.5;
        point_at(smo, cost, x, &offset);
    }
    return settle(smo, cost, err);
}

/* The last solution, scaled to another cost. */
static int restart(struct top_smo *smo, double cost, struct error *err) {
    struct top_state *state = &smo->state;
    double factor = cost / smo->cost;
    for (size_t p = 0; p < state->n; p++) {
        state->alpha[p] *= factor;
        state->beta[p] *= factor;
        if (state->alpha[p] > state->C[p]) {
            state->alpha[p] = state->C[p];
        }
    }
    return settle(smo, cost, err);
}

/* ---- the run ---- */

/* The primal from s, of which places out of use may be old: that of the best multiple, if the
 * point's own does not reach the gap. Where C is large rows just below the threshold make the
 * primal lag far behind the dual, and a small stretch takes them above it. */
static double primal(struct top_smo *smo, double norm, double dual, double epsilon) {
    const struct top_state *state = &smo->state;
    double offset, value;
    for (size_t p = 0; p < state->n; p++) {
        smo->row_s[state->at[p]] = state->s[p];
    }
    smo->multiple = 1;
    value = 0.5 * norm + smo->cost * top_risk_cut(smo->risk, smo->row_s, smo->row_g, &offset);
    if (!gap_reached(value, dual, epsilon) && value - dual < WORTH_STRETCHING * value) {
        smo->multiple = top_risk_multiple(smo->risk, smo->cost, norm, smo->row_s, 1,
                                          TOP_MULTIPLE_ABOUT, smo->scores, &value);
    }
    return value;
}

static void permute(double *array, const uint32_t *from, size_t n, double *work) {
    for (size_t a = 0; a < n; a++) {
        work[a] = array[from[a]];
    }
    memcpy(array, work, n * sizeof *array);
}

/* Leaves out the places that rest at 0. */
static int shrink(struct top_smo *smo, struct error *err) {
    struct top_state *state = &smo->state;
    size_t n = state->active, kept = top_choose_resting(state, smo->keep), a = 0, b = kept;
    if (kept > n - n / 10) {
        return 0; /* too few to be worth the moving */
    }
    for (size_t p = 0; p < n; p++) {
        smo->from[smo->keep[p] ? a++ : b++] = (uint32_t)p;
    }
    if (rows_reorder(state->rows, smo->from, n, err) < 0) {
        return -1;
    }
    double *const array[] = {state->alpha,   state->beta, state->C, state->share, state->h,
                             state->inverse, state->s,    state->U, state->K};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) {
        permute(array[i], smo->from, n, smo->bound);
    }
    uint32_t *at = (uint32_t *)(void *)smo->bound;
    for (size_t p = 0; p < n; p++) {
        at[p] = state->at[smo->from[p]];
        smo->keep[p] = state->capped[smo->from[p]];
    }
    memcpy(state->at, at, n * sizeof *at);
    memcpy(state->capped, smo->keep, n);
    state->active = kept;
    return 0;
}

static int copy_fit(struct top_smo *smo, struct fit *fit, struct error *err) {
    const struct top_state *state = &smo->state;
    const struct score_map *map = smo->map;
    size_t d = map->dimension;
    fit->weights = memory_array(d, sizeof(double), "weights", err);
    fit->alpha = memory_array(state->n, sizeof(double), "the dual point", err);
    fit->beta = memory_array(state->n, sizeof(double), "the dual point", err);
    if (!fit->weights || !fit->alpha || !fit->beta) {
        return -1;
    }
    for (size_t p = 0; p < state->n; p++) {
        fit->alpha[state->at[p]] = state->alpha[p];
        fit->beta[state->at[p]] = state->beta[p];
        smo->row_g[state->at[p]] = state->alpha[p] - state->beta[p];
    }
    if (map->adjoint(map, smo->row_g, fit->weights, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < d; k++) {
        fit->weights[k] *= smo->multiple;
    }
    return 0;
}

/* Up to `steps` steps; *moved: at least one was found. */
static int take_steps(struct top_smo *smo, size_t steps, bool *moved, struct fit *fit,
                      struct error *err) {
    *moved = false;
    for (size_t i = 0; i < steps; i++) {
        struct top_step step;
        bool found;
        if (top_choose_step(&smo->state, &step, &found, err) < 0) {
            return -1;
        }
        if (!found) {
            return 0;
        }
        if (top_state_take(&smo->state, &step, err) < 0) {
            return -1;
        }
        *moved = true;
        smo->exact = false;
        fit->iterations++;
    }
    return 0;
}

static int bounds(struct top_smo *smo, double epsilon, struct fit *fit, struct error *err) {
    double norm;
    fit->dual = top_state_dual(&smo->state, &norm);
    fit->primal = primal(smo, norm, fit->dual, epsilon);
    return isfinite(fit->primal) && isfinite(fit->dual)
               ? 0
               : error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
}

/* Steps until the gap, computed from the data, is reached; or a limit; or nothing helps. The gap
 * is looked at from running sums in between, and computed from the data where these say that it is
 * reached, that there is no step, or that steps bring little: then rows that were left out, or
 * rounding, are in the way. */
static int run(struct top_smo *smo, const struct top_smo_settings *settings,
               const struct monitor *monitor, struct fit *fit, struct error *err) {
    struct top_state *state = &smo->state;
    double exact_dual = -INFINITY, last_dual = 0, least = INFINITY;
    int stalled = 0, checks = 0, slow = 0;
    bool moved = true;
    for (;;) {
        if (bounds(smo, settings->epsilon, fit, err) < 0) {
            return -1;
        }
        double gap = fit->primal - fit->dual;
        bool reached = gap_reached(fit->primal, fit->dual, settings->epsilon);
        if (smo->exact) {
            bool better = fit->dual - exact_dual > STALLED_DUAL * gap || gap < STALLED_GAP * least;
            stalled = better ? 0 : stalled + 1;
            exact_dual = fit->dual;
            least = fmin(least, gap);
            slow = 0;
            fit->converged = reached;
            if (reached) {
                return 0;
            }
            if (stalled >= STALL_REFRESHES || !moved) {
                fit->reason = STOP_ROUNDING;
                return 0;
            }
        } else {
            slow = fit->dual - last_dual < SLOW_DUAL * gap ? slow + 1 : 0;
        }
        last_dual = fit->dual;
        fit->reason = monitor_check(monitor, fit->iterations, fit->primal, fit->dual);
        if (fit->reason) {
            return smo->exact ? 0 : refresh(smo, err);
        }
        bool done = !smo->exact && (reached || !moved || slow >= SLOW_CHECKS);
        if (done) {
            if (refresh(smo, err) < 0) {
                return -1;
            }
            moved = true;
            continue;
        }
        if (settings->shrink && ++checks % SHRINK_CHECKS == 0 && shrink(smo, err) < 0) {
            return -1;
        }
        size_t steps = state->active / CHECK_PART;
        if (take_steps(smo, steps > CHECK_LEAST ? steps : CHECK_LEAST, &moved, fit, err) < 0) {
            return -1;
        }
    }
}

void top_smo_adopt(struct top_smo *smo, double cost, const double *alpha, const double *beta) {
    struct top_state *state = &smo->state;
    for (size_t p = 0; p < state->n; p++) {
        state->alpha[p] = alpha[state->at[p]];
        state->beta[p] = beta[state->at[p]];
    }
    smo->cost = cost;
}

int top_smo_solve(struct top_smo *smo, const struct top_smo_settings *settings,
                  const struct monitor *monitor, struct fit *fit, struct error *err) {
    *fit = (struct fit){0};
    double last = smo->cost;
    set_cost(smo, settings->cost);
    int status = last > 0 ? restart(smo, settings->cost, err) : start(smo, settings->cost, err);
    smo->cost = settings->cost;
    if (status == 0) {
        status = run(smo, settings, monitor, fit, err);
    }
    if (status == 0) {
        status = copy_fit(smo, fit, err);
    }
    if (status < 0) {
        fit_free(fit);
        smo->cost = 0;
    }
    return status;
}
