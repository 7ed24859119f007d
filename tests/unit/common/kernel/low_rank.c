/* Low-rank approximations of a kernel matrix by columns and a diagonal: they have its trace, the
 * remainder vanishes when the number of columns is the matrix rank, and threads change nothing. */
#include "common/kernel/low_rank.h"

#include "tests/unit/compute.h"

#include <cblas.h>

enum { N = 700, ROWS = 660, K = 3, MOST = 192 };

/* The entries of the approximation. */
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
    const struct low_rank_goal goal = {.max_rank = MOST, .residual = enough, .k = K, .seed = 3};
    struct low_rank low;
    double diagonal[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        size_t at = rows ? rows[i] : i;
        diagonal[i] = kernel_value(own, at, own, at);
    }
    MUST(low_rank_create(&low, gram, rows, ROWS, diagonal, &goal, threads, &err));
    return low;
}

/* With `fill` there are exactly max_rank columns, of pivots among the rows with a diagonal entry;
 * functions of their span come back from their features, and projection leaves them. */
static void check_span(const struct gram *gram) {
    enum { RANK = 70 };
    const struct kernel_rows *own = gram_rows(gram);
    const struct low_rank_goal goal = {
        .max_rank = RANK, .residual = 1e-12, .seed = 3, .fill = true};
    struct low_rank low;
    double diagonal[ROWS], B[ROWS * 2] = {0}, w[RANK * 2];
    for (size_t i = 0; i < ROWS; i++) {
        diagonal[i] = i % 2 ? kernel_value(own, i, own, i) : 0;
    }
    MUST(low_rank_create(&low, gram, NULL, ROWS, diagonal, &goal, NULL, &err));
    CHECK_TRUE(low.rank == RANK);
    for (size_t a = 0; a < RANK; a++) {
        CHECK_TRUE(low.pivot[a] % 2 == 1);
        for (size_t c = 0; c < 2; c++) {
            B[low.pivot[a] * 2 + c] = (double)(a + 1) * (c ? -1 : .5);
        }
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)low.rank, 2, (int)low.n, 1, low.L,
                (int)low.width, B, 2, 0, w, 2); /* the projection */
    low_rank_coefficients(&low, w, 2);
    for (size_t a = 0; a < RANK * 2; a++) {
        double want = B[low.pivot[a / 2] * 2 + a % 2];
        CHECK_CLOSE(w[a], want, 1e-9 * RANK, "coefficient %zu", a);
    }
    low_rank_free(&low);
}

int main(void) {
    struct data data = sample_data(N, 2, 1, SAMPLE_SIGNED, false, false, 7);
    const struct kernel smooth = {.type = KERNEL_RBF, .gamma = .3},
                        square = {.type = KERNEL_POLYNOMIAL, .gamma = 1, .coef0 = 1, .degree = 2},
                        rough = {.type = KERNEL_RBF, .gamma = 1e4};
    const struct kernel *kernels[] = {&smooth, &square, &rough};
    uint32_t rows[ROWS];
    struct threads *threads;
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
        double left = low_rank_remaining_trace(&low);
        CHECK(t == 2 ? left > .5 : left < 1e-9, "kernel %d: %g is left", t, left);
        CHECK_TRUE(t != 1 || low.rank == 6);
        for (size_t i = 0; i < ROWS; i++) {
            double value = kernel_value(own, rows[i], own, rows[i]);
            CHECK_NEAR(entry(&low, i, i), value, 1e-12, "kernel %d, row %zu", t, i);
            size_t j = i * 7 % ROWS;
            value = kernel_value(own, rows[i], own, rows[j]);
            CHECK(t == 2 || fabs(entry(&low, i, j) - value) <= 1e-6 * (1 + value),
                  "kernel %d, row %zu: %g, not %g", t, i, entry(&low, i, j), value);
        }
        if (t == 2) {
            check_span(gram);
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
