#include "solvers/top/interior.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "solvers/top/dual.h"
#include "solvers/top/interior_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 150,      /* at most */
    USUAL_STEPS = 20, /* for what a solve costs */
    TRIM_STEPS = 5,   /* tries to leave out what goes to 0 */
    STALL_STEPS = 12  /* without progress, after which rounding has the last word */
};

/* Shares that sum to no more than this leave no inside: then beta is the shares' part of alpha. */
static const double TIGHT = 1 + 1e-8;
/* A step goes so far towards the boundary. */
static const double SHORT_OF = 0.995;
/* Less of the corrector is taken where that goes further by so much; steps this short are none. */
static const double FURTHER = 1.2, SHORTEST = 1e-13;
/* Progress: a gap below this part of the last one, a dual that grows by so much, or products that halve while they still make
 * more than a part of the gap. */
static const double BETTER_GAP = 0.9, BETTER_DUAL = 1.5, BETTER_PRODUCTS = 0.5;
static const double PART_OF_GAP = 1e-3;
/* The first products, in parts of alpha: margins are about 1. */
static const double FIRST_PRODUCTS = 1e-3;
/* An entry may go to 0 if it is below this part of the mean times its multiplier; with each further
 * try a part of that. */
static const double TRIM = 0.1, TRIM_LESS = 0.01;
/* The gap is to be found again from the data. */
static const double ENOUGH = 0.8;

/* A solve: rows in use, the iterate, and the best of both sides. */
struct run {
    const struct score_map *map;
    struct top_risk *whole; /* of all n rows */
    struct top_risk risk;   /* of the m rows */
    struct top_interior in;
    uint32_t *rows; /* (m) */
    bool tight;
    double *pool;                         /* of all arrays below, and of the iterate's */
    double *alpha, *beta, *scores, *work; /* (m), work (2 m) */
    double square;                        /* |f|^2 of alpha, beta */
    /* the best so far of both sides */
    double *best_alpha, *best_beta; /* (m) */
    double *best_f;                 /* (width) b, or the weights where there are features */
    size_t width;
    double primal, dual, epsilon;
};

static bool in_use(const struct top_risk *risk, bool tight, size_t i) {
    return risk->cost[i] > 0 || (!tight && risk->mass[i] > 0);
}

static bool is_tight(const struct top_risk *risk) {
    double shares = 0;
    for (size_t i = 0; i < risk->n; i++) {
        shares += risk->share[i];
    }
    return risk->kind == TOP_MEAN && shares <= TIGHT;
}

static size_t count_rows(const struct top_risk *risk, bool tight) {
    size_t m = 0;
    for (size_t i = 0; i < risk->n; i++) {
        m += in_use(risk, tight, i);
    }
    return m;
}

double top_interior_work(const struct problem *problem, const struct top_risk *risk) {
    enum { ARRAYS = 100 }; /* loops over the rows in a step */
    size_t m = count_rows(risk, is_tight(risk));
    return USUAL_STEPS * (top_system_work(problem, m) + ARRAYS * (double)m);
}

/* ---- making ---- */

/* The risk of the rows in use. Without an inside, of margins s_i - sum share_j s_j alone. */
static int make_risk(struct run *run, size_t m, struct error *err) {
    const struct top_risk *whole = run->whole;
    struct top_risk *risk = &run->risk;
    run->rows = memory_array(m, sizeof *run->rows, "rows", err);
    if (!run->rows || top_risk_create(risk, m, err)) {
        return -1;
    }
    risk->kind = run->tight ? TOP_NONE : whole->kind;
    risk->square = whole->square;
    risk->theta = whole->theta;
    risk->budget = whole->budget;
    risk->total_cost = whole->total_cost;
    risk->total_mass = run->tight ? 0 : whole->total_mass;
    m = 0;
    for (size_t i = 0; i < whole->n; i++) {
        if (in_use(whole, run->tight, i)) {
            run->rows[m] = (uint32_t)i;
            risk->cost[m] = whole->cost[i];
            risk->mass[m] = run->tight ? 0 : whole->mass[i];
            risk->share[m] = run->tight ? 0 : whole->share[i];
            m++;
        }
    }
    return 0;
}

static int make_system(struct run *run, const struct problem *problem, struct error *err) {
    double *centre = NULL, shares = 0;
    size_t n = run->whole->n;
    if (run->tight) {
        centre = memory_array(n, sizeof *centre, "a centre", err);
        if (!centre) {
            return -1;
        }
        for (size_t i = 0; i < n; i++) {
            shares += run->whole->share[i];
        }
        for (size_t i = 0; i < n; i++) {
            centre[i] = run->whole->share[i] / shares;
        }
    }
    int status =
        top_system_create(&run->in.system, problem, run->map, run->rows, run->risk.n, centre, err);
    free(centre);
    return status;
}

static double *carve(double **pool, size_t n) {
    double *array = *pool;
    *pool += n;
    return array;
}

static void carve_point(double **pool, struct top_point *point, size_t n, size_t width) {
    point->x = carve(pool, n);
    point->z = carve(pool, n);
    point->u = carve(pool, n);
    point->y = carve(pool, n);
    point->f = carve(pool, width);
}

static int make_arrays(struct run *run, struct error *err) {
    enum { OF_VARIABLES = 4 * 4 + 3 * 2 + 9, OF_ROWS = 9 + 2, OF_FEATURES = 5 };
    struct top_interior *in = &run->in;
    size_t n = in->n, m = in->m;
    bool features = top_system_by_features(in->system);
    in->width = features ? run->map->dimension : 0;
    run->pool = memory_zeros(OF_VARIABLES * n + OF_ROWS * m + OF_FEATURES * in->width,
                             sizeof(double), "a dual point", err);
    in->row = memory_array(n, sizeof *in->row, "a dual point", err);
    in->alpha_of = memory_array(m, sizeof *in->alpha_of, "a dual point", err);
    in->beta_of = memory_array(m, sizeof *in->beta_of, "a dual point", err);
    in->capped = memory_zeros(n, sizeof *in->capped, "a dual point", err);
    if (!run->pool || !in->row || !in->alpha_of || !in->beta_of || !in->capped) {
        return -1;
    }
    double *pool = run->pool;
    carve_point(&pool, &in->at, n, in->width);
    carve_point(&pool, &in->affine, n, in->width);
    carve_point(&pool, &in->centre, n, in->width);
    carve_point(&pool, &in->corrector, n, in->width);
    double **const variables[] = {&in->fixed,     &in->moving, &in->linear, &in->square, &in->arc,
                                  &in->curvature, &in->right,  &in->slope,  &in->slack};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        *variables[i] = carve(&pool, n);
    }
    for (size_t c = 0; c < 3; c++) {
        in->border[c] = carve(&pool, n);
        in->column[c] = carve(&pool, n);
    }
    double **const rows[] = {&in->b,       &in->s,           &in->E,
                             &in->solved,  &run->alpha,      &run->beta,
                             &run->scores, &run->best_alpha, &run->best_beta};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i] = carve(&pool, m);
    }
    run->work = carve(&pool, 2 * m);
    in->lack = carve(&pool, in->width);
    run->width = features ? in->width : m;
    run->best_f = memory_zeros(run->width, sizeof(double), "weights", err);
    return run->best_f ? 0 : -1;
}

/* Caps, linear and square terms of a variable of row i. */
static void fill_variable(struct run *run, size_t k, size_t i) {
    struct top_interior *in = &run->in;
    const struct top_risk *risk = &run->risk;
    bool beta = k >= in->n_alpha, square = risk->square;
    double cost = in->cost;
    in->row[k] = i;
    in->border[1][k] = beta ? -1 : 1;
    in->border[2][k] = beta ? 0 : 1;
    if (!beta) {
        in->alpha_of[i] = k;
        in->linear[k] = 1;
        in->square[k] = square ? 1 / (2 * cost * risk->cost[i]) : 0;
        in->fixed[k] = cost * risk->cost[i];
        in->capped[k] = !square;
        return;
    }
    in->beta_of[i] = k;
    switch (risk->kind) {
    case TOP_MEAN: /* a cap of the whole sum is none */
        in->moving[k] = risk->share[i];
        in->capped[k] = risk->share[i] < 1;
        break;
    case TOP_QUANTILE:
        in->linear[k] = 1 / risk->theta;
        in->moving[k] = square ? 0 : risk->theta * risk->mass[i];
        in->arc[k] = square ? 2 * risk->theta * risk->theta * risk->mass[i] : 0;
        in->capped[k] = !square;
        break;
    case TOP_NONE:
        in->linear[k] = 1;
        in->square[k] = square ? 1 / (2 * cost * risk->mass[i]) : 0;
        in->fixed[k] = cost * risk->mass[i];
        in->capped[k] = !square;
        break;
    }
}

static int make(struct run *run, const struct problem *problem, double cost, struct error *err) {
    struct top_interior *in = &run->in;
    struct top_risk *risk = &run->risk;
    run->tight = is_tight(run->whole);
    size_t m = count_rows(run->whole, run->tight), k = 0;
    if (make_risk(run, m, err) || make_system(run, problem, err)) {
        return -1;
    }
    in->risk = risk;
    in->cost = cost;
    in->m = m;
    for (size_t i = 0; i < m; i++) {
        in->n_alpha += risk->cost[i] > 0;
        in->n += (risk->cost[i] > 0) + (size_t)(risk->mass[i] > 0);
    }
    in->balanced = in->levelled = risk->kind != TOP_NONE;
    in->n_borders = risk->kind == TOP_MEAN ? 3 : risk->kind == TOP_QUANTILE ? 2 : 0;
    if (make_arrays(run, err)) {
        return -1;
    }
    for (size_t i = 0; i < m; i++) {
        in->alpha_of[i] = in->beta_of[i] = SIZE_MAX;
        if (risk->cost[i] > 0) {
            fill_variable(run, k++, i);
        }
    }
    for (size_t i = 0; i < m; i++) {
        if (risk->mass[i] > 0) {
            fill_variable(run, k++, i);
        }
    }
    return 0;
}

static void release(struct run *run) {
    top_system_free(run->in.system);
    top_risk_free(&run->risk);
    free(run->in.row);
    free(run->in.alpha_of);
    free(run->in.beta_of);
    free(run->in.capped);
    free(run->best_f);
    free(run->pool);
    free(run->rows);
}

/* ---- the start ---- */

/* The level that caps of the iterate's beta leave room under. */
static double first_level(const struct top_interior *in) {
    const struct top_risk *risk = in->risk;
    double sum = 0, squares = 0, most = 0;
    for (size_t k = 0; k < in->n; k++) {
        double x = in->at.x[k];
        if (k < in->n_alpha) {
            sum += x;
        } else {
            squares += x * (x / risk->mass[in->row[k]]);
            most = in->moving[k] > 0 ? fmax(most, x / in->moving[k]) : 0;
        }
    }
    return risk->kind == TOP_MEAN   ? sum
           : risk->kind == TOP_NONE ? 1
           : risk->square           ? sqrt(squares / risk->budget) / (2 * risk->theta)
                                    : 2 * most;
}

/* Multipliers that belong to the slopes g of what they bound, with all products about `product`. */
static void first_multipliers(struct top_interior *in, size_t k, double g, double product) {
    struct top_point *at = &in->at;
    at->z[k] = fmax(g, 0) + product / at->x[k];
    if (in->capped[k]) {
        at->y[k] = fmax(-g, 0) + product / at->u[k];
    }
}

/* Half of what alpha is at scores 0, where rows of a squared loss are 1 + threshold below their
 * margin, and beta as the masses are; large where C is, but from there each step comes down by
 * orders of magnitude, while up from a point near 0 steps are short. */
static int start(struct run *run, struct error *err) {
    struct top_interior *in = &run->in;
    struct top_point *at = &in->at;
    const struct top_risk *risk = in->risk;
    double part = risk->square ? 1 + fmax(0, top_risk_of_nothing(risk)) : 0.5;
    double sum = part * in->cost * risk->total_cost;
    double products = 0, alphas = 0;
    for (size_t k = 0; k < in->n; k++) {
        size_t i = in->row[k];
        at->x[k] = k < in->n_alpha          ? part * in->cost * risk->cost[i]
                   : risk->kind == TOP_NONE ? part * in->cost * risk->mass[i]
                                            : sum * (risk->mass[i] / risk->total_mass);
        alphas += k < in->n_alpha ? at->x[k] : 0;
    }
    if (top_interior_place(in, err) || top_interior_scores(in, err)) {
        return -1;
    }
    at->level = first_level(in);
    at->rho = in->balanced ? -top_risk_threshold(in->risk, in->s, in->risk->p) : 0;
    for (size_t k = 0; k < in->n; k++) {
        double sign = top_interior_sign(in, k), x = at->x[k];
        double g = sign * (in->s[in->row[k]] + at->rho) + in->square[k] * x - in->linear[k];
        g += in->arc[k] > 0 ? x / (in->arc[k] * at->level) : 0;
        in->slope[k] = g;
        at->u[k] = in->fixed[k] + in->moving[k] * at->level - x;
        products += fabs(g) * x;
    }
    double product = fmax(products / (double)in->n, FIRST_PRODUCTS * alphas / (double)in->n_alpha);
    for (size_t k = 0; k < in->n; k++) {
        first_multipliers(in, k, in->slope[k], product);
        at->lambda -= risk->kind == TOP_MEAN ? in->moving[k] * at->y[k] : 0;
    }
    if (risk->kind == TOP_QUANTILE && risk->square) {
        at->w = product / at->level;
    }
    return 0;
}

/* ---- both bounds ---- */

/* What of the iterate's variable is handed on: nothing where x is below a part of z. Of those that
 * go to 0 x is the product of the two over z, which is about 1 as margins are; else z is. */
static double hand_on(const struct top_interior *in, size_t k, double part) {
    return k == SIZE_MAX || in->at.x[k] < part * in->at.z[k] ? 0 : in->at.x[k];
}

/* The iterate, made feasible, with its scores. */
static int take_point(struct run *run, double part, struct error *err) {
    struct top_interior *in = &run->in;
    for (size_t i = 0; i < in->m; i++) {
        run->alpha[i] = hand_on(in, in->alpha_of[i], part);
        run->beta[i] = hand_on(in, in->beta_of[i], part);
    }
    top_dual_repair(&run->risk, in->cost, run->alpha, run->beta);
    for (size_t i = 0; i < in->m; i++) {
        in->b[i] = run->alpha[i] - run->beta[i];
    }
    return top_system_square(in->system, in->b, run->scores, &run->square, err);
}

/* Both bounds of the point that was taken, the primal at the best multiple of its scores. */
struct bounds {
    double primal, multiple, dual;
};

static struct bounds bounds_of(struct run *run) {
    const struct top_interior *in = &run->in;
    struct bounds bounds;
    const double *f = in->at.f;
    double norm = in->width > 0 ? array_dot(f, f, in->width) : run->square;
    bounds.dual = top_risk_dual(&run->risk, in->cost, run->alpha, run->beta) - 0.5 * run->square;
    bounds.multiple =
        top_risk_multiple(&run->risk, in->cost, norm, in->width > 0 ? in->s : run->scores, 1,
                          TOP_MULTIPLE_EXACT, run->work, &bounds.primal);
    return bounds;
}

static void keep_primal(struct run *run, const struct bounds *bounds) {
    const double *f = run->in.width > 0 ? run->in.at.f : run->in.b;
    run->primal = bounds->primal;
    for (size_t i = 0; i < run->width; i++) {
        run->best_f[i] = bounds->multiple * f[i];
    }
}

static void keep_dual(struct run *run, const struct bounds *bounds) {
    size_t m = run->in.m;
    run->dual = bounds->dual;
    memcpy(run->best_alpha, run->alpha, m * sizeof *run->alpha);
    memcpy(run->best_beta, run->beta, m * sizeof *run->beta);
}

/* Keeps what is better than before. */
static int take_bounds(struct run *run, struct error *err) {
    if (take_point(run, 0, err)) {
        return -1;
    }
    struct bounds bounds = bounds_of(run);
    if (bounds.primal < run->primal) {
        keep_primal(run, &bounds);
    }
    if (bounds.dual > run->dual) {
        keep_dual(run, &bounds);
    }
    return 0;
}

static bool reached(const struct run *run, double primal, double dual) {
    return gap_reached(primal, dual, ENOUGH * run->epsilon);
}

/* Takes the point without the entries that go to 0, if the gap is reached with it too: it has fewer
 * support vectors. The first try leaves out all that may go, later ones are content with less. */
static int trim(struct run *run, int tries, bool *trimmed, struct error *err) {
    const struct top_interior *in = &run->in;
    double mean = 0, part = TRIM;
    for (size_t k = 0; k < in->n; k++) {
        mean += in->at.x[k] / (double)in->n;
    }
    *trimmed = false;
    for (int k = 0; k < tries && !*trimmed; k++, part *= TRIM_LESS) {
        if (take_point(run, part * mean, err)) {
            return -1;
        }
        struct bounds bounds = bounds_of(run);
        *trimmed = reached(run, bounds.primal, bounds.dual);
        if (*trimmed) {
            keep_primal(run, &bounds);
            keep_dual(run, &bounds);
        }
    }
    return 0;
}

/* ---- the run ---- */

/* The step: its centring as Mehrotra has it, and as much of the corrector as lets it go far. */
static bool step(struct top_interior *in) {
    double length = fmin(1, top_interior_longest(in, 0, 0)),
           products = top_interior_mean_product(in);
    double ratio = fmin(1, fmax(0, top_interior_predicted(in, length) / products));
    double target = ratio * ratio * ratio * products, best = 0, weight = 0;
    const double weights[] = {1, length, length * length, 0};
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        double far = top_interior_longest(in, target, weights[i]);
        if (far > FURTHER * best) {
            best = far;
            weight = weights[i];
        }
    }
    best = SHORT_OF * best > 1 ? 1 : SHORT_OF * best;
    return best > SHORTEST && top_interior_move(in, best, target, weight);
}

/* Computes a step and takes it. *moved is false where rounding leaves none. */
static int next(struct top_interior *in, bool *moved, struct error *err) {
    bool factored;
    *moved = false;
    if (top_interior_factor(in, &factored, err)) {
        return -1;
    }
    if (!factored) {
        return 0;
    }
    if (top_interior_directions(in, err)) {
        return -1;
    }
    *moved = step(in);
    return *moved ? top_interior_scores(in, err) : 0;
}

/* Steps until the gap is reached, and a few more if that lets entries go that are to be 0. */
static int improve(struct run *run, const struct monitor *monitor, struct fit *fit,
                   struct error *err) {
    struct top_interior *in = &run->in;
    double products = INFINITY;
    int stalled = 0, more = TRIM_STEPS;
    bool moved = true;
    while (moved && stalled < STALL_STEPS && fit->iterations < STEPS && more > 0) {
        double gap = run->primal - run->dual, dual = run->dual;
        if (take_bounds(run, err)) {
            return -1;
        }
        double left = run->primal - run->dual, mean = top_interior_mean_product(in);
        fit->converged = reached(run, run->primal, run->dual);
        if (fit->converged) {
            bool trimmed;
            more--;
            if (trim(run, TRIM_STEPS - more, &trimmed, err)) {
                return -1;
            }
            if (trimmed) {
                return 0;
            }
        }
        enum stop_reason said = monitor_check(monitor, fit->iterations, run->primal, run->dual);
        if (said) {
            fit->reason = fit->converged ? STOP_REACHED : said;
            return 0;
        }
        bool better =
            left < BETTER_GAP * gap || run->dual > BETTER_DUAL * dual ||
            (mean < BETTER_PRODUCTS * products && mean * (double)in->n > PART_OF_GAP * left);
        stalled = better ? 0 : stalled + 1;
        products = fmin(products, mean);
        if (next(in, &moved, err)) {
            return -1;
        }
        fit->iterations++;
    }
    fit->reason = fit->converged ? STOP_REACHED : STOP_ROUNDING;
    return 0;
}

/* out (n) = values (m) at the rows in use; without an inside, share_j times `rest` at the others. */
static void spread(const struct run *run, const double *values, double rest, double *out) {
    const struct top_risk *whole = run->whole;
    double shares = 0;
    for (size_t i = 0; i < whole->n; i++) {
        shares += whole->share[i];
    }
    for (size_t i = 0; i < whole->n; i++) {
        out[i] = run->tight ? rest * (whole->share[i] / shares) : 0;
    }
    for (size_t i = 0; i < run->in.m; i++) {
        out[run->rows[i]] += values[i];
    }
}

static int copy_fit(const struct run *run, struct fit *fit, struct error *err) {
    const struct score_map *map = run->map;
    size_t n = map->n, m = run->in.m;
    bool features = run->in.width > 0;
    double *b = memory_array(n, sizeof *b, "coefficients", err);
    fit->alpha = memory_array(n, sizeof(double), "the dual point", err);
    fit->beta = memory_array(n, sizeof(double), "the dual point", err);
    fit->weights = memory_array(map->dimension, sizeof(double), "weights", err);
    int status = b && fit->alpha && fit->beta && fit->weights ? 0 : -1;
    if (status == 0) {
        double alphas = 0, sum = 0;
        for (size_t i = 0; i < m; i++) {
            alphas += run->best_alpha[i];
            sum += features ? 0 : run->best_f[i]; /* else (width) */
        }
        spread(run, run->best_beta, alphas, fit->beta);
        memset(fit->alpha, 0, n * sizeof *fit->alpha);
        for (size_t i = 0; i < m; i++) {
            fit->alpha[run->rows[i]] = run->best_alpha[i];
        }
        fit->primal = run->primal;
        fit->dual = run->dual;
        if (features) {
            memcpy(fit->weights, run->best_f, run->width * sizeof *run->best_f);
        } else {
            spread(run, run->best_f, -sum, b);
            status = map->adjoint(map, b, fit->weights, err);
        }
    }
    free(b);
    return status;
}

int top_interior_solve(const struct problem *problem, const struct score_map *map,
                       struct top_risk *risk, double cost, double epsilon,
                       const struct monitor *monitor, struct fit *fit, struct error *err) {
    struct run run = {.map = map, .whole = risk, .epsilon = epsilon};
    *fit = (struct fit){0};
    int status = make(&run, problem, cost, err);
    if (status == 0) {
        double offset;
        run.primal = cost * top_risk_cut(&run.risk, run.scores, run.work, &offset); /* of 0 */
        status = start(&run, err);
    }
    if (status == 0) {
        status = improve(&run, monitor, fit, err);
    }
    if (status == 0) {
        status = copy_fit(&run, fit, err);
    }
    if (status < 0) {
        fit_free(fit);
    }
    release(&run);
    return status;
}
