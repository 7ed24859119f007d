#include "tests/optima/gram.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const real UNIT = LDBL_EPSILON;

static real power(real base, int exponent) {
    real value = 1;
    for (int k = 0; k < exponent; k++) {
        value *= base;
    }
    return value;
}

/* Sums over the features. */
struct sums {
    real product, magnitude, squares, square_distance, absolute_distance, least, most;
};

static struct sums sum_up(const struct trial *trial, size_t i, size_t k) {
    struct sums s = {0};
    for (size_t j = 0; j < trial->n_features; j++) {
        real a = trial->x[i][j], b = trial->x[k][j];
        s.product += a * b;
        s.magnitude += fabsl(a * b);
        s.squares += a * a + b * b;
        s.square_distance += (a - b) * (a - b);
        s.absolute_distance += fabsl(a - b);
        s.least += fminl(a, b);
        s.most += fmaxl(a, b);
    }
    return s;
}

/* k(x_i, x_k), and a bound of its error. */
static real value_of(const struct trial *trial, size_t i, size_t k, real *off) {
    struct sums s = sum_up(trial, i, k);
    real gamma = trial_option(trial, GAMMA), coef0 = trial_option(trial, COEF0);
    real terms = (real)trial->n_features + 8;
    real base = gamma * s.product + coef0;
    real base_off = terms * UNIT * (gamma * s.magnitude + fabsl(coef0));
    int degree = (int)trial_option(trial, DEGREE);
    switch ((enum kernel)trial_option(trial, KERNEL)) {
    case LINEAR:
        *off = terms * UNIT * s.magnitude;
        return s.product;
    case POLYNOMIAL:
        *off =
            power(gamma * s.magnitude + fabsl(coef0), degree) * (real)degree * (terms + 4) * UNIT;
        return power(base, degree);
    case RBF:
        *off = UNIT * (8 + terms * gamma * s.square_distance);
        return expl(-gamma * s.square_distance);
    case LAPLACIAN:
        *off = UNIT * (8 + terms * gamma * s.absolute_distance);
        return expl(-gamma * s.absolute_distance);
    case RATIONAL:
        *off = UNIT * (8 + terms * gamma * s.absolute_distance);
        return 1 / (1 + gamma * s.absolute_distance);
    case SIGMOID:
        *off = base_off + 8 * UNIT;
        return tanhl(base);
    case TANIMOTO:
        *off = s.squares > 0 ? 8 * terms * UNIT : 0;
        return s.squares > 0 ? s.product / (s.squares - s.product) : 1;
    case MINMAX:
        *off = s.most > 0 ? 2 * terms * UNIT : 0;
        return s.most > 0 ? s.least / s.most : 1;
    default:
        *off = 0;
        return trial->x[i][k];
    }
}

void gram_fill(const struct trial *trial, real *k, real *off) {
    for (size_t i = 0; i < trial->n; i++) {
        for (size_t j = 0; j < trial->n; j++) {
            k[i * trial->n + j] = value_of(trial, i, j, &off[i * trial->n + j]);
        }
    }
}

static void rotate(real *a, size_t n, size_t p, size_t q, real *vector) {
    real theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    real t = copysignl(1, theta) / (fabsl(theta) + sqrtl(theta * theta + 1));
    real c = 1 / sqrtl(t * t + 1), s = t * c;
    for (size_t i = 0; i < n; i++) {
        real x = a[i * n + p], y = a[i * n + q];
        a[i * n + p] = c * x - s * y;
        a[i * n + q] = s * x + c * y;
    }
    for (size_t i = 0; i < n; i++) {
        real x = a[p * n + i], y = a[q * n + i];
        a[p * n + i] = c * x - s * y;
        a[q * n + i] = s * x + c * y;
    }
    for (size_t i = 0; vector && i < n; i++) {
        real x = vector[i * n + p], y = vector[i * n + q];
        vector[i * n + p] = c * x - s * y;
        vector[i * n + q] = s * x + c * y;
    }
}

void eigen(real *a, size_t n, real *value, real *vector) {
    for (size_t i = 0; vector && i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            vector[i * n + j] = i == j;
        }
    }
    for (int sweep = 0; sweep < 40; sweep++) {
        bool rotated = false;
        for (size_t p = 0; p < n; p++) {
            for (size_t q = p + 1; q < n; q++) {
                real size = sqrtl(fabsl(a[p * n + p]) * fabsl(a[q * n + q]));
                if (fabsl(a[p * n + q]) > UNIT * size && a[p * n + q] != 0) {
                    rotate(a, n, p, q, vector);
                    rotated = true;
                }
            }
        }
        if (!rotated) {
            break;
        }
    }
    for (size_t i = 0; i < n; i++) {
        value[i] = a[i * n + i];
    }
}

real least_eigenvalue(const real *a, size_t n) {
    real *copy = zeros(n * n + n, sizeof *copy), least = INFINITY;
    memcpy(copy, a, n * n * sizeof *copy);
    eigen(copy, n, copy + n * n, NULL);
    for (size_t i = 0; i < n; i++) {
        least = fminl(least, copy[n * n + i]);
    }
    free(copy);
    return least;
}

bool kernel_known(const struct trial *trial) {
    enum kernel kernel = (enum kernel)trial_option(trial, KERNEL);
    return kernel != SIGMOID && kernel != PRECOMPUTED &&
           (kernel != POLYNOMIAL || trial_option(trial, COEF0) >= 0);
}
