/* Kernel values with error bounds, and the Jacobi eigenvalue method. */
#include "tests/optima/gram.h"

#include <stdlib.h>
#include <string.h>

/* Sums over the features of two rows, of which kernels are functions. */
struct sums {
    num product, magnitude, squares, square_distance, absolute_distance, least, most;
};

static struct sums sum_up(const struct trial *trial, size_t i, size_t k) {
    num zero = n_of(0);
    struct sums s = {zero, zero, zero, zero, zero, zero, zero};
    for (size_t j = 0; j < trial->n_features; j++) {
        num a = n_of(trial->x[i][j]), b = n_of(trial->x[k][j]), apart = n_subtract(a, b);
        s.product = n_plus(s.product, a, b);
        s.magnitude = n_add(s.magnitude, n_absolute(n_multiply(a, b)));
        s.squares = n_plus(n_plus(s.squares, a, a), b, b);
        s.square_distance = n_plus(s.square_distance, apart, apart);
        s.absolute_distance = n_add(s.absolute_distance, n_absolute(apart));
        s.least = n_add(s.least, n_minimum(a, b));
        s.most = n_add(s.most, n_maximum(a, b));
    }
    return s;
}

static num power(num base, int exponent) {
    num value = n_of(1);
    for (int k = 0; k < exponent; k++) {
        value = n_multiply(value, base);
    }
    return value;
}

/* k(x_i, x_k); *off: a bound of its error, in units of rounding. */
static num value_of(const struct trial *trial, size_t i, size_t k, num *off) {
    struct sums s = sum_up(trial, i, k);
    num one = n_of(1), gamma = n_of(trial_option(trial, GAMMA));
    num coef0 = n_of(trial_option(trial, COEF0)), terms = n_of(trial->n_features + 8);
    num base = n_plus(coef0, gamma, s.product), distance = n_multiply(gamma, s.square_distance);
    num size = n_plus(n_absolute(coef0), gamma, s.magnitude);
    int degree = (int)trial_option(trial, DEGREE);
    enum kernel kernel = (enum kernel)trial_option(trial, KERNEL);
    if (kernel == LAPLACIAN || kernel == RATIONAL) {
        distance = n_multiply(gamma, s.absolute_distance);
    }
    *off = n_plus(n_of(8), terms, distance);
    switch (kernel) {
    case LINEAR:
        *off = n_multiply(terms, s.magnitude);
        return s.product;
    case POLYNOMIAL:
        *off = n_multiply(power(size, degree), n_multiply(n_of(degree), n_add(terms, n_of(4))));
        return power(base, degree);
    case RBF:
    case LAPLACIAN:
        return n_exponential(n_negative(distance));
    case RATIONAL:
        return n_divide(one, n_add(one, distance));
    case SIGMOID:
        *off = n_plus(n_of(8), terms, size);
        return n_tangent(base);
    case TANIMOTO:
        *off = n_multiply(n_of(n_positive(s.squares) ? 8 : 0), terms);
        return n_positive(s.squares) ? n_divide(s.product, n_subtract(s.squares, s.product)) : one;
    case MINMAX:
        *off = n_multiply(n_of(n_positive(s.most) ? 2 : 0), terms);
        return n_positive(s.most) ? n_divide(s.least, s.most) : one;
    default:
        *off = n_of(0);
        return n_of(trial->x[i][k]);
    }
}

void gram_fill(const struct trial *trial, num *k, num *off) {
    for (size_t j = 0; j < trial->n * trial->n; j++) {
        k[j] = value_of(trial, j / trial->n, j % trial->n, &off[j]);
        off[j] = n_multiply(n_of(N_EPSILON), off[j]);
    }
}

static void turn(num *a, num *b, num c, num s) {
    num x = *a, y = *b;
    *a = n_minus(n_multiply(c, x), s, y);
    *b = n_plus(n_multiply(s, x), c, y);
}

static void rotate(num *a, size_t n, size_t p, size_t q, num *vector) {
    num one = n_of(1), off = a[p * n + q];
    num theta = n_divide(n_subtract(a[q * n + q], a[p * n + p]), n_add(off, off));
    num t = n_divide(one, n_add(n_absolute(theta), n_root(n_plus(one, theta, theta))));
    t = n_compare(theta, n_of(0)) < 0 ? n_negative(t) : t;
    num c = n_divide(one, n_root(n_plus(one, t, t))), s = n_multiply(t, c);
    for (size_t i = 0; i < n; i++) {
        turn(&a[i * n + p], &a[i * n + q], c, s);
    }
    for (size_t i = 0; i < n; i++) {
        turn(&a[p * n + i], &a[q * n + i], c, s);
    }
    for (size_t i = 0; vector && i < n; i++) {
        turn(&vector[i * n + p], &vector[i * n + q], c, s);
    }
}

void eigen(num *a, size_t n, num *value, num *vector) {
    for (size_t j = 0; vector && j < n * n; j++) {
        vector[j] = n_of(j / n == j % n);
    }
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < 100; sweep++) {
        rotated = false;
        for (size_t p = 0; p < n; p++) {
            for (size_t q = p + 1; q < n; q++) {
                num product = n_absolute(n_multiply(a[p * n + p], a[q * n + q]));
                num off = n_absolute(a[p * n + q]);
                if (n_positive(off) &&
                    n_compare(off, n_multiply(n_of(N_EPSILON), n_root(product))) > 0) {
                    rotate(a, n, p, q, vector);
                    rotated = true;
                }
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        value[i] = a[i * n + i];
    }
}

num least_eigenvalue(const num *a, size_t n) {
    num *copy = n_zeros(n * n + n), least = n_of(INFINITY);
    memcpy(copy, a, n * n * sizeof *copy);
    eigen(copy, n, copy + n * n, NULL);
    for (size_t i = 0; i < n; i++) {
        least = n_minimum(least, copy[n * n + i]);
    }
    free(copy);
    return least;
}

bool kernel_known(const struct trial *trial) {
    enum kernel kernel = (enum kernel)trial_option(trial, KERNEL);
    return kernel != SIGMOID && kernel != PRECOMPUTED &&
           (kernel != POLYNOMIAL || trial_option(trial, COEF0) >= 0);
}
