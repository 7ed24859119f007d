/* Explicit features: found for kernel matrices of small rank only, at scales of floats; their
 * functions have the scores that their coefficients have with the kernel, on all rows and some. */
#include "common/kernel/explicit_features.h"

#include "tests/unit/compute.h"

enum { N = 1400, FEATURES = 4, RANK = 15 /* of degree 2 */ };

static struct data rows_of(double scale) {
    struct data data = sample_data(N, FEATURES, 1, SAMPLE_SIGNED, false, true, 5);
    for (size_t j = 0; j < data_values(&data); j++) {
        data.value[j] = (float)((double)data.value[j] * scale);
    }
    return data;
}

static size_t size_of(const struct kernel *kernel, double scale, size_t n, size_t max_rank,
                      size_t cache_bytes) {
    struct data data = rows_of(scale);
    struct gram *gram;
    size_t size;
    MUST(gram_create(&gram, kernel, &data, 0, false, NULL, &err));
    const struct problem problem = {
        .data = &data, .gram = gram, .n = n, .cache_bytes = cache_bytes};
    MUST(explicit_features_size(&problem, max_rank, 3, &size, &err));
    gram_free(gram);
    data_free(&data);
    return size;
}

static void check_size(void) {
    const size_t room = 1 << 24;
    const struct kernel small = {.type = KERNEL_POLYNOMIAL, .degree = 2, .gamma = 1, .coef0 = 1};
    const struct kernel linear = {.type = KERNEL_POLYNOMIAL, .degree = 1, .gamma = 1};
    const struct kernel full = {.type = KERNEL_RBF, .gamma = 50};
    const struct kernel indefinite = {.type = KERNEL_SIGMOID, .gamma = .1};
    CHECK_TRUE(size_of(&small, 1, N, 100, room) == 100);
    CHECK_TRUE(size_of(&small, 1, N, 1000, room) == N / 8);
    CHECK_TRUE(size_of(&small, 1, N, RANK, room) == 0); /* drawn at random, they miss a direction */
    CHECK_TRUE(size_of(&small, 1, 1023, 100, room) == 0);
    CHECK_TRUE(size_of(&small, 1, N, 100, 1000) == 0);
    CHECK_TRUE(size_of(&full, 1, N, 1000, room) == 0);
    CHECK_TRUE(size_of(&indefinite, 1, N, 100, room) == 0);
    CHECK_TRUE(size_of(&linear, 0, N, 100, room) == 0);
    CHECK_TRUE(size_of(&linear, 1e3, N, 100, room) == 100);
    CHECK_TRUE(size_of(&linear, 1e-3, N, 100, room) == 100);
    CHECK_TRUE(size_of(&linear, 1e15, N, 100, room) == 0); /* squares of floats overflow */
    CHECK_TRUE(size_of(&linear, 1e-15, N, 100, room) == 0);
}

/* rows (n) of the matrix; NULL: all. */
static void check_functions(const uint32_t *rows, size_t n) {
    enum { K = 2 };
    const struct kernel kernel = {.type = KERNEL_POLYNOMIAL, .degree = 2, .gamma = 1, .coef0 = 1};
    struct data data = rows_of(1);
    struct explicit_features features;
    struct gram *gram;
    MUST(gram_create(&gram, &kernel, &data, 0, false, NULL, &err));
    const struct problem problem = {.data = &data, .gram = gram, .rows = rows, .n = n};
    const struct kernel_rows *own = gram_rows(gram);
    MUST(explicit_features_create(&features, &problem, 60, 3, &err));
    size_t width = features.data.n_features;
    CHECK(features.exact && width == RANK, "%zu features", width);
    double *W = check_numbers(width * K), *w = check_numbers(width * K), *B = check_numbers(n * K);
    for (size_t j = 0; j < width * K; j++) {
        W[j] = w[j] = cos((double)(j * j));
    }
    MUST(explicit_features_expand(&features, w, K, B, &err));
    for (size_t i = 0; i < n; i += 50) {
        for (size_t c = 0; c < K; c++) {
            double s = 0, expected = 0, size = 1;
            for (size_t j = 0; j < n; j++) {
                s += B[j * K + c] * kernel_value(own, rows ? rows[i] : i, own, rows ? rows[j] : j);
                size += fabs(B[j * K + c]);
            }
            for (size_t a = 0; a < width; a++) {
                expected += (double)features.data.value[i * width + a] * W[a * K + c];
            }
            CHECK_CLOSE(s, expected, 1e-6 * size, "row %zu", i);
        }
    }
    explicit_features_free(&features);
    gram_free(gram);
    data_free(&data);
}

int main(void) {
    uint32_t rows[N / 2];
    for (size_t i = 0; i < N / 2; i++) {
        rows[i] = (uint32_t)(2 * i + 1);
    }
    check_size();
    check_functions(NULL, N);
    check_functions(rows, N / 2);
    printf("ok: explicit features of kernel matrices of small rank, and their functions\n");
    return 0;
}
