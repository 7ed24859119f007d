/* Factors in double-double of a matrix of which double keeps no digit, against what it was made
 * of. */
#include "solvers/methods/cholesky_precise.h"

#include "common/base/dd.h"
#include "tests/unit/compute.h"

enum { N = 7, RANK = 4 };

/* L of small whole numbers, column k of them 2^(-step k) times as large: what sums of products of
 * two entries have is less than 106 bits. */
static void make_factor(struct dd *L, size_t rank, int step) {
    struct random random;
    random_start(&random, 7, 0);
    memset(L, 0, N * N * sizeof *L);
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k <= i && k < rank; k++) {
            double whole = i == k ? 8 : (double)random_below(&random, 15) - 7;
            L[i * N + k].hi = ldexp(whole, 20 - step * (int)k);
        }
    }
}

/* A = L L', its whole square. */
static void square(const struct dd *L, struct dd *A) {
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            struct dd sum = {0, 0};
            for (size_t k = 0; k < N; k++) {
                sum = dd_add(sum, dd_multiply(L[i * N + k], L[j * N + k]));
            }
            A[i * N + j] = sum;
        }
    }
}

static double apart(struct dd a, struct dd b) {
    struct dd d = dd_add(a, dd_negative(b));
    return fabs(d.hi);
}

static void check_factor(void) {
    struct dd L[N * N], A[N * N], x[N], b[N];
    make_factor(L, N, 5);
    square(L, A);
    for (size_t i = 0; i < N; i++) { /* of the solution 1, 2, 3 .. */
        b[i] = (struct dd){0, 0};
        for (size_t j = 0; j < N; j++) {
            b[i] = dd_add(b[i], dd_multiply(A[i * N + j], (struct dd){(double)(j + 1), 0}));
        }
    }
    CHECK(cholesky_precise_factor(A, N), "not positive definite");
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k <= i; k++) {
            CHECK(apart(A[i * N + k], L[i * N + k]) <= 0x1p-30 * L[k * N + k].hi, "L(%zu,%zu)", i,
                  k);
        }
    }
    memcpy(x, b, sizeof x);
    cholesky_precise_solve(A, N, x);
    for (size_t i = 0; i < N; i++) {
        CHECK(apart(x[i], (struct dd){(double)(i + 1), 0}) <= 1e-9, "x(%zu) = %.17g", i, x[i].hi);
    }
    A[0].hi = -1;
    CHECK(!cholesky_precise_factor(A, N), "a factor of what is negative");
    A[0].hi = (double)NAN;
    CHECK(!cholesky_precise_factor(A, N), "a factor of what is no number");
    printf("ok: factors and solutions over 60 binary orders\n");
}

/* Of RANK columns, of which the last are below the rounding of a double of the first. */
static void check_pivoted(void) {
    struct dd L[N * N], A[N * N], whole[N * N];
    double least[N];
    uint32_t pivot[N];
    bool seen[N] = {false};
    make_factor(L, RANK, 10);
    square(L, whole);
    memcpy(A, whole, sizeof A);
    for (size_t i = 0; i < N; i++) {
        least[i] = 0x1p-90 * whole[i * N + i].hi;
    }
    size_t rank = cholesky_precise_pivoted(A, N, least, pivot);
    CHECK(rank == RANK, "rank %zu", rank);
    for (size_t i = 0; i < N; i++) {
        CHECK(pivot[i] < N && !seen[pivot[i]], "pivot %zu: %u", i, (unsigned)pivot[i]);
        seen[pivot[i]] = true;
        for (size_t j = 0; j <= i; j++) {
            struct dd sum = {0, 0}, true_one = whole[pivot[i] * N + pivot[j]];
            for (size_t k = 0; k <= j && k < rank; k++) {
                sum = dd_add(sum, dd_multiply(A[i * N + k], A[j * N + k]));
            }
            CHECK(apart(sum, true_one) <= 0x1p-90 * whole[0].hi, "entry (%zu,%zu)", i, j);
        }
    }
    for (size_t i = 0; i < N; i++) {
        least[i] = INFINITY;
    }
    CHECK(cholesky_precise_pivoted(whole, N, least, pivot) == 0, "rounding is no column");
    printf("ok: pivoted factors find the rank that double cannot\n");
}

int main(void) {
    CHECK(cholesky_precise_work(1000) > 100 * cholesky_precise_work(100), "work");
    check_factor();
    check_pivoted();
    return 0;
}
