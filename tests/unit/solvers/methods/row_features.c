/* Features of a factor of a kernel matrix whose rows are nearly the same: they make the matrix, and
 * coefficients in double that cancel in it make what they are to. */
#include "solvers/methods/row_features.h"

#include "common/kernel/gram.h"
#include "solvers/methods/certify.h"
#include "tests/unit/compute.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { N = 24, D = 6 };

struct scene {
    float x[N * D];
    struct data data;
    struct gram *gram;
    struct problem problem;
    struct score_map map;
    struct certify *certify;
};

/* Rows of which one feature is about 200, with values of (x'z / 2 + 1)^3 of 10^13. */
static void open_scene(struct scene *scene, double constant) {
    static const struct kernel kernel = {
        .type = KERNEL_POLYNOMIAL, .gamma = .5, .coef0 = 1, .degree = 3};
    struct random random;
    struct error err;
    random_start(&random, 3, 0);
    for (size_t i = 0; i < N * D; i++) {
        scene->x[i] = (float)random_unit(&random) + (i % D == 0 ? 200 : 0);
    }
    scene->data = (struct data){.n_rows = N, .n_features = D, .value = scene->x};
    CHECK(gram_create(&scene->gram, &kernel, &scene->data, 1 << 20, true, NULL, &err) == 0, "%s",
          err.text);
    scene->problem =
        (struct problem){.data = &scene->data, .gram = scene->gram, .n = N, .constant = constant};
    CHECK(score_map_create(&scene->map, &scene->problem, &err) == 0, "%s", err.text);
    struct problem plain = scene->problem;
    plain.constant = 0;
    CHECK(certify_create(&scene->certify, &plain, &scene->map, constant, &err) == 0, "%s",
          err.text);
}

static void close_scene(struct scene *scene) {
    certify_free(scene->certify);
    score_map_free(&scene->map);
    gram_free(scene->gram);
}

/* (x'z / 2 + 1)^3 + constant^2: products of floats near 200 are exact in long double, the cube is
 * rounded there. */
static long double value_of(const struct scene *scene, size_t i, size_t j) {
    long double sum = 1;
    for (size_t f = 0; f < D; f++) {
        sum += (long double)scene->x[i * D + f] * (long double)scene->x[j * D + f] / 2;
    }
    return sum * sum * sum +
           (long double)scene->problem.constant * (long double)scene->problem.constant;
}

static void check_matrix(const struct scene *scene, const struct row_features *features) {
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            long double sum = 0, exact = value_of(scene, i, j);
            for (size_t f = 0; f < features->m; f++) {
                sum += (long double)features->F[i * features->m + f] *
                       (long double)features->F[j * features->m + f];
            }
            CHECK(fabsl(sum - exact) <= 4 * (long double)DBL_EPSILON * exact, "%zu, %zu: %Lg", i, j,
                  sum - exact);
        }
    }
}

/* Weights of 1 on all features ask for coefficients of many digits. What is left of them is a part
 * of what each by itself rounded would leave. */
static void check_coefficients(const struct row_features *features) {
    struct error err;
    size_t m = features->m;
    double w[N], b[N], plain = 0, left = 0;
    for (size_t f = 0; f < m; f++) {
        w[f] = 1;
    }
    CHECK(row_features_coefficients(features, w, b, &err) == 0, "%s", err.text);
    for (size_t f = 0; f < m; f++) {
        long double sum = 0, size = 0;
        for (size_t l = f; l < m; l++) {
            size_t i = features->pivot[l];
            long double value = (long double)features->F[i * m + f];
            value += features->low ? (long double)features->low[l * m + f] : 0;
            sum += value * (long double)b[i];
            size += fabsl(value * (long double)b[i]);
        }
        left = fmax(left, (double)fabsl(sum - 1));
        plain = fmax(plain, DBL_EPSILON / 2 * (double)size);
    }
    CHECK(plain > 0 && left <= plain / 500, "%g is left, and %g rounded plainly", left, plain);
}

/* The first features alone: coefficients of as many rows, with the scores that these features make.
 * Those of the first pivots are long, and the more so than others the earlier they are. */
static void check_truncated(struct row_features *features) {
    struct error err;
    double w[N], b[N], first[N * 2];
    size_t m = features->m, n = features->n;
    double part =
        fabs(features->F[features->pivot[1] * m + 1] / features->F[features->pivot[0] * m]);
    for (size_t i = 0; i < n; i++) {
        memcpy(first + 2 * i, features->F + i * m, 2 * sizeof *first);
    }
    row_features_truncate(features, part * .999999);
    CHECK(features->m == 2, "%zu features", features->m);
    CHECK_TRUE(memcmp(first, features->F, n * 2 * sizeof *first) == 0);
    w[0] = 1;
    w[1] = -2;
    CHECK(row_features_coefficients(features, w, b, &err) == 0, "%s", err.text);
    for (size_t f = 0; f < 2; f++) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < n; i++) {
            sum += b[i] * first[2 * i + f];
            size += fabs(b[i] * first[2 * i + f]);
            CHECK_TRUE(b[i] == 0 || i == features->pivot[0] || i == features->pivot[1]);
        }
        CHECK(fabs(sum - w[f]) <= 4 * DBL_EPSILON * size, "%g, not %g", sum, w[f]);
    }
    row_features_truncate(features, 1);
    CHECK(features->m == 1, "%zu features", features->m);
}

/* Rows of three features of some hundreds in groups: a cubic has 19 features but the constant, and
 * what rounding leaves may look like more of them. A dual point whose coefficients of 10^6 cancel
 * in the others has these left: scores of 1 are those of coefficients that hardly cancel. */
static void check_spread(void) {
    enum { ROWS = 300, WIDTH = 3, GROUPS = 6 };
    static const double TINY = 1e-3;
    static const struct kernel kernel = {
        .type = KERNEL_POLYNOMIAL, .gamma = .1, .coef0 = 1, .degree = 3};
    static float x[ROWS * WIDTH];
    static uint32_t row[ROWS];
    const size_t start[GROUPS + 1] = {0, 50, 100, 150, 200, 250, 300};
    const struct row_groups groups = {GROUPS, start, row};
    const struct data data = {.n_rows = ROWS, .n_features = WIDTH, .value = x};
    double reach[ROWS], w[ROWS], b[ROWS], size = 0, off = 0;
    static double K[ROWS][ROWS];
    struct random random;
    struct error err;
    struct row_features features;
    struct score_map map;
    bool possible;
    random_start(&random, 5, 0);
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        x[i] = (float)(random_unit(&random) < .5 ? 0 : 400 * random_unit(&random) - 200);
    }
    for (size_t i = 0; i < ROWS; i++) {
        row[i] = (uint32_t)i;
        for (size_t j = 0; j < ROWS; j++) {
            double sum = 10;
            for (size_t f = 0; f < WIDTH; f++) {
                sum += (double)x[i * WIDTH + f] * (double)x[j * WIDTH + f];
            }
            K[i][j] = sum * sum * sum / 1000;
        }
        reach[i] = sqrt(K[i][i]);
    }
    struct gram *gram;
    struct problem problem = {.data = &data, .n = ROWS};
    CHECK(gram_create(&gram, &kernel, &data, 1 << 20, true, NULL, &err) == 0, "%s", err.text);
    problem.gram = gram;
    CHECK(score_map_create(&map, &problem, &err) == 0 &&
              row_features_create(&features, &problem, &map, &groups, reach, &possible, &err) == 0,
          "%s", err.text);
    CHECK(possible && 2 * features.m <= ROWS, "%zu features", features.m);
    for (size_t f = 0; f < features.m; f++) {
        double norm = cblas_dnrm2(ROWS, features.F + f, (int)features.m);
        w[f] = norm > TINY ? 1 / norm : 1e6 * norm;
    }
    CHECK(row_features_coefficients(&features, w, b, &err) == 0, "%s", err.text);
    for (size_t i = 0; i < ROWS; i++) {
        size_t first = i - i % 50;
        double made = 0, wanted = 0;
        for (size_t j = 0; j < ROWS; j++) {
            made += (K[i][j] - K[first][j]) * b[j];
        }
        for (size_t f = 0; f < features.m; f++) {
            wanted += (features.F[i * features.m + f] - features.F[first * features.m + f]) * w[f];
        }
        size = fmax(size, fabs(wanted));
        off = fmax(off, fabs(made - wanted));
    }
    CHECK(off <= 1e-7 * size, "scores of %g are off by %g", size, off);
    row_features_free(&features);
    score_map_free(&map);
    gram_free(gram);
    puts("ok: coefficients of all rows cancel less than the pivots'");
}

/* Sums that cancel in double, of which nothing is lost: of coefficients, of products, and of what a
 * coefficient has beyond a double. */
static void check_adjoint(void) {
    enum { ROWS = 3, SUMS = 3 };
    const double p30 = 0x1p-30, F[ROWS * SUMS] = {1, 1 + p30, 1, 1, 1, 1, 1, 0, 0};
    const long double b[SUMS][ROWS] = {
        {1e16L, 1, -1e16L}, {1 + p30, -(1 + 2 * p30), 0}, {1 + 0x1p-60L, -1, 0}};
    const double expected[SUMS] = {1, 0x1p-60, 0x1p-60};
    struct row_features features = {.n = ROWS, .m = SUMS, .F = (double[ROWS * SUMS]){0}};
    memcpy(features.F, F, sizeof F);
    for (size_t k = 0; k < SUMS; k++) {
        double g[SUMS], rest[SUMS];
        row_features_adjoint(&features, b[k], rest, g);
        CHECK(g[k] == expected[k], "%zu: %g, not %g", k, g[k], expected[k]);
    }
}

int main(void) {
    static const struct row_groups none = {0};
    for (int constant = 0; constant < 2; constant++) {
        struct scene scene;
        struct row_features features;
        struct error err;
        bool possible;
        open_scene(&scene, constant);
        CHECK(row_features_create(&features, &scene.problem, &scene.map, &none,
                                  certify_reach(scene.certify), &possible, &err) == 0,
              "%s", err.text);
        CHECK(possible && features.m == N && features.low, "%zu features", features.m);
        check_matrix(&scene, &features);
        check_coefficients(&features);
        check_truncated(&features);
        row_features_free(&features);
        close_scene(&scene);
    }
    check_adjoint();
    check_spread();
    puts("ok: features make their kernel, and coefficients make what they are asked for");
    return 0;
}
