/* Rounding-error bounds of kernel values, by the definitions of the kernels. */
#include "common/kernel/rounding.h"

#include "common/base/sizes.h"
#include "common/kernel/table.h"

#include <float.h>
#include <math.h>

static const double UNIT = DBL_EPSILON / 2;

static double largest_value(const struct data *data) {
    double largest = 0;
    size_t n = data_values(data);
    for (size_t v = 0; v < n; v++) {
        largest = fmax(largest, fabs((double)data->value[v]));
    }
    return largest;
}

static double largest_norm(const struct kernel_rows *rows) {
    double largest = 0;
    for (size_t i = 0; i < rows->data->n_rows; i++) {
        largest = fmax(largest, rows->norm[i]);
    }
    return largest;
}

/* Derivation for distances: a norm of n terms has n - 1 rounding errors, twice the sum of products
 * or overlaps n - 1 of at most the sum of the norms, and combining the three has three. exp(-gamma
 * d) has that many errors relative to gamma times the sum of the norms. Below KERNEL_NEAR times
 * that sum (or twice that, by rounding) the distance is summed from differences. The derivative of
 * 1 / (1 + gamma d) with respect to gamma d is at most that of the exponential, where that is
 * largest, and at most 1 / (4 gamma d): the same bound holds, with three more roundings. */
double kernel_rounding(const struct kernel_rows *x, const struct kernel_rows *z) {
    const struct kernel *kernel = x->kernel;
    double terms = (double)larger(data_longest_row(x->data), data_longest_row(z->data));
    double cancelled = 0;
    switch (kernel->type) {
    case KERNEL_LINEAR:
        return (terms + 2) * UNIT;
    case KERNEL_POLYNOMIAL:
        return kernel->degree * (terms + 6) * UNIT;
    case KERNEL_RBF:
    case KERNEL_LAPLACIAN:
    case KERNEL_RATIONAL:
        cancelled = fmin(2 * fabs(kernel->gamma) * fmax(largest_norm(x), largest_norm(z)),
                         2 / KERNEL_NEAR / 2.718);
        return (8 + (2 * terms + 4) * fmax(cancelled, 1)) * UNIT;
    case KERNEL_SIGMOID:
        return (terms + 8) * UNIT;
    case KERNEL_TANIMOTO:
    case KERNEL_MINMAX:
        return (6 * terms + 20) * UNIT;
    case KERNEL_PRECOMPUTED:
        break;
    }
    return 0;
}

/* The feature-norm bound of a row with this norm; precomputed: `norm` is the largest magnitude of a
 * value. */
static double norm_bound_of(const struct kernel *kernel, double norm) {
    switch (kernel_table[kernel->type].function) {
    case FUNCTION_PLAIN:
        return sqrt(norm);
    case FUNCTION_POWER:
        return pow(fabs(kernel->gamma) * norm + fabs(kernel->coef0), 0.5 * kernel->degree);
    case FUNCTION_TANH:
        return sqrt(1 + fabs(kernel->gamma) * norm + fabs(kernel->coef0));
    case FUNCTION_DECAY:
    case FUNCTION_INVERSE:
    case FUNCTION_RATIO:
        break;
    }
    return 1;
}

void kernel_norm_bounds(const struct kernel_rows *rows, double *norm_bound) {
    double largest = rows->norm ? 0 : largest_value(rows->data);
    for (size_t i = 0; i < rows->data->n_rows; i++) {
        norm_bound[i] = norm_bound_of(rows->kernel, rows->norm ? rows->norm[i] : largest);
    }
}

/* ---- entries ---- */

void kernel_rounding_open(struct kernel_rounding *rounding, const struct kernel_rows *rows,
                          double units) {
    size_t n = data_values(rows->data);
    *rounding = (struct kernel_rounding){.rows = rows,
                                         .terms = (double)data_longest_row(rows->data),
                                         .units = units,
                                         .positive = true};
    for (size_t v = 0; v < n; v++) {
        rounding->positive = rounding->positive && rows->data->value[v] >= 0;
    }
}

/* The norms of two rows. The functions below bound the error of their kernel value k, one for each
 * kind of function. */
struct pair_norms {
    double x, z;
};

/* An upper bound of |x| |z|. */
static double largest_product(struct pair_norms norms) {
    return sqrt(norms.x) * sqrt(norms.z) * (1 + 1e-12);
}

/* The error of gamma x'z + coef0. */
static double base_error(const struct kernel_rounding *rounding, struct pair_norms norms) {
    const struct kernel *kernel = rounding->rows->kernel;
    double product = fabs(kernel->gamma) * largest_product(norms);
    return ((rounding->terms + 4) * product + 3 * fabs(kernel->coef0)) * UNIT;
}

/* b^d, b = k^(1/d), if b has an error of at most `off`: (|b| + off)^d - |b|^d <= d off (|b| +
 * off)^(d - 1). */
static double power_entry(const struct kernel_rounding *rounding, struct pair_norms norms,
                          double k) {
    double degree = rounding->rows->kernel->degree, off = base_error(rounding, norms);
    double base = degree > 0 ? pow(fabs(k), 1 / degree) * (1 + 1e-12) + off : 1;
    return degree * off * pow(base + off, fmax(degree - 1, 0)) + 2 * degree * UNIT * fabs(k);
}

/* a / (s - a), |a| <= s / 2: a sum of n terms of one sign has n - 1 relative errors, and so has s;
 * s - a is at least s / 2, and so has 3 n. */
static double ratio_entry(const struct kernel_rounding *rounding, struct pair_norms norms,
                          double k) {
    double terms = rounding->rows->whole ? 1 : rounding->terms, units = 3 * terms + 8;
    double shared = rounding->positive || norms.x + norms.z == 0
                        ? fabs(k)
                        : largest_product(norms) / ((norms.x + norms.z) / 2) * (1 + 1e-12);
    return (units * fabs(k) + terms * shared) * UNIT;
}

/* With t = gamma d: its error is `shared` units relative to gamma times the sum of the norms or, if
 * d is below KERNEL_NEAR times that sum and summed from differences, `direct` units of t itself.
 * Within a factor of 2 of that border either is possible, and the first is the larger. exp(-t) then
 * has a relative error of exp(part) - 1, and 1 / (1 + t) a smaller one. A value that is 0 was below
 * exp(-708), up to the error of the exponent. */
static double decay_entry(const struct kernel_rounding *rounding, struct pair_norms norms,
                          double k) {
    const struct kernel *kernel = rounding->rows->kernel;
    const double near = KERNEL_NEAR, zero = 708;
    /* two norms, the shared sum twice, and their additions; differences of up to twice as many
     * features and their squares; three for the exponent */
    double shared = 2 * rounding->terms + 10, direct = 2 * rounding->terms + 8;
    double sum = kernel->gamma * (norms.x + norms.z), part = shared * UNIT * sum;
    if (!(k > 0)) {
        part = zero < near / 2 * sum ? direct * UNIT * zero
                                     : fmin(part, shared * UNIT * 2 / near * zero);
        return fmin(exp(part - zero), 1);
    }
    if (k > 1 - near * sum) { /* the distance may have been summed from differences */
        bool decays = kernel_table[kernel->type].function == FUNCTION_DECAY;
        double t = k >= 1 ? 0 : decays ? -log(k) : 1 / k - 1;
        part = t < near / 2 * sum ? direct * UNIT * t : part;
    }
    double growth = part < 1 ? part * (1 + part) : expm1(part); /* at least expm1 */
    return k * (growth + 8 * UNIT);
}

/* The error of a kernel value k. */
static double entry_error(const struct kernel_rounding *rounding, struct pair_norms norms,
                          double k) {
    const struct kernel *kernel = rounding->rows->kernel;
    switch (kernel_table[kernel->type].function) {
    case FUNCTION_POWER:
        return power_entry(rounding, norms, k);
    case FUNCTION_TANH: /* its slope is at most 1 */
        return base_error(rounding, norms) + 8 * UNIT * fabs(k);
    case FUNCTION_RATIO:
        return ratio_entry(rounding, norms, k);
    case FUNCTION_DECAY:
    case FUNCTION_INVERSE:
        return decay_entry(rounding, norms, k);
    case FUNCTION_PLAIN:
        break;
    }
    return kernel->type == KERNEL_PRECOMPUTED ? 0 : rounding->terms * UNIT * largest_product(norms);
}

void kernel_rounding_entries(const struct kernel_rounding *rounding, size_t row,
                             const uint32_t *column, size_t n, double *value) {
    const struct kernel_rows *rows = rounding->rows;
    const double up = 1 + 0x1p-20; /* covers the rounding of sums of bounds */
    for (size_t c = 0; c < n; c++) {
        double k = value[c];
        struct pair_norms norms = {rows->norm ? rows->norm[row] : 0,
                                   rows->norm ? rows->norm[column[c]] : 0};
        double off = entry_error(rounding, norms, k);
        value[c] = up * (off + rounding->units * UNIT * fabs(k));
    }
}
