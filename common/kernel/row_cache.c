/* A least-recently-used cache of kernel rows: a doubly linked list over the rows, most recent
 * first. A row costs n kernel values when it is not in the cache. */
#include "common/kernel/row_cache.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/kernel/kernel_private.h"
#include "common/kernel/table.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX; /* stands for no row */

/* A copy of the data in the current order may take at most this part of the cache size. */
static const double MAX_COPY_PART = 0.25;

/* A cached row, linked to the rows used just after and just before it. */
struct row {
    float *value; /* (length), or NULL */
    size_t length;
    uint32_t before, after;
};

struct rows {
    const struct problem *problem;
    struct kernel kernel;   /* of a linear problem */
    struct kernel_rows own; /* of a linear problem */
    const struct kernel_rows *source;
    size_t n;
    uint32_t *order;    /* (n) row of the problem at each position */
    uint32_t *data_row; /* (n) row of the source at each position */
    struct row *row;    /* (n) by row of the problem */
    uint32_t first, last;
    size_t used, max_used; /* number of values cached, and its maximum */
    size_t n_cached;
    float *whole; /* (n) work */
    void *block;  /* these arrays */
    bool copies;  /* copies dense rows into the current order: products read them fastest one after
                   the other */
    struct data ordered_data; /* the copy; values are allocated at first use */
    struct kernel_rows ordered;
    struct kernel_scratch *scratch;
};

static int allocate(struct rows *rows, struct error *err) {
    size_t n = rows->n;
    rows->block =
        ARRAYS_CREATE("kernel rows", err, ARRAYS(n, uint32_t, &rows->order, &rows->data_row),
                      ARRAYS(n, struct row, &rows->row), ARRAYS(n, float, &rows->whole));
    return rows->block ? kernel_scratch_create(&rows->scratch, err) : -1;
}

int row_cache_create(struct rows **rows, const struct problem *problem, size_t cache_bytes,
                     struct error *err) {
    struct rows *made = memory_zeros(1, sizeof *made, "kernel rows", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->n = problem->n;
    made->first = made->last = NONE;
    made->max_used = cache_bytes / sizeof(float);
    made->kernel.type = KERNEL_LINEAR;
    int status = 0;
    if (problem->gram) {
        made->source = gram_rows(problem->gram);
    } else {
        made->source = &made->own;
        status = kernel_rows_create(&made->own, &made->kernel, problem->data, err);
    }
    if (status < 0 || allocate(made, err) < 0) {
        row_cache_free(made);
        return -1;
    }
    const struct data *data = made->source->data;
    made->copies = !data->row_start &&
                   kernel_table[made->source->kernel->type].sums == KERNEL_PRODUCTS &&
                   (double)made->n * data->n_features <= MAX_COPY_PART * (double)made->max_used;
    for (size_t i = 0; i < made->n; i++) {
        made->order[i] = (uint32_t)i;
        made->data_row[i] = problem->rows ? problem->rows[i] : (uint32_t)i;
    }
    *rows = made;
    return 0;
}

void row_cache_free(struct rows *rows) {
    if (!rows) {
        return;
    }
    for (size_t i = 0; rows->row && i < rows->n; i++) {
        free(rows->row[i].value);
    }
    free(rows->ordered_data.value);
    kernel_rows_free(&rows->ordered);
    kernel_rows_free(&rows->own);
    kernel_scratch_free(rows->scratch);
    free(rows->block);
    free(rows);
}

/* ---- the list ---- */

static void list_remove(struct rows *rows, uint32_t id) {
    struct row *row = &rows->row[id];
    *(row->before == NONE ? &rows->first : &rows->row[row->before].after) = row->after;
    *(row->after == NONE ? &rows->last : &rows->row[row->after].before) = row->before;
}

static void list_add_first(struct rows *rows, uint32_t id) {
    struct row *row = &rows->row[id];
    row->before = NONE;
    row->after = rows->first;
    *(rows->first == NONE ? &rows->last : &rows->row[rows->first].before) = id;
    rows->first = id;
}

static void drop(struct rows *rows, uint32_t id) {
    struct row *row = &rows->row[id];
    list_remove(rows, id);
    rows->used -= row->length;
    rows->n_cached--;
    free(row->value);
    *row = (struct row){0};
}

/* ---- values ---- */

/* Copies the rows at the first `length` positions into `ordered_data`. */
static void copy_in_order(struct rows *rows, size_t length) {
    const struct kernel_rows *source = rows->source;
    size_t d = source->data->n_features;
    for (size_t p = 0; p < length; p++) {
        uint32_t i = rows->data_row[p];
        memcpy(rows->ordered_data.value + p * d, source->data->value + i * d, d * sizeof(float));
        rows->ordered.norm[p] = source->norm[i];
    }
}

static int make_ordered(struct rows *rows, struct error *err) {
    struct data *data = &rows->ordered_data;
    *data = (struct data){.n_rows = rows->n, .n_features = rows->source->data->n_features};
    rows->ordered = *rows->source;
    rows->ordered.data = data;
    rows->ordered.norm = memory_array(rows->n, sizeof(double), "kernel rows", err);
    data->value = memory_array(rows->n, data->n_features * sizeof(float), "kernel rows", err);
    if (!rows->ordered.norm || !data->value) {
        free(data->value);
        data->value = NULL;
        kernel_rows_free(&rows->ordered);
        return -1;
    }
    copy_in_order(rows, rows->n);
    return 0;
}

/* Computes values first..end of the row at position i, without the constant feature. */
static int compute(struct rows *rows, size_t i, size_t first, size_t end, float *value,
                   struct error *err) {
    const struct gram *gram = rows->problem->gram;
    const uint32_t *columns = rows->data_row + first;
    size_t n = end - first;
    if (gram && gram_cached_row(gram, rows->data_row[i], columns, n, value)) {
        return 0;
    }
    struct kernel_tile tile = {.x = {rows->source, NULL, rows->data_row[i], 1},
                               .z = {rows->source, columns, 0, n}};
    if (rows->copies) {
        if (!rows->ordered_data.value && make_ordered(rows, err) < 0) {
            return -1;
        }
        tile.x = (struct kernel_side){&rows->ordered, NULL, i, 1};
        tile.z = (struct kernel_side){&rows->ordered, NULL, first, n};
    }
    return kernel_tile_float(&tile, &value, rows->scratch, err);
}

const float *row_cache_get(struct rows *rows, size_t i, size_t length, struct error *err) {
    uint32_t id = rows->order[i];
    struct row *row = &rows->row[id];
    size_t have = row->length;
    if (row->value) {
        list_remove(rows, id);
        list_add_first(rows, id);
    }
    if (row->value && have >= length) {
        return row->value;
    }
    /* drop least recently used rows, but not the last MIN_CACHED_ROWS */
    while (rows->n_cached >= MIN_CACHED_ROWS + (row->value != NULL) && rows->last != id &&
           rows->used + length - have > rows->max_used) {
        drop(rows, rows->last);
    }
    float *value = memory_resize(row->value, length, sizeof *value, "a kernel row", err);
    if (!value) {
        return NULL;
    }
    memory_populate(value + have, (length - have) * sizeof *value);
    if (!row->value) {
        rows->n_cached++;
        list_add_first(rows, id);
    }
    row->value = value;
    rows->used += length - have;
    row->length = length;
    if (compute(rows, i, have, length, value + have, err) < 0) {
        drop(rows, id);
        return NULL;
    }
    float square = (float)(rows->problem->constant * rows->problem->constant);
    for (size_t c = have; square > 0 && c < length; c++) {
        value[c] += square;
    }
    return value;
}

void row_cache_diagonal(const struct rows *rows, double *diagonal) {
    double square = rows->problem->constant * rows->problem->constant;
    for (size_t i = 0; i < rows->n; i++) {
        uint32_t row = rows->data_row[i];
        diagonal[i] = kernel_value(rows->source, row, rows->source, row) + square;
    }
}

static void permute(uint32_t *array, const uint32_t *from, size_t length, uint32_t *work) {
    for (size_t a = 0; a < length; a++) {
        work[a] = array[from[a]];
    }
    memcpy(array, work, length * sizeof *array);
}

int row_cache_reorder(struct rows *rows, const uint32_t *from, size_t length, struct error *err) {
    uint32_t *work = memory_array(length, sizeof *work, "kernel rows", err);
    if (!work) {
        return -1;
    }
    permute(rows->order, from, length, work);
    permute(rows->data_row, from, length, work);
    free(work);
    if (rows->ordered_data.value) {
        copy_in_order(rows, length);
    }
    for (uint32_t id = rows->first, next; id != NONE; id = next) {
        struct row *row = &rows->row[id];
        next = row->after;
        if (row->length < length) {
            drop(rows, id);
            continue;
        }
        for (size_t a = 0; a < length; a++) {
            rows->whole[a] = row->value[from[a]];
        }
        memcpy(row->value, rows->whole, length * sizeof *row->value);
    }
    return 0;
}
