/* Blocked Cholesky factors and solutions of integer matrices. All sums are exact, so factors and
 * solutions must equal those from which the matrices were computed, to the bit. */
#include "common/linear_algebra/cholesky.h"

#include "tests/unit/compute.h"

#include <cblas.h>
#include <float.h>
#include <stdatomic.h>

enum { POOLS = 3, K = 3 };

static double factor_entry(size_t i, size_t j) {
    return j > i    ? 0
           : i == j ? (double)(1 << (i * 5 % 3))
                    : (double)((i * 7 + j * 11 + i * j) % 5) - 2;
}

static double solution_entry(size_t i, size_t c) {
    return (double)((i * 13 + c * 17) % 9) - 4;
}

/* A (n, n): L L' in the lower half, above it values that must not change; B (n, K): A times the
 * solution. */
static void fill(size_t n, double *A, double *B) {
    double *half = check_array(n * K, sizeof *half);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            A[i * n + j] = j > i ? (double)(i + j) : 0;
            for (size_t t = 0; t <= j && j <= i; t++) {
                A[i * n + j] += factor_entry(i, t) * factor_entry(j, t);
            }
            for (size_t c = 0; c < K; c++) {
                half[j * K + c] += factor_entry(i, j) * solution_entry(i, c);
            }
        }
    }
    for (size_t e = 0; e < n * n * K; e++) {
        size_t i = e / K / n, j = e / K % n, c = e % K;
        B[i * K + c] += factor_entry(i, j) * half[j * K + c];
    }
}

static void check_size(size_t n, struct threads *const *pool) {
    double *whole = check_array(n * n, sizeof *whole), *A = check_array(n * n, sizeof *A);
    double *B = check_array(2 * n * K, sizeof *B), *X = B + n * K;
    fill(n, whole, B);
    for (int p = 0; p < POOLS; p++) {
        memcpy(A, whole, n * n * sizeof *A);
        memcpy(X, B, n * K * sizeof *X);
        CHECK(cholesky_factor_blocks(A, n, pool[p]) == 0, "%zu rows: no factor", n);
        for (size_t e = 0; e < n * n; e++) {
            double entry = e % n > e / n ? whole[e] : factor_entry(e / n, e % n);
            CHECK(A[e] == entry, "%zu rows, entry %zu: %g, should be %g", n, e, A[e], entry);
        }
        cholesky_solve_columns(A, n, X, K, pool[p]);
        for (size_t j = 0; j < n * K; j++) {
            CHECK(X[j] == solution_entry(j / K, j % K), "%zu rows: %g at %zu", n, X[j], j);
        }
    }
    whole[n * n - 1] -= factor_entry(n - 1, n - 1) * factor_entry(n - 1, n - 1);
    CHECK(cholesky_factor_blocks(whole, n, NULL) < 0, "%zu rows: a singular matrix has a factor",
          n);
}

/* The regularised factor of a nearly singular matrix is close to that of A: all ones, of matrix
 * rank 1, with the last entry reduced by `least`. */
static void check_ridge(size_t n, double least) {
    double *A = check_array(n * n, sizeof *A), *diagonal = check_array(n, sizeof *diagonal);
    for (size_t i = 0; i < n * n; i++) {
        A[i] = i == n * n - 1 ? 1 - least : 1;
    }
    int status = cholesky_regularised(A, n, diagonal);
    CHECK((status == 0) == (least < 1e-3), "less %g: status %d", least, status);
    for (size_t i = 0; status == 0 && i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double off = fabs(cblas_ddot((int)j + 1, A + i * n, 1, A + j * n, 1) - 1);
            CHECK(off <= fmax(1e-10, 300 * least), "less %g: off by %g", least, off);
        }
    }
}

/* A task of which each worker takes one: numbers below the normal range are kept, as certificates
 * need. *argument: tasks that have not started. */
static void check_gradual_underflow(void *argument, size_t task, size_t worker) {
    atomic_size_t *waiting = argument;
    volatile double tiny = DBL_MIN;
    (void)task;
    for (atomic_fetch_sub(waiting, 1); atomic_load(waiting) > 0;) {
    }
    tiny = tiny / 2;
    CHECK(tiny > 0, "worker %zu flushes to zero", worker);
}

int main(void) {
    struct threads *pool[POOLS] = {NULL};
    for (size_t p = 1; p < POOLS; p++) {
        MUST(threads_create(&pool[p], p + 1, &err));
    }
    const size_t n[] = {1, 2, 255, 256, 257, 513, 1300};
    for (size_t a = 0; a < sizeof n / sizeof n[0]; a++) {
        check_size(n[a], pool);
    }
    for (size_t p = 0; p < POOLS; p++) {
        atomic_size_t waiting = threads_count(pool[p]);
        threads_run(pool[p], threads_count(pool[p]), check_gradual_underflow, &waiting);
    }
    const double least[] = {0, 1e-12, 1e-6, 0.5};
    for (size_t l = 0; l < sizeof least / sizeof least[0]; l++) {
        check_ridge(20, least[l]);
    }
    for (size_t p = 1; p < POOLS; p++) {
        threads_free(pool[p]);
    }
    printf("ok: blocked factors and solutions with any number of threads; regularisation\n");
    return 0;
}
