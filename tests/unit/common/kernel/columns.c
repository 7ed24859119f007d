/* Squares and products from columns of kernel matrices, against single kernel values, through any
 * cache and any number of threads. */
#include "common/kernel/columns.h"
#include "common/base/random.h"
#include "tests/unit/compute.h"

enum { N = 700, WIDTH = 9, MOST = 300, K = 3 };

struct case_of {
    bool sparse, whole, wide, fold;
    enum kernel_type kernel;
    size_t kept; /* columns for which there is room */
};

struct fixture {
    struct data data;
    struct kernel kernel;
    double *value; /* (N, N): of the kernel, of all pairs of rows */
    struct gram *gram;
    uint32_t row[N]; /* of the data, of each row of the problem */
    size_t n;
};

static void set_up(struct fixture *f, const struct case_of *c, struct random *random) {
    struct error err;
    f->data = sample_data(N, WIDTH, c->sparse ? 0.3 : 1, SAMPLE_SIGNED, c->sparse, true, 5);
    f->kernel = (struct kernel){.type = c->kernel, .degree = 2, .gamma = 0.3, .coef0 = 1};
    struct kernel_rows plain;
    CHECK(kernel_rows_create(&plain, &f->kernel, &f->data, &err) == 0, "%s", err.text);
    f->value = sample_array(N * N, sizeof *f->value);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j <= i; j++) {
            f->value[i * N + j] = f->value[j * N + i] = kernel_value(&plain, i, &plain, j);
        }
    }
    kernel_rows_free(&plain);
    CHECK(gram_create(&f->gram, &f->kernel, &f->data, c->whole ? 1 << 25 : 0, c->wide, NULL,
                      &err) == 0,
          "%s", err.text);
    CHECK(gram_is_whole(f->gram) == c->whole, "the matrix is whole, or is not");
    f->n = c->fold ? N - 100 : N;
    for (uint32_t i = 0; i < N; i++) {
        f->row[i] = i;
    }
    random_shuffle(random, f->row, c->fold ? N : 0);
}

static void tear_down(struct fixture *f) {
    gram_free(f->gram);
    free(f->value);
    data_free(&f->data);
}

static double entry(const struct fixture *f, size_t i, size_t j) {
    return f->value[f->row[i] * N + f->row[j]];
}

static void check_square(const struct fixture *f, struct columns *columns, const uint32_t *rows,
                         size_t m) {
    struct error err;
    static float block[MOST * MOST];
    CHECK(columns_square(columns, rows, m, block, m, &err) == 0, "%s", err.text);
    for (size_t a = 0; a < m; a++) {
        for (size_t b = 0; b < m; b++) {
            double exact = entry(f, rows[a], rows[b]);
            CHECK(fabs((double)block[a * m + b] - exact) <= 2e-6 * (1 + fabs(exact)),
                  "entry %zu, %zu of a square: %g, not %g", a, b, (double)block[a * m + b], exact);
        }
    }
}

/* out is added to; what is added is checked. */
static void check_product(const struct fixture *f, struct columns *columns, const uint32_t *rows,
                          size_t m, struct random *random, double *out) {
    struct error err;
    static double b[MOST * K], before[N * K];
    uint32_t at[N];
    size_t n_at = 0, parts = 1 + (size_t)random_below(random, 3);
    uint64_t every = random_below(random, 3); /* 0: no entry is 0; 1: all are; 2: half of them */
    for (size_t j = 0; j < m * K; j++) {
        bool zero = every > 0 && random_below(random, every) == 0;
        b[j] = zero ? 0 : random_unit(random) - 0.5;
    }
    memcpy(before, out, f->n * K * sizeof *out);
    for (uint32_t i = 0; i < f->n; i++) {
        if (i % parts == 0) {
            at[n_at++] = i;
        }
    }
    CHECK(columns_multiply(columns, rows, m, b, K, parts > 1 ? at : NULL, n_at, out, &err) == 0,
          "%s", err.text);
    for (size_t i = 0; i < f->n; i++) {
        for (size_t c = 0; c < K; c++) {
            double exact = before[i * K + c], size = fabs(exact);
            if (i % parts > 0) {
                CHECK(out[i * K + c] == exact, "score %zu, %zu is of none of the rows", i, c);
                continue;
            }
            for (size_t a = 0; a < m; a++) {
                exact += entry(f, i, rows[a]) * b[a * K + c];
                size += fabs(entry(f, i, rows[a]) * b[a * K + c]);
            }
            CHECK(fabs(out[i * K + c] - exact) <= 1e-6 * (1 + size),
                  "score %zu, %zu of a product: %.9g, not %.9g", i, c, out[i * K + c], exact);
        }
    }
}

/* Random sets of rows, squares and products in turn; the sum of all products in out (n, K). */
static void walk(const struct case_of *c, size_t n_threads, double *out) {
    struct fixture f;
    struct random random;
    struct error err;
    struct threads *threads;
    struct columns *columns;
    random_start(&random, 1, 2);
    set_up(&f, c, &random);
    CHECK(threads_create(&threads, n_threads, &err) == 0, "%s", err.text);
    struct problem problem = {.data = &f.data,
                              .gram = f.gram,
                              .rows = c->fold ? f.row : NULL,
                              .n = f.n,
                              .threads = threads};
    CHECK(columns_create(&columns, &problem, c->kept * (f.n + 1) * sizeof(float), &err) == 0, "%s",
          err.text);
    memset(out, 0, N * K * sizeof *out);
    for (int step = 0; step < 12; step++) {
        uint32_t rows[N];
        for (uint32_t i = 0; i < f.n; i++) {
            rows[i] = i;
        }
        random_shuffle(&random, rows, f.n);
        size_t m = (size_t)random_below(&random, MOST);
        if (step % 3 == 0) {
            check_square(&f, columns, rows, m);
        }
        check_product(&f, columns, rows, m, &random, out);
    }
    columns_free(columns);
    threads_free(threads);
    tear_down(&f);
}

/* More columns than are computed at once, and tasks of a square of more rows than a product's tile:
 * half of them kept, the others computed for the square alone. */
static void check_many(void) {
    enum { MANY = 4200, KEPT = MANY / 2 };
    struct error err;
    struct data data = sample_data(MANY, 3, 1, SAMPLE_SIGNED, false, true, 6);
    struct kernel kernel = {.type = KERNEL_RBF, .gamma = 0.3};
    struct kernel_rows plain;
    struct gram *gram;
    struct columns *columns;
    CHECK(kernel_rows_create(&plain, &kernel, &data, &err) == 0, "%s", err.text);
    CHECK(gram_create(&gram, &kernel, &data, 0, false, NULL, &err) == 0, "%s", err.text);
    struct problem problem = {.data = &data, .gram = gram, .n = MANY};
    CHECK(columns_create(&columns, &problem, KEPT * (MANY + 1) * sizeof(float), &err) == 0, "%s",
          err.text);
    uint32_t *rows = sample_array(MANY, sizeof *rows);
    float *block = sample_array((size_t)MANY * MANY, sizeof *block);
    for (uint32_t i = 0; i < MANY; i++) {
        rows[i] = i;
    }
    CHECK(columns_square(columns, rows, MANY, block, MANY, &err) == 0, "%s", err.text);
    for (size_t a = 0; a < MANY; a++) {
        for (size_t b = a % 64; b < MANY; b += 64) {
            double exact = kernel_value(&plain, a, &plain, b);
            double value = (double)block[a * MANY + b];
            CHECK(fabs(value - exact) <= 2e-6, "entry %zu, %zu of many: %g, not %g", a, b, value,
                  exact);
        }
    }
    free(rows);
    free(block);
    columns_free(columns);
    gram_free(gram);
    kernel_rows_free(&plain);
    data_free(&data);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    static const struct case_of cases[] = {
        {.kernel = KERNEL_RBF, .kept = N},
        {.kernel = KERNEL_RBF, .kept = 200, .fold = true},
        {.kernel = KERNEL_RBF, .kept = 0},
        {.kernel = KERNEL_POLYNOMIAL, .kept = 350, .sparse = true},
        {.kernel = KERNEL_TANIMOTO, .kept = 90, .sparse = true, .fold = true},
        {.kernel = KERNEL_LAPLACIAN, .kept = 250},
        {.kernel = KERNEL_RBF, .whole = true},
        {.kernel = KERNEL_RBF, .whole = true, .wide = true, .fold = true}};
    static double one[N * K], four[N * K];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        walk(&cases[i], 1, one);
        walk(&cases[i], 4, four);
        CHECK(memcmp(one, four, sizeof one) == 0, "case %zu depends on the number of threads", i);
    }
    check_many();
    printf("ok: squares and products are those of the kernel, through any cache\n");
    return 0;
}
