/* solvers/methods/factor.h: after rows are dropped, and rows taken off others, solutions are those
 * of the matrix changed by hand. */
#include "solvers/methods/factor.h"

#include "common/base/random.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdbool.h>

enum { N = 9 };

/* The largest entry of A x - b over the rows that are left. */
static double residual(double A[N][N], const bool *dropped, const double *x, const double *b) {
    double most = 0;
    for (size_t i = 0; i < N; i++) {
        double sum = -b[i];
        for (size_t j = 0; j < N; j++) {
            sum += A[i][j] * x[j];
        }
        most = dropped[i] ? most : fmax(most, fabs(sum));
    }
    return most;
}

static void check_solution(const struct factor *factor, double A[N][N], const bool *dropped) {
    double x[N], b[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = b[i] = dropped[i] ? 0 : 1 + (double)i;
    }
    factor_solve(factor, x);
    for (size_t i = 0; i < N; i++) {
        CHECK_TRUE(!dropped[i] || x[i] == 0);
    }
    CHECK_TRUE(residual(A, dropped, x, b) < 1e-10);
}

int main(void) {
    struct error err = {0};
    struct random random;
    struct factor factor = {0};
    double A[N][N], G[N][N];
    bool dropped[N] = {false};
    random_start(&random, 1, 1);
    for (size_t i = 0; i < N * N; i++) {
        G[i / N][i % N] = random_unit(&random) - 0.5;
    }
    CHECK_TRUE(factor_reserve(&factor, N, &err) == 0);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            A[i][j] = i == j ? 0.1 : 0;
            for (size_t t = 0; t < N; t++) {
                A[i][j] += G[i][t] * G[j][t];
            }
            factor.U[i * N + j] = A[i][j];
        }
    }
    CHECK_TRUE(factor_make(&factor) == 0);
    check_solution(&factor, A, dropped);
    const size_t drops[] = {4, 0, 8, 5};
    for (size_t d = 0; d < sizeof drops / sizeof drops[0]; d++) {
        factor_drop(&factor, drops[d]);
        dropped[drops[d]] = true;
        check_solution(&factor, A, dropped);
    }
    for (size_t j = 2; j < 4; j++) { /* b_j - b_1 for b_j, j = 2, 3 */
        for (size_t t = 0; t < N; t++) {
            A[j][t] -= A[1][t];
        }
        for (size_t t = 0; t < N; t++) {
            A[t][j] -= A[t][1];
        }
        factor_subtract(&factor, j, 1);
        check_solution(&factor, A, dropped);
    }
    factor_drop(&factor, 1);
    dropped[1] = true;
    check_solution(&factor, A, dropped);

    CHECK_TRUE(factor_reserve(&factor, 2, &err) == 0);
    factor.U[0] = factor.U[3] = 1;
    factor.U[1] = 2;
    CHECK_TRUE(factor_make(&factor) < 0); /* eigenvalues 3 and -1 */
    factor_free(&factor);
    printf("ok: rows dropped and taken off one another\n");
    return 0;
}
