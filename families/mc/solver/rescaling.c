/* Bisection on the logarithm of |theta - 1| by the sign of the derivative. */
#include "families/mc/solver/rescaling.h"

#include <float.h>
#include <math.h>

/* The smallest |theta - 1| of a trial. */
static const double MIN_DISTANCE = 1e-10;

static double phi(const struct mc_line *line, double theta, double *slope) {
    double losses = line->losses(line->context, theta, slope);
    *slope += line->squared_norm * theta - line->linear;
    return line->squared_norm / 2 * theta * theta - line->linear * theta + losses;
}

double mc_rescale(const struct mc_line *line, double target, double *value) {
    double slope, best = 1;
    *value = phi(line, 1, &slope);
    /* strong convexity, phi'' >= squared_norm: the minimiser is within |slope| / squared_norm */
    double away = line->squared_norm > 0 ? fabs(slope) / line->squared_norm : 1;
    double low = MIN_DISTANCE, high = fmin(away, slope > 0 ? 1 : DBL_MAX);
    double sign = slope > 0 ? -1 : 1;
    double next = high; /* |theta - 1|, searched by its order of magnitude */
    while (*value > target && high > low * 1.1) { /* at most 14 trials */
        double theta = 1 + sign * next, now = phi(line, theta, &slope);
        if (now < *value) {
            *value = now;
            best = theta;
        }
        if (slope * sign > 0) {
            high = next;
        } else {
            low = next;
        }
        next = sqrt(low) * sqrt(high); /* low * high may overflow */
    }
    return best;
}
