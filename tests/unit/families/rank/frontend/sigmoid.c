/* The slope of probabilities: compared with a derivative-free search of the plain objective, and
 * with a zero of its derivative by finite differences. */
#include "families/rank/frontend/probability.h"

#include "tests/unit/compute.h"

/* Platt's objective as he states it: both classes listed, smoothed targets, long double. */
static long double plain(const double *m, size_t n, long double a) {
    long double positive = ((long double)n + 1) / ((long double)n + 2);
    long double sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (int side = 0; side < 2; side++) {
            long double z = (side ? -a : a) * (long double)m[i];
            long double t = side ? 1 - positive : positive;
            /* -t log p - (1-t) log(1-p), p = 1 / (1 + exp(-z)) */
            long double log_p = -(log1pl(expl(-fabsl(z))) + (z < 0 ? -z : 0));
            long double log_q = -(log1pl(expl(-fabsl(z))) + (z > 0 ? z : 0));
            sum += -t * log_p - (1 - t) * log_q;
        }
    }
    return sum;
}

/* Minimum of plain by golden section. */
static double search(const double *m, size_t n, long double low, long double high) {
    const long double g = 0.6180339887498948482L;
    for (int i = 0; i < 300; i++) {
        long double a = high - g * (high - low), b = low + g * (high - low);
        if (plain(m, n, a) < plain(m, n, b)) {
            high = b;
        } else {
            low = a;
        }
    }
    return (double)((low + high) / 2);
}

static void check_search(void) {
    static double m[400];
    struct random random = sample_random(1, 0);
    for (int set = 0; set < 40; set++) {
        size_t n = 1 + (size_t)(random_unit(&random) * 399);
        double shift = 3 * random_unit(&random) - 1, spread = exp(8 * random_unit(&random) - 4);
        for (size_t i = 0; i < n; i++) {
            m[i] = spread * (shift + 2 * random_unit(&random) - 1);
        }
        double slope;
        CHECK(sigmoid_fit(&slope, m, n, &err) == 0, "set %d: %s", set, err.text);
        double bound = 400 / spread;
        double found = search(m, n, -bound, bound);
        /* golden section resolves F to its last bit, so a to the square root of that */
        CHECK_CLOSE(slope, found, 1e-6 * fabs(found) + 1e-7 / spread, "set %d, n = %zu: slope", set,
                    n);
        long double h = 1e-5L / (long double)spread;
        long double derivative =
            (plain(m, n, (long double)slope + h) - plain(m, n, (long double)slope - h)) / (2 * h);
        CHECK(fabsl(derivative) <= 1e-7L * (long double)n * (long double)spread,
              "set %d: derivative %Lg at the slope", set, derivative);
    }
    printf("ok: the slope is that of a plain search\n");
}

int main(void) {
    check_search();
    return 0;
}
