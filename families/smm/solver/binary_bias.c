/* Exact and smoothed minimisers of the bias, and the line search (binary_bias.h). */
#include "families/smm/solver/binary_bias.h"

#include "methods/select_largest.h"

#include <math.h>

static double margin_of(const double *margin, size_t i) {
    return margin ? margin[i] : 1;
}

/* ---- the hinge: a weighted quantile of its breakpoints ---- */

/* The sum of hinges is piecewise linear in b. Row i has a breakpoint y_i - s_i, where the
 * derivative rises by C_i; to the left of all it is -(sum of C_i over y_i = +1). Returns the
 * midpoint of the b where the derivative is 0 up to rounding of the sums. */
static double hinge_bias(const struct binary_loss *loss, const double *s, size_t n, double *work) {
    double *value = work, largest = -INFINITY, sums[2] = {0}, low, high, left;
    uint32_t *order = (uint32_t *)(void *)(work + n);
    for (size_t i = 0; i < n; i++) {
        value[i] = s[i] - loss->y[i]; /* ascending breakpoints */
        order[i] = (uint32_t)i;
        largest = fmax(largest, -value[i]);
        sums[0] += loss->y[i] > 0 ? loss->cost[i] : 0;
        sums[1] += loss->cost[i];
    }
    cluster_sum(loss->cluster, sums, 2);
    largest = cluster_largest(loss->cluster, largest);
    double rounding = 1e-12 * sums[1];
    select_largest(loss->cluster, value, loss->cost, sums[0] - rounding, order, n, &left, &low);
    select_largest(loss->cluster, value, loss->cost, sums[0] + rounding, order, n, &left, &high);
    return 0.5 * (fmin(-low, largest) + fmin(-high, largest));
}

/* ---- smooth losses: the root of an increasing piecewise linear function ---- */

/* Derivative in b and *curvature of the sum at b; alpha (n) as in binary_bias.h. */
static double smooth_slope(const struct binary_loss *loss, const double *margin, const double *s,
                           size_t n, double mu, double b, double *alpha, double *curvature) {
    double derivative = 0, second = 0;
    if (loss->squared) {
        for (size_t i = 0; i < n; i++) {
            double u = margin_of(margin, i) - loss->y[i] * (s[i] + b);
            alpha[i] = u > 0 ? loss->cost[i] * u / (0.5 + mu) : 0;
            second += u > 0 ? loss->cost[i] / (0.5 + mu) : 0;
            derivative -= loss->y[i] * alpha[i];
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            double u = (margin_of(margin, i) - loss->y[i] * (s[i] + b)) / mu;
            double fraction = u < 0 ? 0 : u > 1 ? 1 : u;
            alpha[i] = loss->cost[i] * fraction;
            second += u > 0 && u < 1 ? loss->cost[i] / mu : 0;
            derivative -= loss->y[i] * alpha[i];
        }
    }
    double sums[] = {derivative, second};
    cluster_sum(loss->cluster, sums, 2);
    *curvature = sums[1];
    return sums[0];
}

/* At a tiny mu, rounding of b leaves a residual y'alpha. It is removed from the alphas inside their
 * bounds, as a smaller step in b would do. */
static void remove_residual(const struct binary_loss *loss, size_t n, double derivative,
                            double *alpha) {
    double room = 0;
    for (size_t i = 0; i < n; i++) {
        room += alpha[i] > 0 && alpha[i] < loss->cost[i] ? loss->cost[i] : 0;
    }
    room = cluster_total(loss->cluster, room);
    for (size_t i = 0; room > 0 && i < n; i++) {
        if (alpha[i] > 0 && alpha[i] < loss->cost[i]) {
            double moved = alpha[i] + loss->y[i] * derivative * loss->cost[i] / room;
            alpha[i] = fmin(fmax(moved, 0), loss->cost[i]);
        }
    }
}

/* Newton's method in a bracket; it ends exactly on the linear piece of the root. Bisection handles
 * flat pieces, and a tiny mu at which the function is nearly a step. */
double binary_smooth_bias(const struct binary_loss *loss, const double *margin, const double *s,
                          size_t n, double mu, double start, double *alpha) {
    enum { MAX_STEPS = 200 };
    double low = INFINITY, high = -INFINITY, scale = 0;
    for (size_t i = 0; i < n; i++) {
        double at = loss->y[i] * margin_of(margin, i) - s[i]; /* u = 0 */
        low = fmin(low, at);
        high = fmax(high, at);
        scale += loss->cost[i];
    }
    low = -cluster_largest(loss->cluster, -low) - mu;
    high = cluster_largest(loss->cluster, high) + mu;
    scale = cluster_total(loss->cluster, scale);
    double b = start > low && start < high ? start : 0.5 * (low + high);
    double curvature, derivative = smooth_slope(loss, margin, s, n, mu, b, alpha, &curvature);
    for (int k = 0; k < MAX_STEPS && fabs(derivative) > 1e-15 * scale; k++) {
        if (derivative < 0) {
            low = b;
        } else {
            high = b;
        }
        double next = curvature > 0 ? b - derivative / curvature : low;
        if (!(next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        if (next == b || !(next > low && next < high)) {
            break;
        }
        b = next;
        derivative = smooth_slope(loss, margin, s, n, mu, b, alpha, &curvature);
    }
    if (!loss->squared) {
        remove_residual(loss, n, derivative, alpha);
    }
    return b;
}

double binary_bias(const struct binary_loss *loss, const double *s, size_t n, double *breaks,
                   double *sum) {
    double b = loss->squared ? binary_smooth_bias(loss, NULL, s, n, 0, 0, breaks)
                             : hinge_bias(loss, s, n, breaks);
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        double u = 1 - loss->y[i] * (s[i] + b);
        if (u > 0) {
            total += loss->cost[i] * (loss->squared ? u * u : u);
        }
    }
    *sum = cluster_total(loss->cluster, total);
    return b;
}

/* ---- line search ---- */

int search_length(length_derivative derivative_at, void *context, double slope,
                  const struct monitor *monitor, double *length, bool *moved, struct error *err) {
    enum { MAX_TRIALS = 30 };
    const double accuracy = 0.1;
    double low = 0, low_slope = slope, high = INFINITY, high_slope = 0, theta = 1;
    *length = 0;
    *moved = low_slope < 0 && isfinite(low_slope);
    double target = accuracy * -low_slope;
    for (int k = 0; *moved && k < MAX_TRIALS; k++) {
        double derivative;
        if (monitor_past_deadline(monitor)) {
            return 0;
        }
        if (derivative_at(context, theta, &derivative, err) < 0) {
            return -1;
        }
        if (fabs(derivative) <= target) {
            break;
        }
        /* if the same end moves twice, the other value is halved (Illinois) */
        if (derivative < 0) {
            high_slope *= low > 0 ? 0.5 : 1;
            low = theta;
            low_slope = derivative;
        } else {
            low_slope *= high < INFINITY ? 0.5 : 1;
            high = theta;
            high_slope = derivative;
        }
        theta =
            high == INFINITY ? 2 * low : low - low_slope * (high - low) / (high_slope - low_slope);
    }
    *length = *moved ? theta : 0;
    return 0;
}
