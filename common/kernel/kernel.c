#include "common/kernel/kernel.h"

#include "common/base/memory.h"
#include "common/kernel/private.h"

#include <math.h>
#include <stdlib.h>

const char *const kernel_names[] = {"linear",      "polynomial", "rbf",    "sigmoid",
                                    "precomputed", "tanimoto",   "minmax", NULL};

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

static int row_norm(const struct kernel_rows *rows, size_t row, double *norm, struct error *err) {
    struct walk walk = walk_row(rows->data, row);
    double sum = 0;
    if (rows->kernel->type == KERNEL_MINMAX) {
        for (; walk.at < walk.n; walk.at++) {
            if (walk.value[walk.at] < 0) {
                return error_set(err, ERROR_RUNTIME,
                                 "minmax kernel: values must not be negative: row %zu, "
                                 "feature %zu: %g",
                                 row + 1, walk_column(&walk) + 1, (double)walk.value[walk.at]);
            }
            sum += (double)walk.value[walk.at];
        }
    } else {
        for (; walk.at < walk.n; walk.at++) {
            sum += (double)walk.value[walk.at] * (double)walk.value[walk.at];
        }
    }
    *norm = sum;
    return 0;
}

int kernel_rows_create(struct kernel_rows *rows, const struct kernel *kernel,
                       const struct data *data, struct error *err) {
    *rows = (struct kernel_rows){.kernel = kernel, .data = data};
    if (kernel->type == KERNEL_PRECOMPUTED && !data->serial && data->n_rows > 0) {
        return error_set(err, ERROR_RUNTIME, "precomputed kernel: rows must begin with 0:serial");
    }
    rows->norm = memory_array(data->n_rows, sizeof *rows->norm, "norms of rows", err);
    if (!rows->norm) {
        return -1;
    }
    for (size_t i = 0; i < data->n_rows; i++) {
        if (row_norm(rows, i, &rows->norm[i], err) != 0) {
            kernel_rows_free(rows);
            return -1;
        }
    }
    return 0;
}

void kernel_rows_free(struct kernel_rows *rows) {
    free(rows->norm);
    *rows = (struct kernel_rows){0};
}

/* Value number `serial` (from 1) of a row; 0 where nothing is stored. */
static double stored_value(const struct data *data, size_t row, uint64_t serial) {
    if (serial == 0 || serial > data->n_features) {
        return 0;
    }
    uint32_t column = (uint32_t)(serial - 1);
    if (!data->row_start) {
        return (double)data->value[row * data->n_features + column];
    }
    uint64_t low = data->row_start[row], end = data->row_start[row + 1], high = end;
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

double kernel_value(const struct kernel_rows *x, size_t i, const struct kernel_rows *z, size_t j) {
    const struct kernel *kernel = x->kernel;
    if (kernel->type == KERNEL_PRECOMPUTED) {
        return stored_value(x->data, i, z->data->serial[j]);
    }
    struct walk a = walk_row(x->data, i), b = walk_row(z->data, j);
    double product = 0, square = 0, least = 0, most = 0;
    for (;;) {
        size_t a_column = walk_column(&a), b_column = walk_column(&b);
        if (a_column == SIZE_MAX && b_column == SIZE_MAX) {
            break;
        }
        double u = 0, v = 0;
        if (a_column <= b_column) {
            u = (double)a.value[a.at++];
        }
        if (b_column <= a_column) {
            v = (double)b.value[b.at++];
        }
        product += u * v;
        square += (u - v) * (u - v);
        least += u < v ? u : v;
        most += u < v ? v : u;
    }
    switch (kernel->type) {
    case KERNEL_LINEAR:
        return product;
    case KERNEL_POLYNOMIAL: {
        double base = kernel->gamma * product + kernel->coef0, power = 1;
        for (int d = 0; d < kernel->degree; d++) {
            power *= base;
        }
        return power;
    }
    case KERNEL_RBF:
        return exp(-kernel->gamma * square);
    case KERNEL_SIGMOID:
        return tanh(kernel->gamma * product + kernel->coef0);
    case KERNEL_TANIMOTO: {
        double all = x->norm[i] + z->norm[j] - product;
        return all > 0 ? product / all : 1;
    }
    case KERNEL_MINMAX:
        return most > 0 ? least / most : 1;
    case KERNEL_PRECOMPUTED: /* above */
        break;
    }
    return 0;
}

struct kernel_scratch {
    struct {
        void *block;
        size_t bytes;
    } buffer[KERNEL_BUFFERS];
};

int kernel_scratch_create(struct kernel_scratch **scratch, struct error *err) {
    *scratch = memory_zeros(1, sizeof **scratch, "kernel scratch", err);
    return *scratch ? 0 : -1;
}

void kernel_scratch_free(struct kernel_scratch *scratch) {
    if (scratch) {
        for (int i = 0; i < KERNEL_BUFFERS; i++) {
            free(scratch->buffer[i].block);
        }
        free(scratch);
    }
}

void *kernel_scratch_get(struct kernel_scratch *scratch, enum kernel_buffer buffer, size_t count,
                         size_t size, struct error *err) {
    size_t bytes;
    if (!__builtin_mul_overflow(count, size, &bytes) && scratch->buffer[buffer].block &&
        bytes <= scratch->buffer[buffer].bytes) {
        return scratch->buffer[buffer].block;
    }
    free(scratch->buffer[buffer].block);
    scratch->buffer[buffer].bytes = 0;
    scratch->buffer[buffer].block = buffer == KERNEL_SLOT
                                        ? memory_zeros(count, size, "kernel scratch", err)
                                        : memory_array(count, size, "kernel scratch", err);
    if (scratch->buffer[buffer].block) {
        scratch->buffer[buffer].bytes = bytes;
    }
    return scratch->buffer[buffer].block;
}

struct kernel_scratch **kernel_scratch_array(size_t n, struct error *err) {
    struct kernel_scratch **scratch = memory_zeros(n, sizeof *scratch, "kernel scratch", err);
    for (size_t i = 0; scratch && i < n; i++) {
        if (kernel_scratch_create(&scratch[i], err) != 0) {
            kernel_scratch_array_free(scratch, n);
            return NULL;
        }
    }
    return scratch;
}

void kernel_scratch_array_free(struct kernel_scratch **scratch, size_t n) {
    for (size_t i = 0; scratch && i < n; i++) {
        kernel_scratch_free(scratch[i]);
    }
    free(scratch);
}
