/* Feature systems over many decades, against a solution that they were made from. */
#include "families/top/solver/feature_system_dd.h"
#include "tests/unit/compute.h"

enum { M = 40, D = 6 };

/* X of whole numbers, w of halves, E = 2^-60 on the first rows and 2^20 on others. With s = X w,
 * which is exact, the solution of E b + s = x is b = (x - s) / E. x is s on the last rows, whose b
 * is 0, and s + E b, rounded, on the others, whose b follows from it. The residual is w - X'b. */
int main(void) {
    double X[M * D], E[M], x[M], b[M], w[D], lack[D], found[D];
    struct top_system_dd *wide;
    struct random random = sample_random(1, 0);
    for (size_t j = 0; j < D; j++) {
        w[j] = lack[j] = (double)random_below(&random, 9) / 2 - 2;
    }
    for (size_t i = 0; i < M; i++) {
        double s = 0;
        for (size_t j = 0; j < D; j++) {
            X[i * D + j] = j == D - 1 ? 0 : 1000 * ((double)random_below(&random, 11) - 5);
            s += X[i * D + j] * w[j];
        }
        E[i] = i < D - 1 ? 0x1p-60 : 0x1p20;
        x[i] = i < D - 1 ? s + copysign(0x1p-30, s) : i < M / 2 ? s - 0x1p22 : s;
        b[i] = (x[i] - s) / E[i];
        for (size_t j = 0; j < D; j++) {
            lack[j] -= b[i] * X[i * D + j];
        }
    }
    CHECK(top_system_dd_fits(M, D) && !top_system_dd_fits(100000, 1000), "sizes");
    MUST(top_system_dd_create(&wide, X, M, D, &err));
    CHECK(top_system_dd_factor(wide, E), "not positive definite");
    top_system_dd_solve(wide, lack, x, found);
    for (size_t i = 0; i < M; i++) {
        CHECK_CLOSE(x[i], b[i], 1e-9 * (1 + fabs(b[i])), "row %zu", i);
    }
    for (size_t j = 0; j < D; j++) {
        CHECK_CLOSE(found[j], w[j], 1e-9, "feature %zu", j);
    }
    E[0] = (double)NAN;
    CHECK(!top_system_dd_factor(wide, E), "a factor of what is no number");
    top_system_dd_free(wide);
    puts("ok: systems over 80 binary orders are solved to the last digits");
    return 0;
}
