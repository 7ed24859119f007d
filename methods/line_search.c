/* The bracket and its tangent model. */
#include "methods/line_search.h"

#include "common/base/array.h"

#include <math.h>
#include <stdbool.h>

enum { MAX_TRIALS = 100 };

static const double GAIN =
    1e-3; /* possible decrease, relative to the decrease so far, at which it ends */
static const double NARROW =
    0.1; /* relative width of the bracket that derivatives alone determine */

struct point {
    double theta, value, slope, offset; /* of R */
};

static double quadratic(const struct linesearch *search, double theta) {
    return 0.5 * (search->squared_norm + theta * (2 * search->mixed + theta * search->curvature));
}

static double primal(const struct linesearch *search, const struct point *point) {
    return quadratic(search, point->theta) + search->cost * point->value;
}

static double primal_slope(const struct linesearch *search, const struct point *point) {
    return search->mixed + point->theta * search->curvature + search->cost * point->slope;
}

static struct point evaluate(const struct linesearch *search, double theta) {
    struct point point = {.theta = theta};
    for (size_t i = 0; i < search->risk->n; i++) {
        search->trial[i] = search->s[i] + theta * search->d[i];
    }
    point.value = search->risk->cut(search->risk->context, search->trial, search->g, &point.offset);
    point.slope = cluster_total(search->cluster, array_dot(search->g, search->d, search->risk->n));
    return point;
}

/* Minimises the quadratic plus the larger of the two tangents over [low, high]. Returns the
 * minimiser; *bound: the minimum. */
static double model_minimum(const struct linesearch *search, const struct point *low,
                            const struct point *high, double *bound) {
    double rise = high->slope - low->slope;
    double kink = low->theta;
    if (rise > 0) {
        kink =
            (low->value - high->value + high->slope * high->theta - low->slope * low->theta) / rise;
        kink = fmin(fmax(kink, low->theta), high->theta);
    }
    double theta = kink;
    double base = search->mixed + kink * search->curvature;
    if (base + search->cost * low->slope > 0 && search->curvature > 0) {
        theta = -(search->mixed + search->cost * low->slope) / search->curvature;
    } else if (base + search->cost * high->slope < 0 && search->curvature > 0) {
        theta = -(search->mixed + search->cost * high->slope) / search->curvature;
    }
    theta = fmin(fmax(theta, low->theta), high->theta);
    double tangent = fmax(low->value + low->slope * (theta - low->theta),
                          high->value + high->slope * (theta - high->theta));
    *bound = quadratic(search, theta) + search->cost * tangent;
    return theta;
}

struct linesearch_result linesearch_minimise(const struct linesearch *search, double tolerance) {
    struct point low = {.theta = 0, .value = search->value, .slope = search->slope};
    struct point best = low, last = low;
    if (primal_slope(search, &low) >= 0) {
        best = evaluate(search, 0);
        return (struct linesearch_result){0, best.value, best.offset};
    }
    struct point high = {.theta = INFINITY};
    double start = primal(search, &low);
    double theta = 1;
    for (int step = 0; step < MAX_TRIALS; step++) {
        last = evaluate(search, theta);
        if (primal(search, &last) <= primal(search, &best)) {
            best = last;
        }
        if (primal_slope(search, &last) < 0) {
            low = last;
            if (isinf(high.theta)) {
                theta *= 4;
                continue;
            }
        } else {
            high = last;
        }
        double bound;
        double kink = model_minimum(search, &low, &high, &bound);
        double decrease = start - primal(search, &best), possible = primal(search, &best) - bound;
        bool by_slope = tolerance == 0 && !(decrease > 0);
        if (by_slope
                ? high.theta - low.theta <= NARROW * high.theta
                : possible <= fmax(tolerance, GAIN * decrease) || high.theta - low.theta <= 0) {
            break;
        }
        /* The secant is best for smooth parts of R, the tangent model for kinks: alternate. */
        double slope_low = primal_slope(search, &low), slope_high = primal_slope(search, &high);
        double secant = low.theta - slope_low * (high.theta - low.theta) / (slope_high - slope_low);
        kink = by_slope ? 0.5 * (low.theta + high.theta)
                        : kink; /* differences of values are rounding errors */
        double next = step % 2 ? kink : secant;
        double edge = 0.02 * (high.theta - low.theta);
        theta = fmin(fmax(next, low.theta + edge), high.theta - edge);
        if (step % 2 && kink > low.theta && kink < high.theta) {
            theta = kink;
        }
    }
    if (tolerance == 0 && !(start - primal(search, &best) > 0)) {
        best = low;
    }
    if (last.theta != best.theta) {
        best = evaluate(search, best.theta);
    }
    return (struct linesearch_result){best.theta, best.value, best.offset};
}
