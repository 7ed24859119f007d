/* Bisection on the logarithm of |theta - 1| by the sign of the derivative. */
#include "families/mc/solver/rescaling.h"

#include <math.h>

enum { MAX_TRIALS = 12 };

/* No search if it can gain less than this part of the gap. */
static const double MIN_GAIN = 0.1;

/* The smallest |theta - 1| of a trial. */
static const double MIN_DISTANCE = 1e-10;

static double phi(const struct mc_line *line, double theta, double *slope) {
    double losses = line->losses(line->context, theta, slope);
    *slope += line->squared_norm * theta - line->linear;
    return line->squared_norm / 2 * theta * theta - line->linear * theta + losses;
}

double mc_rescale(const struct mc_line *line, double target, double gap, double *value) {
    double slope, best = 1;
    *value = phi(line, 1, &slope);
    /* strong convexity, phi'' >= squared_norm: the minimiser is within |slope| / squared_norm, and
     * the minimum at most slope^2 / (2 squared_norm) lower */
    double away = line->squared_norm > 0 ? -slope / line->squared_norm : slope < 0 ? 1 : -1;
    if (*value <= target || !(fabs(slope * away) / 2 > MIN_GAIN * gap)) {
        return best;
    }
    double low = MIN_DISTANCE, high = fmin(fabs(away), slope > 0 ? 1 : INFINITY);
    double sign = slope > 0 ? -1 : 1;
    double next = high; /* |theta - 1|, searched by its order of magnitude */
    for (int trial = 0; *value > target && high > low * 1.1 && trial < MAX_TRIALS; trial++) {
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
        next = sqrt(low * high);
    }
    return best;
}
