/* The binary SVM with a free bias: its bounds by their definitions, its bias by brute force. */
#include "families/smm/solver/binary.h"

#include "families/smm/solver/binary_bias.h"
#include "families/smm/solver/newton.h"
#include "tests/unit/compute.h"

struct sample {
    size_t n, d;
    double *z, *y, *cost;
};

/* Values are floats, so that struct data has the same. */
static struct sample draw(size_t n, size_t d, bool shifted, uint64_t seed) {
    struct random random = sample_random(seed, 0);
    struct sample sample = {n, d, check_numbers(n * d), check_numbers(n), check_numbers(n)};
    for (size_t i = 0; i < n; i++) {
        double sum = 0.2;
        for (size_t j = 0; j < d; j++) {
            double value = (float)(2 * random_unit(&random) - 1);
            sample.z[i * d + j] = random_below(&random, 3) == 0 ? 0 : value;
            sum += sample.z[i * d + j] * (j % 3 == 0 ? 1 : -0.5);
        }
        sample.y[i] = sum + 0.8 * (random_unit(&random) - 0.5) >= 0 ? 1 : -1;
        sample.cost[i] = shifted ? 0.3 + random_unit(&random) : 1;
    }
    sample.y[0] = 1;
    sample.y[1] = -1;
    return sample;
}

static double dual_value(const struct sample *sample, const double *alpha, double C, bool squared) {
    double linear = 0, square = 0;
    for (size_t k = 0; k < sample->d; k++) {
        double v = 0;
        for (size_t i = 0; i < sample->n; i++) {
            v += alpha[i] * sample->y[i] * sample->z[i * sample->d + k];
        }
        square += v * v;
    }
    for (size_t i = 0; i < sample->n; i++) {
        linear += alpha[i];
        linear -= squared ? alpha[i] * alpha[i] / (4 * C * sample->cost[i]) : 0;
    }
    return linear - 0.5 * square;
}

static double total_loss(const struct sample *sample, const double *s, double b, double C,
                         bool squared) {
    double sum = 0;
    for (size_t i = 0; i < sample->n; i++) {
        double u = 1 - sample->y[i] * (s[i] + b);
        sum += u > 0 ? C * sample->cost[i] * (squared ? u * u : u) : 0;
    }
    return sum;
}

static double primal_value(const struct sample *sample, const double *w, double b, double C,
                           bool squared) {
    double norm = 0, *s = check_numbers(sample->n);
    for (size_t k = 0; k < sample->d; k++) {
        norm += w[k] * w[k];
        for (size_t i = 0; i < sample->n; i++) {
            s[i] += w[k] * sample->z[i * sample->d + k];
        }
    }
    double sum = total_loss(sample, s, b, C, squared);
    return 0.5 * norm + sum;
}

/* The same rows as data, sparse or dense. */
static struct data as_data(const struct sample *sample, bool sparse) {
    struct data data = {.n_rows = sample->n, .n_features = (uint32_t)sample->d};
    data.value = sample_array(sample->n * sample->d, sizeof *data.value);
    for (size_t k = 0; k < sample->n * sample->d; k++) {
        data.value[k] = (float)sample->z[k];
    }
    if (sparse) {
        MUST(data_make_sparse(&data, &err));
    }
    return data;
}

/* Solves; the bounds, by their definitions, are as close as asked: only those of optima are. */
static void check_fit(const struct sample *sample, const struct binary_rows *rows, double C,
                      bool squared, const char *what) {
    double *cost = check_numbers(sample->n), *w = check_numbers(sample->d),
           *alpha = check_numbers(sample->n);
    for (size_t i = 0; i < sample->n; i++) {
        cost[i] = C * sample->cost[i];
    }
    struct binary_loss loss = {.y = sample->y, .cost = cost, .squared = squared};
    struct smm_newton *newton;
    MUST(smm_newton_create(&newton, rows, 0, 0, &err));
    for (int epsilon = 3; epsilon <= 7; epsilon += 2) {
        double e = pow(10, -epsilon), balance = 0;
        struct binary_fit fit = {.w = w, .alpha = alpha, .primal = INFINITY};
        MUST(smm_newton_solve(newton, &loss, 0, e, NULL, &fit, &err));
        CHECK(fit.converged, "%s C=%g: gap %g at epsilon %g", what, C,
              (fit.primal - fit.dual) / fit.primal, e);
        double primal = primal_value(sample, fit.w, fit.bias, C, squared);
        double dual = dual_value(sample, fit.alpha, C, squared);
        CHECK_NEAR(fit.primal, primal, 1e-9, "%s C=%g: primal", what, C);
        CHECK_CLOSE(fit.dual, dual, 1e-9 * primal, "%s: dual", what);
        for (size_t i = 0; i < sample->n; i++) {
            CHECK(fit.alpha[i] >= 0 && (squared || fit.alpha[i] <= cost[i]), "%s: box", what);
            balance += sample->y[i] * fit.alpha[i];
        }
        CHECK(fabs(balance) <= 1e-10 * C * (double)sample->n, "%s: y'alpha = %g", what, balance);
        CHECK(primal - dual <= (e + 1e-9) * primal, "%s C=%g: [%.12g, %.12g]", what, C, dual,
              primal);
    }
    smm_newton_free(newton);
}

static void check_optima(void) {
    static const size_t shapes[][2] = {{60, 5}, {40, 60}, {80, 30}, {2, 3}, {30, 1}};
    static const double costs[] = {1e-3, 0.1, 1, 10, 1000};
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        for (int shifted = 0; shifted < 2; shifted++) {
            struct sample sample = draw(shapes[k][0], shapes[k][1], shifted, 7 + k);
            struct data dense = as_data(&sample, false), sparse = as_data(&sample, true);
            for (size_t c = 0; c < sizeof costs / sizeof costs[0]; c++) {
                for (int squared = 0; squared < 2; squared++) {
                    struct binary_rows rows = {.n = sample.n, .d = sample.d, .z = sample.z};
                    check_fit(&sample, &rows, costs[c], squared, "matrix");
                    rows.z = NULL;
                    rows.data = &dense;
                    check_fit(&sample, &rows, costs[c], squared, "dense");
                    rows.data = &sparse;
                    check_fit(&sample, &rows, costs[c], squared, "sparse");
                }
            }
            data_free(&dense);
            data_free(&sparse);
        }
    }
    printf("ok: both bounds meet, for every form and loss\n");
}

static void check_bias(void) {
    double *breaks = check_numbers(200), *s = check_numbers(100);
    struct random random = sample_random(3, 0);
    for (int round = 0; round < 200; round++) {
        struct sample sample = draw(2 + (size_t)round % 30, 1, round % 2, 100 + (uint64_t)round);
        size_t n = sample.n;
        for (size_t i = 0; i < n; i++) { /* ties, too */
            s[i] = (double)random_below(&random, 9) / 4 - 1;
        }
        for (int squared = 0; squared < 2; squared++) {
            struct binary_loss loss = {.y = sample.y, .cost = sample.cost, .squared = squared};
            double sum, b = binary_bias(&loss, s, n, breaks, &sum), least = INFINITY;
            for (size_t i = 0; !squared && i < n; i++) { /* a breakpoint is a minimum */
                double at = sample.y[i] - s[i];
                least = fmin(least, total_loss(&sample, s, at, 1, false));
            }
            for (int k = 0; squared && k <= 60000; k++) {
                least = fmin(least, total_loss(&sample, s, -3 + k * 1e-4, 1, true));
            }
            CHECK_CLOSE(sum, total_loss(&sample, s, b, 1, squared), 1e-12 * (1 + sum), "sum");
            CHECK(sum <= least * (1 + 1e-12) + 1e-12 && sum >= least * (1 - 1e-6) - 1e-6,
                  "bias %g: %.12g, not %.12g", b, sum, least);
        }
    }
    /* an interval of minimisers: its midpoint */
    double y[] = {1, -1}, cost[] = {1, 1}, apart[] = {3, -2}, sum;
    struct binary_loss loss = {.y = y, .cost = cost};
    double b = binary_bias(&loss, apart, 2, breaks, &sum);
    CHECK(sum == 0 && b == -0.5, "middle of [-2, 1] is %g", b);
    printf("ok: the bias is the minimum over all breakpoints\n");
}

/* A fit of the sample from zero, or from the point `start` and this mu, with its own arrays. */
static struct binary_fit fit_from(const struct sample *sample, bool squared, double epsilon,
                                  const struct binary_fit *start, double *mu) {
    struct binary_rows rows = {.n = sample->n, .d = sample->d, .z = sample->z};
    struct binary_loss loss = {.y = sample->y, .cost = sample->cost, .squared = squared};
    struct binary_fit fit = {
        .w = check_numbers(sample->d), .alpha = check_numbers(sample->n), .primal = INFINITY};
    struct smm_newton *newton;
    MUST(smm_newton_create(&newton, &rows, 0, 0, &err));
    if (start) {
        smm_newton_start(newton, start->w, start->alpha, *mu);
    }
    MUST(smm_newton_solve(newton, &loss, 0, epsilon, NULL, &fit, &err));
    CHECK(fit.converged, "gap %g", (fit.primal - fit.dual) / fit.primal);
    *mu = smm_newton_mu(newton);
    struct binary_fit again = fit;
    MUST(smm_newton_solve(newton, &loss, 0, epsilon, NULL, &again, &err));
    CHECK(again.converged && again.iterations <= fit.iterations + 1, "%lu steps more",
          (unsigned long)(again.iterations - fit.iterations));
    smm_newton_free(newton);
    return fit;
}

static void check_warm(void) {
    for (int squared = 0; squared < 2; squared++) {
        struct sample sample = draw(200, 20, false, 5);
        double mu;
        struct binary_fit first = fit_from(&sample, squared, 1e-6, NULL, &mu);
        for (size_t i = 0; i < sample.n; i++) {
            sample.cost[i] *= 1 + 1e-5 * (double)(i % 3);
        }
        struct binary_fit warm = fit_from(&sample, squared, 1e-6, &first, &mu);
        struct binary_fit cold = fit_from(&sample, squared, 1e-6, NULL, &mu);
        CHECK(warm.iterations < cold.iterations, "%lu steps warm, %lu cold",
              (unsigned long)warm.iterations, (unsigned long)cold.iterations);
        CHECK_NEAR(warm.primal, cold.primal, 2e-6, "other optimum");
    }
    printf("ok: a warm start takes fewer steps\n");
}

/* Rows and features above the limits of the factored systems: conjugate gradients. */
static void check_conjugate(void) {
    struct sample sample = draw(3100, 3050, false, 9);
    for (size_t i = 0; i < sample.n; i++) {
        sample.cost[i] = 0.01;
    }
    double mu;
    struct binary_fit fit = fit_from(&sample, false, 1e-3, NULL, &mu);
    double primal = primal_value(&sample, fit.w, fit.bias, 1, false);
    double dual = dual_value(&sample, fit.alpha, 1, false);
    CHECK_NEAR(fit.primal, primal, 1e-9, "primal");
    CHECK_CLOSE(fit.dual, dual, 1e-9 * primal, "dual");
    printf("ok: many rows with many features\n");
}

int main(void) {
    check_bias();
    check_optima();
    check_warm();
    if (quick_step(2) == 1) {
        check_conjugate();
    }
    return 0;
}
