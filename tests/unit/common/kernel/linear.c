/* Linear operators and the vector loops below them, against plain loops. */
#include "common/kernel/linear.h"
#include "common/base/vector.h"
#include "tests/unit/compute.h"

#include <float.h>

/* Scores of sizes against sums of sizes, whatever the threads. */
static void check_sizes(const struct data *x, size_t n, uint32_t width, struct threads **pool,
                        struct random *random) {
    for (size_t shorter = 0; shorter < 2; shorter++) {
        size_t n_weights = shorter ? width / 2 + 1 : (size_t)width + 1;
        double *row = sample_array(width, sizeof *row), *w = sample_array(n_weights, sizeof *w);
        double *s = sample_array(n, sizeof *s), *t = sample_array(n, sizeof *t);
        for (size_t c = 0; c < n_weights; c++) {
            w[c] = random_unit(random);
        }
        linear_sizes(x, w, n_weights, s, NULL);
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            data_row_dense(x, i, width, row);
            for (size_t c = 0; c < width && c < n_weights; c++) {
                sum += fabs(row[c]) * w[c];
            }
            CHECK(fabs(s[i] - sum) <= (width + 2) * DBL_EPSILON * sum,
                  "%zu x %u, sizes of row %zu: %.17g, should be %.17g", n, width, i, s[i], sum);
        }
        for (int p = 0; p < 3; p++) {
            linear_sizes(x, w, n_weights, t, pool[p]);
            CHECK(memcmp(s, t, n * sizeof *s) == 0, "sizes depend on the threads");
        }
        free(row);
        free(w);
        free(s);
        free(t);
    }
}

/* The adjoint in long double. */
static void check_fine(const struct data *x, size_t n, uint32_t width, const double *r) {
    struct error err;
    double *row = sample_array(width, sizeof *row), *w = sample_array(width, sizeof *w);
    long double *sum = sample_array(width, sizeof *sum);
    for (size_t i = 0; i < n; i++) {
        data_row_dense(x, i, width, row);
        for (size_t c = 0; c < width; c++) {
            sum[c] += (long double)r[i] * (long double)row[c];
        }
    }
    CHECK(linear_adjoint_fine(x, r, w, &err) == 0, "%s", err.text);
    for (size_t c = 0; c < width; c++) {
        CHECK(w[c] == (double)sum[c], "%zu x %u, fine column %zu: %.17g, should be %.17g", n, width,
              c, w[c], (double)sum[c]);
    }
    free(row);
    free(w);
    free(sum);
}

static void test_shape(size_t n, uint32_t width, double density, bool sparse,
                       struct threads **pool) {
    struct error err;
    struct data x = sample_data(n, width, density, SAMPLE_SIGNED, sparse, true, n + width);
    struct random random;
    random_start(&random, 9, n);
    double *row = sample_array(width, sizeof *row);
    static const size_t outputs[] = {1, 2, 7, 8, 17, 26, 35};
    for (size_t shorter = 0; shorter < 3; shorter++) {
        size_t n_weights = shorter == 0 ? width : shorter == 1 ? width / 2 + 1 : (size_t)width + 5;
        for (size_t o = 0; o < sizeof outputs / sizeof outputs[0]; o += (size_t)quick_step(2)) {
            size_t m = outputs[o];
            double *w = sample_array(n_weights * m, sizeof *w);
            double *s = sample_array(n * m, sizeof *s), *t = sample_array(n * m, sizeof *t);
            for (size_t k = 0; k < n_weights * m; k++) {
                w[k] = random_unit(&random) - .5;
            }
            for (size_t k = 0; k < n * m; k++) {
                s[k] = t[k] = NAN;
            }
            linear_scores(&x, w, n_weights, m, s, NULL);
            for (size_t i = 0; i < n; i++) {
                data_row_dense(&x, i, width, row);
                for (size_t k = 0; k < m; k++) {
                    double sum = 0, size = 0;
                    for (size_t c = 0; c < width && c < n_weights; c++) {
                        sum += row[c] * w[c * m + k];
                        size += fabs(row[c] * w[c * m + k]);
                    }
                    /* sums of width products in any order */
                    CHECK(fabs(s[i * m + k] - sum) <= (width + 2) * DBL_EPSILON * size,
                          "%zu x %u, output %zu of %zu, row %zu: %.17g, should be %.17g", n, width,
                          k, m, i, s[i * m + k], sum);
                }
            }
            for (int p = 0; p < 3; p++) {
                linear_scores(&x, w, n_weights, m, t, pool[p]);
                CHECK(memcmp(s, t, n * m * sizeof *s) == 0, "scores depend on the threads");
            }
            uint32_t some[3] = {(uint32_t)(n / 2), 0, (uint32_t)(n - 1)};
            struct data part;
            CHECK(data_subset(&x, some, n > 2 ? 3 : 1, &part, &err) == 0, "%s", err.text);
            linear_scores(&part, w, n_weights, m, t, NULL);
            for (size_t r = 0; r < part.n_rows; r++) {
                CHECK(memcmp(t + r * m, s + some[r] * m, m * sizeof *t) == 0,
                      "the score of row %u depends on its neighbours", some[r]);
            }
            data_free(&part);
            free(w);
            free(s);
            free(t);
        }
    }
    check_sizes(&x, n, width, pool, &random);
    double *r = sample_array(n, sizeof *r), *w = sample_array(width, sizeof *w);
    double *sum = sample_array(width, sizeof *sum), *size = sample_array(width, sizeof *size);
    double *again = sample_array(width, sizeof *again);
    for (size_t i = 0; i < n; i++) {
        r[i] = i % 5 == 2 ? 0 : random_unit(&random) - .5;
        data_row_dense(&x, i, width, row);
        for (size_t c = 0; c < width; c++) {
            sum[c] += r[i] * row[c];
            size[c] += fabs(r[i] * row[c]);
        }
    }
    for (size_t c = 0; c < width; c++) {
        w[c] = NAN;
    }
    CHECK(linear_adjoint(&x, r, w, NULL, &err) == 0, "%s", err.text);
    for (size_t c = 0; c < width; c++) {
        CHECK(fabs(w[c] - sum[c]) <= (double)(n + 2) * DBL_EPSILON * size[c],
              "%zu x %u, adjoint column %zu: %.17g, should be %.17g", n, width, c, w[c], sum[c]);
    }
    for (int p = 0; p < 3; p++) {
        CHECK(linear_adjoint(&x, r, again, pool[p], &err) == 0, "%s", err.text);
        CHECK(memcmp(w, again, width * sizeof *w) == 0, "the adjoint depends on the threads");
    }
    check_fine(&x, n, width, r);
    for (size_t i = 0; i < n; i++) {
        r[i] = fabs(r[i]);
    }
    CHECK(linear_adjoint_sizes(&x, r, w, NULL, &err) == 0, "%s", err.text);
    for (size_t c = 0; c < width; c++) {
        CHECK(fabs(w[c] - size[c]) <= (double)(n + 2) * DBL_EPSILON * size[c],
              "%zu x %u, sizes, column %zu: %.17g, should be %.17g", n, width, c, w[c], size[c]);
    }
    for (int p = 0; p < 3; p++) {
        CHECK(linear_adjoint_sizes(&x, r, again, pool[p], &err) == 0, "%s", err.text);
        CHECK(memcmp(w, again, width * sizeof *w) == 0, "sizes depend on the threads");
    }
    free(row);
    free(r);
    free(w);
    free(sum);
    free(size);
    free(again);
    data_free(&x);
}

/* Every version of a loop against a plain one; n around the vectors' lengths. */
static void test_rows_float(const struct vector_float *vector, size_t n) {
    struct random random;
    random_start(&random, 4, n);
    float values[VECTOR_ROWS][80];
    const float *row[VECTOR_ROWS];
    double b[80], weight[VECTOR_ROWS], dot[VECTOR_ROWS], out[80], dot2[VECTOR_ROWS], out2[80];
    for (size_t k = 0; k < VECTOR_ROWS; k++) {
        row[k] = values[k] + 1; /* not aligned */
        weight[k] = random_unit(&random) - .5;
        dot[k] = dot2[k] = (double)k;
        for (size_t c = 0; c < 80; c++) {
            values[k][c] = (float)random_unit(&random);
        }
    }
    for (size_t c = 0; c < 80; c++) {
        b[c] = random_unit(&random) - .5;
        out[c] = out2[c] = (double)c;
    }
    vector->dot(row, n, b + 1, dot);
    vector->axpy(row, n, weight, out + 1);
    vector->both(row, n, b + 1, weight, dot2, out2 + 1);
    for (size_t k = 0; k < VECTOR_ROWS; k++) {
        double sum = (double)k;
        for (size_t c = 0; c < n; c++) {
            sum += (double)row[k][c] * b[c + 1];
        }
        CHECK(fabs(dot[k] - sum) <= 1e-13 && fabs(dot2[k] - sum) <= 1e-13, "n %zu dot", n);
    }
    for (size_t c = 0; c < 80; c++) {
        double sum = (double)c;
        for (size_t k = 0; k < VECTOR_ROWS && c >= 1 && c <= n; k++) {
            sum += weight[k] * (double)values[k][c];
        }
        CHECK(fabs(out[c] - sum) <= 1e-13 && fabs(out2[c] - sum) <= 1e-13, "n %zu axpy at %zu", n,
              c);
    }
}

static void test_rows_double(const struct vector_double *vector, size_t n) {
    struct random random;
    random_start(&random, 4, n);
    double values[VECTOR_ROWS][80], b[80], weight[VECTOR_ROWS], dot[VECTOR_ROWS], out[80];
    const double *row[VECTOR_ROWS];
    double dot2[VECTOR_ROWS], out2[80];
    for (size_t k = 0; k < VECTOR_ROWS; k++) {
        row[k] = values[k] + 1;
        weight[k] = random_unit(&random) - .5;
        dot[k] = dot2[k] = (double)k;
        for (size_t c = 0; c < 80; c++) {
            values[k][c] = random_unit(&random);
        }
    }
    for (size_t c = 0; c < 80; c++) {
        b[c] = random_unit(&random) - .5;
        out[c] = out2[c] = (double)c;
    }
    vector->dot(row, n, b + 1, dot);
    vector->axpy(row, n, weight, out + 1);
    vector->both(row, n, b + 1, weight, dot2, out2 + 1);
    for (size_t k = 0; k < VECTOR_ROWS; k++) {
        double sum = (double)k;
        for (size_t c = 0; c < n; c++) {
            sum += row[k][c] * b[c + 1];
        }
        CHECK(fabs(dot[k] - sum) <= 1e-13 && fabs(dot2[k] - sum) <= 1e-13, "n %zu dot", n);
    }
    for (size_t c = 0; c < 80; c++) {
        double sum = (double)c;
        for (size_t k = 0; k < VECTOR_ROWS && c >= 1 && c <= n; k++) {
            sum += weight[k] * values[k][c];
        }
        CHECK(fabs(out[c] - sum) <= 1e-13 && fabs(out2[c] - sum) <= 1e-13, "n %zu axpy at %zu", n,
              c);
    }
}

enum { PRODUCT, MINIMUM, OVERLAP, LOOPS };

/* What a loop adds up of a hit a and a lane b. */
static double term(int loop, double a, double b) {
    return loop == PRODUCT   ? a * b
           : loop == MINIMUM ? fmin(a, b)
                             : (fabs(a) + fabs(b) - fabs(a - b)) / 2;
}

/* Small integers: sums are exact in any order, so versions must agree to the bit. */
static void test_panels(const struct vector_float *floats, const struct vector_double *doubles) {
    enum { SLOTS = 13, PANELS = 3, HITS = 7 };
    struct random random;
    random_start(&random, 4, 0);
    _Alignas(64) static float panel[PANELS][SLOTS][VECTOR_FLOATS];
    _Alignas(64) static double wide[PANELS][SLOTS][VECTOR_DOUBLES];
    _Alignas(64) float sum[LOOPS][PANELS][VECTOR_FLOATS];
    _Alignas(64) double wide_sum[LOOPS][PANELS][VECTOR_DOUBLES];
    struct vector_hit_float hits[HITS];
    struct vector_hit_double wide_hits[HITS];
    for (uint32_t h = 0; h < HITS; h++) {
        wide_hits[h].slot = hits[h].slot = (uint32_t)random_below(&random, SLOTS);
        wide_hits[h].value = (double)random_below(&random, 9) - 4;
        hits[h].value = (float)wide_hits[h].value;
    }
    for (size_t k = 0; k < PANELS * SLOTS * VECTOR_FLOATS; k++) {
        (&panel[0][0][0])[k] = (float)random_below(&random, 9) - 4;
    }
    for (size_t k = 0; k < PANELS * SLOTS * VECTOR_DOUBLES; k++) {
        (&wide[0][0][0])[k] = (double)random_below(&random, 9) - 4;
    }
    for (size_t n = 0; n <= HITS; n += HITS) {
        for (size_t k = 0; k < LOOPS * PANELS * VECTOR_FLOATS; k++) {
            (&sum[0][0][0])[k] = (float)(k % 5);
        }
        for (size_t k = 0; k < LOOPS * PANELS * VECTOR_DOUBLES; k++) {
            (&wide_sum[0][0][0])[k] = (double)(k % 5);
        }
        size_t size = (size_t)SLOTS * VECTOR_FLOATS, wide_size = (size_t)SLOTS * VECTOR_DOUBLES;
        const float *values = &panel[0][0][0];
        const double *wide_values = &wide[0][0][0];
        floats->product(hits, n, values, PANELS, size, &sum[PRODUCT][0][0]);
        floats->minimum(hits, n, values, PANELS, size, &sum[MINIMUM][0][0]);
        floats->overlap(hits, n, values, PANELS, size, &sum[OVERLAP][0][0]);
        doubles->product(wide_hits, n, wide_values, PANELS, wide_size, &wide_sum[PRODUCT][0][0]);
        doubles->minimum(wide_hits, n, wide_values, PANELS, wide_size, &wide_sum[MINIMUM][0][0]);
        doubles->overlap(wide_hits, n, wide_values, PANELS, wide_size, &wide_sum[OVERLAP][0][0]);
        for (size_t e = 0; e < LOOPS * PANELS * VECTOR_FLOATS; e++) {
            size_t p = e / VECTOR_FLOATS % PANELS, l = e % VECTOR_FLOATS;
            int loop = (int)(e / VECTOR_FLOATS / PANELS);
            double expected = (double)(e % 5);
            for (size_t h = 0; h < n; h++) {
                expected += term(loop, (double)hits[h].value, (double)panel[p][hits[h].slot][l]);
            }
            CHECK((double)(&sum[0][0][0])[e] == expected, "float loop %d panel %zu lane %zu", loop,
                  p, l);
        }
        for (size_t e = 0; e < LOOPS * PANELS * VECTOR_DOUBLES; e++) {
            size_t p = e / VECTOR_DOUBLES % PANELS, l = e % VECTOR_DOUBLES;
            int loop = (int)(e / VECTOR_DOUBLES / PANELS);
            double expected = (double)(e % 5);
            for (size_t h = 0; h < n; h++) {
                expected += term(loop, wide_hits[h].value, wide[p][wide_hits[h].slot][l]);
            }
            CHECK((&wide_sum[0][0][0])[e] == expected, "double loop %d panel %zu lane %zu", loop, p,
                  l);
        }
    }
}

int main(void) {
    struct error err;
    struct threads *pool[3];
    const struct vector_float *floats[VECTOR_VERSIONS];
    const struct vector_double *doubles[VECTOR_VERSIONS];
    size_t versions = vector_versions(floats, doubles);
    for (size_t v = 0; v < versions; v++) {
        for (size_t n = 0; n < 70; n++) {
            test_rows_float(floats[v], n);
            test_rows_double(doubles[v], n);
        }
        test_panels(floats[v], doubles[v]);
    }
    printf("ok: %zu versions of the vector loops\n", versions);
    for (size_t t = 0; t < 3; t++) {
        CHECK(threads_create(&pool[t], t == 2 ? 16 : t + 1, &err) == 0, "%s", err.text);
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
    for (size_t t = 0; t < 3; t++) {
        threads_free(pool[t]);
    }
    return 0;
}
