/* Rows prepared for a kernel (their norms), and the buffers of threads. */
#include "common/kernel/kernel.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/kernel_private.h"
#include "common/kernel/table.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MAX_INTEGER = 1 << FLT_MANT_DIG; /* floats represent all integers up to this */

/* Rows summed at the same time, so that an addition does not wait for the one before it. */
enum { INTERLEAVED = 4 };

/* norm[r] = the sum of the squares or magnitudes of the n[r] values of row r, in order. */
static void row_norms(enum kernel_norms norms, const float *const *value, const size_t *n,
                      double *norm) {
    size_t all = n[0];
    for (size_t r = 0; r < INTERLEAVED; r++) {
        all = n[r] < all ? n[r] : all;
        norm[r] = 0;
    }
    for (size_t k = 0; k < all; k++) {
        for (size_t r = 0; r < INTERLEAVED; r++) {
            double v = (double)value[r][k];
            norm[r] += norms == KERNEL_SQUARES ? v * v : fabs(v);
        }
    }
    for (size_t r = 0; r < INTERLEAVED; r++) {
        for (size_t k = all; k < n[r]; k++) {
            double v = (double)value[r][k];
            norm[r] += norms == KERNEL_SQUARES ? v * v : fabs(v);
        }
    }
}

/* Fails if one of the n values of a row is negative. */
static int check_positive(const struct kernel_rows *rows, size_t row, const float *value, size_t n,
                          struct error *err) {
    const struct data *data = rows->data;
    for (size_t k = 0; k < n; k++) {
        if (value[k] < 0) {
            size_t feature = stored_column(data_stored(data, row), k);
            return error_set(err, ERROR_RUNTIME,
                             "%s kernel: values must not be negative: row %" PRIu64
                             ", feature %zu: %g",
                             kernel_names[rows->kernel->type], data->rows_before + row + 1,
                             (size_t)data_index(data, feature) + 1, (double)value[k]);
        }
    }
    return 0;
}

static bool is_integer(const float *value, size_t n) {
    for (size_t k = 0; k < n; k++) {
        if (value[k] != truncf(value[k])) {
            return false;
        }
    }
    return true;
}

/* Sets value and n to those of up to INTERLEAVED rows from row i on, and returns how many there
 * are; the rest are empty. */
static size_t take_rows(const struct data *data, size_t i, const float **value, size_t *n) {
    size_t m = smaller(data->n_rows - i, INTERLEAVED);
    for (size_t r = 0; r < INTERLEAVED; r++) {
        struct stored_row stored = data_stored(data, r < m ? i + r : i);
        value[r] = stored.value;
        n[r] = r < m ? stored.n : 0;
    }
    return m;
}

void kernel_squares(const struct data *data, double *square) {
    for (size_t i = 0; i < data->n_rows; i += INTERLEAVED) {
        const float *value[INTERLEAVED];
        size_t n[INTERLEAVED], m = take_rows(data, i, value, n);
        double norm[INTERLEAVED];
        row_norms(KERNEL_SQUARES, value, n, norm);
        memcpy(square + i, norm, m * sizeof *norm);
    }
}

/* Computes the norms of all rows, and fails for values that the kernel does not accept. */
static int find_norms(struct kernel_rows *rows, struct error *err) {
    const struct kernel_entry *entry = &kernel_table[rows->kernel->type];
    const struct data *data = rows->data;
    rows->whole = true;
    for (size_t i = 0; i < data->n_rows; i += INTERLEAVED) {
        const float *value[INTERLEAVED];
        size_t n[INTERLEAVED], m = take_rows(data, i, value, n);
        double norm[INTERLEAVED];
        row_norms(entry->norms, value, n, norm);
        for (size_t r = 0; r < m; r++) {
            if (entry->positive && check_positive(rows, i + r, value[r], n[r], err) < 0) {
                return -1;
            }
            rows->norm[i + r] = norm[r];
            rows->whole = rows->whole && norm[r] <= MAX_INTEGER && is_integer(value[r], n[r]);
        }
    }
    return 0;
}

int kernel_rows_create(struct kernel_rows *rows, const struct kernel *kernel,
                       const struct data *data, struct error *err) {
    const struct kernel_entry *entry = &kernel_table[kernel->type];
    *rows = (struct kernel_rows){.kernel = kernel, .data = data};
    if (entry->sums == KERNEL_STORED && !data->serial && data->n_rows > 0) {
        return error_set(err, ERROR_RUNTIME, "%s kernel: rows must begin with 0:serial",
                         kernel_names[kernel->type]);
    }
    if (entry->norms == KERNEL_NONE) {
        return 0;
    }
    rows->norm = memory_array(data->n_rows, sizeof *rows->norm, "norms of rows", err);
    if (!rows->norm || find_norms(rows, err) < 0) {
        kernel_rows_free(rows);
        return -1;
    }
    return 0;
}

void kernel_rows_free(struct kernel_rows *rows) {
    free(rows->norm);
    *rows = (struct kernel_rows){0};
}

bool kernel_rows_by_blas(const struct kernel_rows *rows) {
    return kernel_table[rows->kernel->type].sums == KERNEL_PRODUCTS && !rows->data->row_start;
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

struct kernel_worker *kernel_workers_create(size_t n, size_t bytes, struct error *err) {
    struct kernel_worker *worker = memory_zeros(n, sizeof *worker, "kernel scratch", err);
    for (size_t w = 0; worker && w < n; w++) {
        worker[w].block = memory_zeros(bytes, 1, "kernel scratch", err);
        if (!worker[w].block || kernel_scratch_create(&worker[w].scratch, err) < 0) {
            kernel_workers_free(worker, n);
            return NULL;
        }
    }
    return worker;
}

void kernel_workers_free(struct kernel_worker *worker, size_t n) {
    for (size_t w = 0; worker && w < n; w++) {
        kernel_scratch_free(worker[w].scratch);
        free(worker[w].block);
    }
    free(worker);
}

int kernel_workers_error(const struct kernel_worker *worker, size_t n, struct error *err) {
    for (size_t w = 0; w < n; w++) {
        if (worker[w].error.kind != ERROR_NONE) {
            *err = worker[w].error;
            return -1;
        }
    }
    return 0;
}
