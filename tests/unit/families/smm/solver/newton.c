/* The Hessian of the nuclear norm against differences of its gradient, and Newton steps by
 * factorisation and by conjugate gradients against the equations that they solve. */
#include "common/base/array.h"
#include "families/smm/solver/newton_system.h"
#include "families/smm/solver/spectral.h"
#include "tests/unit/compute.h"

enum { MAX_CELLS = 64, BAND = 250, ROWS = 510 };

static const double RHO = 3, THRESHOLD = 0.9;

static void fill(struct random *random, double *x, size_t n) {
    for (size_t j = 0; j < n; j++) {
        x[j] = 2 * random_unit(random) - 1;
    }
}

/* The gradient at B up to a constant: B + rho (B - S). */
static void gradient_at(struct smm_spectral *spectral, const double *B, double *gradient) {
    double S[MAX_CELLS], norm, square;
    MUST(smm_spectral_find(spectral, B, RHO, THRESHOLD, &err));
    smm_spectral_threshold(spectral, S, &norm, &square);
    for (size_t j = 0; j < spectral->height * spectral->width; j++) {
        gradient[j] = B[j] + RHO * (B[j] - S[j]);
    }
}

/* P p, by differences around B; leaves the spectral decomposition at B. */
static void hessian(struct smm_spectral *spectral, const double *B, const double *p, double *Pp) {
    const double length = 1e-5;
    size_t cells = spectral->height * spectral->width;
    double at[MAX_CELLS] = {0}, up[MAX_CELLS], down[MAX_CELLS];
    for (size_t j = 0; j < cells; j++) {
        at[j] = B[j] + length * p[j];
    }
    gradient_at(spectral, at, up);
    for (size_t j = 0; j < cells; j++) {
        at[j] = B[j] - length * p[j];
    }
    gradient_at(spectral, at, down);
    for (size_t j = 0; j < cells; j++) {
        Pp[j] = (up[j] - down[j]) / (2 * length);
    }
    gradient_at(spectral, B, at);
}

static void test_curvature(struct random *random, struct smm_spectral *spectral, const double *B) {
    size_t cells = spectral->height * spectral->width;
    double p[MAX_CELLS], Pp[MAX_CELLS], back[MAX_CELLS], z[2][2 * MAX_CELLS];
    fill(random, p, cells);
    hessian(spectral, B, p, Pp);
    smm_spectral_inverse(spectral, Pp, back);
    for (size_t j = 0; j < cells; j++) {
        CHECK_CLOSE(back[j], p[j], 1e-7, "cell %zu", j);
    }
    double *work = check_numbers(1 + smm_spectral_feature_work(spectral));
    double X[2][MAX_CELLS];
    for (int k = 0; k < 2; k++) {
        fill(random, X[k], cells);
        smm_spectral_describe(spectral, X[k], z[k], work);
    }
    smm_spectral_inverse(spectral, X[1], back);
    double found = array_dot(z[0], z[1], smm_spectral_features(spectral));
    double wanted = array_dot(X[0], back, cells) - array_dot(X[0], X[1], cells) / (1 + RHO);
    CHECK_CLOSE(found, wanted, 1e-12, "features");
}

/* out = P^-1 H; P = I if B is NULL. */
static void invert(struct smm_spectral *spectral, const double *B, const double *H, double *out) {
    if (B) {
        smm_spectral_inverse(spectral, H, out);
    } else {
        memcpy(out, H, spectral->height * spectral->width * sizeof *out);
    }
}

/* Residual of the equations relative to g: P p + g + X'D^-1 (X p + b), in the norm of P^-1. */
static double residual_of(struct smm_spectral *spectral, const double *B, const struct data *data,
                          const uint32_t *band, size_t m, const double *d, const double *g,
                          const double *p) {
    size_t cells = spectral->height * spectral->width;
    double left[MAX_CELLS], back[MAX_CELLS], s[BAND], sum = 0, total = 0;
    if (B) {
        hessian(spectral, B, p, left);
    } else {
        memcpy(left, p, cells * sizeof *left);
    }
    for (size_t i = 0; i < m; i++) {
        s[i] = 0;
        for (size_t j = 0; j < cells; j++) {
            s[i] += (double)data->value[band[i] * cells + j] * p[j];
        }
        sum += s[i] / d[i];
        total += 1 / d[i];
    }
    for (size_t j = 0; j < cells; j++) {
        left[j] += g[j];
        for (size_t i = 0; i < m; i++) {
            left[j] += (double)data->value[band[i] * cells + j] * (s[i] - sum / total) / d[i];
        }
    }
    invert(spectral, B, left, back);
    double square = array_dot(left, back, cells);
    invert(spectral, B, g, back);
    return sqrt(square / array_dot(g, back, cells));
}

/* Steps with curvatures up to 1/d: -P^-1 g without curved rows; few rows by factorisation, the
 * second time with cached products; many rows by conjugate gradients, or by factorisation if
 * these do not converge; and for B = NULL (P = I) by factorisation in features. */
static void test_step(struct random *random, struct smm_spectral *spectral, const double *B,
                      size_t m, double tolerance, double d_most) {
    size_t cells = spectral->height * spectral->width;
    struct data data =
        sample_data(ROWS, (uint32_t)cells, 1, SAMPLE_SIGNED, false, false, random_bits(random));
    double g[MAX_CELLS], p[MAX_CELLS], d[BAND], scores[ROWS];
    uint32_t band[BAND];
    for (size_t i = 0; i < m; i++) {
        band[i] = (uint32_t)(2 * i + 1);
        d[i] = d_most * (0.1 + random_unit(random));
    }
    fill(random, g, cells);
    const struct smm_matrices matrices = {
        .data = &data, .n = ROWS, .height = spectral->height, .width = spectral->width};
    const struct binary_rows rows = binary_rows_of(&matrices);
    struct newton_system *system;
    double cg_passes;
    MUST(newton_system_create(&system, &rows, &err));
    for (int again = 0; again < 2; again++) {
        MUST(newton_system_solve(system, B ? spectral : NULL, band, m, d, g, p, scores, &cg_passes,
                                 NULL, &err));
        double left = residual_of(spectral, B, &data, band, m, d, g, p);
        CHECK(left < tolerance, "left of the equations: %g", left);
    }
    newton_system_free(system);
    data_free(&data);
}

int main(void) {
    static const size_t shape[][2] = {{6, 6}, {4, 7}, {7, 4}, {1, 9}, {9, 1}, {1, 1}};
    struct random random = sample_random(1, 0);
    for (size_t k = 0; k < sizeof shape / sizeof shape[0]; k++) {
        struct smm_spectral spectral;
        double B[MAX_CELLS], gradient[MAX_CELLS];
        MUST(smm_spectral_create(&spectral, shape[k][0], shape[k][1], &err));
        for (double scale = 0.1; scale < 100; scale *= 10) { /* from rank 0 to all */
            fill(&random, B, shape[k][0] * shape[k][1]);
            for (size_t j = 0; j < shape[k][0] * shape[k][1]; j++) {
                B[j] *= scale;
            }
            gradient_at(&spectral, B, gradient);
            test_curvature(&random, &spectral, B);
            test_step(&random, &spectral, B, 0, 1e-5, 1);
            for (double d = 1e-3; d <= 1000; d *= 1e3) {
                test_step(&random, &spectral, B, 30, 1e-5, d);
                test_step(&random, &spectral, B, BAND, 0.31, d);
                test_step(&random, &spectral, NULL, 30, 1e-5, d);
                test_step(&random, &spectral, NULL, BAND, 1e-5, d);
            }
        }
        smm_spectral_free(&spectral);
    }
    printf("ok: curvature, features and steps\n");
    return 0;
}
