/* lgamma_r, which is not in C or POSIX: glibc, musl and the BSDs have it */
#define _DEFAULT_SOURCE

#include "families/top/interval.h"

#include <float.h>
#include <math.h>

static const double TAIL = 0.025;

/* The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22). */
static double fraction(double a, double b, double x) {
    enum { MOST = 100000 };
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
    double value = d;
    for (double m = 1; m < MOST; m++) {
        const double terms[] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        double change = 1;
        for (int k = 0; k < 2; k++) {
            d = 1 + terms[k] * d;
            c = 1 + terms[k] / c;
            d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
            c = fabs(c) < DBL_MIN ? DBL_MIN : c;
            change = c * d;
            value *= change;
        }
        if (fabs(change - 1) < 4 * DBL_EPSILON) {
            break;
        }
    }
    return value;
}

/* Of x > 0. lgamma writes the global signgam, which other threads may write too. */
static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* I_x(a, b), the probability that a variable of the beta distribution is below x; a, b > 0. It is
 * also that of a successes or more in a + b - 1 trials of probability x. */
static double beta(double a, double b, double x) {
    if (x <= 0 || x >= 1) {
        return x >= 1;
    }
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a
                                     : 1 - front * fraction(b, a, 1 - x) / b;
}

/* The x where beta(a, b, x) is `level`. */
static double quantile(double a, double b, double level) {
    double low = 0, high = 1;
    for (int i = 0; i < 100 && low < high; i++) {
        double middle = low + (high - low) / 2;
        *(beta(a, b, middle) < level ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}

void interval_exact(double right, double n, double *low, double *high) {
    *low = right > 0 ? quantile(right, n - right + 1, TAIL) : 0;
    *high = right < n ? quantile(right + 1, n - right, 1 - TAIL) : 1;
}
