/* Thresholds, losses and cutting planes of the scores, the best multiple of a score vector, and
 * the linear part of the dual. */
#include "families/top/solver/risk.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "fit/score_map.h"
#include "methods/select_largest.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int top_risk_create(struct top_risk *risk, size_t n, struct error *err) {
    *risk = (struct top_risk){.n = n};
    risk->block = ARRAYS_CREATE(
        "costs", err,
        ARRAYS(n, double, &risk->cost, &risk->mass, &risk->share, &risk->p, &risk->slope),
        ARRAYS(n, uint32_t, &risk->order));
    return risk->block ? 0 : -1;
}

void top_risk_free(struct top_risk *risk) {
    free(risk->block);
    *risk = (struct top_risk){0};
}

void top_risk_ready(struct top_risk *risk, double k) {
    risk->k = k;
    for (size_t i = 0; i < risk->n; i++) {
        risk->total_cost += risk->cost[i];
        risk->total_mass += risk->mass[i];
        risk->share[i] = risk->kind == TOP_MEAN ? fmin(1, risk->mass[i] / k) : 0;
    }
    struct cluster *cluster = risk->cluster;
    risk->total_cost = cluster_total(cluster, risk->total_cost);
    risk->total_mass = cluster_total(cluster, risk->total_mass);
    risk->n_all = cluster_count(cluster, risk->n);
    /* by rounding, the shares may sum to less than 1 */
    double shares = top_risk_sum_shares(risk);
    for (size_t i = 0; shares > 0 && shares < 1 && i < risk->n; i++) {
        risk->share[i] /= shares;
    }
}

double top_risk_sum_shares(const struct top_risk *risk) {
    return cluster_total(risk->cluster, array_sum(risk->share, risk->n));
}

double top_loss(bool square, double u) {
    double v = 1 + u > 0 ? 1 + u : 0;
    return square ? v * v : v;
}

double top_slope(bool square, double u) {
    double v = 1 + u;
    return v <= 0 ? 0 : square ? 2 * v : 1;
}

/* ---- thresholds ---- */

/* The selection is by masses, whose sums are exact if they are whole numbers. Rounded shares might
 * leave a part of K to one more row, whose score may be arbitrarily low; a rounding difference goes
 * to no row. */
static double mean_threshold(struct top_risk *risk, const double *s, double *p) {
    size_t n = 0;
    memset(p, 0, risk->n * sizeof *p);
    for (size_t i = 0; i < risk->n; i++) {
        if (risk->mass[i] > 0) {
            risk->order[n++] = (uint32_t)i;
        }
    }
    double left;
    size_t n_whole =
        select_largest(risk->cluster, s, risk->mass, risk->k, risk->order, n, &left, NULL);
    double t = 0;
    for (size_t i = 0; i < n_whole; i++) {
        uint32_t row = risk->order[i];
        p[row] = risk->share[row];
        t += p[row] * s[row];
    }
    if (n_whole < n && left > (double)n_whole * DBL_EPSILON * risk->k) {
        uint32_t row = risk->order[n_whole];
        p[row] = left / risk->k;
        t += p[row] * s[row];
    }
    return cluster_total(risk->cluster, t);
}

/* The root of the quantile's equation in a = 1 + theta (h - t) >= 0, h the highest score of J: row
 * j contributes mass_j max(0, a - theta (h - s_j))^q, q = 1 or 2. */
struct root {
    double highest; /* h */
    double a;
};

/* Rows whose breakpoint is this close to a, relative to a, count on both sides of it. */
static const double BREAKPOINT_WIDTH = 4 * DBL_EPSILON;

/* One step of Newton's method from at->a, over the rows clearly above, to which the n rows of the
 * list are reduced: a only decreases. The sum is convex and increases with a, so no step leads
 * below the root; rounding could do so by its relative size only, since no term is negative. */
static double newton_step(const struct top_risk *risk, const double *s, const struct root *at,
                          uint32_t *row, size_t *n) {
    double mass = 0, first = 0, second = 0;
    size_t kept = 0;
    for (size_t k = 0; k < *n; k++) {
        uint32_t i = row[k];
        double lag = risk->theta * (at->highest - s[i]);
        if (lag < at->a * (1 - BREAKPOINT_WIDTH)) {
            double u = at->a - lag;
            row[kept++] = i;
            mass += risk->mass[i];
            first += risk->mass[i] * (risk->square ? u : lag);
            second += risk->square ? risk->mass[i] * u * u : 0;
        }
    }
    *n = kept;
    double sums[] = {mass, first, second};
    cluster_sum(risk->cluster, sums, 3);
    return risk->square ? at->a - (sums[2] - risk->budget) / (2 * sums[1])
                        : (risk->budget + sums[1]) / sums[0];
}

/* The threshold and its gradient, given the root. It is computed from the mean of the rows above,
 * and of those at the root, which may have any part: 1 + theta s_j would keep few digits of s_j if
 * theta is small, and C may magnify the loss. */
static double threshold_from_root(const struct top_risk *risk, const double *s,
                                  const struct root *at, double *p) {
    double mass = 0, mean = 0, variance_sum = 0, theta = risk->theta;
    for (size_t i = 0; i < risk->n; i++) {
        bool above = theta * (at->highest - s[i]) <= at->a * (1 + BREAKPOINT_WIDTH);
        p[i] = above ? risk->mass[i] : 0;
        mass += p[i];
        mean += above ? p[i] * s[i] : 0;
    }
    mass = cluster_total(risk->cluster, mass);
    mean = cluster_total(risk->cluster, mean) / mass;
    for (size_t i = 0; i < risk->n; i++) {
        variance_sum += p[i] > 0 ? p[i] * (s[i] - mean) * (s[i] - mean) : 0;
    }
    variance_sum = cluster_total(risk->cluster, variance_sum);
    double t = mean + (mass - risk->budget) / (theta * mass);
    if (risk->square) { /* root = 1 - theta (t - mean) */
        double root = sqrt(fmax(0, (risk->budget - theta * theta * variance_sum) / mass));
        t = mean + ((mass - risk->budget) / theta + theta * variance_sum) / (mass * (1 + root));
        for (size_t i = 0; i < risk->n; i++) {
            p[i] *= fmax(0, root + theta * (s[i] - mean));
        }
    }
    double sum = cluster_total(risk->cluster, array_sum(p, risk->n));
    for (size_t i = 0; i < risk->n; i++) {
        p[i] /= sum;
    }
    return t;
}

/* Newton's method starts at the root for the rows of the highest score alone, which is an upper
 * bound, and decreases. Its error is relative to the distances from the highest score, and low
 * outliers leave the sums at once. For q = 1 it is exact once the set of rows does not change. */
static double quantile_threshold(const struct top_risk *risk, const double *s, double *p) {
    struct root at = {.highest = -INFINITY};
    double mass = 0;
    uint32_t *row = risk->order;
    size_t n = 0;
    for (size_t i = 0; i < risk->n; i++) {
        if (risk->mass[i] > 0) {
            at.highest = fmax(at.highest, s[i]);
            row[n++] = (uint32_t)i;
        }
    }
    at.highest = cluster_largest(risk->cluster, at.highest);
    for (size_t i = 0; i < risk->n; i++) {
        mass += s[i] == at.highest ? risk->mass[i] : 0;
    }
    double only = risk->budget / cluster_total(risk->cluster, mass), next;
    at.a = risk->square ? sqrt(only) : only;
    while ((next = newton_step(risk, s, &at, row, &n)) < at.a) {
        at.a = next;
    }
    return threshold_from_root(risk, s, &at, p);
}

double top_risk_threshold(struct top_risk *risk, const double *s, double *p) {
    switch (risk->kind) {
    case TOP_MEAN:
        return mean_threshold(risk, s, p);
    case TOP_QUANTILE:
        return quantile_threshold(risk, s, p);
    case TOP_NONE:
        break;
    }
    memset(p, 0, risk->n * sizeof *p);
    return 0;
}

double top_risk_threshold_at_zero(const struct top_risk *risk) {
    if (risk->kind != TOP_QUANTILE) {
        return 0;
    }
    double mass = risk->total_mass, missing = (mass - risk->budget) / (risk->theta * mass);
    return risk->square ? missing / (1 + sqrt(risk->budget / mass)) : missing;
}

/* ---- the risk ---- */

/* TOP_NONE, where each row is in at most one of the sums: the risk of this process's rows, g (n) a
 * subgradient. It has no branches by class, which would be unpredictable. */
static double plain_value(const struct top_risk *risk, const double *s, double *g) {
    double value = 0;
    for (size_t i = 0; i < risk->n; i++) {
        bool positive = risk->cost[i] > 0;
        double weight = positive ? risk->cost[i] : risk->mass[i], u = positive ? -s[i] : s[i];
        double slope = weight > 0 ? weight * top_slope(risk->square, u) : 0;
        value += weight > 0 ? weight * top_loss(risk->square, u) : 0;
        g[i] = positive ? -slope : slope;
    }
    return value;
}

double top_risk_value(struct top_risk *risk, const double *s, double *g) {
    if (risk->kind == TOP_NONE) {
        return cluster_total(risk->cluster, plain_value(risk, s, g));
    }
    double t = top_risk_threshold(risk, s, risk->p), value = 0, slopes = 0;
    for (size_t i = 0; i < risk->n; i++) {
        double slope = 0;
        if (risk->cost[i] > 0) {
            slope = risk->cost[i] * top_slope(risk->square, t - s[i]);
            value += risk->cost[i] * top_loss(risk->square, t - s[i]);
            slopes += slope;
        }
        risk->slope[i] = slope;
        g[i] = -slope;
    }
    double sums[] = {value, slopes};
    cluster_sum(risk->cluster, sums, 2);
    risk->slopes = sums[1];
    array_add(g, risk->slopes, risk->p, risk->n);
    risk->threshold = t;
    return sums[0];
}

double top_risk_cut(struct top_risk *risk, const double *s, double *g, double *offset) {
    double value = top_risk_value(risk, s, g);
    if (risk->kind == TOP_NONE) {
        for (size_t i = 0; i < risk->n; i++) {
            risk->slope[i] = g[i] < 0 ? -g[i] : 0;
            risk->p[i] = g[i] > 0 ? g[i] : 0;
        }
        risk->slopes = 1;
        risk->threshold = 0;
    }
    *offset = value - cluster_total(risk->cluster, array_dot(g, s, risk->n));
    return value;
}

/* The dual point of a cutting plane: the nonzero entries, those of alpha first. */
struct entry {
    uint32_t row;
    double value;
};

struct record {
    size_t n_alpha, n;
    struct entry entry[];
};

static int risk_record(void *context, void **record, struct error *err) {
    const struct top_risk *risk = context;
    size_t n = 0; /* number of entries */
    for (size_t i = 0; i < risk->n; i++) {
        n += (risk->slope[i] > 0) + (size_t)(risk->slopes * risk->p[i] > 0);
    }
    struct record *made = memory_array(sizeof *made / sizeof(struct entry) + 1 + n,
                                       sizeof(struct entry), "a plane", err);
    if (!made) {
        return -1;
    }
    made->n = 0;
    for (size_t i = 0; i < risk->n; i++) {
        if (risk->slope[i] > 0) {
            made->entry[made->n++] = (struct entry){(uint32_t)i, risk->slope[i]};
        }
    }
    made->n_alpha = made->n;
    for (size_t i = 0; i < risk->n; i++) {
        if (risk->slopes * risk->p[i] > 0) {
            made->entry[made->n++] = (struct entry){(uint32_t)i, risk->slopes * risk->p[i]};
        }
    }
    *record = made;
    return 0;
}

void top_risk_add_record(double weight, const void *record, double *alpha, double *beta) {
    const struct record *from = record;
    for (size_t e = 0; e < from->n; e++) {
        double *to = e < from->n_alpha ? alpha : beta;
        to[from->entry[e].row] += weight * from->entry[e].value;
    }
}

static double risk_cut(void *context, const double *s, double *g, double *offset) {
    return top_risk_cut(context, s, g, offset);
}

struct risk top_risk_functions(struct top_risk *risk) {
    return (struct risk){.n = risk->n, .context = risk, .cut = risk_cut, .record = risk_record};
}

double top_risk_multiple(struct top_risk *risk, double C, double squared_norm, const double *s,
                         enum top_multiple how, double *work, double *primal) {
    enum { MAX_FACTOR = 1000000, MAX_EVALUATIONS = 90 };
    /* at a kink of the objective, four digits of x can leave it wrong by 8e-4 */
    double tolerance = how == TOP_MULTIPLE_EXACT ? 1e-16 : 1e-4;
    double *scaled = work, *g = work + risk->n;
    double low = 0, high = INFINITY, low_slope = 0, high_slope = 0, x = 1, best = 1;
    double factor = 1.25;   /* to bracket the minimum; squared each time */
    double last = INFINITY; /* previous length of the bracket */
    double root = 1, root_value = INFINITY;
    *primal = INFINITY;
    for (int evaluation = 0; evaluation < MAX_EVALUATIONS; evaluation++) {
        array_multiple(scaled, x, s, risk->n);
        double value = 0.5 * x * x * squared_norm + C * top_risk_value(risk, scaled, g);
        double slope =
            x * squared_norm + C * cluster_total(risk->cluster, array_dot(g, s, risk->n));
        root = x;
        root_value = value;
        if (!(value >= *primal)) {
            *primal = value;
            best = x;
        }
        if (slope >= 0) {
            high = x;
            high_slope = slope;
        } else {
            low = x;
            low_slope = slope;
        }
        bool bracketed = high < INFINITY && low > 0;
        if (bracketed ? high - low <= tolerance * high : x > MAX_FACTOR || x * MAX_FACTOR < 1) {
            break;
        }
        if (!bracketed) {
            x = low > 0 ? x * factor : x / factor;
            factor *= factor;
        } else { /* secant, kept away from the ends; bisection if it was of little use */
            double part = high - low > last / 2 ? 0.5 : low_slope / (low_slope - high_slope);
            last = high - low;
            x = low + fmin(fmax(part, 0.05), 0.95) * last;
        }
    }
    /* if values are equal up to rounding, the slopes locate the minimum */
    if (root_value <= *primal * (1 + 8 * DBL_EPSILON)) {
        *primal = root_value;
        return root;
    }
    return best;
}

/* ---- the dual ---- */

bool top_risk_levelled(const struct top_risk *risk) {
    return risk->kind == TOP_MEAN || (risk->kind == TOP_QUANTILE && !risk->square);
}

double top_risk_beta_offset(const struct top_risk *risk) {
    return risk->kind == TOP_QUANTILE ? 1 / risk->theta : risk->kind == TOP_NONE ? 1 : 0;
}

struct top_terms top_risk_terms(const struct top_risk *risk, double cost, size_t i) {
    double C = cost * risk->cost[i], mass = risk->mass[i];
    struct top_terms terms = {0};
    if (C > 0) {
        terms.max_alpha = risk->square ? INFINITY : C;
        terms.h = risk->square ? 1 / (2 * C) : 0;
    }
    if (!(mass > 0)) {
        return terms;
    }
    switch (risk->kind) {
    case TOP_MEAN:
        terms.cap = risk->share[i];
        break;
    case TOP_QUANTILE:
        terms.cap = risk->square ? INFINITY : risk->theta * mass;
        break;
    case TOP_NONE:
        terms.cap = risk->square ? INFINITY : cost * mass;
        terms.q = risk->square ? 1 / (2 * cost * mass) : 0;
        break;
    }
    return terms;
}

double top_risk_dual(const struct top_risk *risk, double C, const double *alpha,
                     const double *beta) {
    double value = 0, largest = 0, squares = 0, betas = 0, unit = 0;
    for (size_t i = 0; i < risk->n; i++) {
        unit = risk->mass[i] > 0 ? fmax(unit, beta[i]) : unit;
    }
    unit = cluster_largest(risk->cluster, unit);
    for (size_t i = 0; i < risk->n; i++) {
        if (risk->cost[i] > 0) {
            value += alpha[i];
            value -= risk->square ? alpha[i] * (alpha[i] / (4 * C * risk->cost[i])) : 0;
        }
        if (risk->mass[i] > 0) {
            betas += beta[i];
            largest = fmax(largest, beta[i] / risk->mass[i]);
            /* the square of a small entry would underflow */
            double part = unit > 0 ? beta[i] / unit : 0;
            squares += part * part / risk->mass[i];
        }
    }
    double sums[] = {value, betas, squares};
    cluster_sum(risk->cluster, sums, 3);
    value = sums[0];
    betas = sums[1];
    squares = sums[2];
    largest = cluster_largest(risk->cluster, largest);
    switch (risk->kind) {
    case TOP_MEAN:
        break;
    case TOP_QUANTILE:
        value += (betas -
                  (risk->square ? unit * sqrt(risk->budget * squares) : risk->budget * largest)) /
                 risk->theta;
        break;
    case TOP_NONE:
        value += betas - (risk->square ? squares * unit * (unit / (4 * C)) : 0);
        break;
    }
    return value;
}
