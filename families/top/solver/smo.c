/* The run of sequential minimal optimisation: steps between full evaluations, shrinking, and
 * the best iterate.
 *
 * A position is a row's place in the reordered cache; positions below state->active are in use, the
 * others are shrunk. An entry is an alpha or a beta. A full evaluation computes s and U of all
 * positions from the data, with kernel values in double, or in float where the next one will be in
 * double. */
#include "families/top/solver/smo.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/row_cache.h"
#include "families/top/solver/feasible_dual.h"
#include "families/top/solver/smo_private.h"
#include "families/top/solver/step_selection.h"
#include "fit/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps between two evaluations of the gap: positions in use / POSITIONS_PER_CHECK_STEP, at least
 * MIN_CHECK_STEPS. With 64 of these the SVM spends a quarter of its time on evaluations. */
enum { POSITIONS_PER_CHECK_STEP = 16, MIN_CHECK_STEPS = 256 };

/* If many positions are in use, but few have an entry above 0, then of the others only those with
 * the steepest alphas and the steepest betas stay in use: MIN_STEEPEST + positions above 0 /
 * NONZERO_PER_STEEPEST of each. A full evaluation follows after positions in use /
 * POSITIONS_PER_STEP steps. */
enum { MIN_STEEPEST = 500, NONZERO_PER_STEEPEST = 2, POSITIONS_PER_STEP = 2 };
/* In place of NONZERO_PER_STEEPEST if runs began near the solution. */
enum { NEAR_NONZERO_PER_STEEPEST = 8 };

/* Of predicted times: other programs' load changes from one evaluation to the next. One that takes
 * too long in spite of it is left unfinished, with END_PART of its predicted time left. */
static const double TIME_MARGIN = 1.5, END_PART = 0.05;

/* Evaluations in a row without progress, after which a full one follows; and full ones, after which
 * the run ends with STOP_FLOAT_KERNEL: whatever type the Gram matrix has, steps use rows of K in
 * float (common/kernel/row_cache.h). */
enum { MAX_STALLED = 5 };

/* No progress: the dual increases by at most this part of the gap from one evaluation to the
 * next. */
static const double STALLED_DUAL = 1e-9;

/* The dual has diverged if it is below the best so far by more than this part of the smallest gap,
 * or above a primal by as much: rows of K, which are float, misdirected the steps, or K is not
 * positive semidefinite. With squared losses no bound stops such steps. */
static const double DIVERGED = 0.5;

/* Relative gaps up to which multiples of the primal point are tried. */
static const double RESCALING_GAP = 0.9;

static int allocate(struct top_smo *smo, struct error *err) {
    struct top_state *state = &smo->state;
    size_t n = state->n;
    smo->block =
        ARRAYS_CREATE("the dual point", err,
                      ARRAYS(n, double, &state->alpha, &state->beta, &state->C, &state->cap_rate,
                             &state->h, &state->inverse_mass, &state->s, &state->U,
                             &state->diagonal, &smo->row_s, &smo->row_g, &smo->work, &smo->plain_s,
                             &smo->best_alpha, &smo->best_beta, &smo->best_s),
                      ARRAYS(n, uint32_t, &state->row_of, &smo->order),
                      ARRAYS(n, unsigned char, &state->capped, &smo->keep),
                      ARRAYS(3 * smo->map->dimension, double, &smo->weights),
                      ARRAYS(3 * n, double, &smo->scores));
    return smo->block ? 0 : -1;
}

int top_smo_create(struct top_smo **smo, const struct problem *problem, const struct score_map *map,
                   const struct score_map *plain, struct top_risk *risk, struct error *err) {
    struct top_smo *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->map = map;
    made->plain = plain;
    made->risk = risk;
    struct top_state *state = &made->state;
    state->risk = risk;
    state->n = state->active = risk->n;
    if (allocate(made, err) < 0 ||
        row_cache_create(&state->cache, problem, problem->cache_bytes, err) < 0) {
        top_smo_free(made);
        return -1;
    }
    for (size_t p = 0; p < state->n; p++) {
        state->row_of[p] = (uint32_t)p;
        state->inverse_mass[p] = risk->mass[p] > 0 ? 1 / risk->mass[p] : 0;
    }
    row_cache_diagonal(state->cache, state->diagonal);
    *smo = made;
    return 0;
}

void top_smo_free(struct top_smo *smo) {
    if (!smo) {
        return;
    }
    row_cache_free(smo->state.cache);
    free(smo->block);
    free(smo);
}

/* ---- the run ---- */

/* Sets the scores of the positions at 0 that are not in use, by row, to the lowest of J and the
 * highest of the positives, if those of before are not lower or higher. */
static void assume_no_loss(struct top_smo *smo) {
    const struct top_state *state = &smo->state;
    double lowest = INFINITY, highest = -INFINITY;
    for (size_t p = 0; p < state->active; p++) {
        lowest = state->cap_rate[p] > 0 ? fmin(lowest, state->s[p]) : lowest;
        highest = state->C[p] > 0 ? fmax(highest, state->s[p]) : highest;
    }
    for (size_t p = state->active; p < state->n; p++) {
        double *s = smo->row_s + state->row_of[p];
        if (!top_state_above(state, p)) {
            *s = state->C[p] > 0 ? fmax(*s, highest) : fmin(*s, lowest);
        }
    }
}

/* TOP_NONE: rows that are not in use with an entry at its bound C have the losses C (1 - y s), y
 * the sign of the entry in f. Their sum follows from |f|^2, the sum of (alpha_p - beta_p) s_p over
 * all positions; scales the losses at the outdated scores to that sum. */
static void scale_losses(struct top_smo *smo, double squared_norm) {
    const struct top_state *state = &smo->state;
    double outdated = 0, losses = top_state_product(state) - squared_norm;
    for (size_t p = state->active; p < state->n; p++) {
        double coefficient = state->alpha[p] - state->beta[p];
        losses += fabs(coefficient);
        outdated += fabs(coefficient) - coefficient * state->s[p];
    }
    if (!(losses > 0 && outdated > 0)) {
        return;
    }
    for (size_t p = state->active; p < state->n; p++) {
        if (top_state_above(state, p)) {
            double *s = smo->row_s + state->row_of[p], y = state->alpha[p] > 0 ? 1 : -1;
            *s = y - losses / outdated * (y - *s);
        }
    }
}

/* The primal from s, which may be outdated at shrunk positions. If f itself does not reach the gap,
 * and its relative gap is below RESCALING_GAP, it is the primal of x f for the best multiple x (a
 * line search). At large C rows just below the threshold make the primal's gap much larger than the
 * dual's, and a slightly larger multiple of f lifts them above it. */
static double primal(struct top_smo *smo, double squared_norm, double dual, double epsilon) {
    const struct top_state *state = &smo->state;
    double value;
    for (size_t p = 0; p < state->n; p++) {
        smo->row_s[state->row_of[p]] = state->s[p];
    }
    if (smo->near) {
        assume_no_loss(smo);
    }
    if (state->risk->kind == TOP_NONE) {
        scale_losses(smo, squared_norm);
    }
    smo->scaling = 1;
    value = 0.5 * squared_norm + smo->cost * top_risk_value(smo->risk, smo->row_s, smo->row_g);
    if (!gap_reached(value, dual, epsilon) && value - dual < RESCALING_GAP * value) {
        smo->scaling = top_risk_multiple(smo->risk, smo->cost, squared_norm, smo->row_s,
                                         TOP_MULTIPLE_ROUGH, smo->scores, &value);
    }
    return value;
}

static void permute(double *array, const uint32_t *from, size_t n, double *work) {
    for (size_t a = 0; a < n; a++) {
        work[a] = array[from[a]];
    }
    memcpy(array, work, n * sizeof *array);
}

/* Marks the positions that stay in use: those that are not at 0, or may increase. If these are many
 * but few are above 0, only these few and the steepest of the others stay in use until the next
 * full evaluation. Returns the number of marked positions. */
static size_t choose_positions(struct top_smo *smo, uint64_t iterations) {
    const struct top_state *state = &smo->state;
    size_t kept = top_choose_unshrunk(state, smo->keep);
    size_t above = top_state_count_above(state, state->active);
    size_t steepest =
        MIN_STEEPEST + above / (smo->near ? NEAR_NONZERO_PER_STEEPEST : NONZERO_PER_STEEPEST);
    if (smo->is_fresh && kept > 2 * (above + 2 * steepest)) {
        kept = top_choose_steepest(state, steepest, smo->keep, smo->row_s, smo->row_g, smo->order);
        smo->next_full_check = iterations + kept / POSITIONS_PER_STEP;
    }
    return kept;
}

/* Shrinks the positions that choose_positions does not keep. */
static int shrink(struct top_smo *smo, uint64_t iterations, struct error *err) {
    struct top_state *state = &smo->state;
    size_t n = state->active, kept = choose_positions(smo, iterations), a = 0, b = kept;
    if (kept > n - n / 10) {
        return 0; /* too few to make up for moving the arrays: 1.3 times as long without this */
    }
    for (size_t p = 0; p < n; p++) {
        smo->order[smo->keep[p] ? a++ : b++] = (uint32_t)p;
    }
    if (row_cache_reorder(state->cache, smo->order, n, err) < 0) {
        return -1;
    }
    double *const array[] = {state->alpha,        state->beta, state->C, state->cap_rate, state->h,
                             state->inverse_mass, state->s,    state->U, state->diagonal};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) {
        permute(array[i], smo->order, n, smo->work);
    }
    uint32_t *row_of = (uint32_t *)(void *)smo->work;
    for (size_t p = 0; p < n; p++) {
        row_of[p] = state->row_of[smo->order[p]];
        smo->keep[p] = state->capped[smo->order[p]];
    }
    memcpy(state->row_of, row_of, n * sizeof *row_of);
    memcpy(state->capped, smo->keep, n);
    state->active = kept;
    return 0;
}

/* The function of the point and its exact scores without the constant feature, of the primal and of
 * the dual. */
static int copy_scores(struct top_smo *smo, struct fit *fit, struct error *err) {
    const struct top_state *state = &smo->state;
    size_t n = state->n;
    fit->scores = memory_array(n, sizeof *fit->scores, "scores", err);
    fit->dual_weights = memory_array(n, sizeof *fit->dual_weights, "weights", err);
    fit->dual_scores = memory_array(n, sizeof *fit->dual_scores, "scores", err);
    if (!fit->scores || !fit->dual_weights || !fit->dual_scores) {
        return -1;
    }
    memcpy(fit->dual_weights, smo->row_g, n * sizeof *smo->row_g);
    for (size_t p = 0; p < n; p++) {
        fit->dual_scores[p] = smo->plain_s[p];
        fit->scores[p] = smo->scaling * smo->plain_s[p];
    }
    return 0;
}

int top_smo_copy(struct top_smo *smo, struct fit *fit, struct error *err) {
    const struct top_state *state = &smo->state;
    const struct score_map *map = smo->map;
    size_t d = map->dimension;
    if (top_dual_allocate(fit, state->n, d, err) < 0) {
        return -1;
    }
    for (size_t p = 0; p < state->n; p++) {
        fit->alpha[state->row_of[p]] = state->alpha[p];
        fit->beta[state->row_of[p]] = state->beta[p];
        smo->row_g[state->row_of[p]] = state->alpha[p] - state->beta[p];
    }
    if (map->adjoint(map, smo->row_g, fit->weights, err) < 0) {
        return -1;
    }
    array_scale(fit->weights, smo->scaling, d);
    return !map->primal && smo->is_fresh && smo->is_exact ? copy_scores(smo, fit, err) : 0;
}

/* Takes steps until the next evaluation of the gap; *moved: at least one was found. */
static int take_steps(struct top_smo *smo, bool *moved, struct fit *fit, struct error *err) {
    size_t part = smo->state.active / POSITIONS_PER_CHECK_STEP;
    size_t steps = part > MIN_CHECK_STEPS ? part : MIN_CHECK_STEPS;
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
        smo->is_fresh = false;
        fit->iterations++;
    }
    return 0;
}

void top_smo_bounds(struct top_smo *smo, double epsilon, struct fit *fit) {
    double squared_norm;
    fit->dual = top_state_dual(&smo->state, &squared_norm);
    fit->primal = primal(smo, squared_norm, fit->dual, epsilon);
}

/* The state of a run at its full evaluations. */
struct progress {
    double max_dual;   /* largest dual, that of the stored point */
    double last_dual;  /* of the last full evaluation */
    double min_gap;    /* INFINITY: there is none yet */
    double min_primal; /* the smallest primal, an upper bound of the dual */
    bool is_exact;     /* s of the stored point is exact */
    int evaluations;   /* full ones since the start */
    int stalled, idle; /* full evaluations without progress; evaluations in between without */
};

static bool finite(const struct fit *fit) {
    return isfinite(fit->primal) && isfinite(fit->dual);
}

static bool has_diverged(const struct progress *progress, const struct fit *fit) {
    double tolerance = DIVERGED * progress->min_gap;
    return !finite(fit) || fit->dual < progress->max_dual - tolerance ||
           fit->dual > progress->min_primal + tolerance;
}

/* Records a full evaluation, and stores the point if it is the best so far. */
static void record_progress(struct top_smo *smo, const struct fit *fit, struct progress *progress) {
    const struct top_state *state = &smo->state;
    double gap = fit->primal - fit->dual;
    bool better = fit->dual - progress->last_dual > STALLED_DUAL * gap;
    progress->stalled = better ? 0 : progress->stalled + 1;
    progress->idle = 0;
    progress->last_dual = fit->dual;
    progress->min_gap = fmin(progress->min_gap, gap);
    progress->min_primal = fmin(progress->min_primal, fit->primal);
    if (fit->dual > progress->max_dual) {
        progress->max_dual = fit->dual;
        for (size_t p = 0; p < state->n; p++) {
            smo->best_alpha[state->row_of[p]] = state->alpha[p];
            smo->best_beta[state->row_of[p]] = state->beta[p];
            smo->best_s[p] = smo->plain_s[p];
        }
        smo->best_level = state->level;
        progress->is_exact = smo->is_exact;
    }
}

/* Evaluates the point, if `rough` with kernel values in float. If there is not enough time, the
 * stored point is the current one again, without U and the block: no step may follow. */
static int evaluate(struct top_smo *smo, bool rough, const struct progress *progress,
                    struct error *err) {
    struct top_state *state = &smo->state;
    smo->min_seconds = progress->is_exact ? END_PART * top_smo_predict_seconds(smo) : 0;
    int status = top_smo_recompute(smo, rough, NULL, err);
    smo->min_seconds = 0;
    if (status < 0 || smo->is_fresh) {
        return status;
    }
    top_smo_set_point(smo, smo->cost, smo->best_alpha, smo->best_beta);
    memcpy(smo->plain_s, smo->best_s, state->n * sizeof *smo->plain_s);
    top_smo_take_scores(smo);
    state->level = smo->best_level;
    state->dual = progress->max_dual;
    smo->is_fresh = smo->is_exact = smo->ended = true;
    return 0;
}

/* Ends the run: at the current point, computed from the data, or at the best one if it has
 * diverged. */
static int end(struct top_smo *smo, enum stop_reason reason, double epsilon,
               const struct progress *progress, struct fit *fit, struct error *err) {
    fit->reason = reason;
    if (!smo->is_fresh) {
        if (evaluate(smo, false, progress, err) < 0) {
            return -1;
        }
        top_smo_bounds(smo, epsilon, fit);
    }
    if (!has_diverged(progress, fit)) {
        return 0;
    }
    top_smo_set_point(smo, smo->cost, smo->best_alpha, smo->best_beta);
    if (top_smo_recompute(smo, false, NULL, err) < 0) {
        return -1;
    }
    top_smo_bounds(smo, epsilon, fit);
    return 0;
}

/* What follows a full evaluation. */
enum next { CONTINUE, EVALUATE, END };

/* Judges a full evaluation; a rough one that would be the last is followed by an exact one. */
static int judge(struct top_smo *smo, double epsilon, bool reached, bool moved,
                 struct progress *progress, struct fit *fit, enum next *next, struct error *err) {
    *next = END;
    if (!(progress->min_gap < INFINITY) && !finite(fit)) {
        return stop_overflow(err);
    }
    if (has_diverged(progress, fit)) {
        return end(smo, STOP_FLOAT_KERNEL, epsilon, progress, fit, err);
    }
    record_progress(smo, fit, progress);
    fit->converged = reached;
    bool last = reached || progress->stalled >= MAX_STALLED || !moved;
    if (last && smo->is_rough) {
        *next = EVALUATE;
        return evaluate(smo, false, progress, err);
    }
    fit->reason = last && !reached ? STOP_FLOAT_KERNEL : fit->reason;
    *next = last ? END : CONTINUE;
    return 0;
}

/* Takes steps until the gap, computed from the data, reaches epsilon, a limit is reached or
 * progress ends. Between full evaluations the gap is computed from running sums. A full one
 * follows if these reach the gap, find no step, make no progress, or are impossible: shrunk rows or
 * rounding may be the cause. */
static int run(struct top_smo *smo, const struct top_smo_settings *settings, struct fit *fit,
               struct error *err) {
    struct progress progress = {
        .max_dual = -INFINITY, .last_dual = -INFINITY, .min_gap = INFINITY, .min_primal = INFINITY};
    double last_dual = 0, epsilon = settings->epsilon;
    bool moved = true;
    smo->next_full_check = UINT64_MAX;
    for (;;) {
        top_smo_bounds(smo, epsilon, fit);
        bool reached = gap_reached(fit->primal, fit->dual, epsilon);
        if (smo->is_fresh) {
            enum next next;
            if (judge(smo, epsilon, reached, moved, &progress, fit, &next, err) < 0) {
                return -1;
            }
            if (next == END) {
                return 0;
            }
            if (next == EVALUATE) {
                continue;
            }
        } else {
            bool better = fit->dual - last_dual > STALLED_DUAL * (fit->primal - fit->dual);
            progress.idle = better ? 0 : progress.idle + 1;
        }
        last_dual = fit->dual;
        /* the monitor does not get suspicious bounds; STOP_REACHED, as from a monitor: continue */
        bool suspicious = !finite(fit) || fit->dual > progress.min_primal;
        if (settings->reserved_seconds) {
            *settings->reserved_seconds = TIME_MARGIN * top_smo_predict_seconds(smo);
        }
        enum stop_reason reason =
            suspicious ? STOP_REACHED
                       : monitor_check(smo->monitor, fit->iterations, fit->primal, fit->dual);
        reason = smo->ended && !reason ? STOP_TIME : reason;
        if (reason) {
            return end(smo, reason, epsilon, &progress, fit, err);
        }
        bool recompute = reached || suspicious || !moved || progress.idle >= MAX_STALLED ||
                         fit->iterations >= smo->next_full_check || top_smo_wants_time(smo);
        if (!smo->is_fresh && recompute) {
            smo->next_full_check = UINT64_MAX;
            bool rough = top_smo_may_be_rough(smo) && progress.evaluations++ == 0;
            if (evaluate(smo, rough, &progress, err) < 0) {
                return -1;
            }
            moved = true;
            continue;
        }
        if ((settings->shrink && shrink(smo, fit->iterations, err) < 0) ||
            take_steps(smo, &moved, fit, err) < 0) {
            return -1;
        }
    }
}

void top_smo_set_point(struct top_smo *smo, double cost, const double *alpha, const double *beta) {
    struct top_state *state = &smo->state;
    for (size_t p = 0; p < state->n; p++) {
        state->alpha[p] = alpha[state->row_of[p]];
        state->beta[p] = beta[state->row_of[p]];
    }
    smo->cost = cost;
    smo->is_fresh = false;
}

int top_smo_start_near(struct top_smo *smo, double cost, const double *alpha, const double *beta,
                       const struct monitor *monitor, struct error *err) {
    top_smo_set_point(smo, cost, alpha, beta);
    smo->near = true;
    smo->monitor = monitor;
    int status = top_smo_begin(smo, cost, err);
    smo->monitor = NULL;
    return status;
}

int top_smo_take_point(struct top_smo *smo, double epsilon, struct fit *fit, struct error *err) {
    top_smo_bounds(smo, epsilon, fit);
    int status = isfinite(fit->primal) && isfinite(fit->dual) ? top_smo_copy(smo, fit, err)
                                                              : stop_overflow(err);
    if (status < 0) {
        fit_free(fit);
    }
    return status;
}

int top_smo_solve(struct top_smo *smo, const struct top_smo_settings *settings,
                  const struct monitor *monitor, struct fit *fit, struct error *err) {
    *fit = (struct fit){0};
    smo->monitor = monitor;
    int status = top_smo_begin(smo, settings->cost, err);
    if (status == 0) {
        status = run(smo, settings, fit, err);
    }
    smo->monitor = NULL;
    if (status == 0) {
        status = top_smo_copy(smo, fit, err);
    }
    if (status < 0) {
        fit_free(fit);
    }
    if (status < 0 || smo->ended) {
        smo->cost = 0;
        smo->ended = false;
    }
    return status;
}
