#include "common/kernel/rounding.h"

#include <float.h>
#include <math.h>

static const double UNIT = DBL_EPSILON / 2;

/* The most values that a sum over the features of a row has. */
static double longest_row(const struct data *data) {
    if (!data->row_start) {
        return (double)data->n_features;
    }
    uint64_t most = 0;
    for (size_t i = 0; i < data->n_rows; i++) {
        uint64_t n = data->row_start[i + 1] - data->row_start[i];
        most = n > most ? n : most;
    }
    return (double)most;
}

static double largest_value(const struct data *data) {
    double largest = 0;
    size_t n = data_values(data);
    for (size_t v = 0; v < n; v++) {
        largest = fmax(largest, fabs((double)data->value[v]));
    }
    return largest;
}

double kernel_rounding(const struct kernel_rows *rows, double *reach) {
    const struct kernel *kernel = rows->kernel;
    size_t n = rows->data->n_rows;
    double terms = longest_row(rows->data), gamma = fabs(kernel->gamma), most_norm = 0;
    for (size_t i = 0; i < n; i++) {
        reach[i] = 1;
        most_norm = fmax(most_norm, rows->norm[i]);
    }
    switch (kernel->type) {
    case KERNEL_LINEAR:
        for (size_t i = 0; i < n; i++) {
            reach[i] = sqrt(rows->norm[i]);
        }
        return (terms + 2) * UNIT;
    case KERNEL_POLYNOMIAL:
        for (size_t i = 0; i < n; i++) {
            reach[i] = pow(gamma * rows->norm[i] + fabs(kernel->coef0), 0.5 * kernel->degree);
        }
        return kernel->degree * (terms + 6) * UNIT;
    case KERNEL_RBF: {
        /* |x - z|^2 comes from the norms unless more than 33 bits cancel */
        double cancelled = fmin(2 * gamma * most_norm, 0x1p33 / 2.718);
        return (8 + (terms + 4) * fmax(cancelled, 1)) * UNIT;
    }
    case KERNEL_SIGMOID:
        for (size_t i = 0; i < n; i++) {
            reach[i] = sqrt(1 + gamma * rows->norm[i] + fabs(kernel->coef0));
        }
        return (terms + 8) * UNIT;
    case KERNEL_TANIMOTO:
    case KERNEL_MINMAX:
        return (6 * terms + 20) * UNIT;
    case KERNEL_PRECOMPUTED: {
        double largest = sqrt(largest_value(rows->data));
        for (size_t i = 0; i < n; i++) {
            reach[i] = largest;
        }
        return 0;
    }
    }
    return INFINITY;
}
