/* The plain references of the kernels, and table.inc compiled into arrays. */
#include "common/kernel/table.h"

#include <math.h>
#include <stdint.h>

/* ---- plain references ---- */

/* Sums over all features of two rows; each kernel uses one of them. */
struct sums {
    double product;        /* x_k z_k */
    double square;         /* (x_k - z_k)^2 */
    double distance;       /* |x_k - z_k| */
    double minima, maxima; /* min(x_k, z_k), max(x_k, z_k) */
};

static struct sums sums_of(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                           size_t j) {
    struct stored_row a = data_stored(x->data, i), b = data_stored(z->data, j);
    struct sums sums = {0};
    size_t at = 0, to = 0;
    for (;;) {
        size_t a_column = at < a.n ? stored_column(a, at) : SIZE_MAX;
        size_t b_column = to < b.n ? stored_column(b, to) : SIZE_MAX;
        if (a_column == SIZE_MAX && b_column == SIZE_MAX) {
            return sums;
        }
        double u = 0, v = 0;
        if (a_column <= b_column) {
            u = (double)a.value[at++];
        }
        if (b_column <= a_column) {
            v = (double)b.value[to++];
        }
        sums.product += u * v;
        sums.square += (u - v) * (u - v);
        sums.distance += fabs(u - v);
        sums.minima += u < v ? u : v;
        sums.maxima += u < v ? v : u;
    }
}

static double power_of(double base, int degree) {
    double power = 1;
    for (int d = 0; d < degree; d++) {
        power *= base;
    }
    return power;
}

double kernel_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z, size_t j) {
    const struct kernel *kernel = x->kernel;
    if (kernel->type == KERNEL_PRECOMPUTED) {
        return (double)data_value(x->data, i, z->data->serial[j] - 1); /* from 0, like columns */
    }
    struct sums sums = sums_of(x, i, z, j);
    double base = kernel->gamma * sums.product + kernel->coef0, all;
    switch (kernel->type) {
    case KERNEL_LINEAR:
    case KERNEL_PRECOMPUTED:
        break;
    case KERNEL_POLYNOMIAL:
        return power_of(base, kernel->degree);
    case KERNEL_RBF:
        return exp(-kernel->gamma * sums.square);
    case KERNEL_SIGMOID:
        return tanh(base);
    case KERNEL_TANIMOTO:
        all = x->norm[i] + z->norm[j] - sums.product;
        return all > 0 ? sums.product / all : 1;
    case KERNEL_MINMAX:
        return sums.maxima > 0 ? sums.minima / sums.maxima : 1;
    case KERNEL_LAPLACIAN:
        return exp(-kernel->gamma * sums.distance);
    case KERNEL_RATIONAL:
        return 1 / (1 + kernel->gamma * sums.distance);
    }
    return sums.product;
}

/* ---- the table ---- */

#define KERNEL(number, name, d, g, r, sums, norms, positive, function, one, definite, libsvm, ...) \
    [KERNEL_##                                                                                     \
        number] = {(d ? KERNEL_DEGREE : 0) | (g ? KERNEL_GAMMA : 0) | (r ? KERNEL_COEF0 : 0),      \
                   KERNEL_##sums,                                                                  \
                   KERNEL_##norms,                                                                 \
                   positive,                                                                       \
                   FUNCTION_##function,                                                            \
                   one,                                                                            \
                   DEFINITE_##definite,                                                            \
                   libsvm},
const struct kernel_entry kernel_table[] = {
#include "common/kernel/table.inc"
};

#define KERNEL(number, name, ...) #name,
const char *const kernel_names[] = {
#include "common/kernel/table.inc"
    NULL};

#define KERNEL(number, name, d, g, r, sums, norms, positive, function, one, definite, libsvm,      \
               formula)                                                                            \
    formula,
const char *const kernel_formulas[] = {
#include "common/kernel/table.inc"
    NULL};

unsigned kernel_parameters(enum kernel_type type) {
    return kernel_table[type].parameters;
}

bool kernel_in_libsvm(enum kernel_type type) {
    return kernel_table[type].libsvm;
}

bool kernel_definite(const struct kernel *kernel) {
    unsigned parameters = kernel_parameters(kernel->type);
    switch (kernel_table[kernel->type].definite) {
    case DEFINITE_ALWAYS:
        return !(parameters & KERNEL_GAMMA) || kernel->gamma >= 0;
    case DEFINITE_COEF0:
        return kernel->gamma >= 0 && kernel->coef0 >= 0;
    case DEFINITE_UNKNOWN:
        break;
    }
    return false;
}

double kernel_max_rank(const struct kernel *kernel, double n_features) {
    if (kernel->type != KERNEL_POLYNOMIAL && kernel->type != KERNEL_LINEAR) {
        return INFINITY;
    }
    /* monomials of d variables and, with coef0, a constant one, of this degree */
    bool constant = kernel->type == KERNEL_POLYNOMIAL && kernel->coef0 != 0;
    int degree = kernel->type == KERNEL_POLYNOMIAL ? kernel->degree : 1;
    double variables = n_features + (constant ? 1 : 0), count = 1;
    for (int k = 1; k <= degree && count < 1e15; k++) {
        count *= (variables + k - 1) / k;
    }
    return count;
}
