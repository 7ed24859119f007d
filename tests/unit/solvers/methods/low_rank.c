/* Few columns and a diagonal in place of a kernel matrix: they have its trace, nothing is left
 * where there are as many as its rank, systems with them are solved, and threads change nothing. */
#include "solvers/methods/low_rank.h"

#include "tests/unit/compute.h"

enum { N = 700, ROWS = 660, K = 3, MOST = 192 };

/* The entries that the columns and the diagonal have. */
static double entry(const struct low_rank *low, size_t i, size_t j) {
    const double *a = low->L + i * low->width, *b = low->L + j * low->width;
    double sum = i == j ? low->rest[i] : 0;
    for (size_t c = 0; c < low->rank; c++) {
        sum += a[c] * b[c];
    }
    return sum;
}

static struct low_rank columns(const struct gram *gram, const uint32_t *rows, double enough,
                               struct threads *threads) {
    const struct kernel_rows *own = gram_rows(gram);
    const struct low_rank_goal goal = {.most = MOST, .enough = enough, .k = K, .seed = 3};
    struct low_rank low;
    struct error err;
    double diagonal[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        size_t at = rows ? rows[i] : i;
        diagonal[i] = kernel_value(own, at, own, at);
    }
    MUST(low_rank_create(&low, gram, rows, ROWS, diagonal, &goal, threads, &err));
    return low;
}

/* (K + ridge) times the solution is what it was. */
static void check_system(const struct low_rank *low, double ridge, struct random *random) {
    static double b[ROWS * K], x[ROWS * K];
    double largest = 0, apart = 0;
    for (size_t j = 0; j < ROWS * K; j++) {
        b[j] = x[j] = random_unit(random) - .5;
    }
    low_rank_solve(low, x);
    for (size_t i = 0; i < ROWS; i++) {
        double sum[K] = {0};
        for (size_t j = 0; j < ROWS; j++) {
            double value = entry(low, i, j) + (i == j ? ridge : 0);
            for (size_t c = 0; c < K; c++) {
                sum[c] += value * x[j * K + c];
            }
        }
        for (size_t c = 0; c < K; c++) {
            apart = fmax(apart, fabs(sum[c] - b[i * K + c]));
            largest = fmax(largest, fabs(x[i * K + c]));
        }
    }
    /* an x that is off by float's rounding, times a sum of magnitudes in a row of K */
    CHECK(apart <= 1e-7 * largest * ROWS, "ridge %g: off by %g", ridge, apart);
}

int main(void) {
    struct data data = sample_data(N, 2, 1, SAMPLE_SIGNED, false, false, 7);
    const struct kernel smooth = {.type = KERNEL_RBF, .gamma = .3},
                        square = {.type = KERNEL_POLYNOMIAL, .gamma = 1, .coef0 = 1, .degree = 2},
                        rough = {.type = KERNEL_RBF, .gamma = 1e4};
    const struct kernel *kernels[] = {&smooth, &square, &rough};
    uint32_t rows[ROWS];
    struct threads *threads;
    struct random random;
    struct error err;
    random_start(&random, 11, 0);
    MUST(threads_create(&threads, 3, &err));
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (uint32_t)(N - 1 - i);
    }
    for (int t = 0; t < 3; t++) {
        struct gram *gram;
        MUST(gram_create(&gram, kernels[t], &data, 1 << 24, false, NULL, &err));
        const struct kernel_rows *own = gram_rows(gram);
        struct low_rank low = columns(gram, rows, 1e-12, threads);
        struct low_rank again = columns(gram, rows, 1e-12, NULL);
        CHECK_TRUE(low.rank == again.rank && low.rank <= MOST);
        CHECK_TRUE(memcmp(low.rest, again.rest, ROWS * sizeof *low.rest) == 0);
        /* in 2 features (x'z + 1)^2 has 6 columns; the identity nothing in common with few */
        double left = low_rank_left(&low);
        CHECK(t == 2 ? left > .5 : left < 1e-9, "kernel %d: %g is left", t, left);
        CHECK_TRUE(t != 1 || low.rank == 6);
        for (size_t i = 0; i < ROWS; i++) {
            double value = kernel_value(own, rows[i], own, rows[i]);
            CHECK(fabs(entry(&low, i, i) - value) <= 1e-12 * value, "kernel %d, row %zu: %g", t, i,
                  entry(&low, i, i));
            size_t j = i * 7 % ROWS;
            value = kernel_value(own, rows[i], own, rows[j]);
            CHECK(t == 2 || fabs(entry(&low, i, j) - value) <= 1e-6 * (1 + value),
                  "kernel %d, row %zu: %g, not %g", t, i, entry(&low, i, j), value);
        }
        double before = entry(&low, 5, 9);
        low_rank_add(&low, 0);
        low_rank_add(&low, 2.25);
        CHECK_TRUE(fabs(entry(&low, 5, 9) - before - 2.25) < 1e-12);
        for (double ridge = 1e-1; ridge < 1e3; ridge *= 30) {
            CHECK_TRUE(low_rank_factor(&low, ridge) == 0);
            check_system(&low, ridge, &random);
        }
        low_rank_free(&low);
        low_rank_free(&again);
        gram_free(gram);
    }
    threads_free(threads);
    data_free(&data);
    printf("ok: columns and a diagonal stand in for a kernel matrix\n");
    return 0;
}
