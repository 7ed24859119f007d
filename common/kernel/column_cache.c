/* Blocks and products of columns of the kernel matrix. Columns are computed by several threads,
 * tile by tile, and stored in slots; the slots that were used longest ago are reused first. */
#include "common/kernel/column_cache.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/flush.h"
#include "common/base/memory.h"
#include "common/base/order.h"
#include "common/base/sizes.h"
#include "common/kernel/few_coefficients.h"
#include "common/kernel/kernel_private.h"

#include <cblas.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE_COLUMNS = FEW_COLUMNS, /* columns of a tile; one product multiplies so many */
    TILE_ROWS = 512,            /* rows of a tile, so that it fits into the second-level cache */
    /* distance of the columns of a tile: padded, so that they do not compete for cache sets */
    TILE_STRIDE = TILE_ROWS + 16,
    MAX_COLUMNS = 1024,    /* columns that one call of the kernel computes */
    MIN_SQUARE_TASKS = 16, /* minimum number of tasks of a square block */
    SLAB_BYTES = 64 << 20  /* columns are allocated in slabs of about this size */
};

static const uint32_t NONE = UINT32_MAX;

/* Room for one cached column. */
struct slot {
    uint32_t number, row; /* its own number; the row whose column it holds */
    uint64_t used;        /* number of the call that last used it */
};

struct columns {
    const struct problem *problem;
    size_t n;
    uint32_t *data_row; /* (n) row of the Gram matrix for each row of the problem */
    uint32_t *slot_of;  /* (n) slot of each column, or NONE */
    size_t n_slots, max_slots, slots_per_slab;
    struct slot *slot; /* (max_slots) */
    float **slab;      /* (max_slots / slots_per_slab + 1) */
    void *block;       /* these arrays */
    uint64_t calls;
};

static int allocate(struct columns *columns, struct error *err) {
    size_t slabs = columns->max_slots / columns->slots_per_slab + 1;
    columns->block = ARRAYS_CREATE(
        "kernel columns", err, ARRAYS(columns->n, uint32_t, &columns->data_row, &columns->slot_of),
        ARRAYS(columns->max_slots, struct slot, &columns->slot),
        ARRAYS(slabs, float *, &columns->slab));
    return columns->block ? 0 : -1;
}

int column_cache_create(struct columns **columns, const struct problem *problem, size_t cache_bytes,
                        struct error *err) {
    struct columns *made = memory_zeros(1, sizeof *made, "kernel columns", err);
    if (!made) {
        return -1;
    }
    size_t bytes = (problem->n + 1) * sizeof(float);
    made->problem = problem;
    made->n = problem->n;
    made->max_slots = gram_is_cached(problem->gram) ? 0 : smaller(cache_bytes / bytes, problem->n);
    made->slots_per_slab = bytes < SLAB_BYTES ? SLAB_BYTES / bytes : 1;
    if (allocate(made, err) < 0) {
        column_cache_free(made);
        return -1;
    }
    for (size_t i = 0; i < made->n; i++) {
        made->data_row[i] = problem->rows ? problem->rows[i] : (uint32_t)i;
        made->slot_of[i] = NONE;
    }
    *columns = made;
    return 0;
}

void column_cache_free(struct columns *columns) {
    if (!columns) {
        return;
    }
    for (size_t s = 0; columns->slab && s < columns->n_slots; s += columns->slots_per_slab) {
        free(columns->slab[s / columns->slots_per_slab]);
    }
    free(columns->block);
    free(columns);
}

void column_cache_limit(struct columns *columns, size_t cache_bytes) {
    size_t max_slots = cache_bytes / ((columns->n + 1) * sizeof(float));
    if (max_slots >= columns->max_slots) {
        return;
    }
    /* only whole slabs are freed */
    size_t slabs = (max_slots + columns->slots_per_slab - 1) / columns->slots_per_slab;
    columns->max_slots = max_slots;
    for (size_t s = max_slots; s < columns->n_slots; s++) {
        columns->slot_of[columns->slot[s].row] = NONE;
    }
    for (size_t s = slabs; s * columns->slots_per_slab < columns->n_slots; s++) {
        free(columns->slab[s]);
        columns->slab[s] = NULL;
    }
    columns->n_slots = smaller(columns->n_slots, max_slots);
}

/* ---- work by threads ---- */

/* Arguments of the tasks of one call, on columns rows[0..m). */
struct work {
    struct columns *columns;
    const uint32_t *rows;
    size_t m;
    const uint32_t *data_rows; /* (m) square: rows of the Gram matrix */
    float *block;              /* (m, m with stride `stride`) square */
    size_t stride;
    const float *b; /* (m, k) product */
    size_t k;
    /* the non-zero coefficients of b; NULL: b is multiplied as a dense matrix */
    struct few_coefficients *few;
    /* (n_at) product: rows of the result, and the same in the Gram matrix; at NULL: all rows */
    const uint32_t *at, *at_data;
    size_t n_at;
    double *out; /* (n, k) product */
    struct kernel_worker *worker;
    atomic_bool failed;
};

/* A worker's block: a tile (TILE_COLUMNS, TILE_ROWS with stride TILE_STRIDE), which is zero at
 * first, for few_coefficients_multiply reads past the last column; then TILE_ROWS sums of k. */
enum { TILE_VALUES = TILE_COLUMNS * TILE_STRIDE };

/* Runs a task for each `size` of n items, and returns the error of a worker, if any. */
static int run(struct work *work, size_t n, size_t size, threads_task task, struct error *err) {
    struct threads *threads = work->columns->problem->threads;
    size_t workers = threads_count(threads);
    size_t values = work->out ? TILE_VALUES + TILE_ROWS * work->k : 0;
    work->worker = kernel_workers_create(workers, values * sizeof(float), err);
    if (!work->worker) {
        return -1;
    }
    threads_run(threads, (n + size - 1) / size, task, work);
    int status = kernel_workers_error(work->worker, workers, err);
    kernel_workers_free(work->worker, workers);
    return status;
}

/* out[a] = column rows[a] at the rows of `z`, a < m <= MAX_COLUMNS. */
static int compute(struct work *work, const uint32_t *rows, size_t m, struct kernel_side z,
                   float *const *out, struct kernel_worker *worker) {
    uint32_t index[MAX_COLUMNS];
    for (size_t a = 0; a < m; a++) {
        index[a] = work->columns->data_row[rows[a]];
    }
    struct kernel_tile tile = {.x = {z.rows, index, 0, m}, .z = z};
    if (m > 0 && kernel_tile_float(&tile, out, worker->scratch, &worker->error) < 0) {
        atomic_store(&work->failed, true);
        return -1;
    }
    return 0;
}

/* Rows from..to of the problem. */
static struct kernel_side side(const struct columns *columns, size_t from, size_t to) {
    const struct problem *problem = columns->problem;
    return (struct kernel_side){.rows = gram_rows(problem->gram),
                                .index = problem->rows ? columns->data_row + from : NULL,
                                .first = from,
                                .n = to - from};
}

/* ---- cached columns ---- */

static float *slot_values(const struct columns *columns, size_t slot) {
    return columns->slab[slot / columns->slots_per_slab] +
           slot % columns->slots_per_slab * columns->n;
}

static int compare_use(const void *a, const void *b) {
    const struct slot *x = a, *y = b;
    int order = order_integers(x->used, y->used);
    return order ? order : order_integers(x->number, y->number);
}

/* Lists the slots that the current call does not use, least recently used first. The caller frees
 * the list. */
static struct slot *list_idle(const struct columns *columns, size_t *n, struct error *err) {
    struct slot *idle = memory_array(columns->n_slots, sizeof *idle, "kernel columns", err);
    *n = 0;
    for (size_t s = 0; idle && s < columns->n_slots; s++) {
        if (columns->slot[s].used < columns->calls) {
            idle[(*n)++] = columns->slot[s];
        }
    }
    if (idle) {
        qsort(idle, *n, sizeof *idle, compare_use);
    }
    return idle;
}

/* Adds a slot, and its slab if that is not allocated yet. */
static int add_slot(struct columns *columns, struct error *err) {
    size_t slab = columns->n_slots / columns->slots_per_slab;
    if (!columns->slab[slab]) {
        size_t n = smaller(columns->max_slots - columns->n_slots, columns->slots_per_slab);
        columns->slab[slab] = memory_array(n, columns->n * sizeof(float), "kernel columns", err);
        if (!columns->slab[slab]) {
            return -1;
        }
    }
    columns->slot[columns->n_slots].number = (uint32_t)columns->n_slots;
    columns->n_slots++;
    return 0;
}

/* Assigns slots to the columns that have none, as long as slots are available, and lists these
 * columns in fresh (m). */
static int take_slots(struct columns *columns, const uint32_t *rows, size_t m, uint32_t *fresh,
                      size_t *n_fresh, struct error *err) {
    columns->calls++;
    for (size_t a = 0; a < m; a++) {
        uint32_t slot = columns->slot_of[rows[a]];
        if (slot != NONE) {
            columns->slot[slot].used = columns->calls;
        }
    }
    size_t n_idle, next = 0;
    struct slot *idle = list_idle(columns, &n_idle, err);
    int status = idle ? 0 : -1;
    *n_fresh = 0;
    for (size_t a = 0; status == 0 && a < m; a++) {
        uint32_t slot = (uint32_t)columns->n_slots;
        if (columns->slot_of[rows[a]] != NONE) {
            continue;
        }
        if (columns->n_slots < columns->max_slots) {
            status = add_slot(columns, err);
        } else if (next < n_idle) {
            columns->slot_of[idle[next].row] = NONE;
            slot = idle[next++].number;
        } else {
            break;
        }
        if (status == 0) {
            columns->slot[slot].row = rows[a];
            columns->slot[slot].used = columns->calls;
            columns->slot_of[rows[a]] = slot;
            fresh[(*n_fresh)++] = rows[a];
        }
    }
    free(idle);
    return status;
}

static void fetch_task(void *argument, size_t task, size_t worker) {
    struct work *work = argument;
    const struct columns *columns = work->columns;
    size_t from = task * TILE_ROWS, to = smaller(from + TILE_ROWS, columns->n);
    for (size_t first = 0; first < work->m && !atomic_load(&work->failed); first += MAX_COLUMNS) {
        size_t m = smaller(work->m - first, MAX_COLUMNS);
        float *out[MAX_COLUMNS];
        for (size_t a = 0; a < m; a++) {
            out[a] = slot_values(columns, columns->slot_of[work->rows[first + a]]) + from;
        }
        if (compute(work, work->rows + first, m, side(columns, from, to), out,
                    &work->worker[worker]) < 0) {
            return;
        }
    }
}

/* Computes the columns that are not cached, as far as slots are available. */
static int fetch(struct columns *columns, const uint32_t *rows, size_t m, struct error *err) {
    uint32_t *fresh = memory_array(m, sizeof *fresh, "kernel columns", err);
    struct work work = {.columns = columns, .rows = fresh};
    int status = fresh ? take_slots(columns, rows, m, fresh, &work.m, err) : -1;
    if (status == 0 && work.m > 0) {
        status = run(&work, columns->n, TILE_ROWS, fetch_task, err);
    }
    free(fresh);
    return status;
}

/* ---- square blocks ---- */

/* Rows of a task: many, since a tile packs the rows of the other side once; but at least
 * MIN_SQUARE_TASKS tasks for large m. */
static size_t square_rows(size_t m) {
    size_t rows = m / MIN_SQUARE_TASKS / TILE_COLUMNS * TILE_COLUMNS;
    return smaller(larger(rows, TILE_COLUMNS), MAX_COLUMNS);
}

static void square_task(void *argument, size_t task, size_t worker) {
    struct work *work = argument;
    const struct columns *columns = work->columns;
    const struct gram *gram = columns->problem->gram;
    size_t rows = square_rows(work->m), m = work->m, first = task * rows;
    size_t end = smaller(first + rows, m), n_missing = 0;
    uint32_t missing[MAX_COLUMNS];
    float *out[MAX_COLUMNS];
    for (size_t a = first; a < end; a++) {
        float *row = work->block + a * work->stride;
        uint32_t slot = columns->slot_of[work->rows[a]];
        if (slot != NONE) {
            const float *values = slot_values(columns, slot);
            for (size_t c = 0; c < m; c++) {
                row[c] = values[work->rows[c]];
            }
        } else if (!gram_cached_row(gram, work->data_rows[a], work->data_rows, m, row)) {
            missing[n_missing] = work->rows[a];
            out[n_missing++] = row;
        }
    }
    compute(work, missing, n_missing, (struct kernel_side){gram_rows(gram), work->data_rows, 0, m},
            out, &work->worker[worker]);
}

int column_cache_square(struct columns *columns, const uint32_t *rows, size_t m, float *block,
                        size_t stride, struct error *err) {
    uint32_t *data_rows = memory_array(m, sizeof *data_rows, "a kernel block", err);
    if (!data_rows || fetch(columns, rows, m, err) < 0) {
        free(data_rows);
        return -1;
    }
    for (size_t a = 0; a < m; a++) {
        data_rows[a] = columns->data_row[rows[a]];
    }
    struct work work = {.columns = columns,
                        .rows = rows,
                        .m = m,
                        .data_rows = data_rows,
                        .block = block,
                        .stride = stride};
    int status = run(&work, m, square_rows(m), square_task, err);
    free(data_rows);
    return status;
}

/* ---- products ---- */

/* values (to - from) = a cached column at the rows of a task. */
static void copy_column(const struct work *work, const float *column, size_t from, size_t to,
                        float *values) {
    if (!work->at) {
        memcpy(values, column + from, (to - from) * sizeof *values);
        return;
    }
    for (size_t i = from; i < to; i++) {
        values[i - from] = column[work->at[i]];
    }
}

/* Adds the products of a tile with rows first..first + m of b. */
static void add_products(const struct work *work, size_t first, size_t m, size_t from, size_t to,
                         float *tile) {
    float *sums = tile + TILE_VALUES;
    size_t k = work->k, row_stride = k,
           output_stride = 1; /* distance in `sums` to the next row, and to the next output */
    unsigned mode = flush_begin();
    if (work->few) {
        few_coefficients_multiply(work->few, first / TILE_COLUMNS, tile, TILE_STRIDE, to - from,
                                  sums, TILE_ROWS);
        row_stride = 1;
        output_stride = TILE_ROWS;
    } else {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)(to - from), (int)k, (int)m, 1,
                    tile, TILE_STRIDE, work->b + first * k, (int)k, 0, sums, (int)k);
    }
    for (size_t i = from; i < to; i++) {
        double *row = work->out + (work->at ? work->at[i] : i) * k;
        for (size_t c = 0; c < k; c++) {
            row[c] += (double)sums[(i - from) * row_stride + c * output_stride];
        }
    }
    flush_set_mode(mode);
}

static void multiply_task(void *argument, size_t task, size_t worker) {
    struct work *work = argument;
    const struct columns *columns = work->columns;
    float *tile = work->worker[worker].block;
    size_t from = task * TILE_ROWS, to = smaller(from + TILE_ROWS, work->n_at);
    struct kernel_side some = {gram_rows(columns->problem->gram), work->at_data + from, 0,
                               to - from};
    struct kernel_side z = work->at ? some : side(columns, from, to);
    for (size_t first = 0; first < work->m; first += TILE_COLUMNS) {
        size_t m = smaller(work->m - first, TILE_COLUMNS), n_missing = 0;
        uint32_t missing[TILE_COLUMNS];
        float *out[TILE_COLUMNS];
        for (size_t a = 0; a < m; a++) {
            uint32_t row = work->rows[first + a], slot = columns->slot_of[row];
            float *values = tile + a * TILE_STRIDE;
            if (slot != NONE) {
                copy_column(work, slot_values(columns, slot), from, to, values);
            } else {
                missing[n_missing] = row;
                out[n_missing++] = values;
            }
        }
        if (atomic_load(&work->failed) ||
            compute(work, missing, n_missing, z, out, &work->worker[worker]) < 0) {
            return;
        }
        add_products(work, first, m, from, to, tile);
    }
}

static int multiply_whole(struct work *work, const double *b, struct error *err) {
    const struct problem *problem = work->columns->problem;
    size_t n = work->columns->n, k = work->k;
    double *all = memory_zeros(n, k * sizeof *all, "products", err);
    double *product = memory_array(n, k * sizeof *product, "products", err);
    int status = all && product ? 0 : -1;
    for (size_t a = 0; status == 0 && a < work->m; a++) {
        memcpy(all + work->rows[a] * k, b + a * k, k * sizeof *b);
    }
    if (status == 0) {
        status =
            gram_products(problem->gram, problem->rows, n, all, k, product, problem->threads, err);
    }
    for (size_t i = 0; status == 0 && i < work->n_at; i++) {
        size_t row = work->at ? work->at[i] : i;
        array_add(work->out + row * k, 1, product + row * k, k);
    }
    free(all);
    free(product);
    return status;
}

int column_cache_multiply(struct columns *columns, const uint32_t *rows, size_t m, const double *b,
                          size_t k, const uint32_t *at, size_t n_at, double *out,
                          struct error *err) {
    struct work work = {.columns = columns, .rows = rows, .m = m, .k = k, .at = at, .out = out};
    work.n_at = at ? n_at : columns->n;
    if (gram_is_cached(columns->problem->gram)) {
        return multiply_whole(&work, b, err);
    }
    size_t n_some = at ? n_at : 0;
    float *narrow = memory_array(m, k * sizeof *narrow, "products", err);
    uint32_t *at_data = memory_array(n_some, sizeof *at_data, "products", err);
    int status = narrow && at_data ? fetch(columns, rows, m, err) : -1;
    for (size_t i = 0; status == 0 && i < n_some; i++) {
        at_data[i] = columns->data_row[at[i]];
    }
    for (size_t j = 0; status == 0 && j < m * k; j++) {
        narrow[j] = (float)b[j];
    }
    work.b = narrow;
    work.at_data = at_data;
    status = status < 0 || few_coefficients_create(&work.few, narrow, m, k, err) < 0
                 ? -1
                 : run(&work, work.n_at, TILE_ROWS, multiply_task, err);
    few_coefficients_free(work.few);
    free(at_data);
    free(narrow);
    return status;
}
