/* Systems of a low-rank surrogate: their solutions satisfy them, and threads change nothing. The
 * features are tested beside this (landmarks.c). */
#include "common/kernel/low_rank.h"

#include "tests/unit/compute.h"

enum { N = 700, ROWS = 660, K = 3, M = 192 };

/* The entries of the surrogate. */
static double entry(const struct low_rank *low, size_t i, size_t j) {
    const struct landmarks *landmarks = &low->landmarks;
    const float *a = landmarks->Z + i * landmarks->stride,
                *b = landmarks->Z + j * landmarks->stride;
    double sum = i == j ? (double)landmarks->rest[i] : 0;
    for (size_t c = 0; c < landmarks->width; c++) {
        sum += (double)a[c] * (double)b[c];
    }
    return sum;
}

/* X (ROWS, K) = the solution of systems with the ridge. */
static struct low_rank solve(const struct gram *gram, const uint32_t *rows, double ridge,
                             struct threads *threads, double *X) {
    const struct kernel_rows *own = gram_rows(gram);
    const struct landmarks_goal goal = {.m = M, .constant = .5, .seed = 3, .min_pivot = 1e-6};
    struct low_rank low;
    double diagonal[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        diagonal[i] = kernel_value(own, rows[i], own, rows[i]) + .25;
    }
    MUST(low_rank_create(&low, gram, rows, ROWS, diagonal, &goal, K, threads, &err));
    for (int t = 0; t < 2; t++) { /* the last ridge counts */
        CHECK_TRUE(low_rank_factor(&low, t ? ridge : 1) == 0);
    }
    low_rank_solve(&low, X);
    return low;
}

int main(void) {
    struct data data = sample_data(N, 2, 1, SAMPLE_SIGNED, false, false, 7);
    const struct kernel kernels[] = {
        {.type = KERNEL_RBF, .gamma = .3},
        {.type = KERNEL_POLYNOMIAL, .gamma = 1, .coef0 = 1, .degree = 2}, /* 6 features */
        {.type = KERNEL_RBF, .gamma = 1e4}};
    double *B = check_numbers(ROWS * K), *X = check_numbers(ROWS * K), *Y = check_numbers(ROWS * K);
    uint32_t rows[ROWS];
    struct threads *threads;
    MUST(threads_create(&threads, 3, &err));
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (uint32_t)(N - 1 - i);
    }
    for (size_t j = 0; j < ROWS * K; j++) {
        B[j] = sin((double)(j * j)) + (j % K == 1);
    }
    for (int t = 0; t < 6; t++) {
        struct gram *gram;
        double ridge = t < 3 ? 10 : .01;
        MUST(gram_create(&gram, &kernels[t % 3], &data, 1 << 24, false, NULL, &err));
        memcpy(X, B, ROWS * K * sizeof *X);
        memcpy(Y, B, ROWS * K * sizeof *Y);
        struct low_rank low = solve(gram, rows, ridge, threads, X);
        struct low_rank again = solve(gram, rows, ridge, NULL, Y);
        CHECK_TRUE(memcmp(X, Y, ROWS * K * sizeof *X) == 0);
        CHECK(t % 3 != 1 || low.landmarks.width == 7, "%zu features", low.landmarks.width);
        for (size_t i = 0; i < ROWS; i++) {
            double sum[K], scale = 0;
            for (size_t c = 0; c < K; c++) {
                sum[c] = ridge * X[i * K + c] - B[i * K + c];
            }
            for (size_t j = 0; j < ROWS; j++) {
                double value = entry(&low, i, j);
                scale += fabs(value);
                for (size_t c = 0; c < K; c++) {
                    sum[c] += value * X[j * K + c];
                }
            }
            for (size_t c = 0; c < K; c++) {
                CHECK(fabs(sum[c]) <= 1e-7 * (1 + scale / ridge), "kernel %d, row %zu: %g", t, i,
                      sum[c]);
            }
        }
        low_rank_free(&low);
        low_rank_free(&again);
        gram_free(gram);
    }
    threads_free(threads);
    data_free(&data);
    printf("ok: a low-rank surrogate solves its systems\n");
    return 0;
}
