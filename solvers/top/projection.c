#include "solvers/top/projection.h"

#include <math.h>
#include <string.h>

struct set {
    const double *alpha, *bound, *beta, *cap_rate;
    size_t n;
    double delta;
};

static double clip(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* The root of a function that falls from f(low) >= 0 to f(high) <= 0. */
static double root(double (*f)(const struct set *set, double x, double fixed),
                   const struct set *set, double fixed, double low, double high) {
    for (int i = 0; i < 2000; i++) {
        double middle = low + 0.5 * (high - low);
        if (!(middle > low && middle < high)) {
            break;
        }
        if (f(set, middle, fixed) > 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low + 0.5 * (high - low);
}

/* Sum of alpha when all of them are moved by x and clipped. */
static double sum_alpha(const struct set *set, double x) {
    double sum = 0;
    for (size_t i = 0; i < set->n; i++) {
        sum += set->bound[i] > 0 ? clip(set->alpha[i] + x, 0, set->bound[i]) : 0;
    }
    return sum;
}

static double sum_beta(const struct set *set, double x, double level) {
    double sum = 0;
    for (size_t j = 0; j < set->n; j++) {
        sum += set->cap_rate[j] > 0 ? clip(set->beta[j] + x, 0, set->cap_rate[j] * level) : 0;
    }
    return sum;
}

/* Sum of cap_rate_j times what the caps cut off. */
static double cut_off(const struct set *set, double x, double level) {
    double sum = 0;
    for (size_t j = 0; j < set->n; j++) {
        if (set->cap_rate[j] > 0) {
            sum += set->cap_rate[j] * fmax(0, set->beta[j] + x - set->cap_rate[j] * level);
        }
    }
    return sum;
}

/* Largest of |alpha|, |beta| and their bounds: multipliers lie within a few times that. */
static double extent(const struct set *set) {
    double most = 1e-300;
    for (size_t i = 0; i < set->n; i++) {
        if (set->bound[i] > 0) {
            most = fmax(most, fabs(set->alpha[i]));
            most = fmax(most, set->bound[i] < INFINITY ? set->bound[i] : 0);
        }
        if (set->cap_rate[i] > 0) {
            most = fmax(most, fabs(set->beta[i]));
        }
    }
    return most;
}

/* ---- the mean ---- */

/* Falls in x; 0 where beta + lambda, lambda = -x, clipped, sums to m. */
static double mean_lambda(const struct set *set, double x, double m) {
    return sum_beta(set, -x, m) - m;
}

static double lambda_of(const struct set *set, double m) {
    double most = extent(set) + m;
    return -root(mean_lambda, set, m, -2 * most, 2 * most);
}

/* Falls in m; 0 where the alpha that belong to it sum to m. */
static double mean_sum(const struct set *set, double m, double unused) {
    (void)unused;
    double lambda = lambda_of(set, m);
    return sum_alpha(set, -lambda + cut_off(set, lambda, m)) - m;
}

void top_projection_mean(double *alpha, const double *bound, double *beta, const double *cap_rate,
                         size_t n) {
    struct set set = {alpha, bound, beta, cap_rate, n, 0};
    /* where the sum already falls at 0 the nearest point is 0, the tip of the cone */
    double low = 1e-14 * extent(&set), high = extent(&set) * (double)n * 4;
    if (mean_sum(&set, low, 0) <= 0) {
        memset(alpha, 0, n * sizeof *alpha);
        memset(beta, 0, n * sizeof *beta);
        return;
    }
    double m = root(mean_sum, &set, 0, low, high);
    double lambda = lambda_of(&set, m), move = -lambda + cut_off(&set, lambda, m), sum = 0;
    for (size_t i = 0; i < n; i++) {
        alpha[i] = bound[i] > 0 ? clip(alpha[i] + move, 0, bound[i]) : 0;
        sum += alpha[i];
    }
    for (size_t j = 0; j < n; j++) {
        beta[j] = cap_rate[j] > 0 ? clip(beta[j] + lambda, 0, cap_rate[j] * sum) : 0;
    }
}

/* ---- the level ---- */

/* Falls in delta; 0 where it is what the caps that it makes pull it to. */
static double level_delta(const struct set *set, double delta, double lambda) {
    return set->delta + cut_off(set, lambda, delta) - delta;
}

static double delta_of(const struct set *set, double lambda) {
    double high = fmax(0, set->delta + cut_off(set, lambda, 0));
    return high > 0 ? root(level_delta, set, lambda, 0, high) : 0;
}

/* Falls in lambda; 0 where alpha and beta sum to the same. */
static double level_sum(const struct set *set, double lambda, double unused) {
    (void)unused;
    return sum_alpha(set, -lambda) - sum_beta(set, lambda, delta_of(set, lambda));
}

double top_projection_level(double *alpha, const double *bound, double *beta,
                            const double *cap_rate, double delta, size_t n) {
    struct set set = {alpha, bound, beta, cap_rate, n, delta};
    double most = 2 * extent(&set);
    double lambda = root(level_sum, &set, 0, -most, most);
    delta = delta_of(&set, lambda);
    for (size_t i = 0; i < n; i++) {
        alpha[i] = bound[i] > 0 ? clip(alpha[i] - lambda, 0, bound[i]) : 0;
        beta[i] = cap_rate[i] > 0 ? clip(beta[i] + lambda, 0, cap_rate[i] * delta) : 0;
    }
    return delta;
}

/* ---- no caps ---- */

static double free_sum(const struct set *set, double lambda, double unused) {
    (void)unused;
    return sum_alpha(set, -lambda) - sum_beta(set, lambda, INFINITY);
}

void top_projection_free(double *alpha, const double *bound, double *beta, const double *cap_rate,
                         size_t n) {
    struct set set = {alpha, bound, beta, cap_rate, n, 0};
    double most = 2 * extent(&set);
    double lambda = root(free_sum, &set, 0, -most, most);
    for (size_t i = 0; i < n; i++) {
        alpha[i] = bound[i] > 0 ? clip(alpha[i] - lambda, 0, bound[i]) : 0;
        beta[i] = cap_rate[i] > 0 ? fmax(0, beta[i] + lambda) : 0;
    }
}
