/* Products with the data matrix, and the vector loops that they use, against plain loops. */
#include "common/kernel/linear.h"
#include "common/base/vector.h"
#include "tests/unit/compute.h"

#include <float.h>

enum { POOLS = 3, WIDE = 80 };

/* Bound of the difference of two sums of so many terms in any order, of these magnitudes. */
static void check_sums(const char *what, size_t n, const double *found, const double *sum,
                       const double *size, size_t terms) {
    for (size_t j = 0; j < n; j++) {
        CHECK_CLOSE(found[j], sum[j], (double)(terms + 2) * DBL_EPSILON * size[j], "%s %zu", what,
                    j);
    }
}

/* Scores of m outputs with weights of `width` features or of others, of all rows and of some. */
static void check_scores(const struct data *x, const double *rows, uint32_t width, size_t n_weights,
                         size_t m, struct threads *const *pool) {
    size_t n = x->n_rows, shared = width < n_weights ? width : n_weights;
    double *w = check_array(n_weights * m, sizeof *w), *s = check_array(5 * n * m, sizeof *s);
    double *sum = s + n * m, *size = sum + n * m, *t = size + n * m, *sizes = t + n * m;
    struct random random = sample_random(9, n);
    for (size_t k = 0; k < n_weights * m; k++) {
        w[k] = random_unit(&random) - (m > 1 ? .5 : 0);
    }
    for (size_t j = 0; j < n * m; j++) {
        s[j] = t[j] = NAN;
        for (size_t c = 0; c < shared; c++) {
            sum[j] += rows[j / m * width + c] * w[c * m + j % m];
            size[j] += fabs(rows[j / m * width + c] * w[c * m + j % m]);
        }
    }
    linear_scores(x, w, n_weights, m, s, NULL);
    check_sums("score", n * m, s, sum, size, width);
    for (int p = 0; p < POOLS; p++) {
        linear_scores(x, w, n_weights, m, t, pool[p]);
        CHECK(memcmp(s, t, n * m * sizeof *s) == 0, "scores depend on the threads");
        linear_sizes(x, w, n_weights, sizes, m == 1 ? pool[p] : NULL);
        check_sums("size", m == 1 ? n : 0, sizes, size, size, width);
    }
    uint32_t some[3] = {(uint32_t)(n / 2), 0, (uint32_t)(n - 1)};
    struct data part;
    MUST(data_subset(x, some, n > 2 ? 3 : 1, &part, &err));
    linear_scores(&part, w, n_weights, m, t, NULL);
    for (size_t r = 0; r < part.n_rows; r++) {
        CHECK(memcmp(t + r * m, s + some[r] * m, m * sizeof *t) == 0,
              "the score of row %u depends on its neighbours", some[r]);
    }
    data_free(&part);
}

/* The transposed product of r, of |r| with |x|, and in long double. */
static void check_adjoint(const struct data *x, const double *rows, uint32_t width,
                          struct threads *const *pool) {
    size_t n = x->n_rows;
    double *r = check_array(2 * n, sizeof *r), *sizes = r + n;
    double *w = check_array(4 * (size_t)width, sizeof *w), *again = w + width;
    double *sum = again + width, *size = sum + width;
    struct random random = sample_random(9, n);
    for (size_t i = 0; i < n; i++) {
        r[i] = i % 5 == 2 ? 0 : random_unit(&random) - .5;
        sizes[i] = fabs(r[i]);
        for (size_t c = 0; c < width; c++) {
            sum[c] += r[i] * rows[i * width + c];
            size[c] += fabs(r[i] * rows[i * width + c]);
        }
    }
    for (int p = -1; p < POOLS; p++) {
        MUST(linear_adjoint(x, r, p < 0 ? w : again, p < 0 ? NULL : pool[p], &err));
        CHECK(p < 0 || memcmp(w, again, width * sizeof *w) == 0, "the adjoint depends on threads");
    }
    check_sums("adjoint", width, w, sum, size, n);
    for (int p = -1; p < POOLS; p++) {
        MUST(linear_adjoint_sizes(x, sizes, p < 0 ? w : again, p < 0 ? NULL : pool[p], &err));
        CHECK(p < 0 || memcmp(w, again, width * sizeof *w) == 0, "sizes depend on threads");
    }
    check_sums("adjoint of sizes", width, w, size, size, n);
}

/* w = X' diag(r) X v against its two products, one after the other. */
static void check_normal(const struct data *x, uint32_t width, struct threads *const *pool) {
    size_t n = x->n_rows;
    double *r = check_array(4 * n, sizeof *r), *scores = r + n, *products = scores + n;
    double *again = products + n;
    double *v = check_array(5 * (size_t)width, sizeof *v), *w = v + width, *two = w + width;
    double *sizes = two + width, *w_again = sizes + width;
    struct random random = sample_random(11, n);
    for (size_t c = 0; c < width; c++) {
        v[c] = random_unit(&random) - .5;
    }
    linear_scores(x, v, width, 1, scores, NULL);
    for (size_t i = 0; i < n; i++) {
        r[i] = i % 5 == 2 ? 0 : random_unit(&random);
        products[i] = again[i] = 0;
    }
    MUST(linear_normal(x, r, v, products, w, NULL, &err));
    for (int p = 0; p < POOLS; p++) {
        MUST(linear_normal(x, r, v, again, w_again, pool[p], &err));
        CHECK_TRUE(memcmp(w, w_again, width * sizeof *w) == 0);
        CHECK_TRUE(memcmp(products, again, n * sizeof *products) == 0);
    }
    for (size_t i = 0; i < n; i++) {
        scores[i] *= r[i];
        CHECK_CLOSE(products[i], scores[i], 1e-12 * width, "product %zu", i);
    }
    MUST(linear_adjoint(x, products, two, NULL, &err));
    for (size_t i = 0; i < n; i++) {
        scores[i] = fabs(products[i]);
    }
    MUST(linear_adjoint_sizes(x, scores, sizes, NULL, &err));
    check_sums("normal product", width, w, two, sizes, n);
}

static void test_shape(size_t n, uint32_t width, double density, bool sparse,
                       struct threads *const *pool) {
    static const size_t outputs[] = {1, 7, 8, 35};
    struct data x = sample_data(n, width, density, SAMPLE_SIGNED, sparse, true, n + width);
    double *rows = check_array(n * width, sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        data_row_dense(&x, i, width, rows + i * width);
    }
    for (size_t shorter = 0; shorter < 3; shorter++) {
        size_t n_weights = shorter == 0 ? width : shorter == 1 ? width / 2 + 1 : (size_t)width + 5;
        for (size_t o = 0; o < sizeof outputs / sizeof outputs[0]; o += (size_t)quick_step(2)) {
            check_scores(&x, rows, width, n_weights, outputs[o], pool);
        }
    }
    check_adjoint(&x, rows, width, pool);
    check_normal(&x, width, pool);
    data_free(&x);
}

/* Every version of a loop against a plain one, for floats and doubles; n near multiples of the
 * vector lengths, and rows that are not aligned. */
#define TEST_ROWS(type)                                                                            \
    static void test_rows_##type(const struct vector_##type *vector, size_t n) {                   \
        type values[VECTOR_ROWS][WIDE];                                                            \
        const type *row[VECTOR_ROWS];                                                              \
        double b[WIDE], weight[VECTOR_ROWS], dot[2][VECTOR_ROWS], out[2][WIDE];                    \
        struct random random = sample_random(4, n);                                                \
        for (size_t e = 0; e < (size_t)VECTOR_ROWS * WIDE; e++) {                                  \
            size_t k = e / WIDE, c = e % WIDE;                                                     \
            row[k] = values[k] + 1;                                                                \
            values[k][c] = (type)random_unit(&random);                                             \
            b[c] = random_unit(&random) - .5;                                                      \
            weight[k] = random_unit(&random) - .5;                                                 \
            dot[0][k] = dot[1][k] = (double)k;                                                     \
            out[0][c] = out[1][c] = (double)c;                                                     \
        }                                                                                          \
        vector->dot(row, n, b + 1, dot[0]);                                                        \
        vector->axpy(row, n, weight, out[0] + 1);                                                  \
        vector->both(row, n, b + 1, weight, dot[1], out[1] + 1);                                   \
        for (size_t t = 0; t < 2 * (VECTOR_ROWS + (size_t)WIDE); t++) {                            \
            bool is_dot = t / 2 < VECTOR_ROWS;                                                     \
            size_t at = is_dot ? t / 2 : t / 2 - VECTOR_ROWS;                                      \
            double sum = (double)at, found = is_dot ? dot[t % 2][at] : out[t % 2][at];             \
            for (size_t c = 0; is_dot && c < n; c++) {                                             \
                sum += (double)row[at][c] * b[c + 1];                                              \
            }                                                                                      \
            for (size_t k = 0; !is_dot && k < VECTOR_ROWS && at >= 1 && at <= n; k++) {            \
                sum += weight[k] * (double)values[k][at];                                          \
            }                                                                                      \
            CHECK_CLOSE(found, sum, 1e-13, "n %zu, %s %zu", n, is_dot ? "dot" : "axpy", at);       \
        }                                                                                          \
    }
TEST_ROWS(float)
TEST_ROWS(double)

enum { PRODUCT, MINIMUM, OVERLAP, LOOPS, SLOTS = 13, PANELS = 3, HITS = 7 };

/* The term of a hit a and a lane b. */
static double term(int loop, double a, double b) {
    return loop == PRODUCT   ? a * b
           : loop == MINIMUM ? fmin(a, b)
                             : (fabs(a) + fabs(b) - fabs(a - b)) / 2;
}

/* Small integers: sums are exact in any order, so versions must agree to the bit. */
#define TEST_PANELS(type, LANES)                                                                   \
    static void test_panels_##type(const struct vector_##type *vector) {                           \
        _Alignas(64) static type panel[PANELS * SLOTS * LANES];                                    \
        _Alignas(64) type sum[LOOPS * PANELS * LANES];                                             \
        struct vector_hit_##type hits[HITS];                                                       \
        size_t size = (size_t)SLOTS * LANES;                                                       \
        struct random random = sample_random(4, 0);                                                \
        for (size_t k = 0; k < PANELS * SLOTS * LANES; k++) {                                      \
            panel[k] = (type)random_below(&random, 9) - 4;                                         \
        }                                                                                          \
        for (uint32_t h = 0; h < HITS; h++) {                                                      \
            hits[h].slot = (uint32_t)random_below(&random, SLOTS);                                 \
            hits[h].value = (type)random_below(&random, 9) - 4;                                    \
        }                                                                                          \
        for (size_t n = 0; n <= HITS; n += HITS) {                                                 \
            for (size_t k = 0; k < LOOPS * PANELS * LANES; k++) {                                  \
                sum[k] = (type)(k % 5);                                                            \
            }                                                                                      \
            vector->product(hits, n, panel, PANELS, size, sum);                                    \
            vector->minimum(hits, n, panel, PANELS, size, sum + (size_t)MINIMUM * PANELS * LANES); \
            vector->overlap(hits, n, panel, PANELS, size, sum + (size_t)OVERLAP * PANELS * LANES); \
            for (size_t e = 0; e < LOOPS * PANELS * LANES; e++) {                                  \
                size_t p = e / LANES % PANELS, l = e % LANES;                                      \
                double expected = (double)(e % 5);                                                 \
                for (size_t h = 0; h < n; h++) {                                                   \
                    type lane = panel[p * size + hits[h].slot * LANES + l];                        \
                    expected +=                                                                    \
                        term((int)(e / LANES / PANELS), (double)hits[h].value, (double)lane);      \
                }                                                                                  \
                CHECK((double)sum[e] == expected, #type " panel %zu lane %zu", p, l);              \
            }                                                                                      \
        }                                                                                          \
    }
TEST_PANELS(float, VECTOR_FLOATS)
TEST_PANELS(double, VECTOR_DOUBLES)

enum { ROWS = 6, OUTPUTS = 4, LONG = WIDE + 80 };

/* The same for dots and axpys of k outputs, of a tile that is not aligned. */
#define TEST_TILES(type)                                                                           \
    static void test_tiles_##type(const struct vector_##type *vector, size_t m, size_t n,          \
                                  size_t k) {                                                      \
        static type tile[ROWS * LONG], b[OUTPUTS * LONG], w[OUTPUTS * LONG], out[OUTPUTS * LONG];  \
        type dots[ROWS * OUTPUTS];                                                                 \
        for (size_t e = 0; e < (size_t)OUTPUTS * LONG; e++) {                                      \
            b[e] = (type)(e % 11) - 5;                                                             \
            w[e] = (type)(e % 7) - 3;                                                              \
            out[e] = (type)(e % 5);                                                                \
        }                                                                                          \
        for (size_t e = 0; e < (size_t)ROWS * LONG; e++) {                                         \
            tile[e] = (type)(e % 13) - 6;                                                          \
            dots[e % (ROWS * OUTPUTS)] = 1;                                                        \
        }                                                                                          \
        vector->dots(tile + 1, LONG, m, n, b + 1, LONG, k, dots);                                  \
        vector->axpys(tile + 1, LONG, m, n, w, LONG, k, out + 1, LONG);                            \
        for (size_t e = 0; e < ROWS * OUTPUTS; e++) {                                              \
            size_t i = e / k, o = e % k;                                                           \
            double sum = 1;                                                                        \
            for (size_t c = 1; i < m && c <= n; c++) {                                             \
                sum += (double)(tile[i * LONG + c] * b[o * LONG + c]);                             \
            }                                                                                      \
            CHECK((double)dots[e] == sum, #type " dots %zu x %zu, row %zu", m, n, i);              \
        }                                                                                          \
        for (size_t e = 0; e < k * LONG; e++) {                                                    \
            size_t o = e / LONG, c = e % LONG;                                                     \
            double sum = (double)(e % 5);                                                          \
            for (size_t i = 0; i < m && c >= 1 && c <= n; i++) {                                   \
                sum += (double)(w[o * LONG + i] * tile[i * LONG + c]);                             \
            }                                                                                      \
            CHECK((double)out[e] == sum, #type " axpys %zu x %zu, column %zu", m, n, c);           \
        }                                                                                          \
    }
TEST_TILES(float)
TEST_TILES(double)

int main(void) {
    struct threads *pool[POOLS];
    const struct vector_float *floats[VECTOR_VERSIONS];
    const struct vector_double *doubles[VECTOR_VERSIONS];
    size_t versions = vector_versions(floats, doubles);
    for (size_t v = 0; v < versions; v++) {
        for (size_t n = 0; n < 70; n++) {
            test_rows_float(floats[v], n);
            test_rows_double(doubles[v], n);
            test_tiles_float(floats[v], n % (ROWS + 1), 2 * n, 1 + n % OUTPUTS);
            test_tiles_double(doubles[v], n % (ROWS + 1), 2 * n, 1 + n % OUTPUTS);
        }
        test_panels_float(floats[v]);
        test_panels_double(doubles[v]);
    }
    printf("ok: %zu versions of the vector loops\n", versions);
    for (size_t t = 0; t < POOLS; t++) {
        MUST(threads_create(&pool[t], t == 2 ? 16 : t + 1, &err));
    }
    test_shape(1, 1, 1, false, pool);
    test_shape(1, 1, 1, true, pool);
    test_shape(7, 5, .6, false, pool);
    test_shape(2500, 40, 1, false, pool);
    test_shape(2500, 40, .3, true, pool);
    test_shape(5000, 3, 1, false, pool);
    test_shape(77, 1100, 1, false, pool);
    test_shape(300, 20000, .02, true, pool);
    test_shape(3, 100000, 1e-3, true, pool);
    printf("ok: scores and adjoint equal plain sums, bit-equal for 1, 2 and 16 threads\n");
    for (size_t t = 0; t < POOLS; t++) {
        threads_free(pool[t]);
    }
    return 0;
}
