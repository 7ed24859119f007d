/* The approximate problem, its solution by cutting planes, and the dual point at the scores of that
 * solution. */
#include "families/top/solver/low_rank.h"

#include "common/base/memory.h"
#include "common/kernel/gram.h"
#include "common/kernel/landmarks.h"
#include "families/top/solver/feasible_dual.h"
#include "fit/score_map.h"
#include "methods/cutting_planes.h"

#include <math.h>
#include <stdlib.h>

enum {
    MIN_ROWS = 32768,
    MIN_LANDMARKS = 128,
    LANDMARKS_SQUARE = 12, /* the square of their number over the rows: 775 for 50,000 rows */
    TIMED_PART = 4,        /* with a time limit there are so many times fewer, at first */
    MAX_PLANES = 100,
    MAX_TRIALS = 40 /* of a multiplier, or of the level */
};

/* The part of the memory that the features may take. */
static const double MEMORY_PART = 0.5;

/* More landmarks are worth the time if they are at least so many times as many. */
static const double MIN_GROWTH = 1.5;

/* The approximate problem is solved to this gap. */
static const double GAP = 0.02;

/* Features are in float: the least diagonal, the accuracy of sums, and the margin between entries
 * at their cap and the others. */
static const double PRECISION = 1e-6;

/* The parts of the time left that landmarks and planes may take, and landmarks alone: their time
 * grows with the square of their number. */
static const double TIME_PART = 0.5, LANDMARKS_PART = 0.05;

/* ---- the approximate problem ---- */

static size_t count_landmarks(const struct problem *problem) {
    double n = (double)problem->n, bytes = (double)problem->cache_bytes;
    return (size_t)fmin(sqrt(LANDMARKS_SQUARE * n), MEMORY_PART * bytes / sizeof(float) / n);
}

bool top_low_rank_applies(const struct problem *problem) {
    const struct gram *gram = problem->gram;
    return gram && problem->n >= MIN_ROWS && !gram_is_cached(gram) && !gram_rows(gram)->cluster &&
           kernel_definite(gram_rows(gram)->kernel) && count_landmarks(problem) >= MIN_LANDMARKS;
}

static int create_some(struct landmarks *landmarks, const struct problem *problem,
                       const double *diagonal, size_t m, uint64_t seed, struct error *err) {
    const struct landmarks_goal goal = {.m = m, .constant = problem->constant, .seed = seed};
    return landmarks_create(landmarks, problem->gram, problem->rows, problem->n, diagonal, &goal,
                            problem->threads, err);
}

/* With a time limit, few landmarks show how many there is time for. */
static int create_landmarks(struct landmarks *landmarks, const struct problem *problem,
                            uint64_t seed, const struct monitor *monitor, struct error *err) {
    const struct kernel_rows *own = gram_rows(problem->gram);
    size_t n = problem->n, m = count_landmarks(problem);
    double left = monitor_seconds_left(monitor);
    double *diagonal = memory_array(n, sizeof *diagonal, "landmarks", err);
    if (!diagonal) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        diagonal[i] = kernel_value(own, row, own, row) + problem->constant * problem->constant;
    }
    int status =
        create_some(landmarks, problem, diagonal, isfinite(left) ? m / TIMED_PART : m, seed, err);
    if (status == 0 && isfinite(left)) {
        double used = left - monitor_seconds_left(monitor), share = fmax(0, LANDMARKS_PART * left);
        double growth = fmin(TIMED_PART, sqrt(share / used));
        if (growth >= MIN_GROWTH) {
            landmarks_free(landmarks);
            m = (size_t)(growth * (double)(m / TIMED_PART));
            status = create_some(landmarks, problem, diagonal, m, seed, err);
        }
    }
    free(diagonal);
    return status;
}

static int map_scores(const struct score_map *map, const double *weights, double *s,
                      struct error *err) {
    const struct landmarks *landmarks = map->context;
    if (landmarks_multiply(landmarks, weights, s, map->threads, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < map->n; i++) {
        s[i] += (double)landmarks->rest[i] * weights[i];
    }
    return 0;
}

/* u (n) = the scores of the approximate problem's solution, less those of each row's own entry. */
static int solve_planes(struct landmarks *landmarks, struct top_risk *risk, double cost,
                        struct threads *threads, const struct monitor *monitor, double *u,
                        uint64_t *iterations, bool *has_point, struct error *err) {
    const struct score_map map = {.n = risk->n,
                                  .dimension = risk->n,
                                  .context = landmarks,
                                  .threads = threads,
                                  .scores = map_scores,
                                  .adjoint = score_map_copy};
    double left = monitor_seconds_left(monitor);
    struct monitor_run run, planes_run;
    const struct monitor limited =
        monitor_reserve_time(&run, monitor, isfinite(left) ? TIME_PART * left : 0);
    const struct monitor deadline = monitor_deadline_only(&limited);
    const struct monitor watch = monitor_continue(&planes_run, &deadline, 0, MAX_PLANES);
    struct risk functions = top_risk_functions(risk);
    struct cutting_planes *planes = NULL;
    struct fit fit = {0};
    functions.record = NULL;
    int status = cutting_planes_create(&planes, &map, &functions, err) < 0 ||
                         cutting_planes_solve(planes, cost, GAP, &watch, &fit, err) < 0 ||
                         landmarks_multiply(landmarks, fit.weights, u, threads, err) < 0
                     ? -1
                     : 0;
    *iterations = fit.iterations;
    *has_point = fit.converged || fit.iterations < MAX_PLANES;
    cutting_planes_free(planes);
    fit_free(&fit);
    return status;
}

/* ---- the dual with a diagonal kernel matrix ---- */

/* alpha and beta for the multipliers t of sum alpha and nu of sum beta. If they are to be equal, t
 * = nu. The mean's threshold is above the level nu of its lowest rows. */
struct separable {
    const struct top_risk *risk;
    double cost;
    const double *u;   /* (n) scores without the row's own entry */
    const float *rest; /* (n) the diagonal */
    double *alpha, *beta;
    double level; /* of the caps (dual_state.h); quantile squared: 1 / quadratic */
    double t, nu;
    double sum_alpha, sum_beta;
    double excess; /* the derivative in the level of the terms of beta that depend on it */
};

/* The row's terms at the present level. *rate: the derivative of its cap in the level. */
static struct top_terms terms_at_level(const struct separable *dual, size_t i, double *rate) {
    const struct top_risk *risk = dual->risk;
    struct top_terms terms = top_risk_terms(risk, dual->cost, i);
    *rate = top_risk_levelled(risk) ? terms.cap : 0;
    if (*rate > 0) {
        terms.cap *= dual->level;
    } else if (risk->kind == TOP_QUANTILE && terms.cap > 0) {
        terms.q = 1 / (dual->level * risk->mass[i]);
    }
    return terms;
}

static double clip(double x, double max) {
    return fmin(fmax(x, 0), max);
}

/* The best entries of all rows. A row with both entries takes some turns. */
static void fill(struct separable *dual) {
    enum { TURNS = 4 };
    const struct top_risk *risk = dual->risk;
    double offset = top_risk_beta_offset(risk), rate;
    dual->sum_alpha = dual->sum_beta = dual->excess = 0;
    for (size_t i = 0; i < risk->n; i++) {
        struct top_terms terms = terms_at_level(dual, i, &rate);
        double rest = fmax((double)dual->rest[i], PRECISION), u = dual->u[i], alpha = 0, beta = 0;
        int turns = terms.max_alpha > 0 && terms.cap > 0 ? TURNS : 1;
        for (int turn = 0; turn < turns; turn++) {
            alpha = clip((1 + dual->t - u + rest * beta) / (rest + terms.h), terms.max_alpha);
            beta = clip((u + rest * alpha + offset - dual->nu) / (rest + terms.q), terms.cap);
        }
        double slope = u + rest * (alpha - beta) + offset - dual->nu;
        dual->sum_alpha += alpha;
        dual->sum_beta += beta;
        if (rate > 0) {
            dual->excess += beta >= terms.cap ? rate * fmax(0, slope) : 0;
        } else if (terms.q > 0) {
            dual->excess += beta * beta * terms.q / dual->level;
        }
        dual->alpha[i] = alpha;
        dual->beta[i] = beta;
    }
}

/* A bracket of the root of a decreasing function, and the values at its ends; NAN: not known. */
struct bracket {
    double low, high, at_low, at_high;
};

/* Takes the value at x into the bracket. Returns the next x: by the secant, away from the ends, or
 * the middle if the last one was of little use. */
static double next_trial(struct bracket *bracket, double x, double value) {
    double length = bracket->high - bracket->low;
    *(value > 0 ? &bracket->low : &bracket->high) = x;
    *(value > 0 ? &bracket->at_low : &bracket->at_high) = value;
    if (isinf(bracket->high)) {
        return 2 * x;
    }
    double left = bracket->high - bracket->low;
    double part = bracket->at_low / (bracket->at_low - bracket->at_high);
    return bracket->low +
           (left > length / 2 || !(part >= 0.05 && part <= 0.95) ? 0.5 : part) * left;
}

/* Finds t and nu for the level. Returns the derivative of the dual in the level, up to a factor;
 * *accuracy: of that. */
static double balance(struct separable *dual, double low, double high, double *accuracy) {
    const struct top_risk *risk = dual->risk;
    bool mean = risk->kind == TOP_MEAN;
    struct bracket bracket = {low, high, NAN, NAN};
    double rest = INFINITY, nu = low + (high - low) / 2, sum = 0;
    for (int k = 0; k < MAX_TRIALS && !(fabs(rest) <= PRECISION * sum); k++) {
        dual->nu = nu;
        dual->t = mean ? dual->t : dual->nu;
        fill(dual);
        dual->t = mean ? dual->nu + dual->excess : dual->t;
        sum = mean ? dual->level : dual->sum_alpha;
        rest = dual->sum_beta - sum;
        nu = next_trial(&bracket, dual->nu, rest);
    }
    double budget = risk->square ? risk->budget / (risk->theta * risk->theta) : risk->budget;
    *accuracy = PRECISION * (mean ? dual->level : budget);
    return mean ? dual->sum_alpha - dual->level : dual->excess - budget;
}

/* Fills alpha and beta. */
static void solve_separable(struct separable *dual) {
    const struct top_risk *risk = dual->risk;
    double low = INFINITY, high = -INFINITY, reach = 1;
    dual->level = 1;
    dual->t = dual->nu = 0;
    if (risk->kind == TOP_NONE) {
        fill(dual);
        return;
    }
    for (size_t i = 0; i < risk->n; i++) {
        low = fmin(low, dual->u[i]);
        high = fmax(high, dual->u[i]);
        reach = fmax(reach, 1 + (double)dual->rest[i] * dual->cost * risk->cost[i]);
    }
    struct bracket bracket = {0, INFINITY, NAN, NAN};
    double slope = INFINITY, level = 1, accuracy = 0;
    for (int k = 0; k < MAX_TRIALS && !(fabs(slope) <= accuracy); k++) {
        dual->level = level;
        slope = balance(dual, low - reach, high + reach + top_risk_beta_offset(risk), &accuracy);
        level = next_trial(&bracket, dual->level, slope);
    }
}

/* The mean's caps follow the sum of alpha, which is the level up to rounding: entries at their cap
 * stay there, and the others make up the sum. */
static void separate_capped(struct separable *dual) {
    const struct top_risk *risk = dual->risk;
    for (size_t i = 0; risk->kind == TOP_MEAN && i < risk->n; i++) {
        double cap = risk->share[i] * dual->level;
        dual->beta[i] *= dual->beta[i] >= cap * (1 - PRECISION) ? 1 + 2 * PRECISION : 1 - PRECISION;
    }
}

int top_low_rank_solve(const struct problem *problem, struct top_risk *risk, double cost,
                       uint64_t seed, const struct monitor *monitor, double *alpha, double *beta,
                       uint64_t *iterations, bool *has_point, struct error *err) {
    struct landmarks landmarks;
    *iterations = 0;
    double *u = memory_array(problem->n, sizeof *u, "scores", err);
    if (!u || create_landmarks(&landmarks, problem, seed, monitor, err) < 0) {
        free(u);
        return -1;
    }
    int status = solve_planes(&landmarks, risk, cost, problem->threads, monitor, u, iterations,
                              has_point, err);
    if (status == 0 && *has_point) {
        struct separable dual = {.risk = risk,
                                 .cost = cost,
                                 .u = u,
                                 .rest = landmarks.rest,
                                 .alpha = alpha,
                                 .beta = beta};
        solve_separable(&dual);
        separate_capped(&dual);
        top_dual_repair(risk, cost, alpha, beta);
    }
    landmarks_free(&landmarks);
    free(u);
    return status;
}
