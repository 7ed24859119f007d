/* Factors by blocks, and what they solve, of matrices of whole numbers: every sum is exact, so that
 * factors and solutions are those that the matrices were made of, to the bit. */
#include "solvers/methods/cholesky.h"

#include "tests/unit/compute.h"

enum { POOLS = 3 };

static double factor_entry(size_t i, size_t j) {
    return i == j ? (double)(1 << (i * 5 % 3)) : (double)((i * 7 + j * 11 + i * j) % 5) - 2;
}

/* Solution of row i, column c. */
static double solution_entry(size_t i, size_t c) {
    return (double)((i * 13 + c * 17) % 9) - 4;
}

/* A (n, n): its lower half L L', above it what is to stay there. */
static void fill(double *A, const double *L, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            A[i * n + j] = j > i ? (double)(i + j) : 0;
            for (size_t t = 0; t <= j && j <= i; t++) {
                A[i * n + j] += L[i * n + t] * L[j * n + t];
            }
        }
    }
}

/* B (n, k) = L L' times the solution. */
static void multiply(const double *L, size_t n, size_t k, double *B) {
    double *half = sample_array(n * k, sizeof *half);
    memset(half, 0, n * k * sizeof *half);
    memset(B, 0, n * k * sizeof *B);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            for (size_t c = 0; c < k; c++) {
                half[j * k + c] += L[i * n + j] * solution_entry(i, c);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            for (size_t c = 0; c < k; c++) {
                B[i * k + c] += L[i * n + j] * half[j * k + c];
            }
        }
    }
    free(half);
}

static void check_size(size_t n, size_t k, struct threads *const *pool) {
    double *L = sample_array(n * n, sizeof *L), *A = sample_array(n * n, sizeof *A);
    double *whole = sample_array(n * n, sizeof *whole), *B = sample_array(n * k, sizeof *B);
    double *X = sample_array(n * k, sizeof *X);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            L[i * n + j] = j > i ? 0 : factor_entry(i, j);
        }
    }
    fill(whole, L, n);
    multiply(L, n, k, B);
    for (int p = 0; p < POOLS; p++) {
        memcpy(A, whole, n * n * sizeof *A);
        CHECK(cholesky_factor_blocks(A, n, pool[p]) == 0, "%zu rows: no factor", n);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                double entry = j > i ? whole[i * n + j] : L[i * n + j];
                CHECK(A[i * n + j] == entry, "%zu rows, entry (%zu, %zu): %g, should be %g", n, i,
                      j, A[i * n + j], entry);
            }
        }
        memcpy(X, B, n * k * sizeof *X);
        cholesky_solve_columns(A, n, X, k, pool[p]);
        for (size_t j = 0; j < n * k; j++) {
            CHECK(X[j] == solution_entry(j / k, j % k), "%zu rows, %zu columns: %g at %zu", n, k,
                  X[j], j);
        }
    }
    /* the last pivot 0 */
    memcpy(A, whole, n * n * sizeof *A);
    A[n * n - 1] -= factor_entry(n - 1, n - 1) * factor_entry(n - 1, n - 1);
    CHECK(cholesky_factor_blocks(A, n, NULL) < 0, "%zu rows: a factor of what is singular", n);
    free(L);
    free(A);
    free(whole);
    free(B);
    free(X);
}

/* Second differences, whose inverse is known: (i + 1)(n - j) / (n + 1) at i <= j. */
static void check_inverse(size_t n) {
    double *A = sample_array(n * n, sizeof *A);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            A[i * n + j] = j > i ? 7 : i == j ? 2 : i == j + 1 ? -1 : 0;
        }
    }
    CHECK(cholesky_factor(A, n) == 0 && cholesky_invert(A, n) == 0, "%zu rows: no inverse", n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double value = j > i ? 7 : (double)(j + 1) * (double)(n - i) / (double)(n + 1);
            CHECK(fabs(A[i * n + j] - value) <= 1e-11 * value,
                  "%zu rows, entry (%zu, %zu) of the inverse: %g, should be %g", n, i, j,
                  A[i * n + j], value);
        }
    }
    free(A);
}

/* A ridge is added only where the factor needs one, and the factor is then that of A, nearly. */
static void check_ridge(size_t n, double least) {
    double *A = sample_array(n * n, sizeof *A), *diagonal = sample_array(n, sizeof *diagonal);
    double worst = 0;
    for (size_t i = 0; i < n; i++) { /* all ones: rank 1, less `least` of the last */
        for (size_t j = 0; j < n; j++) {
            A[i * n + j] = i == j && i == n - 1 ? 1 - least : 1;
        }
    }
    int status = cholesky_regularised(A, n, diagonal);
    CHECK((status == 0) == (least < 1e-3), "less %g: status %d", least, status);
    for (size_t i = 0; status == 0 && i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t t = 0; t <= j; t++) {
                sum += A[i * n + t] * A[j * n + t];
            }
            worst = fmax(worst, fabs(sum - 1));
        }
    }
    CHECK(worst <= fmax(1e-10, 300 * least), "less %g: off by %g", least, worst);
    free(A);
    free(diagonal);
}

static void check_ridges(void) {
    double A[] = {4, 9, 2, 3}, diagonal[2];
    CHECK(cholesky_regularised(A, 2, diagonal) == 0 && A[0] == 2 && A[2] == 1 && A[3] == sqrt(2),
          "a ridge where none is needed");
    check_ridge(20, 0);
    check_ridge(20, 1e-12);
    check_ridge(20, 1e-6);
    check_ridge(20, 0.5);
    double B[] = {1, 2, 3, 4};
    cholesky_mirror(B, 2, true);
    CHECK(B[1] == 3 && B[2] == 3, "the lower half is not above");
    B[1] = 5;
    cholesky_mirror(B, 2, false);
    CHECK(B[2] == 5, "the upper half is not below");
}

int main(void) {
    struct error err;
    struct threads *pool[POOLS] = {NULL};
    for (size_t p = 1; p < POOLS; p++) {
        CHECK(threads_create(&pool[p], p + 1, &err) == 0, "%s", err.text);
    }
    const size_t n[] = {1, 2, 255, 256, 257, 513, 1300}, k[] = {1, 3, 40};
    for (size_t a = 0; a < sizeof n / sizeof n[0]; a++) {
        check_size(n[a], k[a % 3], pool);
    }
    check_size(1300, 40, pool);
    check_inverse(1);
    check_inverse(300);
    check_ridges();
    for (size_t p = 1; p < POOLS; p++) {
        threads_free(pool[p]);
    }
    printf("ok: factors by blocks and their solutions, on any number of threads; the inverse; "
           "ridges\n");
    return 0;
}
