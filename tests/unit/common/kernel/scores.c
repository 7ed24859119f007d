/* Scores, of all rows and of some, and the bounds of their errors entry by entry, against plain
 * sums. */
#include "common/base/threads.h"
#include "common/kernel/kernel.h"
#include "common/kernel/rounding.h"
#include "tests/unit/common/kernel/kernels.h"
#include "tests/unit/compute.h"

#include <cblas.h>
#include <float.h>

/* Scores at some rows are those at all, but for the last bits: at those with coefficients, at these
 * and others, and at any. Others are left as they are. */
static void check_some(const struct kernel_rows *x, const double *c, size_t n_outputs,
                       const double *s, struct threads *threads) {
    size_t n = x->data->n_rows;
    uint32_t *at = sample_array(n, sizeof *at);
    double *t = sample_array(n * n_outputs, sizeof *t);
    struct error err;
    for (int what = 0; what < 4; what++) {
        size_t n_at = 0;
        for (size_t i = 0; i < n; i++) {
            bool used = false;
            for (size_t o = 0; o < n_outputs; o++) {
                used = used || c[i * n_outputs + o] != 0;
                t[i * n_outputs + o] = -77;
            }
            if (what == 0 ? used : what == 1 ? used || i % 5 == 0 : what == 2 && i % 3 == 1) {
                at[n_at++] = (uint32_t)i;
            }
        }
        CHECK(kernel_scores_at(x, c, n_outputs, at, n_at, t, threads, &err) == 0, "%s", err.text);
        for (size_t i = 0, a = 0; i < n; i++) {
            bool asked = a < n_at && at[a] == i;
            a += asked;
            for (size_t j = i * n_outputs; j < (i + 1) * n_outputs; j++) {
                CHECK(asked ? fabs(t[j] - s[j]) <= 1e-9 * (1 + fabs(s[j])) : t[j] == -77,
                      "scores at some rows, %d: (%zu): %.17g, not %.17g", what, i, t[j], s[j]);
            }
        }
    }
    free(at);
    free(t);
}

/* Bounds of the errors of scores are the sums of those of the entries. */
static void check_errors(const struct kernel_rows *x, const double *c, size_t n_outputs,
                         struct threads *threads) {
    size_t n = x->data->n_rows;
    struct kernel_rounding rounding;
    kernel_rounding_open(&rounding, x, 5);
    struct error err;
    struct kernel_scratch *scratch;
    double *size = sample_array(n * n_outputs, sizeof *size);
    double *error = sample_array(n * n_outputs, sizeof *error);
    for (size_t j = 0; j < n * n_outputs; j++) {
        size[j] = fabs(c[j]);
    }
    CHECK(kernel_scratch_create(&scratch, &err) == 0, "%s", err.text);
    CHECK(kernel_rounding_scores(&rounding, size, n_outputs, error, threads, &err) == 0, "%s",
          err.text);
    for (size_t i = 0; i < n; i += 29) {
        for (size_t o = 0; o < n_outputs; o += 1 + n_outputs / 4) {
            double sum = 0, value;
            for (uint32_t j = 0; j < n; j++) {
                CHECK(kernel_block_double(x, i, 1, x, j, 1, &value, 1, scratch, &err) == 0, "%s",
                      err.text);
                kernel_rounding_entries(&rounding, i, &j, 1, &value);
                sum += value * size[j * n_outputs + o];
            }
            CHECK(fabs(error[i * n_outputs + o] - sum) <= 1e-9 * sum,
                  "errors of scores (%zu,%zu): %g, should be %g", i, o, error[i * n_outputs + o],
                  sum);
        }
    }
    kernel_scratch_free(scratch);
    free(size);
    free(error);
}

/* scores = K C against the plain sums; zero coefficients; threads; rows one by one. */
static void test_scores(void) {
    struct error err;
    struct threads *pool[3];
    for (size_t t = 0; t < 3; t++) {
        CHECK(threads_create(&pool[t], t == 2 ? 16 : t + 1, &err) == 0, "%s", err.text);
    }
    const size_t outputs[] = {1, 3, 40}; /* of 40 most rows have a few coefficients */
    for (int form = 0; form < 12; form += quick_step(5)) {
        bool sparse = form & 1, same = form & 2;
        size_t n_outputs = outputs[form / 4], n = 700, m = same ? n : 410;
        struct data a = sample_data(n, 50, .3, SAMPLE_COUNTS, sparse, true, 40);
        struct data b = sample_data(m, 50, .3, SAMPLE_COUNTS, sparse, true, 41);
        for (int k = 0; k < KERNELS; k++) {
            struct kernel_rows x, z;
            CHECK(kernel_rows_create(&x, &kernels[k], &a, &err) == 0, "%s", err.text);
            CHECK(kernel_rows_create(&z, &kernels[k], &b, &err) == 0, "%s", err.text);
            const struct kernel_rows *other = same ? &x : &z;
            double *c = sample_array(m * n_outputs, sizeof *c);
            struct random random;
            random_start(&random, 5, 5);
            for (size_t j = 0; j < m * n_outputs; j++) {
                bool zero = k % 3 == 1 ? j / n_outputs % 3 != 0 : k % 3 == 2 && j % 2 == 0;
                zero = zero || (n_outputs == 40 && random_unit(&random) < .9);
                c[j] = zero ? 0 : random_unit(&random) - .5;
            }
            double *s = sample_array(n * n_outputs, sizeof *s);
            CHECK(kernel_scores(&x, other, c, n_outputs, s, NULL, &err) == 0, "%s", err.text);
            for (size_t i = 0; i < n; i += 13) {
                for (size_t o = 0; o < n_outputs; o += 1 + n_outputs / 8) {
                    double sum = 0, size = 0;
                    for (size_t j = 0; j < m; j++) {
                        double term = c[j * n_outputs + o] * kernel_value(&x, i, other, j);
                        sum += term;
                        size += fabs(term);
                    }
                    /* hundreds of roundings, conditioned by the kernel as in
                     * tests/unit/common/kernel/kernel.c, tolerance */
                    CHECK(fabs(s[i * n_outputs + o] - sum) <= 1e-11 * size,
                          "kernel %d scores (%zu,%zu): %.17g, should be %.17g", k, i, o,
                          s[i * n_outputs + o], sum);
                }
            }
            if (same) {
                check_errors(&x, c, n_outputs, pool[k % 3]);
            }
            double *t = sample_array(n * n_outputs, sizeof *t);
            for (int p = 0; p < 3; p++) {
                CHECK(kernel_scores(&x, other, c, n_outputs, t, pool[p], &err) == 0, "%s",
                      err.text);
                CHECK(memcmp(s, t, n * n_outputs * sizeof *s) == 0,
                      "kernel %d: scores depend on the number of threads", k);
            }
            if (same) {
                check_some(&x, c, n_outputs, s, pool[k % 3]);
            }
            if (!same) { /* any subset of the rows gets the same bits */
                for (size_t i = 0; i < n; i += 37) {
                    uint32_t rows[5] = {(uint32_t)i, (uint32_t)(i + 2) % 700, (uint32_t)(699 - i)};
                    size_t count = 1 + i % 3;
                    struct data part;
                    CHECK(data_subset(&a, rows, count, &part, &err) == 0, "%s", err.text);
                    struct kernel_rows few;
                    CHECK(kernel_rows_create(&few, &kernels[k], &part, &err) == 0, "few");
                    CHECK(kernel_scores(&few, other, c, n_outputs, t, NULL, &err) == 0, "few");
                    for (size_t r = 0; r < count; r++) {
                        CHECK(memcmp(t + r * n_outputs, s + rows[r] * n_outputs,
                                     n_outputs * sizeof *t) == 0,
                              "kernel %d: the score of row %u depends on its neighbours", k,
                              rows[r]);
                    }
                    kernel_rows_free(&few);
                    data_free(&part);
                }
            }
            free(c);
            free(s);
            free(t);
            kernel_rows_free(&x);
            kernel_rows_free(&z);
        }
        data_free(&a);
        data_free(&b);
    }
    for (size_t t = 0; t < 3; t++) {
        threads_free(pool[t]);
    }
    printf("ok: scores equal plain sums, whatever the threads and the other rows\n");
}

/* Of itself, so many rows that tasks have several tiles each; no coefficients at all. */
static void test_many(void) {
    enum { MANY = 2300 };
    struct error err;
    struct threads *threads;
    CHECK(threads_create(&threads, 3, &err) == 0, "%s", err.text);
    for (int form = 0; form < 6; form++) {
        size_t n_outputs = form < 4 ? 3 : 140; /* so many, in tasks of fewer rows */
        struct data data = sample_data(MANY, 20, .3, SAMPLE_COUNTS, form & 1, true, 43);
        struct kernel kernel = {.type = KERNEL_RBF, .gamma = .01};
        struct kernel_rows x;
        struct random random;
        CHECK(kernel_rows_create(&x, &kernel, &data, &err) == 0, "%s", err.text);
        double *c = sample_array(MANY * n_outputs, sizeof *c);
        double *s = sample_array(MANY * n_outputs, sizeof *s);
        double *t = sample_array(MANY * n_outputs, sizeof *t);
        random_start(&random, 5, (uint64_t)form);
        for (size_t j = 0; j < MANY * n_outputs; j++) { /* a third of the rows have none */
            bool zero = j / n_outputs % 3 == 1 || (n_outputs > 3 && random_unit(&random) < .9);
            c[j] = zero || form == 2 ? 0 : random_unit(&random) - .5;
            s[j] = -77;
        }
        CHECK(kernel_scores(&x, &x, c, n_outputs, s, threads, &err) == 0, "%s", err.text);
        CHECK(kernel_scores(&x, &x, c, n_outputs, t, NULL, &err) == 0, "%s", err.text);
        CHECK(memcmp(s, t, MANY * n_outputs * sizeof *s) == 0, "scores depend on threads");
        for (size_t i = 0; i < MANY; i += 31) {
            for (size_t o = 0; o < n_outputs; o += 1 + n_outputs / 3) {
                double sum = 0, size = 0;
                for (size_t j = 0; j < MANY; j++) {
                    double term = c[j * n_outputs + o];
                    term *= term != 0 ? kernel_value(&x, i, &x, j) : 0;
                    sum += term;
                    size += fabs(term);
                }
                CHECK(fabs(s[i * n_outputs + o] - sum) <= 1e-11 * size,
                      "form %d: score (%zu,%zu): %.17g, should be %.17g", form, i, o,
                      s[i * n_outputs + o], sum);
            }
        }
        check_some(&x, c, n_outputs, s, threads);
        free(c);
        free(s);
        free(t);
        kernel_rows_free(&x);
        data_free(&data);
    }
    threads_free(threads);
}

int main(void) {
    openblas_set_num_threads(1);
    test_scores();
    test_many();
    return 0;
}
