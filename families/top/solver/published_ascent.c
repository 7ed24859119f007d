/* Sweeps of pair steps; the step of a pair has a closed form, or is found by bisection for the
 * squared quantile. */
#include "families/top/solver/published_ascent.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/kernel/row_cache.h"
#include "families/top/solver/feasible_dual.h"
#include "fit/stop.h"

#include <math.h>
#include <stdlib.h>

/* Little progress: increase of the dual in a sweep relative to the gap; and the number of
 * consecutive such sweeps that end the run. */
static const double MIN_PROGRESS = 1e-6;
enum { MAX_SLOW_SWEEPS = 3 };

/* Lower bound of the sum of squares, so that its power 3/2 is above 0. */
static const double MIN_SQUARES = 1e-200;

/* The three largest ratios beta / cap_rate: the largest one without two given rows is among
 * them. */
enum { N_TOPS = 3 };

struct cd {
    const struct score_map *map;
    struct top_risk *risk;
    struct rows *rows;
    size_t n;
    double cost;
    double *alpha, *beta;                        /* (n) */
    double *weights;                             /* (dimension) of the point */
    void *pool;                                  /* of these arrays: */
    double *bound, *cap_rate, *h, *s, *K, *work; /* (n) */
    double level;                                /* TOP_MEAN: sum alpha */
    double beta_offset;
    double squares; /* sum beta^2 / mass */
    double top[N_TOPS];
    size_t top_at[N_TOPS];
};

/* An entry of the dual point: alpha or beta of a row. */
struct entry {
    size_t row;
    bool beta;
};

/* A pair's step: the first entry changes by d, the second by sign d. */
struct pair {
    struct entry first, second;
    double sign, d, gain;
};

static bool squared_quantile(const struct cd *cd) {
    return cd->risk->kind == TOP_QUANTILE && cd->risk->square;
}

static bool levelled_quantile(const struct cd *cd) {
    return cd->risk->kind == TOP_QUANTILE && !cd->risk->square;
}

static void find_tops(struct cd *cd) {
    for (int t = 0; t < N_TOPS; t++) {
        cd->top[t] = 0;
        cd->top_at[t] = SIZE_MAX;
    }
    for (size_t j = 0; j < cd->n; j++) {
        if (cd->beta[j] <= 0) {
            continue;
        }
        double ratio = cd->beta[j] / cd->cap_rate[j];
        size_t at = j;
        for (int t = 0; t < N_TOPS; t++) {
            if (ratio > cd->top[t]) {
                double r = cd->top[t];
                size_t a = cd->top_at[t];
                cd->top[t] = ratio;
                cd->top_at[t] = at;
                ratio = r;
                at = a;
            }
        }
    }
}

/* The largest ratio among the rows other than a and b. */
static double top_beside(const struct cd *cd, size_t a, size_t b) {
    for (int t = 0; t < N_TOPS; t++) {
        if (cd->top_at[t] != a && cd->top_at[t] != b) {
            return cd->top[t];
        }
    }
    return 0;
}

/* ---- the best step of a pair ---- */

static double clip(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* The gain of a step d,
 *   slope d - curvature d^2 / 2 - budget (delta(d) - delta(0)),
 *   delta(d) = max(fixed, (a + d) / wa, (b - d) / wb); wb = 0: without the last term. */
struct kinked {
    double slope, curvature, budget, fixed, a, wa, b, wb;
};

static double kinked_value(const struct kinked *k, double d) {
    double delta = fmax(k->fixed, (k->a + d) / k->wa), before = fmax(k->fixed, k->a / k->wa);
    if (k->wb > 0) {
        delta = fmax(delta, (k->b - d) / k->wb);
        before = fmax(before, k->b / k->wb);
    }
    return k->slope * d - 0.5 * k->curvature * d * d - k->budget * (delta - before);
}

/* Its maximiser over [low, high]: the function is concave and piecewise quadratic, so it is the
 * best of the maximisers of the three pieces and of the kinks between them, each clipped. */
static double kinked_best(const struct kinked *k, double low, double high) {
    bool both = k->wb > 0;
    const double at[] = {0,
                         k->slope / k->curvature,
                         (k->slope - k->budget / k->wa) / k->curvature,
                         k->fixed * k->wa - k->a,
                         both ? (k->slope + k->budget / k->wb) / k->curvature : 0,
                         both ? k->b - k->fixed * k->wb : 0,
                         both ? (k->b / k->wb - k->a / k->wa) / (1 / k->wa + 1 / k->wb) : 0};
    double best = 0, max_value = -INFINITY;
    for (size_t c = 0; c < (both ? 7 : 4); c++) {
        double d = clip(at[c], low, high), value = kinked_value(k, d);
        if (value > max_value) {
            max_value = value;
            best = d;
        }
    }
    return best;
}

/* The maximum of the second-order model of slope d - curvature d^2/2 - root_factor sqrt(squares + 2
 * first d + second d^2). */
static double rooted_promise(const struct cd *cd, double slope, double curvature, double first,
                             double second, double low, double high) {
    double root_factor = sqrt(cd->risk->budget) / cd->risk->theta;
    double norm = sqrt(fmax(MIN_SQUARES, cd->squares));
    double initial_slope = slope - root_factor * first / norm;
    double second_derivative =
        curvature + root_factor * fmax(0, second / norm - first * first / (norm * norm * norm));
    double d = clip(initial_slope / second_derivative, low, high);
    return initial_slope * d - 0.5 * second_derivative * d * d;
}

/* The best d in [low, high] by bisection of the derivative, which is negative beyond slope /
 * curvature and the minimiser of the root. */
static double rooted_best(const struct cd *cd, double slope, double curvature, double first,
                          double second, double low, double high) {
    double root_factor = sqrt(cd->risk->budget) / cd->risk->theta;
    high = fmin(high, fmax(fmax(0, slope) / curvature, fabs(first) / second));
    for (int i = 0; i < 60; i++) {
        double d = 0.5 * (low + high);
        double norm = sqrt(fmax(MIN_SQUARES, cd->squares + 2 * first * d + second * d * d));
        if (slope - curvature * d - root_factor * (first + second * d) / norm > 0) {
            low = d;
        } else {
            high = d;
        }
    }
    return 0.5 * (low + high);
}

static double positive(double curvature, double scale) {
    return fmax(curvature, 1e-12 * scale + 1e-300);
}

static double slope_of(const struct cd *cd, struct entry entry) {
    size_t i = entry.row;
    return entry.beta ? cd->s[i] + cd->beta_offset : 1 - cd->s[i] - cd->h[i] * cd->alpha[i];
}

static double curvature_of(const struct cd *cd, struct entry entry) {
    return cd->K[entry.row] + (entry.beta ? 0 : cd->h[entry.row]);
}

static double *value_of(struct cd *cd, struct entry entry) {
    return entry.beta ? &cd->beta[entry.row] : &cd->alpha[entry.row];
}

/* The upper bound of an entry; TOP_MEAN: at the present sum of alpha. */
static double bound_of(const struct cd *cd, struct entry entry) {
    return !entry.beta                  ? cd->bound[entry.row]
           : cd->risk->kind == TOP_MEAN ? cd->cap_rate[entry.row] * cd->level
                                        : INFINITY;
}

/* TOP_MEAN: the steps of an alpha and the beta of l for which no beta exceeds its cap, which moves
 * with the sum of alpha. */
static void limit_mixed(const struct cd *cd, size_t l, double *low, double *high) {
    double rate = cd->cap_rate[l];
    *low = fmax(*low, top_beside(cd, l, SIZE_MAX) - cd->level);
    *high = rate < 1 ? (rate * cd->level - cd->beta[l]) / (1 - rate) : INFINITY;
}

/* The best step of a pair with equal sums: two alphas or two betas, or an alpha and a beta. K: the
 * kernel value of their rows. Replaces *best if it gains more. */
static void try_pair(struct cd *cd, double K, struct entry first, struct entry second,
                     struct pair *best) {
    size_t k = first.row, l = second.row;
    bool mixed = first.beta != second.beta, mean = cd->risk->kind == TOP_MEAN;
    double sign = mixed ? 1 : -1;
    double slope = slope_of(cd, first) + sign * slope_of(cd, second);
    double curvature =
        positive(curvature_of(cd, first) + curvature_of(cd, second) - 2 * K, cd->K[k]);
    double own = *value_of(cd, first), other = *value_of(cd, second);
    double low = -own, high = bound_of(cd, first) - own;
    double room = bound_of(cd, second) - other;
    if (mixed && mean) {
        low = fmax(low, -other);
        limit_mixed(cd, l, &low, &room);
    } else {
        low = fmax(low, mixed ? -other : -room);
        room = mixed ? room : other;
    }
    high = fmin(high, room);
    double d, gain;
    if (second.beta && squared_quantile(cd)) {
        const double *mass = cd->risk->mass;
        double first_order = (mixed ? 0 : cd->beta[k] / mass[k]) + sign * cd->beta[l] / mass[l];
        double second_order = (mixed ? 0 : 1 / mass[k]) + 1 / mass[l];
        gain = rooted_promise(cd, slope, curvature, first_order, second_order, low, high);
        d = gain > best->gain
                ? rooted_best(cd, slope, curvature, first_order, second_order, low, high)
                : 0;
    } else if (second.beta && levelled_quantile(cd)) {
        const struct kinked kinked = {.slope = slope,
                                      .curvature = curvature,
                                      .budget = cd->risk->budget,
                                      .fixed = top_beside(cd, l, mixed ? SIZE_MAX : k),
                                      .a = mixed ? other : own,
                                      .wa = cd->cap_rate[mixed ? l : k],
                                      .b = other,
                                      .wb = mixed ? 0 : cd->cap_rate[l]};
        d = kinked_best(&kinked, low, high);
        gain = kinked_value(&kinked, d);
    } else {
        d = clip(slope / curvature, fmin(low, 0), fmax(high, 0));
        gain = slope * d - 0.5 * curvature * d * d;
    }
    if (gain > best->gain) {
        *best = (struct pair){first, second, sign, d, gain};
    }
}

/* ---- steps ---- */

static void move(struct cd *cd, struct entry entry, double d, const float *row) {
    double *value = value_of(cd, entry), old = *value;
    double max_value = entry.beta ? INFINITY : cd->bound[entry.row];
    *value = clip(old + d, 0, max_value);
    if (!entry.beta) {
        cd->level += *value - old;
    }
    double factor = entry.beta ? -d : d;
    for (size_t i = 0; i < cd->n; i++) {
        cd->s[i] += factor * (double)row[i];
    }
}

/* Computed anew for each step: a running sum consists of rounding errors once betas are small. */
static void find_squares(struct cd *cd) {
    cd->squares = 0;
    for (size_t i = 0; i < cd->n; i++) {
        cd->squares += cd->risk->mass[i] > 0 ? cd->beta[i] * (cd->beta[i] / cd->risk->mass[i]) : 0;
    }
}

/* Takes the best step of a pair with the given first entry. */
static int improve(struct cd *cd, struct entry first, struct error *err) {
    size_t k = first.row;
    const float *row = row_cache_get(cd->rows, k, cd->n, err);
    if (!row) {
        return -1;
    }
    if (cd->risk->kind == TOP_MEAN || levelled_quantile(cd)) {
        find_tops(cd);
    }
    if (squared_quantile(cd)) {
        find_squares(cd);
    }
    struct pair best = {.gain = 0};
    for (size_t i = 0; i < cd->n; i++) {
        struct entry alpha = {i, false}, beta = {i, true};
        if (cd->bound[i] > 0 && (first.beta || i != k)) {
            try_pair(cd, (double)row[i], first.beta ? alpha : first, first.beta ? first : alpha,
                     &best);
        }
        if (cd->cap_rate[i] > 0 && (!first.beta || i != k)) {
            try_pair(cd, (double)row[i], first, beta, &best);
        }
    }
    if (best.gain <= 0) {
        return 0;
    }
    struct entry entry[2] = {best.first, best.second};
    for (int e = 0; e < 2; e++) {
        const float *values = row_cache_get(cd->rows, entry[e].row, cd->n, err);
        if (!values) {
            return -1;
        }
        move(cd, entry[e], e ? best.sign * best.d : best.d, values);
    }
    return 0;
}

/* ---- starting point ---- */

/* Sets the weights and s of the point. */
static int compute_scores(struct cd *cd, struct error *err) {
    const struct score_map *map = cd->map;
    for (size_t i = 0; i < cd->n; i++) {
        cd->work[i] = cd->alpha[i] - cd->beta[i];
    }
    return map->adjoint(map, cd->work, cd->weights, err) < 0
               ? -1
               : map->exact(map, cd->weights, 1, cd->s, err);
}

/* A random point, made feasible. */
static int start(struct cd *cd, uint64_t seed, struct error *err) {
    const struct top_risk *risk = cd->risk;
    struct random random;
    random_start(&random, seed, 6);
    row_cache_diagonal(cd->rows, cd->K);
    for (size_t i = 0; i < cd->n; i++) {
        struct top_terms terms = top_risk_terms(risk, cd->cost, i);
        double C = cd->cost * risk->cost[i];
        cd->bound[i] = terms.max_alpha;
        cd->h[i] = terms.h;
        cd->cap_rate[i] = risk->kind == TOP_MEAN ? risk->share[i] : risk->theta * risk->mass[i];
        cd->alpha[i] = C > 0 ? C * random_unit(&random) : 0;
        cd->beta[i] = risk->mass[i] > 0 ? cd->cost * random_unit(&random) : 0;
    }
    top_dual_repair(risk, cd->cost, cd->alpha, cd->beta);
    cd->level = array_sum(cd->alpha, cd->n);
    return compute_scores(cd, err);
}

/* ---- the run ---- */

static int bounds(struct cd *cd, struct fit *fit, struct error *err) {
    double squared_norm = 0;
    for (size_t i = 0; i < cd->n; i++) {
        squared_norm += (cd->alpha[i] - cd->beta[i]) * cd->s[i];
    }
    fit->dual = top_risk_dual(cd->risk, cd->cost, cd->alpha, cd->beta) - 0.5 * squared_norm;
    fit->primal = 0.5 * squared_norm + cd->cost * top_risk_value(cd->risk, cd->s, cd->work);
    return isfinite(fit->primal) && isfinite(fit->dual) ? 0 : stop_overflow(err);
}

static int sweep(struct cd *cd, struct random *random, uint32_t *order, struct error *err) {
    random_shuffle(random, order, 2 * cd->n);
    for (size_t i = 0; i < 2 * cd->n; i++) {
        struct entry entry = {order[i] % cd->n, order[i] >= cd->n};
        bool exists = entry.beta ? cd->cap_rate[entry.row] > 0 : cd->bound[entry.row] > 0;
        if (exists && improve(cd, entry, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int run(struct cd *cd, double epsilon, uint64_t seed, const struct monitor *monitor,
               struct fit *fit, struct error *err) {
    struct random random;
    random_start(&random, seed, 7);
    uint32_t *order = memory_array(2 * cd->n, sizeof *order, "an order", err);
    if (!order) {
        return -1;
    }
    for (size_t i = 0; i < 2 * cd->n; i++) {
        order[i] = (uint32_t)i;
    }
    int status = 0, slow = 0;
    double last = -INFINITY;
    while ((status = bounds(cd, fit, err)) == 0) {
        double gap = fit->primal - fit->dual;
        fit->converged = gap_reached(fit->primal, fit->dual, epsilon);
        /* >: the gap of denormal values may be 0 */
        slow = fit->dual - last > MIN_PROGRESS * gap ? 0 : slow + 1;
        last = fit->dual;
        if (fit->converged) {
            break;
        }
        fit->reason = monitor_check(monitor, fit->iterations, fit->primal, fit->dual);
        if (fit->reason || slow >= MAX_SLOW_SWEEPS) {
            fit->reason = fit->reason ? fit->reason : STOP_STUCK;
            break;
        }
        status = sweep(cd, &random, order, err);
        status = status < 0 ? -1 : compute_scores(cd, err);
        if (status < 0) {
            break;
        }
        fit->iterations++;
    }
    free(order);
    return status;
}

/* The point and its weights are those of fit. */
static int allocate(struct cd *cd, struct fit *fit, struct error *err) {
    const struct arrays arrays[] = {
        ARRAYS(cd->n, double, &cd->bound, &cd->cap_rate, &cd->h, &cd->s, &cd->K, &cd->work)};
    cd->pool = arrays_create(arrays, 1, "the dual point", err);
    if (!cd->pool || top_dual_allocate(fit, cd->n, cd->map->dimension, err) < 0) {
        return -1;
    }
    cd->alpha = fit->alpha;
    cd->beta = fit->beta;
    cd->weights = fit->weights;
    return 0;
}

int top_cd_solve(const struct problem *problem, const struct score_map *map, struct top_risk *risk,
                 double cost, double epsilon, uint64_t seed, const struct monitor *monitor,
                 struct fit *fit, struct error *err) {
    struct cd cd = {.map = map,
                    .risk = risk,
                    .n = risk->n,
                    .cost = cost,
                    .beta_offset = top_risk_beta_offset(risk)};
    *fit = (struct fit){0};
    int status = allocate(&cd, fit, err) < 0 ||
                         row_cache_create(&cd.rows, problem, problem->cache_bytes, err) < 0 ||
                         start(&cd, seed, err) < 0 || run(&cd, epsilon, seed, monitor, fit, err) < 0
                     ? -1
                     : 0;
    if (status < 0) {
        fit_free(fit);
    }
    row_cache_free(cd.rows);
    free(cd.pool);
    return status;
}
