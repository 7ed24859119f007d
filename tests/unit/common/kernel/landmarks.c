/* Features by landmarks: their products and the remaining diagonal stand for a kernel matrix, they
 * are exact where all rows are landmarks or after an extension, and threads change nothing. Their
 * functions have the scores and the norm of the products. */
#include "common/kernel/landmarks.h"

#include "tests/unit/compute.h"

enum { N = 640, ROWS = 600, K = 3, SPARE = 8 };

static double product(const struct landmarks *made, size_t i, size_t j) {
    const float *a = made->Z + i * made->stride, *b = made->Z + j * made->stride;
    double sum = 0;
    for (size_t c = 0; c < made->width; c++) {
        sum += (double)a[c] * (double)b[c];
    }
    return sum;
}

static struct landmarks create(const struct gram *gram, const uint32_t *rows, size_t m,
                               double constant, struct threads *threads) {
    const struct kernel_rows *own = gram_rows(gram);
    const struct landmarks_goal goal = {.m = m, .spare = SPARE, .constant = constant, .seed = 3};
    struct landmarks made;
    double diagonal[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        diagonal[i] = kernel_value(own, rows[i], own, rows[i]) + constant * constant;
    }
    MUST(landmarks_create(&made, gram, rows, ROWS, diagonal, &goal, threads, &err));
    return made;
}

/* The largest error of Z Z' V at V (n, K), whose product with the matrix is KV; a scale of KV. */
static double product_error(const struct landmarks *made, const double *V, const double *KV,
                            double *scale) {
    double worst = *scale = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double sum[K] = {0};
        for (size_t j = 0; j < ROWS; j++) {
            double value = product(made, i, j);
            for (size_t c = 0; c < K; c++) {
                sum[c] += value * V[j * K + c];
            }
        }
        for (size_t c = 0; c < K; c++) {
            worst = fmax(worst, fabs(sum[c] - KV[i * K + c]));
            *scale = fmax(*scale, fabs(KV[i * K + c]));
        }
    }
    return worst;
}

static void check_extension(struct landmarks *made, const struct gram *gram, const uint32_t *rows,
                            double constant) {
    const struct kernel_rows *own = gram_rows(gram);
    double *V = check_array(ROWS * K, sizeof *V), *KV = check_array(ROWS * K, sizeof *KV), scale;
    for (size_t j = 0; j < ROWS * K; j++) {
        V[j] = (double)((j * 7919) % 101) / 50 - 1 + (j % K == 2); /* the last column adds up */
    }
    for (size_t i = 0; i < ROWS * ROWS; i++) {
        double value = kernel_value(own, rows[i / ROWS], own, rows[i % ROWS]) + constant * constant;
        for (size_t c = 0; c < K; c++) {
            KV[i / ROWS * K + c] += value * V[i % ROWS * K + c];
        }
    }
    double before = product_error(made, V, KV, &scale), left = (double)made->rest[5];
    size_t width = made->width;
    MUST(landmarks_extend(made, V, KV, K, &err));
    double after = product_error(made, V, KV, &scale);
    CHECK(made->width > width && after <= 1e-4 * scale && after < before / 10,
          "%zu features more: %g, before %g, of %g", made->width - width, after, before, scale);
    CHECK_TRUE((double)made->rest[5] <= left);
    for (int t = 0; t < 4; t++) { /* without room nothing is added */
        MUST(landmarks_extend(made, V, KV, K, &err));
        CHECK_TRUE(made->width <= made->stride);
    }
}

/* The coefficients of the landmarks give the scores Z W. */
static void check_expansion(const struct landmarks *made, const struct gram *gram,
                            const uint32_t *rows) {
    const struct kernel_rows *own = gram_rows(gram);
    double *W = check_numbers(made->width * K), *b = check_numbers(made->width * K);
    for (size_t j = 0; j < made->width * K; j++) {
        W[j] = b[j] = cos((double)(j * j));
    }
    MUST(landmarks_expand(made, b, K, &err));
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t c = 0; c < K; c++) {
            double s = 0, expected = 0, size = 1;
            for (size_t a = 0; a < made->width; a++) {
                s += b[a * K + c] * kernel_value(own, rows[i], own, rows[made->row[a]]);
                expected += (double)made->Z[i * made->stride + a] * W[a * K + c];
                size += fabs(b[a * K + c]);
            }
            CHECK_CLOSE(s, expected, 1e-6 * size, "row %zu", i);
        }
    }
}

/* s = K b at the rows; returns b's. */
static double multiply(const struct gram *gram, const uint32_t *rows, const double *b, double *s) {
    const struct kernel_rows *own = gram_rows(gram);
    double square = 0;
    for (size_t i = 0; i < ROWS; i++) {
        s[i] = 0;
        for (size_t j = 0; j < ROWS; j++) {
            s[i] += b[j] == 0 ? 0 : b[j] * kernel_value(own, rows[i], own, rows[j]);
        }
        square += b[i] * s[i];
    }
    return square;
}

/* A matrix of zeros has no features. */
static void check_zeros(const struct data *data, struct threads *threads) {
    const struct kernel none = {.type = KERNEL_POLYNOMIAL, .degree = 2};
    const struct landmarks_goal goal = {.m = 8, .seed = 3, .min_pivot = 1e-10};
    const double diagonal[ROWS] = {0};
    double b[ROWS];
    struct landmarks made;
    struct gram *gram;
    MUST(gram_create(&gram, &none, data, 0, false, NULL, &err));
    MUST(landmarks_create(&made, gram, NULL, ROWS, diagonal, &goal, threads, &err));
    for (size_t i = 0; i < ROWS; i++) {
        b[i] = 1;
    }
    MUST(landmarks_coefficients(&made, b, threads, &err));
    CHECK_TRUE(made.width == 0 && b[0] == 0 && b[ROWS - 1] == 0);
    landmarks_free(&made);
    gram_free(gram);
}

/* exact: the landmarks span the matrix. */
static void check_functions(const struct kernel *kernel, const struct data *data,
                            const uint32_t *rows, bool exact, struct threads *threads) {
    const struct landmarks_goal goal = {.m = 96, .seed = 3, .min_pivot = 1e-10};
    double diagonal[ROWS], b[ROWS], c[ROWS], s[ROWS], again[ROWS], own[ROWS], norm = 0;
    struct landmarks made;
    struct gram *gram;
    MUST(gram_create(&gram, kernel, data, 0, false, NULL, &err));
    for (size_t i = 0; i < ROWS; i++) {
        b[i] = c[i] = sin((double)(i * i));
        diagonal[i] = kernel_value(gram_rows(gram), rows[i], gram_rows(gram), rows[i]);
    }
    MUST(landmarks_create(&made, gram, rows, ROWS, diagonal, &goal, threads, &err));
    CHECK_TRUE(made.width > 0 && made.width <= goal.m && (exact || made.width > goal.m / 2));
    MUST(landmarks_multiply(&made, b, s, threads, &err));
    memcpy(again, b, sizeof again);
    MUST(landmarks_multiply(&made, again, again, NULL, &err));
    CHECK_TRUE(memcmp(s, again, sizeof s) == 0);
    double whole = multiply(gram, rows, b, own);
    for (size_t i = 0; i < ROWS; i++) {
        norm += b[i] * s[i];
    }
    CHECK(norm <= whole * (1 + 1e-6), "%g above K", norm - whole);
    CHECK(!exact || norm >= whole * (1 - 1e-6), "%g below K", whole - norm);
    CHECK(exact || norm < .9 * whole, "%g of %g with few landmarks", norm, whole);
    MUST(landmarks_coefficients(&made, c, threads, &err));
    double square = multiply(gram, rows, c, own);
    size_t used = 0;
    for (size_t i = 0; i < ROWS; i++) {
        used += c[i] != 0;
        CHECK_CLOSE(own[i], s[i], 1e-4 * (1 + fabs(s[i])), "row %zu", i);
    }
    CHECK_TRUE(used <= made.width);
    CHECK_NEAR(square, norm, 1e-4, "squared norm");
    check_expansion(&made, gram, rows);
    landmarks_free(&made);
    gram_free(gram);
}

/* Of rows drawn among those with a diagonal entry, there are exactly m landmarks, all different,
 * and none is left to which the others leave less than min_pivot. */
static void check_draws(const struct gram *gram, struct threads *threads) {
    enum { M = 50 };
    struct landmarks_goal goal = {.m = M, .drawn = 75, .seed = 3, .min_pivot = 1e-12};
    struct landmarks made;
    double diagonal[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        diagonal[i] = i % 7 ? 0 : kernel_value(gram_rows(gram), i, gram_rows(gram), i);
    }
    for (int t = 0; t < 2; t++) { /* then all rows with a diagonal entry */
        bool used[ROWS] = {0};
        MUST(landmarks_create(&made, gram, NULL, ROWS, diagonal, &goal, threads, &err));
        CHECK_TRUE(made.width == goal.m);
        for (size_t a = 0; a < made.width; a++) {
            CHECK_TRUE(made.row[a] % 7 == 0 && !used[made.row[a]]);
            used[made.row[a]] = true;
        }
        landmarks_free(&made);
        goal.drawn = ROWS;
        goal.m = (ROWS + 6) / 7;
    }
    goal.min_pivot = .3;
    MUST(landmarks_create(&made, gram, NULL, ROWS, diagonal, &goal, threads, &err));
    CHECK_TRUE(made.width < goal.m);
    for (size_t i = 0; i < ROWS; i += 7) {
        CHECK(diagonal[i] - product(&made, i, i) < .3 + 1e-6, "row %zu: %g", i,
              diagonal[i] - product(&made, i, i));
    }
    landmarks_free(&made);
}

/* Kernels that the landmarks span, up to rounding, and one that they do not. */
static void check_kernels(const uint32_t *rows, struct threads *threads) {
    const struct kernel kernels[] = {
        {.type = KERNEL_RBF, .gamma = .3},
        {.type = KERNEL_POLYNOMIAL, .gamma = 1, .coef0 = 1, .degree = 2},
        {.type = KERNEL_RBF, .gamma = 1e4}};
    struct data data = sample_data(N, 2, 1, SAMPLE_SIGNED, false, true, 7);
    for (int k = 0; k < 3; k++) {
        check_functions(&kernels[k], &data, rows, k < 2, threads);
    }
    check_zeros(&data, threads);
    data_free(&data);
}

int main(void) {
    struct data data = sample_data(N, 6, 1, SAMPLE_SIGNED, false, false, 7);
    const struct kernel kernel = {.type = KERNEL_RBF, .gamma = .5};
    uint32_t rows[ROWS];
    struct threads *threads;
    struct gram *gram;
    MUST(threads_create_for_blas(&threads, 3, &err));
    MUST(gram_create(&gram, &kernel, &data, 0, false, NULL, &err));
    const struct kernel_rows *own = gram_rows(gram);
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (uint32_t)(N - 1 - i);
    }
    for (int t = 0; t < 4; t++) {
        size_t m = t & 1 ? ROWS : 40;
        double constant = t & 2 ? 1.5 : 0, most = 0;
        struct landmarks made = create(gram, rows, m, constant, threads);
        struct landmarks again = create(gram, rows, m, constant, NULL);
        CHECK_TRUE(made.width == again.width && made.width <= m + 1);
        CHECK_TRUE(memcmp(made.rest, again.rest, ROWS * sizeof *made.rest) == 0);
        for (size_t i = 0; i < ROWS; i++) {
            double value = kernel_value(own, rows[i], own, rows[i]) + constant * constant;
            double stands = product(&made, i, i) + (double)made.rest[i];
            CHECK_NEAR(stands, value, 1e-5, "row %zu", i);
            size_t j = i * 7 % ROWS;
            value = kernel_value(own, rows[i], own, rows[j]) + constant * constant;
            CHECK_CLOSE(product(&made, i, j), value, m == ROWS ? 2e-3 : .5,
                        "landmarks %zu, row %zu", m, i);
            most = fmax(most, (double)made.rest[i]);
        }
        CHECK(m == ROWS ? most < 2e-3 : most > .01, "landmarks %zu: %g is left", m, most);
        if (constant == 0) {
            check_expansion(&made, gram, rows);
        }
        if (m < ROWS) {
            check_extension(&made, gram, rows, constant);
        }
        landmarks_free(&made);
        landmarks_free(&again);
    }
    check_kernels(rows, threads);
    check_draws(gram, threads);
    gram_free(gram);
    threads_free(threads);
    data_free(&data);
    printf("ok: landmarks stand in for a kernel matrix\n");
    return 0;
}
