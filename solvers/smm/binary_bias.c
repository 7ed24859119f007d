#include "solvers/smm/binary_bias.h"

#include <math.h>
#include <stdlib.h>

static double margin_of(const struct binary_loss *loss, size_t i) {
    return loss->margin ? loss->margin[i] : 1;
}

/* ---- the hinge: a weighted quantile of its breakpoints ---- */

static int compare_breaks(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* The sum of hinges is piecewise linear with a breakpoint y_i m_i - s_i for each row, where its
 * slope rises by C_i, from -(sum of C_i over y_i = +1) on the far left. */
static double hinge_bias(const struct binary_loss *loss, const double *s, size_t n,
                         double *breaks) {
    double slope = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
        breaks[2 * i] = loss->y[i] * margin_of(loss, i) - s[i];
        breaks[2 * i + 1] = loss->cost[i];
        slope -= loss->y[i] > 0 ? loss->cost[i] : 0;
        total += loss->cost[i];
    }
    qsort(breaks, n, 2 * sizeof *breaks, compare_breaks);
    double flat = 1e-12 * total; /* rounding of the sums */
    for (size_t i = 0; i < n; i++) {
        slope += breaks[2 * i + 1];
        if (slope > flat || i + 1 == n) {
            return breaks[2 * i];
        }
        if (slope >= -flat) {
            return 0.5 * (breaks[2 * i] + breaks[2 * i + 2]);
        }
    }
    return 0;
}

/* ---- smooth losses: the root of an increasing piecewise linear function ---- */

/* Slope in b, and *curvature, of the sum at b; alpha (n) as in the header. */
static double smooth_slope(const struct binary_loss *loss, const double *s, size_t n, double mu,
                           double b, double *alpha, double *curvature) {
    double slope = 0, second = 0;
    if (loss->squared) {
        for (size_t i = 0; i < n; i++) {
            double u = margin_of(loss, i) - loss->y[i] * (s[i] + b);
            alpha[i] = u > 0 ? 2 * loss->cost[i] * u : 0;
            second += u > 0 ? 2 * loss->cost[i] : 0;
            slope -= loss->y[i] * alpha[i];
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            double u = (margin_of(loss, i) - loss->y[i] * (s[i] + b)) / mu;
            double part = u < 0 ? 0 : u > 1 ? 1 : u;
            alpha[i] = loss->cost[i] * part;
            second += u > 0 && u < 1 ? loss->cost[i] / mu : 0;
            slope -= loss->y[i] * alpha[i];
        }
    }
    *curvature = second;
    return slope;
}

/* What rounding of b leaves of the slope, at a tiny mu, is taken from the alphas of the band, as a
 * smaller step in b would have done. */
static void balance(const struct binary_loss *loss, size_t n, double slope, double *alpha) {
    double room = 0;
    for (size_t i = 0; i < n; i++) {
        room += alpha[i] > 0 && alpha[i] < loss->cost[i] ? loss->cost[i] : 0;
    }
    for (size_t i = 0; room > 0 && i < n; i++) {
        if (alpha[i] > 0 && alpha[i] < loss->cost[i]) {
            double moved = alpha[i] + loss->y[i] * slope * loss->cost[i] / room;
            alpha[i] = fmin(fmax(moved, 0), loss->cost[i]);
        }
    }
}

/* Newton's method within a bracket, which ends exactly on the piece that holds the root. Where the
 * function is flat, and at a tiny mu where it is nearly a step, bisection makes way. */
double binary_smooth_bias(const struct binary_loss *loss, const double *s, size_t n, double mu,
                          double start, double *alpha) {
    enum { MOST = 200 };
    double low = INFINITY, high = -INFINITY, scale = 0;
    for (size_t i = 0; i < n; i++) {
        double at = loss->y[i] * margin_of(loss, i) - s[i]; /* u = 0 */
        low = fmin(low, at);
        high = fmax(high, at);
        scale += loss->cost[i];
    }
    low -= mu;
    high += mu;
    double b = start > low && start < high ? start : 0.5 * (low + high);
    double curvature, slope = smooth_slope(loss, s, n, mu, b, alpha, &curvature);
    for (int k = 0; k < MOST && fabs(slope) > 1e-15 * scale; k++) {
        if (slope < 0) {
            low = b;
        } else {
            high = b;
        }
        double next = curvature > 0 ? b - slope / curvature : low;
        if (!(next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        if (next == b || !(next > low && next < high)) {
            break;
        }
        b = next;
        slope = smooth_slope(loss, s, n, mu, b, alpha, &curvature);
    }
    if (!loss->squared) {
        balance(loss, n, slope, alpha);
    }
    return b;
}

double binary_bias(const struct binary_loss *loss, const double *s, size_t n, double *breaks,
                   double *sum) {
    double b = loss->squared ? binary_smooth_bias(loss, s, n, 0, 0, breaks)
                             : hinge_bias(loss, s, n, breaks);
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        double u = margin_of(loss, i) - loss->y[i] * (s[i] + b);
        if (u > 0) {
            total += loss->cost[i] * (loss->squared ? u * u : u);
        }
    }
    *sum = total;
    return b;
}
