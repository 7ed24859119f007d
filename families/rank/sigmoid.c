#include "families/rank/sigmoid.h"

#include <float.h>
#include <math.h>

enum { MOST_STEPS = 200 };

/* F' at slope a for margins m * scale, and F'' with it. */
static double derivative(const double *m, size_t n, double scale, double a, double *second) {
    double prior = 1 / ((double)n + 2);
    double f1 = 0, f2 = 0;
    for (size_t i = 0; i < n; i++) {
        double x = m[i] * scale, z = a * x;
        double e = exp(-fabs(z)); /* of minus a magnitude: cannot overflow */
        double q = (z < 0 ? 1 : e) / (1 + e);
        f1 += x * (prior - q);
        f2 += x * x * (e / ((1 + e) * (1 + e)));
    }
    *second = f2;
    return f1;
}

int sigmoid_fit(double *slope, const double *margin, size_t n, struct error *err) {
    double most = 0;
    *slope = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(margin[i])) {
            return error_set(err, ERROR_RUNTIME,
                             "cannot fit probabilities: a margin is not a finite number");
        }
        most = fmax(most, fabs(margin[i]));
    }
    if (n == 0) {
        return error_set(err, ERROR_RUNTIME, "cannot fit probabilities: there is no pair");
    }
    if (most == 0) {
        return 0;
    }
    if (most < DBL_MIN || most > 1 / DBL_MIN) {
        return error_set(err, ERROR_RUNTIME, "cannot fit probabilities: the largest margin is %g",
                         most);
    }
    /* Margins are brought to [-1, 1], so that the stop does not depend on their scale. */
    double scale = 1 / most, a = 0, second;
    double first = derivative(margin, n, scale, a, &second);
    for (int step = 0; step < MOST_STEPS && first != 0; step++) {
        /* The floor keeps the step finite where the curvature has underflowed. */
        double newton = -first / fmax(second, 1e-12);
        /* F is convex, so |F'| measures the distance from the minimum as well as F does, and to
         * full precision: near its minimum F itself no longer changes in its last bit. */
        double length = 1, next = derivative(margin, n, scale, a + newton, &second);
        while (!(fabs(next) <= (1 - 1e-4 * length) * fabs(first)) && length > 1e-10) {
            length /= 2;
            next = derivative(margin, n, scale, a + length * newton, &second);
        }
        if (length <= 1e-10) {
            break; /* no decrease that rounding lets us see: this is the minimum */
        }
        a += length * newton;
        first = next;
        if (fabs(length * newton) <= 1e-13 * fabs(a)) {
            break;
        }
    }
    *slope = a * scale;
    if (!isfinite(*slope)) {
        return error_set(err, ERROR_RUNTIME, "cannot fit probabilities: the slope overflows");
    }
    return 0;
}

double sigmoid_probability(double slope, double margin) {
    double z = slope * margin;
    double e = exp(-fabs(z));
    return (z < 0 ? e : 1) / (1 + e);
}
