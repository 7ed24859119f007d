/* Kernel values and scores in double-double against ball arithmetic. */
#include "common/kernel/kernel_dd.h"

#include "check/ball.h"
#include "common/kernel/rounding.h"
#include "tests/unit/common/kernel/kernels.h"
#include "tests/unit/compute.h"

enum { ROWS = 37, WIDTH = 29, AT = 30, OUTPUTS = 3 };

static struct ball ball_dd(struct dd a) {
    return ball_add(ball_of(a.hi), ball_of(a.lo));
}

/* Sums over the features of two rows. */
struct sums {
    struct ball product, square, distance, least, x, z, x_size, z_size;
};

static struct sums sums_of(const double *x, const double *z) {
    struct sums s = {.product = ball_of(0)};
    for (size_t k = 0; k < WIDTH; k++) {
        struct ball u = ball_of(x[k]), v = ball_of(z[k]), t = ball_subtract(u, v);
        s.product = ball_add(s.product, ball_multiply(u, v));
        s.square = ball_add(s.square, ball_multiply(t, t));
        s.distance = ball_add(s.distance, ball_absolute(t));
        s.least = ball_add(s.least, ball_of(fmin(x[k], z[k])));
        s.x = ball_add(s.x, ball_multiply(u, u));
        s.z = ball_add(s.z, ball_multiply(v, v));
        s.x_size = ball_add(s.x_size, ball_absolute(u));
        s.z_size = ball_add(s.z_size, ball_absolute(v));
    }
    return s;
}

static struct ball times_gamma(const struct kernel *kernel, struct ball a) {
    return ball_multiply(ball_of(kernel->gamma), a);
}

static struct ball ratio(struct ball a, struct ball x, struct ball z) {
    struct ball both = ball_add(x, z);
    return ball_is_zero(both) ? ball_of(1) : ball_divide(a, ball_subtract(both, a));
}

/* k(x, z) by its definition. */
static struct ball true_value(const struct kernel *kernel, const double *x, const double *z) {
    struct sums s = sums_of(x, z);
    struct ball base = ball_add(times_gamma(kernel, s.product), ball_of(kernel->coef0));
    switch (kernel->type) {
    case KERNEL_LINEAR:
        return s.product;
    case KERNEL_POLYNOMIAL:
        return ball_power(base, kernel->degree);
    case KERNEL_SIGMOID:
        return ball_tangent(base);
    case KERNEL_RBF:
        return ball_exponential(ball_negative(times_gamma(kernel, s.square)));
    case KERNEL_LAPLACIAN:
        return ball_exponential(ball_negative(times_gamma(kernel, s.distance)));
    case KERNEL_RATIONAL:
        return ball_divide(ball_of(1), ball_add(ball_of(1), times_gamma(kernel, s.distance)));
    case KERNEL_TANIMOTO:
        return ratio(s.product, s.x, s.z);
    case KERNEL_MINMAX:
        return ratio(s.least, s.x_size, s.z_size);
    case KERNEL_PRECOMPUTED:
        break;
    }
    return ball_of(NAN);
}

/* True if a is within `off` of a number of the ball, whose radius is not much larger. */
static bool within(struct dd a, struct ball b, double off) {
    struct ball d = ball_subtract(ball_dd(a), b);
    return d.r < INFINITY && fabs(d.m.hi) <= off + d.r && d.r <= 1e3 * off + 1e-250;
}

struct scene {
    struct data data;
    struct kernel_rows rows;
    double x[ROWS][WIDTH], norm_bound[ROWS];
    uint32_t at[AT];
    struct dd b[AT * OUTPUTS], s[AT * OUTPUTS];
    struct ball value[AT][AT];
};

static void open_scene(struct scene *scene, const struct kernel *kernel, bool sparse, double size,
                       uint64_t seed) {
    struct random random = sample_random(seed, 1);
    bool positive = kernel->type == KERNEL_MINMAX;
    enum sample_values values = positive ? SAMPLE_COUNTS : size > 1 ? SAMPLE_NEAR : SAMPLE_SIGNED;
    scene->data = sample_data(ROWS, WIDTH, .5, values, sparse, true, seed);
    for (size_t v = 0; v < data_values(&scene->data); v++) {
        /* differences of such different values are not doubles */
        scene->data.value[v] *= (float)(size > 1 && v % 3 == 0 ? 1e-9 : size);
    }
    MUST(kernel_rows_create(&scene->rows, kernel, &scene->data, &err));
    for (size_t i = 0; i < ROWS; i++) {
        data_row_dense(&scene->data, i, WIDTH, scene->x[i]);
    }
    kernel_norm_bounds(&scene->rows, scene->norm_bound);
    for (size_t a = 0; a < AT; a++) {
        scene->at[a] = (uint32_t)(a + (a > 9) + (a > 20));
        for (size_t o = 0; o < OUTPUTS; o++) {
            double b = a % 5 == 4 ? 0 : exp2(40 * random_unit(&random)) - 1e6;
            scene->b[a * OUTPUTS + o] =
                dd_two_sum(b, a % 5 == 4 ? 0 : ldexp(random_unit(&random), -20));
        }
    }
    for (size_t a = 0; a < AT; a++) {
        for (size_t c = 0; c < AT; c++) {
            scene->value[a][c] = true_value(kernel, scene->x[scene->at[a]], scene->x[scene->at[c]]);
        }
    }
}

static void close_scene(struct scene *scene) {
    kernel_rows_free(&scene->rows);
    data_free(&scene->data);
}

static void check_scores(struct scene *scene, const char *what, size_t threads) {
    struct threads *pool;
    double f = kernel_rounding_dd(&scene->rows, AT);
    enum kernel_type type = scene->rows.kernel->type;
    bool exponentials = type == KERNEL_RBF || type == KERNEL_LAPLACIAN || type == KERNEL_SIGMOID;
    CHECK(f > 0 && f < (exponentials ? 0x1p-87 : 0x1p-92), "%s: the bound is %g", what, f);
    MUST(threads_create(&pool, threads, &err));
    struct dd before[AT * OUTPUTS];
    memcpy(before, scene->s, sizeof before);
    MUST(kernel_scores_dd(&scene->rows, scene->at, AT, scene->b, OUTPUTS, scene->s, pool, &err));
    threads_free(pool);
    CHECK(threads == 1 || memcmp(before, scene->s, sizeof before) == 0, "%s: threads", what);
    for (size_t a = 0; a < AT; a++) {
        for (size_t o = 0; o < OUTPUTS; o++) {
            struct ball sum = ball_of(0);
            double size = 0, most = 0;
            for (size_t c = 0; c < AT; c++) {
                struct dd b = scene->b[c * OUTPUTS + o];
                sum = ball_add(sum, ball_multiply(ball_dd(b), scene->value[a][c]));
                size += fabs(b.hi) * scene->norm_bound[scene->at[c]];
                most += fabs(b.hi);
            }
            double off = f * scene->norm_bound[scene->at[a]] * size + KERNEL_MIN_ERROR_DD * most;
            CHECK(within(scene->s[a * OUTPUTS + o], sum, off), "%s: score %zu of row %zu", what, o,
                  a);
        }
    }
}

/* Values, as the remainder of a matrix of doubles. */
static void check_rest(const struct scene *scene, const char *what) {
    double K[AT * AT], rest[AT * AT], f = kernel_rounding_dd(&scene->rows, 0);
    for (size_t j = 0; j < AT * AT; j++) {
        K[j] = kernel_value(&scene->rows, scene->at[j / AT], &scene->rows, scene->at[j % AT]);
    }
    MUST(kernel_remainder_dd(&scene->rows, scene->at, AT, K, rest, NULL, &err));
    for (size_t j = 0; j < AT * AT; j++) {
        double norm_bound =
            scene->norm_bound[scene->at[j / AT]] * scene->norm_bound[scene->at[j % AT]];
        double off = f * norm_bound + 0x1p-53 * fabs(rest[j]) + KERNEL_MIN_ERROR_DD;
        struct dd value = dd_two_sum(K[j], rest[j]);
        CHECK(within(value, scene->value[j / AT][j % AT], off), "%s: value %zu", what, j);
    }
}

/* The empty sum, and stored values, where that of the later row counts. */
static void check_stored(void) {
    static float values[] = {4, 1, 2, /**/ 1.5F, 3, -1, /**/ 2, -1, 5};
    static uint64_t serial[] = {1, 2, 3};
    const uint32_t at[] = {0, 1, 2};
    const struct dd b[] = {{1, 0}, {2, 0}, {-3, 0x1p-60}}, none[3] = {{0, 0}};
    struct data data = {.n_rows = 3, .n_features = 3, .value = values, .serial = serial};
    struct kernel kernel = {.type = KERNEL_PRECOMPUTED};
    struct kernel_rows rows;
    struct dd s[3];
    MUST(kernel_rows_create(&rows, &kernel, &data, &err));
    CHECK_TRUE(kernel_scores_dd(&rows, at, 3, b, 1, s, NULL, &err) == 0);
    CHECK(s[0].hi == 4 + 3 - 6 && s[0].lo == 0x1p-59, "row 0: %g %g", s[0].hi, s[0].lo);
    CHECK(s[1].hi == 1.5 + 6 + 3 && s[1].lo == -0x1p-60, "row 1: %g %g", s[1].hi, s[1].lo);
    CHECK(s[2].hi == 2 - 2 - 15 && s[2].lo == 5 * 0x1p-60, "row 2: %g %g", s[2].hi, s[2].lo);
    CHECK_TRUE(kernel_scores_dd(&rows, at, 3, none, 1, s, NULL, &err) == 0);
    CHECK(s[0].hi == 0 && s[2].lo == 0, "scores of nothing");
    kernel_rows_free(&rows);
}

int main(void) {
    for (size_t t = 0; t < KERNELS; t++) {
        for (size_t which = 0; which < 4; which++) {
            struct scene scene;
            char what[64];
            double size = which & 2 ? 3e5 : 1;
            snprintf(what, sizeof what, "%s, %zu", kernel_names[kernels[t].type], which);
            open_scene(&scene, &kernels[t], which & 1, size, 100 + which);
            check_scores(&scene, what, 1);
            check_scores(&scene, what, 3);
            check_rest(&scene, what);
            close_scene(&scene);
        }
    }
    printf("ok: values and scores in double-double are within their bounds of the true ones\n");
    check_stored();
    printf("ok: stored values are what they are\n");
    return 0;
}
