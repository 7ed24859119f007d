/* solvers/methods/interior.h on sums of hinges written out plainly: bounds are those of the points
 * that it hands out, meet at the gap asked for, and hold at any other gap; features in any units,
 * margins of any sign, weights that the norm does not count, hinges of which the largest counts.
 * With it solvers/methods/pace.h, and the pivoted factor of solvers/methods/cholesky.h. */
#include "solvers/methods/interior.h"

#include "common/base/random.h"
#include "solvers/methods/cholesky.h"
#include "solvers/methods/pace.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { N = 40, D = 5, GROUP = 4 };

/* Hinges (N, D), the last weight free where it is not counted. */
struct plain {
    double A[N][D], cost[N], margin[N], counted[D], H[D * D];
    bool squared, grouped; /* grouped: GROUP hinges at a time, of which the largest counts */
    uint32_t group[N];
};

static void scores(void *context, const double *w, double *v) {
    const struct plain *plain = context;
    for (size_t j = 0; j < N; j++) {
        v[j] = 0;
        for (size_t k = 0; k < D; k++) {
            v[j] += plain->A[j][k] * w[k];
        }
    }
}

static void adjoint(void *context, const double *a, double *g) {
    const struct plain *plain = context;
    for (size_t k = 0; k < D; k++) {
        g[k] = 0;
        for (size_t j = 0; j < N; j++) {
            g[k] += plain->A[j][k] * a[j];
        }
    }
}

static int factor(void *context, const double *theta) {
    struct plain *plain = context;
    for (size_t k = 0; k < D; k++) {
        for (size_t l = 0; l <= k; l++) {
            double sum = k == l ? plain->counted[k] : 0;
            for (size_t j = 0; j < N; j++) {
                sum += theta[j] * plain->A[j][k] * plain->A[j][l];
            }
            plain->H[k * D + l] = sum;
        }
    }
    return cholesky_factor(plain->H, D);
}

static int factor_groups(void *context, const double *theta, const double *rest) {
    struct plain *plain = context;
    for (size_t k = 0; k < D; k++) {
        for (size_t l = 0; l <= k; l++) {
            double sum = k == l ? plain->counted[k] : 0;
            for (size_t g = 0; g < N / GROUP; g++) {
                double total = rest[g], first = 0, second = 0;
                for (size_t j = g * GROUP; j < (g + 1) * GROUP; j++) {
                    total += theta[j];
                    first += theta[j] * plain->A[j][k];
                    second += theta[j] * plain->A[j][l];
                    sum += theta[j] * plain->A[j][k] * plain->A[j][l];
                }
                sum -= first * second / total;
            }
            plain->H[k * D + l] = sum;
        }
    }
    for (size_t k = 0; k < D; k++) {
        plain->H[k * D + k] *= 1 + 1e-13; /* differences above may have lost it */
    }
    return cholesky_factor(plain->H, D);
}

static void solve(void *context, double *x) {
    const struct plain *plain = context;
    cholesky_solve(plain->H, D, x);
}

static double normal(struct random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += random_unit(random);
    }
    return sum;
}

static double primal(const struct plain *plain, const double *w) {
    double v[N], sum = 0;
    scores((void *)plain, w, v);
    for (size_t k = 0; k < D; k++) {
        sum += plain->counted[k] * w[k] * w[k] / 2;
    }
    double most = 0;
    for (size_t j = 0; j < N; j++) {
        most = fmax(most, plain->margin[j] - v[j]);
        if (!plain->grouped || j % GROUP == GROUP - 1) {
            double cost = plain->cost[plain->grouped ? j / GROUP : j];
            sum += cost * (plain->squared ? most * most : most);
            most = 0;
        }
    }
    return sum;
}

/* D, and what is missing to feasibility. */
static double dual(const struct plain *plain, const double *a, double *missing) {
    double g[D], sum = 0, of_group = 0;
    adjoint((void *)plain, a, g);
    *missing = 0;
    for (size_t k = 0; k < D; k++) {
        sum -= plain->counted[k] * g[k] * g[k] / 2;
        *missing += (1 - plain->counted[k]) * fabs(g[k]);
    }
    for (size_t j = 0; j < N; j++) {
        sum += plain->margin[j] * a[j];
        sum -= plain->squared ? a[j] * a[j] / (4 * plain->cost[j]) : 0;
        of_group += a[j];
        *missing += fmax(0, -a[j]);
        if (!plain->squared && (!plain->grouped || j % GROUP == GROUP - 1)) {
            *missing += fmax(0, of_group - plain->cost[plain->grouped ? j / GROUP : j]);
        }
        of_group = !plain->grouped || j % GROUP == GROUP - 1 ? 0 : of_group;
    }
    return sum;
}

/* Ends at `known`, the optimum to 1e-8: from near it, from far, and where no such point is. */
static void check_starts(const struct interior_problem *problem, const struct plain *plain,
                         const double *near, double known, const char *what) {
    const double part[] = {1, 1.1, -30, 0, INFINITY};
    for (size_t s = 0; s < sizeof part / sizeof *part; s++) {
        struct error err;
        struct interior *interior;
        struct interior_fit fit;
        double w[D];
        for (size_t k = 0; k < D; k++) {
            w[k] = part[s] * (fabs(near[k]) > 0 ? near[k] : 1);
        }
        CHECK(interior_open(&interior, problem, &err) == 0, "%s", err.text);
        interior_start_at(interior, w);
        interior_run(interior, INFINITY, 0, NULL, &fit); /* where it starts */
        double at = primal(plain, w), missing, total = 0;
        CHECK(!isfinite(w[0]) || fabs(fit.primal - at) <= 1e-9 * at, "%s, at %g: %.12g, %.12g",
              what, part[s], fit.primal, at);
        interior_run(interior, 1e-8, 0, NULL, &fit);
        dual(plain, fit.alpha, &missing);
        for (size_t j = 0; j < N; j++) {
            total += plain->cost[j];
        }
        CHECK(missing <= 1e-8 * total, "%s, at %g: infeasible by %g", what, part[s], missing);
        double P = primal(plain, fit.w);
        CHECK(!fit.stop, "%s, at %g: %s", what, part[s], stop_message(fit.stop));
        CHECK(fabs(P - known) <= 2e-8 * known, "%s, at %g: %.12g, %.12g", what, part[s], P, known);
        CHECK(P - fit.dual <= 1e-8 * P * (1 + 1e-6), "%s: %.12g, %.12g", what, P, fit.dual);
        interior_close(interior);
    }
}

static void check_problem(struct plain *plain, const char *what, size_t *n_zeros,
                          uint64_t *n_steps) {
    static const double epsilon[] = {0.3, 1e-3, 1e-6, 1e-8};
    const struct interior_problem problem = {.n = N,
                                             .dimension = D,
                                             .cost = plain->cost,
                                             .margin = plain->margin,
                                             .counted = plain->counted,
                                             .squared = plain->squared,
                                             .group = plain->grouped ? plain->group : NULL,
                                             .n_groups = N / GROUP,
                                             .context = plain,
                                             .scores = scores,
                                             .adjoint = adjoint,
                                             .factor = factor,
                                             .factor_groups = factor_groups,
                                             .solve = solve};
    struct error err;
    struct interior *interior;
    double best[2] = {-INFINITY, INFINITY}, missing, total = 0;
    CHECK(interior_open(&interior, &problem, &err) == 0, "%s", err.text);
    for (size_t j = 0; j < N; j++) {
        total += plain->cost[j];
    }
    for (size_t e = 0; e < sizeof epsilon / sizeof *epsilon; e++) {
        struct interior_fit fit;
        interior_run(interior, epsilon[e], 0, NULL, &fit);
        CHECK(!fit.stop, "%s, %g: %s", what, epsilon[e], stop_message(fit.stop));
        double P = primal(plain, fit.w), value = dual(plain, fit.alpha, &missing);
        CHECK(fabs(P - fit.primal) <= 1e-9 * fabs(P), "%s: primal %.12g, %.12g", what, fit.primal,
              P);
        CHECK(fit.dual <= value + 1e-9 * fabs(P), "%s: dual %.12g, %.12g", what, fit.dual, value);
        CHECK(P - fit.dual <= epsilon[e] * P * (1 + 1e-6), "%s: %.12g, %.12g", what, P, fit.dual);
        CHECK(missing <= epsilon[e] * total, "%s: infeasible by %g", what, missing);
        CHECK(fit.iterations < 60, "%s: %g steps", what, (double)fit.iterations);
        best[0] = fmax(best[0], fit.dual);
        best[1] = fmin(best[1], P);
        CHECK(best[0] <= best[1] * (1 + 1e-10), "%s: %.15g over %.15g", what, best[0], best[1]);
        if (e + 1 == sizeof epsilon / sizeof *epsilon && !plain->grouped) {
            check_starts(&problem, plain, fit.w, P, what);
        }
    }
    struct interior_fit tied;
    interior_tie(interior, true);
    interior_run(interior, 1e-5, 0, NULL, &tied);
    CHECK(!tied.stop && tied.primal - tied.dual <= 1e-5 * tied.primal, "%s: tied %.12g, %.12g",
          what, tied.primal, tied.dual);
    interior_round(interior, 1e-4 * tied.primal, &tied);
    size_t zeros = 0;
    for (size_t j = 0; j < N; j++) {
        zeros += tied.alpha[j] == 0;
    }
    double value = dual(plain, tied.alpha, &missing);
    CHECK(tied.primal - value <= 1e-4 * tied.primal * (1 + 1e-6), "%s: rounded %.12g, %.12g", what,
          tied.primal, value);
    *n_zeros += zeros;
    *n_steps += tied.iterations;
    interior_close(interior);
}

static void check_hinges(void) {
    struct random random;
    size_t n_zeros = 0;
    uint64_t n_steps = 0;
    random_start(&random, 3, 1);
    for (int trial = 0; trial < 60; trial++) {
        struct plain plain = {.squared = trial % 2, .grouped = trial % 4 == 0};
        double cost = pow(10, trial % 7 - 3), unit[D];
        bool units = trial % 3 == 1, margins = trial % 5 == 1, free_weight = trial % 4 > 1;
        char what[80];
        for (size_t k = 0; k < D; k++) {
            unit[k] = units ? pow(10, (double)k * 1.5 - 2) : 1;
            plain.counted[k] = free_weight && k + 1 == D ? 0 : 1;
        }
        for (size_t j = 0; j < N; j++) {
            double label = j % 2 ? 1 : -1;
            for (size_t k = 0; k + 1 < D; k++) {
                plain.A[j][k] = label * unit[k] * (normal(&random) + (k == 0 ? label : 0));
            }
            plain.A[j][D - 1] = label;
            plain.group[j] = (uint32_t)(j / GROUP);
            plain.cost[j] = cost * (1 + random_unit(&random));
            plain.margin[j] = margins ? 1 + normal(&random) : 1;
        }
        snprintf(what, sizeof what, "squared %d, groups %d, units %d, margins %d, free %d, C %g",
                 plain.squared, plain.grouped, units, margins, free_weight, cost);
        check_problem(&plain, what, &n_zeros, &n_steps);
    }
    CHECK(n_zeros > 500, "%zu alphas of 2400 are 0", n_zeros);
    /* 470 where steps are not corrected, or the wrong way */
    CHECK(n_steps < 445, "%d steps", (int)n_steps);
    printf("ok: 60 problems, both losses, hinges alone and in groups, at gaps down to 1e-8\n");
}

static void check_pace(void) {
    struct pace pace = {.other = 100};
    CHECK_TRUE(!pace_slow(&pace, 0, 1, 1e-3));      /* the first look */
    CHECK_TRUE(!pace_slow(&pace, 20, 0.9, 1e-3));   /* not paid for */
    CHECK_TRUE(!pace_slow(&pace, 60, 0.01, 1e-3));  /* two decades in 60, one is left */
    CHECK_TRUE(!pace_slow(&pace, 80, 0.01, 1e-3));  /* too soon to tell */
    CHECK_TRUE(pace_slow(&pace, 120, 0.009, 1e-3)); /* next to nothing in 60 */
    struct pace alone = {.other = INFINITY};
    CHECK_TRUE(!pace_slow(&alone, 0, 1, 1e-3));
    CHECK_TRUE(!pace_slow(&alone, 1e300, 1, 1e-3)); /* nobody to hand over to */
    struct pace rising = {.other = 10};
    CHECK_TRUE(!pace_slow(&rising, 0, 0.5, 1e-3));
    CHECK_TRUE(pace_slow(&rising, 20, 0.6, 1e-3));
    CHECK_TRUE(!pace_slow(&rising, 40, 1e-4, 1e-3)); /* it is there */
    printf("ok: a pace is slow by what it gains for its work\n");
}

static void check_pivoted(void) {
    enum { ROWS = 12, RANK = 4 };
    struct random random;
    struct error err;
    double F[ROWS][RANK], K[ROWS * ROWS], L[ROWS * ROWS], most = 0;
    uint32_t pivot[ROWS];
    size_t rank;
    random_start(&random, 5, 2);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < RANK; k++) {
            F[i][k] = i % 5 == 4 ? F[i - 1][k] : normal(&random) * pow(10, (double)k);
        }
    }
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < ROWS; j++) {
            K[i * ROWS + j] = 0;
            for (size_t k = 0; k < RANK; k++) {
                K[i * ROWS + j] += F[i][k] * F[j][k];
            }
            most = fmax(most, fabs(K[i * ROWS + j]));
        }
    }
    memcpy(L, K, sizeof L);
    CHECK(cholesky_pivoted(L, ROWS, 0, &rank, pivot, &err) == 0, "%s", err.text);
    CHECK(rank == RANK, "rank %zu", rank);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < ROWS; j++) {
            double sum = 0;
            for (size_t k = 0; k < rank && k <= i && k <= j; k++) {
                sum += L[i * ROWS + k] * L[j * ROWS + k];
            }
            CHECK(fabs(sum - K[pivot[i] * ROWS + pivot[j]]) <= 1e-13 * most, "%zu, %zu: %g", i, j,
                  sum - K[pivot[i] * ROWS + pivot[j]]);
        }
    }
    CHECK(cholesky_pivoted(L, 0, 0, &rank, pivot, &err) == 0 && rank == 0, "rank %zu", rank);
    printf("ok: a pivoted factor has the matrix's rank, and makes it\n");
}

int main(void) {
    check_pace();
    check_pivoted();
    check_hinges();
    return 0;
}
