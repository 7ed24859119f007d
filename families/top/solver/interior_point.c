/* The run of the interior-point method: starting point, bounds of the iterate, step length and
 * stopping rule. The data are in interior_point_setup.c, the directions in
 * interior_point_step.c. */
#include "families/top/solver/interior_point.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/top/solver/feasible_dual.h"
#include "families/top/solver/interior_point_private.h"
#include "fit/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STEPS = 300,
    TRIM_STEPS = 5,  /* further steps to remove entries that go to 0 */
    MAX_STALLED = 12 /* steps without progress after which the stop reason is rounding */
};

/* A step goes this part of the way to the boundary. */
static const double BOUNDARY_FRACTION = 0.995;
/* An entry may be set to 0 if it is below this part of the mean entry times its multiplier; the
 * factor for each further try. */
static const double TRIM = 0.1, TRIM_LESS = 0.01;
/* Seconds that must remain for a run with features of a factor of K, with its certificate: 8 to 16
 * for 1,000 rows, degree 3, C = 1e4. */
static const double MIN_SECONDS = 16;
/* Part of the target gap that is reached here, so that the certificate, which computes the gap anew
 * from the data, reaches the target. */
static const double TARGET_PART = 0.8;

/* ---- starting point ---- */

/* The level of the first iterate, at which beta is below its caps. Hinge: as if all of beta were at
 * its caps. A level that is too low rises by short steps only, because the multipliers of the caps
 * have to fall at the same rate; one that is too high falls fast. */
static double first_level(const struct top_interior *in) {
    const struct top_risk *risk = in->risk;
    double sum = 0, squares = 0, max_level = 0;
    for (size_t k = 0; k < in->n; k++) {
        double x = in->at.x[k];
        if (k < in->n_alpha) {
            sum += x;
        } else {
            squares += x * (x / risk->mass[in->row[k]]);
            max_level = in->moving[k] > 0 ? fmax(max_level, x / in->moving[k]) : max_level;
        }
    }
    double sums[] = {sum, squares};
    cluster_sum(in->cluster, sums, 2);
    sum = sums[0];
    squares = sums[1];
    max_level = cluster_largest(in->cluster, max_level);
    return risk->kind == TOP_MEAN   ? sum
           : risk->kind == TOP_NONE ? 1
           : risk->square           ? sqrt(squares / risk->budget) / (2 * risk->theta)
                                    : fmax(2 * max_level, sum / (risk->theta * risk->budget));
}

/* Multipliers for the slope g of variable k, with all complementarity products about `product`. */
static void first_multipliers(struct top_interior *in, size_t k, double g, double product) {
    struct top_point *at = &in->at;
    at->z[k] = fmax(g, 0) + product / at->x[k];
    at->y[k] = in->capped[k] ? fmax(-g, 0) + product / at->u[k] : 1;
}

/* Starting point: half of alpha at scores 0 (squared loss: margins are then 1 + threshold short)
 * and beta in proportion to the masses. It is large if C is, but from there each step decreases it
 * by orders of magnitude, while steps away from a point near 0 are short. */
static int start(struct top_interior_run *run, struct error *err) {
    struct top_interior *in = &run->in;
    struct top_point *at = &in->at;
    const struct top_risk *risk = in->risk;
    double part = risk->square ? 1 + fmax(0, top_risk_threshold_at_zero(risk)) : 0.5;
    double sum = part * in->cost * risk->total_cost;
    double products = 0;
    for (size_t k = 0; k < in->n; k++) {
        size_t i = in->row[k];
        at->x[k] = k < in->n_alpha          ? part * in->cost * risk->cost[i]
                   : risk->kind == TOP_NONE ? part * in->cost * risk->mass[i]
                                            : sum * (risk->mass[i] / risk->total_mass);
    }
    if (top_interior_set_function(in, err) < 0 || top_interior_scores(in, err) < 0) {
        return -1;
    }
    at->level = first_level(in);
    at->lambda = 0;
    memset(in->affine.x, 0, 4 * in->n * sizeof *in->affine.x); /* no step has been computed */
    in->affine.level = in->affine.w = 0;
    at->rho = in->balanced ? -top_risk_threshold(in->risk, in->s, in->risk->p) : 0;
    for (size_t k = 0; k < in->n; k++) {
        double sign = top_interior_sign(in, k), x = at->x[k];
        double g = sign * (in->s[in->row[k]] + at->rho) + in->square[k] * x - in->linear[k];
        g += in->perspective[k] > 0 ? x / (in->perspective[k] * at->level) : 0;
        in->slope[k] = g;
        at->u[k] = in->capped[k] ? in->fixed[k] + in->moving[k] * at->level - x : 1;
        products += fabs(g) * x;
    }
    double product = cluster_total(in->cluster, products) / in->total;
    for (size_t k = 0; k < in->n; k++) {
        first_multipliers(in, k, in->slope[k], product);
        at->lambda -= risk->kind == TOP_MEAN && in->capped[k] ? in->moving[k] * at->y[k] : 0;
    }
    at->lambda = cluster_total(in->cluster, at->lambda);
    if (risk->kind == TOP_QUANTILE && risk->square) {
        at->w = product / at->level;
    }
    return 0;
}

/* ---- both bounds ---- */

/* The entry of the dual point for variable k: 0 if x is below `part` of z, else x. For entries that
 * go to 0 x is the complementarity product over z, which is about 1 as margins are; for the others
 * z is the product over x. */
static double rounded_value(const struct top_interior *in, size_t k, double part) {
    return k == SIZE_MAX || in->at.x[k] < part * in->at.z[k] ? 0 : in->at.x[k];
}

/* Makes the iterate a feasible dual point, with its scores. */
static int take_point(struct top_interior_run *run, double part, struct error *err) {
    struct top_interior *in = &run->in;
    for (size_t i = 0; i < in->m; i++) {
        run->alpha[i] = rounded_value(in, in->alpha_of[i], part);
        run->beta[i] = rounded_value(in, in->beta_of[i], part);
    }
    top_dual_repair(&run->risk, in->cost, run->alpha, run->beta);
    for (size_t i = 0; i < in->m; i++) {
        in->b[i] = run->alpha[i] - run->beta[i];
    }
    return top_system_square(in->system, in->b, run->scores, &run->square, err);
}

/* Bounds of the dual point of take_point; the primal is that of the best multiple of its scores. */
struct bounds {
    double primal, multiple, dual;
};

static struct bounds bounds_of(struct top_interior_run *run) {
    const struct top_interior *in = &run->in;
    struct bounds bounds;
    const double *f = in->at.f;
    double squared_norm = in->width > 0 ? array_dot(f, f, in->width) : run->square;
    bounds.dual = top_risk_dual(&run->risk, in->cost, run->alpha, run->beta) - 0.5 * run->square;
    bounds.multiple =
        top_risk_multiple(&run->risk, in->cost, squared_norm, in->width > 0 ? in->s : run->scores,
                          TOP_MULTIPLE_EXACT, run->work, &bounds.primal);
    return bounds;
}

static void store_primal(struct top_interior_run *run, const struct bounds *bounds) {
    const double *f = run->in.width > 0 ? run->in.at.f : run->in.b;
    run->primal = bounds->primal;
    array_multiple(run->best_f, bounds->multiple, f, run->width);
}

static void store_dual(struct top_interior_run *run, const struct bounds *bounds) {
    size_t m = run->in.m;
    run->dual = bounds->dual;
    memcpy(run->best_alpha, run->alpha, m * sizeof *run->alpha);
    memcpy(run->best_beta, run->beta, m * sizeof *run->beta);
}

/* Evaluates both bounds of the iterate, and stores the best primal and the best dual point. */
static int take_bounds(struct top_interior_run *run, struct error *err) {
    if (take_point(run, 0, err) < 0) {
        return -1;
    }
    struct bounds bounds = bounds_of(run);
    if (bounds.primal < run->primal) {
        store_primal(run, &bounds);
    }
    if (bounds.dual > run->dual) {
        store_dual(run, &bounds);
    }
    return 0;
}

static bool reached(const struct top_interior_run *run, double primal, double dual) {
    return gap_reached(primal, dual, TARGET_PART * run->epsilon);
}

/* Stores the point without the entries that go to 0, if it reaches the gap: it has fewer support
 * vectors. The first try removes all candidates, later ones fewer. */
static int trim(struct top_interior_run *run, int tries, bool *trimmed, struct error *err) {
    const struct top_interior *in = &run->in;
    double mean = 0, part = TRIM;
    for (size_t k = 0; k < in->n; k++) {
        mean += in->at.x[k] / in->total;
    }
    mean = cluster_total(in->cluster, mean);
    *trimmed = false;
    for (int k = 0; k < tries && !*trimmed; k++, part *= TRIM_LESS) {
        if (take_point(run, part * mean, err) < 0) {
            return -1;
        }
        struct bounds bounds = bounds_of(run);
        *trimmed = reached(run, bounds.primal, bounds.dual);
        if (*trimmed) {
            store_primal(run, &bounds);
            store_dual(run, &bounds);
        }
    }
    return 0;
}

/* ---- the run ---- */

/* Takes a step with Mehrotra's centring parameter and the part of the corrector with which it is
 * longest. Returns false if it is 0, or leads out of the interior by rounding. */
static bool step(struct top_interior *in) {
    double length = fmin(1, top_interior_longest(in, 0, 0)),
           products = top_interior_mean_product(in, 0);
    double ratio = fmin(1, fmax(0, top_interior_mean_product(in, length) / products));
    double target = ratio * ratio * ratio * products, best = 0, weight = 0;
    const double weights[] = {1, length, length * length, 0};
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        double trial_length = top_interior_longest(in, target, weights[i]);
        if (trial_length > best) {
            best = trial_length;
            weight = weights[i];
        }
    }
    return best > 0 && top_interior_move(in, fmin(1, BOUNDARY_FRACTION * best), target, weight);
}

/* Computes a step and takes it. *moved is false if rounding permits none. */
static int take_step(struct top_interior *in, bool *moved, struct error *err) {
    bool factored;
    *moved = false;
    if (top_interior_factor(in, &factored, err) < 0) {
        return -1;
    }
    if (!factored) {
        return 0;
    }
    if (top_interior_directions(in, err) < 0) {
        return -1;
    }
    *moved = step(in);
    return *moved ? top_interior_scores(in, err) : 0;
}

/* Iterates until the gap is reached, and some steps more if that removes entries that go to 0. */
static int improve(struct top_interior_run *run, const struct monitor *monitor, struct fit *fit,
                   struct error *err) {
    struct top_interior *in = &run->in;
    double gap = INFINITY, products = INFINITY; /* at the last progress */
    int stalled = 0, trims_left = TRIM_STEPS;
    uint64_t last_iteration = fit->iterations + MAX_STEPS;
    bool moved = true;
    while (moved && stalled < MAX_STALLED && fit->iterations < last_iteration && trims_left > 0) {
        if (take_bounds(run, err) < 0) {
            return -1;
        }
        double difference = run->primal - run->dual, mean = top_interior_mean_product(in, 0);
        fit->converged = reached(run, run->primal, run->dual);
        if (fit->converged) {
            bool trimmed;
            trims_left--;
            if (trim(run, TRIM_STEPS - trims_left, &trimmed, err) < 0) {
                return -1;
            }
            if (trimmed) {
                return 0;
            }
        }
        enum stop_reason reason = monitor_check(monitor, fit->iterations, run->primal, run->dual);
        if (reason) {
            fit->reason = fit->converged ? STOP_REACHED : reason;
            return 0;
        }
        bool better = difference < STOP_PROGRESS * gap || mean < STOP_PROGRESS * products;
        stalled++;
        if (better) {
            gap = difference;
            products = mean;
            stalled = 0;
        }
        if (take_step(in, &moved, err) < 0) {
            return -1;
        }
        fit->iterations++;
    }
    fit->reason = fit->converged ? STOP_REACHED : STOP_ROUNDING;
    return 0;
}

/* out (n) = values (m) at the rows in use; with an empty interior, share_j times `rest` at the
 * others. */
static void expand(const struct top_interior_run *run, const double *values, double rest,
                   double *out) {
    const struct top_risk *full_risk = run->full_risk;
    double shares = top_risk_sum_shares(full_risk);
    for (size_t i = 0; i < full_risk->n; i++) {
        out[i] = run->empty_interior ? rest * (full_risk->share[i] / shares) : 0;
    }
    for (size_t i = 0; i < run->in.m; i++) {
        out[run->rows[i]] += values[i];
    }
}

static int copy_fit(const struct top_interior_run *run, struct fit *fit, struct error *err) {
    const struct score_map *map = run->map;
    size_t n = map->n, m = run->in.m;
    bool features = run->in.width > 0;
    double *b = memory_array(n, sizeof *b, "coefficients", err);
    int status = b ? top_dual_allocate(fit, n, map->dimension, err) : -1;
    if (status == 0) {
        double alphas = 0, sum = 0;
        for (size_t i = 0; i < m; i++) {
            alphas += run->best_alpha[i];
            sum += features ? 0 : run->best_f[i]; /* otherwise best_f has the length width */
        }
        alphas = cluster_total(run->in.cluster, alphas);
        expand(run, run->best_beta, alphas, fit->beta);
        for (size_t i = 0; i < m; i++) {
            fit->alpha[run->rows[i]] = run->best_alpha[i];
        }
        fit->primal = run->primal;
        fit->dual = run->dual;
        fit->has_bias = run->add_constant;
        if (run->add_constant) {
            fit->bias = run->best_f[run->width - 1] * run->constant;
        }
        if (run->norm_bound) {
            status = row_features_coefficients(&run->factor_features, run->best_f, b, err) < 0
                         ? -1
                         : map->adjoint(map, b, fit->weights, err);
            if (run->add_constant && map->primal) {
                fit->weights[map->dimension - 1] = run->best_f[run->width - 1];
            }
        } else if (features) {
            memcpy(fit->weights, run->best_f, run->width * sizeof *run->best_f);
        } else {
            expand(run, run->best_f, -sum, b);
            status = map->adjoint(map, b, fit->weights, err);
        }
    }
    free(b);
    return status;
}

/* Starts and iterates until the gap is reached. */
static int iterate(struct top_interior_run *run, const struct monitor *monitor, struct fit *fit,
                   struct error *err) {
    return start(run, err) < 0 ? -1 : improve(run, monitor, fit, err);
}

/* A complete run from the members that top_interior_make requires. */
static int solve(struct top_interior_run *run, const struct monitor *monitor, struct fit *fit,
                 bool *applies, struct error *err) {
    if (top_interior_make(run, applies, err) < 0) {
        return -1;
    }
    if (!*applies) {
        return 0;
    }
    run->primal = run->cost * top_risk_value(&run->risk, run->scores, run->work); /* of w = 0 */
    int status = iterate(run, monitor, fit, err);
    if (status == 0 && fit->reason == STOP_ROUNDING) {
        bool uses_dd;
        status = top_system_use_dd(run->in.system, &uses_dd, err);
        if (status == 0 && uses_dd) {
            status = iterate(run, monitor, fit, err);
        }
    }
    return status == 0 ? copy_fit(run, fit, err) : -1;
}

/* Runs again, with features of a factor of K. */
static int solve_factored(struct top_interior_run *run, const struct monitor *monitor,
                          struct fit *fit, struct error *err) {
    struct fit again = {.iterations = fit->iterations};
    bool applies;
    if (solve(run, monitor, &again, &applies, err) < 0) {
        fit_free(&again);
        return -1;
    }
    if (applies) {
        fit->iterations = again.iterations;
        fit->reason = again.reason;
        fit->converged = again.converged;
        if (again.converged) { /* the bounds of the first run may be wrong by rounding */
            fit->primal = INFINITY;
            fit->dual = -INFINITY;
        }
        fit_take_better(fit, &again);
    }
    return 0;
}

int top_interior_solve(const struct problem *problem, const struct score_map *map,
                       struct top_risk *risk, const struct top_interior_settings *settings,
                       const struct monitor *monitor, struct fit *fit, struct error *err) {
    const double *norm_bound = settings->norm_bound;
    struct top_interior_run run = {.problem = problem,
                                   .map = map,
                                   .full_risk = risk,
                                   .cost = settings->cost,
                                   .epsilon = settings->epsilon,
                                   .in_set = settings->in_set};
    struct top_interior_run factored = run;
    bool applies;
    *fit = (struct fit){0};
    factored.norm_bound = norm_bound;
    int status = solve(&run, monitor, fit, &applies, err);
    bool by_rows = status == 0 && !top_system_by_features(run.in.system);
    top_interior_release(&run);
    /* bounds cross by more than the gap through rounding only */
    bool crossed = fit->dual > (1 + settings->epsilon) * fit->primal;
    bool rounding_visible = settings->certificate_failed || crossed || fit->reason == STOP_ROUNDING;
    if (by_rows && norm_bound && rounding_visible && monitor_seconds_left(monitor) > MIN_SECONDS) {
        status = solve_factored(&factored, monitor, fit, err);
        top_interior_release(&factored);
    }
    if (status < 0) {
        fit_free(fit);
    }
    return status;
}
