/* The Gram matrix and its products against plain sums, for any part of it that is cached. */
#include "common/double_double/dd.h"
#include "common/kernel/gram.h"
#include "common/kernel/kernel_dd.h"
#include "common/kernel/rounding.h"
#include "tests/unit/compute.h"

#include <cblas.h>

static const struct kernel kernels[] = {{KERNEL_LINEAR, 0, 0, 0},
                                        {KERNEL_RBF, 0, .05, 0},
                                        {KERNEL_TANIMOTO, 0, 0, 0},
                                        {KERNEL_MINMAX, 0, 0, 0},
                                        {KERNEL_LAPLACIAN, 0, .05, 0}};

/* b with no, few, blocks of, or only non-zero values */
static void fill(double *b, size_t n, int pattern, struct random *random) {
    for (size_t i = 0; i < n; i++) {
        bool on = pattern == 0   ? true
                  : pattern == 1 ? i % 3 == 1
                  : pattern == 2 ? i >= n / 2
                  : pattern == 3 ? i / 200 % 2 == 0
                  : pattern == 4 ? i == n / 3
                                 : false;
        b[i] = on ? random_unit(random) - .4 : 0;
    }
}

/* Relative error of an entry: sums of counts are exact, but exp's argument, up to 87, is rounded
 * three times (gamma, its product with the distance, the reduction): 87 * 3 units, and a few. */
static double entry_error(bool wide) {
    return 300 * (wide ? 0x1p-53 : 0x1p-24);
}

/* Products and entries of a matrix against those of kernel_value. */
static void check_matrix(const struct gram *gram, bool wide, struct threads **pool) {
    size_t n = gram_size(gram);
    const struct kernel_rows *rows = gram_rows(gram);
    const struct kernel *kernel = rows->kernel;
    double *k = check_array(n * n, sizeof *k), *b = check_array(n, sizeof *b);
    double *out = check_array(n, sizeof *out), *again = check_array(n, sizeof *again);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            k[i * n + j] = k[j * n + i] = kernel_value(rows, i, rows, j);
        }
    }
    struct random random = sample_random(3, n);
    for (int pattern = 0; pattern < 6; pattern++) {
        fill(b, n, pattern, &random);
        for (size_t i = 0; i < n; i++) {
            out[i] = again[i] = NAN;
        }
        MUST(gram_product(gram, b, out, NULL, &err));
        for (size_t i = 0; i < n; i++) {
            double sum = 0, size = 0;
            for (size_t j = 0; j < n; j++) {
                sum += k[i * n + j] * b[j];
                size += fabs(k[i * n + j] * b[j]);
            }
            CHECK_CLOSE(out[i], sum, entry_error(wide) * size, "n %zu kernel %d pattern %d row %zu",
                        n, kernel->type, pattern, i);
        }
        for (int p = 0; p < 3; p++) {
            MUST(gram_product(gram, b, again, pool[p], &err));
            CHECK(memcmp(out, again, n * sizeof *out) == 0,
                  "n %zu kernel %d pattern %d: the product depends on the number of threads", n,
                  kernel->type, pattern);
        }
    }
    enum { COLUMNS = 3 };
    uint32_t *some = check_array(n, sizeof *some);
    double *many = check_array(n * COLUMNS, sizeof *many);
    double *sums = check_array(n * COLUMNS, sizeof *sums);
    double *sums_again = check_array(n * COLUMNS, sizeof *sums_again);
    size_t n_some = 0;
    for (size_t r = 0; r < n; r++) {
        some[n_some] = (uint32_t)r;
        n_some += r % 3 != 1;
    }
    for (int all = 0; all < 2; all++) { /* for some rows, and for all */
        size_t m = all ? n : n_some;
        for (size_t c = 0; c < COLUMNS; c++) {
            fill(b, m, (int)c, &random);
            for (size_t r = 0; r < m; r++) {
                many[r * COLUMNS + c] = b[r];
            }
        }
        const uint32_t *list = all ? NULL : some;
        MUST(gram_products(gram, list, m, many, COLUMNS, sums, NULL, &err));
        for (size_t e = 0; e < m * COLUMNS; e++) {
            double sum = 0, size = 0;
            for (size_t c = 0; c < m; c++) {
                size_t row = all ? e / COLUMNS : some[e / COLUMNS], column = all ? c : some[c];
                double term = k[row * n + column] * many[c * COLUMNS + e % COLUMNS];
                sum += term;
                size += fabs(term);
            }
            /* coefficients are rounded, too, and sums of 512 terms are in the type of the
             * entries */
            CHECK_CLOSE(sums[e], sum, 2 * entry_error(wide) * size,
                        "n %zu kernel %d: product of many columns", n, kernel->type);
        }
        for (int p = 0; p < 3; p++) {
            MUST(gram_products(gram, list, m, many, COLUMNS, sums_again, pool[p], &err));
            CHECK(memcmp(sums, sums_again, m * COLUMNS * sizeof *sums) == 0,
                  "n %zu kernel %d: the product of many columns depends on the threads", n,
                  kernel->type);
        }
    }
    uint32_t i[9], j[7];
    double block[63];
    for (uint32_t r = 0; r < 9; r++) {
        i[r] = (uint32_t)((r * 31 + 5) % n);
        j[r % 7] = (uint32_t)((r * 17 + n - 1) % n);
    }
    MUST(gram_block(gram, i, 9, j, 7, block, &err));
    for (size_t e = 0; e < 63; e++) {
        double value = k[i[e / 7] * n + j[e % 7]];
        CHECK_NEAR(block[e], value, entry_error(wide), "entry (%u,%u)", i[e / 7], j[e % 7]);
    }
    MUST(gram_block_exact(gram, i, 9, j, 7, block, &err));
    for (size_t e = 0; e < 63; e++) {
        double value = k[i[e / 7] * n + j[e % 7]];
        CHECK_NEAR(block[e], value, entry_error(true), "exact entry (%u,%u)", i[e / 7], j[e % 7]);
    }
    float row[7];
    if (gram_is_cached(gram)) {
        CHECK(gram_cached_row(gram, i[3], j, 7, row), "row");
        for (size_t e = 0; e < 7; e++) {
            double value = k[i[3] * n + j[e]];
            CHECK_NEAR((double)row[e], value, entry_error(false), "kept row");
        }
    }
}

/* Sizes near multiples of groups of rows, tasks and tiles; `part` of the matrix is cached. */
static void test_products(size_t n, bool sparse, bool wide, double part,
                          const struct kernel *kernel, struct threads **pool) {
    struct data data = sample_data(n, 30, .4, SAMPLE_COUNTS, sparse, true, n);
    struct gram *gram;
    size_t bytes = (size_t)(part * (double)((n + 16) * (n + 16)) / 2 * (wide ? 8 : 4));
    MUST(gram_create(&gram, kernel, &data, bytes, wide, pool[0], &err));
    CHECK(gram_size(gram) == n, "size");
    check_matrix(gram, wide, pool);
    gram_free(gram);
    data_free(&data);
}

/* The row that row i equals. */
static size_t original(size_t i, size_t m) {
    return i < m ? i : (i * i + i / 3) % m;
}

/* n rows of which the last ones repeat the first m, in order and not. */
static struct data repeated_rows(size_t n, size_t m, bool sparse) {
    struct data data = sample_data(n, 30, .4, SAMPLE_COUNTS, false, false, n);
    for (size_t i = m; i < n; i++) {
        memcpy(data.value + i * 30, data.value + original(i, m) * 30, 30 * sizeof *data.value);
    }
    CHECK(!sparse || data_make_sparse(&data, &err) == 0, "%s", err.text);
    return data;
}

/* Error bounds are the same whether duplicates are aggregated or not. */
static void check_errors(const struct gram *gram, struct threads **pool) {
    size_t n = gram_size(gram);
    struct kernel_rounding rounding;
    double *size = check_array(n, 2 * sizeof *size), *plain = check_array(n, 2 * sizeof *plain);
    double *error = check_array(n, 2 * sizeof *error), units = (double)n + 3;
    struct random random = sample_random(n, 0);
    for (size_t i = 0; i < 2 * n; i++) {
        size[i] = i % 5 ? random_unit(&random) : 0;
    }
    kernel_rounding_open(&rounding, gram_rows(gram), units);
    MUST(kernel_rounding_scores(&rounding, size, 2, plain, pool[0], &err));
    MUST(gram_rounding_scores(gram, units, size, 2, error, pool[1], &err));
    for (size_t i = 0; i < 2 * n; i++) {
        CHECK(plain[i] > 0 && fabs(error[i] - plain[i]) <= 1e-12 * plain[i], "error %g, not %g",
              error[i], plain[i]);
    }
}

/* So are scores in double-double, for all rows and for some. */
static void check_precise(const struct gram *gram, struct threads **pool) {
    size_t n = gram_size(gram), some = n / 2;
    const struct dd none = {0, 0};
    uint32_t *at = check_array(n, sizeof *at);
    struct dd *b = check_array(n, 2 * sizeof *b), *plain = check_array(n, 2 * sizeof *plain);
    struct dd *s = check_array(n, 2 * sizeof *s);
    struct random random = sample_random(n, 0);
    for (size_t j = 0; j < 2 * n; j++) {
        b[j] = j % 5 ? dd_two_sum(random_unit(&random), 0x1p-60 * random_unit(&random)) : none;
    }
    for (size_t i = 0; i < n; i++) {
        at[i] = (uint32_t)(i < some ? 2 * i : i);
    }
    MUST(kernel_scores_dd(gram_rows(gram), at, some, b, 2, plain, pool[0], &err));
    MUST(gram_scores_dd(gram, at, some, b, 2, s, pool[1], &err));
    double most = (double)n * kernel_value(gram_rows(gram), 0, gram_rows(gram), 0), size = 0;
    double *norm_bound = check_array(n, sizeof *norm_bound);
    kernel_norm_bounds(gram_rows(gram), norm_bound);
    for (size_t j = 0; j < 2 * some; j++) {
        size += fabs(b[j].hi) * norm_bound[at[j / 2]];
    }
    double factor = gram_rounding_dd(gram, some, some);
    for (size_t j = 0; j < 2 * some; j++) {
        double off = dd_add(s[j], dd_negative(plain[j])).hi;
        CHECK(plain[j].hi != 0 && fabs(off) <= 2 * factor * norm_bound[at[j / 2]] * size,
              "score %zu off by %g", j, off);
    }
    MUST(gram_scores_dd(gram, NULL, n, b, 2, s, pool[1], &err));
    double *high = check_array(n, sizeof *high), *exact = check_array(n, sizeof *exact);
    for (size_t i = 0; i < n; i++) {
        high[i] = b[2 * i].hi;
    }
    MUST(gram_exact_scores(gram, high, 1, exact, pool[0], &err));
    for (size_t i = 0; i < n; i++) {
        CHECK_CLOSE(s[2 * i].hi, exact[i], 1e-12 * most, "score of row %zu", i);
    }
    CHECK(gram_work_dd(gram, n, n, 1) <= kernel_work_dd(gram_rows(gram), n, n, 1), "work");
}

static void test_distinct(size_t n, size_t m, bool sparse, bool wide, double part,
                          const struct kernel *kernel, struct threads **pool) {
    struct data data = repeated_rows(n, m, sparse);
    struct distinct distinct;
    MUST(distinct_find(&distinct, &data, &err));
    CHECK(distinct.m == m, "%zu distinct rows, should be %zu", distinct.m, m);
    for (size_t i = 0; i < n; i++) {
        CHECK(distinct.row[distinct.place[i]] == original(i, m), "row %zu is not row %zu", i,
              original(i, m));
    }
    size_t bytes = (size_t)(part * (double)((m + 16) * (m + 16)) / 2 * (wide ? 8 : 4));
    struct gram *gram;
    MUST(gram_create_distinct(&gram, kernel, &data, &distinct, bytes, wide, NULL, pool[1], &err));
    CHECK(gram_size(gram) == n && gram_is_double(gram) == wide &&
              gram_cached_bytes(gram) <= bytes && gram_is_cached(gram) == (part > 1),
          "size, type, what is kept");
    check_matrix(gram, wide, pool);
    check_errors(gram, pool);
    check_precise(gram, pool);
    gram_free(gram);
    data_free(&data);
}

int main(void) {
    openblas_set_num_threads(1);
    struct threads *pool[3];
    for (size_t t = 0; t < 3; t++) {
        MUST(threads_create(&pool[t], t == 2 ? 16 : t + 1, &err));
    }
    static const size_t sizes[] = {1, 2, 5, 16, 17, 63, 259, 770};
    static const double parts[] = {0, .3, 1.5};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int p = 0; p < 3; p++) {
            for (int k = p % quick_step(2); k < 4; k += quick_step(2)) {
                test_products(sizes[s], (s + (size_t)k) % 2, k == 1 ? p == 1 : (k + p) % 2,
                              parts[p], &kernels[k], pool);
            }
        }
    }
    test_products(1301, true, false, .5, &kernels[1], pool);
    test_products(1301, false, false, .5, &kernels[1], pool);
    test_products(1301, true, false, 1.5, &kernels[3], pool); /* large enough for threads */
    printf("ok: products equal plain sums, bit-equal for 1, 2 and 16 threads\n");
    test_distinct(700, 90, true, false, 1.5, &kernels[3], pool);
    test_distinct(700, 90, false, true, 1.5, &kernels[1], pool);
    test_distinct(300, 290, true, true, .4, &kernels[2], pool);
    test_distinct(40, 1, false, true, 2, &kernels[3], pool);
    printf("ok: matrices of distinct rows: the same products, scores and entries\n");
    for (size_t t = 0; t < 3; t++) {
        threads_free(pool[t]);
    }
    return 0;
}
