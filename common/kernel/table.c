/* The kernels' plain references, and the table compiled. */
#include "common/kernel/table.h"

#include <math.h>
#include <stdint.h>

/* ---- plain references ---- */

/* Walks the stored values of one row, of either form. */
struct walk {
    const uint32_t *column; /* NULL: dense */
    const float *value;
    size_t at, n;
};

static struct walk walk_row(const struct data *data, size_t row) {
    if (!data->row_start) {
        return (struct walk){NULL, data->value + row * data->n_features, 0, data->n_features};
    }
    uint64_t start = data->row_start[row];
    return (struct walk){data->column + start, data->value + start, 0,
                         (size_t)(data->row_start[row + 1] - start)};
}

static size_t walk_column(const struct walk *walk) {
    if (walk->at >= walk->n) {
        return SIZE_MAX;
    }
    return walk->column ? walk->column[walk->at] : walk->at;
}

/* Over all features of rows x and z: the sums of what one looks at. */
struct sums {
    double product;     /* x_k z_k */
    double square;      /* (x_k - z_k)^2 */
    double distance;    /* |x_k - z_k| */
    double least, most; /* min(x_k, z_k), max(x_k, z_k) */
};

static struct sums sums_of(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                           size_t j) {
    struct walk a = walk_row(x->data, i), b = walk_row(z->data, j);
    struct sums sums = {0};
    for (;;) {
        size_t a_column = walk_column(&a), b_column = walk_column(&b);
        if (a_column == SIZE_MAX && b_column == SIZE_MAX) {
            return sums;
        }
        double u = 0, v = 0;
        if (a_column <= b_column) {
            u = (double)a.value[a.at++];
        }
        if (b_column <= a_column) {
            v = (double)b.value[b.at++];
        }
        sums.product += u * v;
        sums.square += (u - v) * (u - v);
        sums.distance += fabs(u - v);
        sums.least += u < v ? u : v;
        sums.most += u < v ? v : u;
    }
}

static double linear_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                           size_t j) {
    return sums_of(x, i, z, j).product;
}

static double polynomial_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                               size_t j) {
    const struct kernel *kernel = x->kernel;
    double base = kernel->gamma * sums_of(x, i, z, j).product + kernel->coef0, power = 1;
    for (int d = 0; d < kernel->degree; d++) {
        power *= base;
    }
    return power;
}

static double rbf_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                        size_t j) {
    return exp(-x->kernel->gamma * sums_of(x, i, z, j).square);
}

static double sigmoid_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                            size_t j) {
    return tanh(x->kernel->gamma * sums_of(x, i, z, j).product + x->kernel->coef0);
}

/* Value number `serial` (from 1) of row x; 0 where nothing is stored. */
static double precomputed_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                                size_t j) {
    const struct data *data = x->data;
    uint64_t serial = z->data->serial[j];
    if (serial == 0 || serial > data->n_features) {
        return 0;
    }
    uint32_t column = (uint32_t)(serial - 1);
    if (!data->row_start) {
        return (double)data->value[i * data->n_features + column];
    }
    uint64_t low = data->row_start[i], end = data->row_start[i + 1], high = end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (data->column[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && data->column[low] == column ? (double)data->value[low] : 0;
}

static double tanimoto_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                             size_t j) {
    double product = sums_of(x, i, z, j).product;
    double all = x->norm[i] + z->norm[j] - product;
    return all > 0 ? product / all : 1;
}

static double minmax_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                           size_t j) {
    struct sums sums = sums_of(x, i, z, j);
    return sums.most > 0 ? sums.least / sums.most : 1;
}

static double laplacian_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                              size_t j) {
    return exp(-x->kernel->gamma * sums_of(x, i, z, j).distance);
}

static double rational_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z,
                             size_t j) {
    return 1 / (1 + x->kernel->gamma * sums_of(x, i, z, j).distance);
}

/* ---- the table ---- */

#define KERNEL(number, name, d, g, r, sums, norms, positive, function, one, definite, libsvm, ...) \
    [KERNEL_##                                                                                     \
        number] = {(d ? KERNEL_DEGREE : 0) | (g ? KERNEL_GAMMA : 0) | (r ? KERNEL_COEF0 : 0),      \
                   KERNEL_##sums,                                                                  \
                   KERNEL_##norms,                                                                 \
                   positive,                                                                       \
                   kernel_##function##_float,                                                      \
                   kernel_##function##_double,                                                     \
                   name##_value,                                                                   \
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
