/* Rows of kernel matrices from the cache, against single kernel values, whatever is asked for, in
 * whatever order, through any cache. */
#include "common/kernel/rows.h"
#include "common/base/random.h"
#include "tests/unit/compute.h"

struct case_of {
    bool sparse, gram, kept, wide, fold;
    enum kernel_type kernel;
    size_t cache_bytes;
};

/* A random walk: rows of random lengths, and now and then another order of the first columns. */
static void walk(const struct case_of *c, uint64_t seed) {
    enum { N = 90, WIDTH = 17 };
    struct data data =
        sample_data(N, WIDTH, c->sparse ? 0.3 : 1, SAMPLE_SIGNED, c->sparse, true, seed);
    struct kernel kernel = {.type = c->kernel, .degree = 2, .gamma = 0.3, .coef0 = 1};
    struct error err;
    struct gram *gram = NULL;
    struct kernel_rows plain;
    struct random random;
    random_start(&random, seed, 1);
    CHECK(kernel_rows_create(&plain, &kernel, &data, &err) == 0, "%s", err.text);
    if (c->gram) {
        CHECK(gram_create(&gram, &kernel, &data, c->kept ? 1 << 20 : 0, c->wide, NULL, &err) == 0,
              "%s", err.text);
    }
    uint32_t subset[N], order[N];
    size_t n = c->fold ? 60 : N;
    for (uint32_t i = 0; i < N; i++) {
        subset[i] = i;
    }
    random_shuffle(&random, subset, c->fold ? N : 0);
    struct problem problem = {.data = &data, .gram = gram, .rows = c->fold ? subset : NULL, .n = n};
    struct rows *rows;
    CHECK(rows_create(&rows, &problem, c->cache_bytes, &err) == 0, "%s", err.text);
    for (size_t i = 0; i < n; i++) {
        order[i] = subset[i];
    }
    double diagonal[N];
    for (int step = 0; step < 400; step++) {
        if (step % 40 == 39) {
            uint32_t from[N], moved[N];
            size_t length = n / 2 + (size_t)random_below(&random, n / 2 + 1);
            for (uint32_t i = 0; i < length; i++) {
                from[i] = i;
            }
            random_shuffle(&random, from, length);
            CHECK(rows_reorder(rows, from, length, &err) == 0, "%s", err.text);
            for (size_t i = 0; i < length; i++) {
                moved[i] = order[from[i]];
            }
            memcpy(order, moved, length * sizeof *order);
            rows_diagonal(rows, diagonal);
            for (size_t i = 0; i < n; i++) {
                double value = kernel_value(&plain, order[i], &plain, order[i]);
                CHECK(diagonal[i] == value, "diagonal %g, not %g", diagonal[i], value);
            }
        }
        /* two rows at a time, as solvers hold them */
        const float *value[2];
        size_t i[2], length = 1 + (size_t)random_below(&random, n);
        for (int k = 0; k < 2; k++) {
            i[k] = (size_t)random_below(&random, n);
            value[k] = rows_get(rows, i[k], length, &err);
            CHECK(value[k], "%s", err.text);
        }
        for (int k = 0; k < 2; k++) {
            for (size_t j = 0; j < length; j++) {
                double exact = kernel_value(&plain, order[i[k]], &plain, order[j]);
                CHECK(fabs((double)value[k][j] - exact) <= 2e-6 * (1 + fabs(exact)),
                      "step %d: K(%zu,%zu) = %g, not %g", step, i[k], j, (double)value[k][j],
                      exact);
            }
        }
    }
    rows_free(rows);
    gram_free(gram);
    kernel_rows_free(&plain);
    data_free(&data);
}

/* What is kept is not computed again, and what does not fit is. */
static void check_cache(void) {
    enum { N = 50 };
    struct data data = sample_data(N, 5, 1, SAMPLE_SIGNED, false, false, 9);
    struct problem problem = {.data = &data, .n = N};
    struct error err;
    struct rows *rows;
    for (size_t kept = 6; kept <= N; kept += 44) {
        CHECK(rows_create(&rows, &problem, kept * N * sizeof(float), &err) == 0, "%s", err.text);
        for (size_t pass = 0; pass < 3; pass++) {
            for (size_t i = 0; i < N; i++) {
                CHECK(rows_get(rows, i, N, &err), "%s", err.text);
            }
        }
        uint64_t expected = kept == N ? N : 3 * N;
        CHECK(rows_computed(rows) == expected, "%zu rows fit: %zu computed", kept,
              (size_t)rows_computed(rows));
        for (size_t i = N - 6; i < N; i++) { /* the last ones are there in any case */
            CHECK(rows_get(rows, i, N, &err), "%s", err.text);
        }
        CHECK(rows_computed(rows) == expected, "the last rows were forgotten");
        rows_free(rows);
    }
    data_free(&data);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    static const struct case_of cases[] = {
        {.cache_bytes = 1 << 20},
        {.sparse = true, .cache_bytes = 2000},
        {.gram = true, .kept = true, .kernel = KERNEL_RBF, .cache_bytes = 1},
        {.gram = true,
         .kept = true,
         .wide = true,
         .fold = true,
         .kernel = KERNEL_RBF,
         .cache_bytes = 1 << 14},
        {.gram = true, .kernel = KERNEL_POLYNOMIAL, .cache_bytes = 4000},
        {.gram = true, .kernel = KERNEL_POLYNOMIAL, .cache_bytes = 1 << 14},
        {.gram = true, .fold = true, .kernel = KERNEL_TANIMOTO, .cache_bytes = 1 << 14},
        {.gram = true, .sparse = true, .fold = true, .kernel = KERNEL_RBF, .cache_bytes = 1 << 20},
        {.gram = true, .sparse = true, .kernel = KERNEL_TANIMOTO, .cache_bytes = 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            walk(&cases[i], 10 * i + seed);
        }
    }
    printf("ok: rows are those of the kernel, in any order, of any length, through any cache\n");
    check_cache();
    printf("ok: the rows that fit are computed once\n");
    return 0;
}
