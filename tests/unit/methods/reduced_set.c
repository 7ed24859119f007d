/* Points that move to reproduce scores: those of a function of a few points that are no rows are
 * found from rows near them, for any number of threads. */
#include "methods/reduced_set.h"

#include "tests/unit/compute.h"

enum { N = 400, D = 3, M = 5, K = 2 };
static const struct kernel rbf = {.type = KERNEL_RBF, .gamma = 0.5};

static struct data rows_of(float *value, size_t n) {
    return (struct data){.n_rows = n, .n_features = D, .value = value};
}

/* The largest distance of a point from the hidden one. */
static double move(const struct kernel_rows *x, const double *target, const float *start,
                   const float *hidden, struct threads *threads, float *value) {
    struct data points = rows_of(value, M);
    double distance = 0;
    memcpy(value, start, M * D * sizeof *value);
    MUST(reduced_set_move(&points, x, target, K, threads, NULL, &err));
    for (size_t j = 0; j < M * D; j++) {
        distance = fmax(distance, fabs((double)value[j] - (double)hidden[j]));
    }
    return distance;
}

int main(void) {
    float value[N * D], hidden[M * D], start[M * D], one[M * D], three[M * D];
    double b[M * K], target[N * K];
    struct random random;
    random_start(&random, 1, 0);
    for (size_t j = 0; j < N * D; j++) {
        value[j] = 2 * sample_value(&random, SAMPLE_SIGNED);
    }
    for (size_t j = 0; j < M * D; j++) {
        hidden[j] = 2 * sample_value(&random, SAMPLE_SIGNED);
        start[j] = hidden[j] + 0.3F * sample_value(&random, SAMPLE_SIGNED);
    }
    for (size_t j = 0; j < M * K; j++) {
        b[j] = random_unit(&random) < 0.5 ? 1 : -2;
    }
    struct data data = rows_of(value, N), points = rows_of(hidden, M);
    struct kernel_rows x, z;
    MUST(kernel_rows_create(&x, &rbf, &data, &err));
    MUST(kernel_rows_create(&z, &rbf, &points, &err));
    MUST(kernel_scores(&x, &z, b, K, target, NULL, &err));
    struct threads *threads = NULL;
    MUST(threads_create(&threads, 3, &err));
    double distance = move(&x, target, start, hidden, NULL, one);
    CHECK(distance < 0.02, "points %g from those that are sought", distance);
    move(&x, target, start, hidden, threads, three);
    CHECK(memcmp(one, three, sizeof one) == 0, "threads change the points");

    size_t some = reduced_set_rows(&rbf, 1000000, D, 100, K);
    CHECK(some >= 400 && some < 1000000, "%zu of a million rows", some);
    CHECK(reduced_set_rows(&rbf, N, D, M, K) == N, "not all of few rows");
    const struct kernel other = {.type = KERNEL_LAPLACIAN, .gamma = 1};
    CHECK(reduced_set_rows(&other, N, D, M, K) == 0 &&
              reduced_set_rows(&rbf, N, D, 100000, K) == 0 &&
              reduced_set_rows(&rbf, 100000, 1000000, 100, K) == 0,
          "kernels and sizes whose points stay");
    threads_free(threads);
    kernel_rows_free(&x);
    kernel_rows_free(&z);
    printf("ok: points move to those that are sought\n");
    return 0;
}
