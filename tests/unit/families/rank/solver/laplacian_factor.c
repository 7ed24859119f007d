/* Factors of Laplacians (families/rank/solver/laplacian_factor.h): v'L v = |B v|^2, also with
 * weights of very different sizes, where the Laplacian as a matrix has lost the small ones. */
#include "families/rank/solver/laplacian_factor.h"
#include "tests/unit/compute.h"

enum { MOST = 100 };

static double weight[MOST * MOST]; /* of pairs i < j */

static double by_pairs(size_t n, const double *v) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            sum += weight[i * n + j] * (v[i] - v[j]) * (v[i] - v[j]);
        }
    }
    return sum;
}

static double by_product(size_t n, const double *v) {
    static double W[MOST * MOST];
    double F[MOST], sum = 0;
    memcpy(W, weight, n * n * sizeof *W);
    memcpy(F, v, n * sizeof *F);
    rank_laplacian_factor(W, n);
    rank_laplacian_factor_multiply(W, n, F, 1);
    for (size_t i = 0; i < n; i++) {
        sum += F[i] * F[i];
    }
    return sum;
}

/* The same with the Laplacian as a matrix. */
static double by_sums(size_t n, const double *v) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double degree = 0, row = 0;
        for (size_t j = 0; j < n; j++) {
            double w = i < j ? weight[i * n + j] : j < i ? weight[j * n + i] : 0;
            degree += w;
            row -= w * v[j];
        }
        sum += v[i] * (row + degree * v[i]);
    }
    return sum;
}

int main(void) {
    bool lost = false;
    for (uint64_t seed = 0; seed < 30; seed++) {
        size_t n = 2 + (size_t)seed * 3; /* more than one panel, too */
        double v[MOST], size = 0;
        struct random random = sample_random(seed, 1);
        memset(weight, 0, sizeof weight);
        for (size_t i = 0; i < n; i++) {
            v[i] = random_unit(&random) - 0.5;
            size = fmax(size, fabs(v[i]));
            for (size_t j = i + 1; j < n; j++) {
                weight[i * n + j] =
                    seed % 3 && random_unit(&random) < 0.6 ? 0 : random_unit(&random);
            }
        }
        double pairs = by_pairs(n, v);
        CHECK_NEAR(by_product(n, v), pairs, 1e-13, "%zu rows", n);
        /* two halves with nearly no weight between them */
        for (size_t i = 0; i < n; i++) {
            v[i] = i % 2 ? 1.1 : -0.7;
            for (size_t j = i + 1; j < n; j++) {
                weight[i * n + j] *= (i + j) % 2 ? 1e-9 : 1e9;
            }
        }
        pairs = by_pairs(n, v);
        CHECK_NEAR(by_product(n, v), pairs, 1e-6, "%zu rows", n);
        lost = lost || fabs(by_sums(n, v) - pairs) > 0.1 * pairs;
    }
    CHECK(lost, "sums would do");
    printf("ok: Laplacians as products\n");
    return 0;
}
