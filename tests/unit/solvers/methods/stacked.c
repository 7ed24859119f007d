/* Systems by their rows (solvers/methods/stacked.c): as exact as the rows are, where the sum of
 * their squares has lost the small ones. */
#include "solvers/methods/stacked.h"
#include "common/base/random.h"
#include "solvers/methods/cholesky.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 9, N = 4 };

/* x = (A'A)^-1 x by the rows, of which the last is way times `large`; a second factor in the same
 * room. */
static void solve_rows(const double *A, const double *way, double large, bool refined, double *x) {
    struct stacked *stacked;
    struct error err;
    CHECK(stacked_create(&stacked, ROWS + 1, N, 0, refined, &err) == 0, "%s", err.text);
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < ROWS; i++) {
            memcpy(stacked_row(stacked, i), A + i * N, N * sizeof *A);
        }
        for (size_t c = 0; c < N; c++) {
            stacked_row(stacked, ROWS)[c] = large * way[c];
        }
        CHECK(stacked_factor(stacked) == 0, "no factor");
    }
    stacked_solve(stacked, x);
    stacked_free(stacked);
}

/* The same by the squares, of n columns; false where they have no factor. */
static bool solve_squares(const double *A, size_t rows, size_t n, double *x) {
    double B[N * N] = {0};
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < n; c++) {
            for (size_t d = 0; d < n; d++) {
                B[c * n + d] += A[i * n + c] * A[i * n + d];
            }
        }
    }
    if (cholesky_factor(B, n) < 0) {
        return false;
    }
    cholesky_solve(B, n, x);
    return true;
}

/* Rows of E, and entries of A (ROWS, N) that differ by the units of their columns: the same as with
 * E's rows among A's, and for sums as exact as for rows. */
static void check_ones(const double *A, const double *right, bool refined) {
    const double unit[N] = {1, 1e-7, 1e5, 1e9};
    for (size_t ones = 0; ones <= N; ones++) {
        struct stacked *stacked, *whole;
        struct error err;
        double x[N], known[N];
        CHECK(stacked_create(&stacked, ROWS, N, ones, refined, &err) == 0, "%s", err.text);
        CHECK(stacked_create(&whole, ROWS + ones, N, 0, false, &err) == 0, "%s", err.text);
        for (size_t i = 0; i < ROWS; i++) {
            for (size_t c = 0; c < N; c++) {
                stacked_row(stacked, i)[c] = stacked_row(whole, i)[c] = A[i * N + c] * unit[c];
            }
        }
        for (size_t c = 0; c < ones; c++) {
            stacked_row(whole, ROWS + c)[c] = 1;
        }
        CHECK(stacked_factor(stacked) == 0 && stacked_factor(whole) == 0, "no factor");
        for (size_t c = 0; c < N; c++) {
            x[c] = known[c] = right[c] * unit[c];
        }
        stacked_solve(stacked, x);
        stacked_solve(whole, known);
        for (size_t c = 0; c < N; c++) {
            CHECK(fabs(x[c] - known[c]) <= 1e-10 * fabs(known[c]), "%zu ones: %g, not %g", ones,
                  x[c], known[c]);
        }
        stacked_free(stacked);
        stacked_free(whole);
    }
}

/* The solution where the way's row is infinitely large: way'x = 0, way[0] = 1. */
static void solve_without(const double *A, const double *way, const double *right, double *x) {
    double reduced[ROWS * (N - 1)];
    for (size_t c = 1; c < N; c++) {
        for (size_t i = 0; i < ROWS; i++) {
            reduced[i * (N - 1) + c - 1] = A[i * N + c] - way[c] * A[i * N];
        }
        x[c] = right[c] - way[c] * right[0];
    }
    CHECK(solve_squares(reduced, ROWS, N - 1, x + 1), "no factor");
    x[0] = -(way[1] * x[1] + way[2] * x[2] + way[3] * x[3]);
}

static double distance(const double *x, const double *z) {
    double most = 0;
    for (size_t c = 0; c < N; c++) {
        most = fmax(most, fabs(x[c] - z[c]));
    }
    return most;
}

int main(void) {
    const double way[N] = {1, 2, -3, .5}, right[N] = {1, -1, 2, 3}, large = 1e9;
    bool lost = false;
    for (uint64_t seed = 0; seed < 20; seed++) {
        double A[(ROWS + 1) * N], x[N], known[N];
        bool refined = seed % 2;
        struct random random;
        random_start(&random, seed, 3);
        for (size_t j = 0; j < (size_t)ROWS * N; j++) {
            A[j] = random_unit(&random) - .5;
        }
        for (size_t c = 0; c < N; c++) {
            A[ROWS * N + c] = way[c];
        }
        check_ones(A, right, refined);
        memcpy(x, right, sizeof x);
        memcpy(known, right, sizeof known);
        solve_rows(A, way, 1, refined, x);
        CHECK(solve_squares(A, ROWS + 1, N, known), "no factor");
        CHECK(distance(x, known) < 1e-11, "seed %d: off by %g", (int)seed, distance(x, known));
        memcpy(x, right, sizeof x);
        solve_rows(A, way, large, refined, x);
        solve_without(A, way, right, known);
        CHECK(distance(x, known) < 1e-8, "seed %d: off by %g", (int)seed, distance(x, known));
        for (size_t c = 0; c < N; c++) {
            A[ROWS * N + c] = large * way[c];
        }
        memcpy(x, right, sizeof x);
        lost = lost || !solve_squares(A, ROWS + 1, N, x) || distance(x, known) > 1e-2;
    }
    CHECK(lost, "squares would do");
    struct stacked *stacked;
    struct error err;
    CHECK(stacked_create(&stacked, ROWS, N, 0, false, &err) == 0, "%s", err.text);
    CHECK(stacked_factor(stacked) < 0, "a matrix of zeros has no factor");
    stacked_free(stacked);
    printf("ok: systems by their rows\n");
    return 0;
}
