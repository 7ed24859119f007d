/* The lower triangle of a kernel matrix: computing it, products with it, its entries. panels_rows.h
 * is included twice, for entries in float and in double. A product with one column costs n^2 / 2
 * multiply-adds for each of the two triangles, summed in double; one with k columns costs k times
 * that, with sums of PRODUCT_COLUMNS entries in the type of the entries. Over 500 lines,
 * since all of it depends on how the entries are stored, which is private to this file. */
#include "common/kernel/panels.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/vector.h"
#include "common/kernel/kernel_private.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Rows are stored in groups of GROUP rows of equal length: the number of columns up to the end of
 * the group. */
enum {
    GROUP = 16,
    TILE_ROWS = 1024, /* maximum rows of a tile: it stays in the second-level cache */
    TILE_COLUMNS = 256,
    /* columns of a piece of a product with k columns, which is summed in the type of the entries */
    PRODUCT_COLUMNS = 512,
    RUN = 512,                  /* b is searched for zeros in pieces of this length */
    MIN_TASK_ENTRIES = 1 << 16, /* minimum number of entries of a task of a product */
    /* maximum number of tasks; both are constants, so that sums do not depend on the number of
     * threads */
    MAX_TASKS = 32,
    /* products with fewer entries are computed by one thread: waking others takes longer than it
     * saves */
    MIN_PARALLEL_ENTRIES = 1 << 19,
    /* maximum number of partial sums of a product with k columns: 512 MiB */
    MAX_PARTIAL_SUMS = 1 << 26
};

/* Columns first..end, in which b is zero, or not zero in each piece of RUN. */
struct run {
    size_t first, end;
    bool zero;
};

/* Buffers of one worker, allocated at first use. */
struct helper {
    void *work; /* (GROUP + PRODUCT_COLUMNS, padded(k)) sums, in the type of the entries, of a
                 * product with k columns */
    void *tile; /* (TILE_ROWS, TILE_COLUMNS) recomputed entries */
    struct kernel_scratch *scratch; /* buffers of the kernel */
    struct error error;
};

struct panels {
    struct kernel_rows rows;
    bool is_double;
    size_t first, end_cached; /* rows first..end_cached are in `entries`; first is start[own] */
    void *entries;            /* float or double */
    size_t n_tasks;
    size_t own, own_end; /* tasks of this process: own..own_end */
    size_t start
        [MAX_TASKS +
         1]; /* first row of each task of a product, multiples of GROUP, and the number of rows */
};

/* A product in progress: with one column, in double, or with k columns, in the type of the entries.
 */
struct product {
    const struct panels *panels;
    size_t k;
    const double *vector; /* (n) the one column; NULL: there are k, in b */
    void *b;              /* (padded(k), stride) the columns, in the type of the entries */
    size_t stride;        /* n in whole groups */
    struct run *runs;     /* (n_runs) zero and non-zero pieces of the one column */
    size_t n_runs;
    bool *used; /* (groups of rows) true if the columns are not all zero there */
    size_t n_tasks;
    const size_t *start;   /* (n_tasks + 1) first row of each task, and the end */
    bool serial;           /* one thread runs all tasks, in one partial array */
    double *partial;       /* (n_tasks, k, n); (k, n) if serial */
    struct helper *helper; /* (workers) */
    atomic_bool failed;
};

/* Computing the cached rows. */
struct build {
    const struct panels *panels;
    struct {
        size_t r, c;
    } * tile;
    size_t n_tiles, tile_rows;
    struct kernel_worker *worker;
    atomic_bool failed;
};

/* Number of entries before row r: those of whole groups, of GROUP rows of length GROUP, 2 GROUP,
 * ..., and of the rows of its group before it. */
static size_t row_offset(size_t r) {
    size_t group = r / GROUP;
    return GROUP * GROUP * (group * (group + 1) / 2) + r % GROUP * GROUP * (group + 1);
}

/* k columns in whole vectors of outputs. */
static size_t padded(size_t k) {
    return (k + VECTOR_OUTPUTS - 1) / VECTOR_OUTPUTS * VECTOR_OUTPUTS;
}

static bool any_nonzero(const double *b, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        if (b[i] != 0) {
            return true;
        }
    }
    return false;
}

/* True if the columns of a product are not all zero in rows first..end, first a multiple of GROUP.
 */
static bool any_used(const struct product *product, size_t first, size_t end) {
    for (size_t r = first; r < end; r += GROUP) {
        if (product->used[r / GROUP]) {
            return true;
        }
    }
    return false;
}

/* Allocates the buffers of a worker; `computes`: also those for entries that are not cached. */
static int prepare_helper(const struct product *product, struct helper *helper, bool computes) {
    size_t entry = product->panels->is_double ? sizeof(double) : sizeof(float);
    struct error *err = &helper->error;
    if (!product->vector && !helper->work) {
        helper->work =
            memory_array(GROUP + PRODUCT_COLUMNS, padded(product->k) * entry, "kernel tile", err);
    }
    if (computes && !helper->tile) {
        helper->tile = memory_array((size_t)TILE_ROWS * TILE_COLUMNS, entry, "kernel tile", err);
    }
    if ((!product->vector && !helper->work) || (computes && !helper->tile)) {
        return -1;
    }
    return computes && !helper->scratch ? kernel_scratch_create(&helper->scratch, err) : 0;
}

#define REAL float
#define TILE kernel_tile_float
#define VECTOR vector_float
#define NAME(x) float_##x
#include "common/kernel/panels_rows.h"

#define REAL double
#define TILE kernel_tile_double
#define VECTOR vector_double
#define NAME(x) double_##x
#include "common/kernel/panels_rows.h"

/* ---- building ---- */

static bool row_is_zero(const struct data *data, size_t i) {
    struct stored_row row = data_stored(data, i);
    size_t k = 0;
    while (k < row.n && row.value[k] == 0) {
        k++;
    }
    return k == row.n;
}

/* A serial number is that of a column or, where the last columns are all zero and not stored, of a
 * row. If rows were selected from a larger matrix, a serial number may be larger than both: its
 * column is zero in these rows, and its row must be zero too. */
static int check_serials(const struct data *data, struct error *err) {
    size_t max_serial = larger(data->n_features, data->n_rows);
    for (size_t i = 0; i < data->n_rows; i++) {
        uint64_t serial = data->serial[i];
        if (serial == 0 || (serial > max_serial && !row_is_zero(data, i))) {
            return error_set(err, ERROR_RUNTIME,
                             "precomputed kernel: row %zu: serial number %llu: must be 1..%zu",
                             i + 1, (unsigned long long)serial, max_serial);
        }
    }
    return 0;
}

/* Only the lower triangle is used: the upper one must be the same, up to the rounding of the
 * decimals in the file. */
static int check_symmetric(const struct kernel_rows *rows, struct error *err) {
    size_t n = rows->data->n_rows;
    for (size_t i = 0; i < n; i++) {
        double diagonal = kernel_value(rows, i, rows, i);
        for (size_t j = 0; j < i; j++) {
            double lower = kernel_value(rows, i, rows, j), upper = kernel_value(rows, j, rows, i);
            if (lower == upper) {
                continue;
            }
            double size = fabs(diagonal) + fabs(kernel_value(rows, j, rows, j)) + fabs(lower);
            if (!(fabs(lower - upper) <= 1e-4 * size)) {
                return error_set(err, ERROR_RUNTIME,
                                 "precomputed kernel: not symmetric: %g for rows %zu and %zu, "
                                 "%g for rows %zu and %zu",
                                 lower, i + 1, j + 1, upper, j + 1, i + 1);
            }
        }
    }
    return 0;
}

/* The end of the rows from `first` on that fit into the cache, in whole groups, at most `end`. */
static size_t rows_that_fit(size_t first, size_t end, size_t cache_bytes, size_t entry) {
    size_t fitting = first, before = row_offset(first);
    while (fitting < end && row_offset(fitting + GROUP) - before <= cache_bytes / entry) {
        fitting += GROUP;
    }
    return smaller(fitting, end);
}

/* Divides the rows into tasks of about equal numbers of entries, and the tasks among the processes.
 */
static void plan_tasks(struct panels *panels) {
    double n = (double)panels->rows.data->n_rows;
    double tasks = floor(n * n / 2 / MIN_TASK_ENTRIES);
    panels->n_tasks = tasks < 1 ? 1 : tasks > MAX_TASKS ? MAX_TASKS : (size_t)tasks;
    for (size_t t = 0; t < panels->n_tasks; t++) {
        double row = n * sqrt((double)t / (double)panels->n_tasks);
        panels->start[t] = (size_t)row / GROUP * GROUP;
    }
    panels->start[panels->n_tasks] = panels->rows.data->n_rows;
    size_t ranks = cluster_size(panels->rows.cluster), rank = cluster_rank(panels->rows.cluster);
    panels->own = panels->n_tasks * rank / ranks;
    panels->own_end = panels->n_tasks * (rank + 1) / ranks;
    panels->first = panels->start[panels->own];
}

/* Lists the tiles, by columns and within these by rows: consecutive tiles share the rows of one
 * side. */
static int plan_tiles(struct build *build, struct error *err) {
    size_t first = build->panels->first, end = build->panels->end_cached;
    build->tile_rows = end - first > 8 * TILE_ROWS ? TILE_ROWS : TILE_ROWS / 2;
    for (int pass = 0; pass < 2; pass++) {
        build->n_tiles = 0;
        for (size_t c = 0; c < end; c += TILE_COLUMNS) {
            for (size_t r = larger(c, first); r < end; r += build->tile_rows) {
                if (build->tile) {
                    build->tile[build->n_tiles].r = r;
                    build->tile[build->n_tiles].c = c;
                }
                build->n_tiles++;
            }
        }
        if (!build->tile) {
            build->tile = memory_array(build->n_tiles, sizeof *build->tile, "tiles", err);
            if (!build->tile) {
                return -1;
            }
        }
    }
    return 0;
}

static int build_cached(struct panels *panels, struct threads *threads, struct error *err) {
    size_t workers = threads_count(threads);
    struct build build = {.panels = panels, .worker = kernel_workers_create(workers, 0, err)};
    int status = build.worker ? plan_tiles(&build, err) : -1;
    if (status == 0) {
        threads_run(threads, build.n_tiles,
                    panels->is_double ? double_build_task : float_build_task, &build);
        status = kernel_workers_error(build.worker, workers, err);
    }
    free(build.tile);
    kernel_workers_free(build.worker, workers);
    return status;
}

int panels_create(struct panels **panels, const struct kernel *kernel, const struct data *data,
                  size_t cache_bytes, bool is_double, struct cluster *cluster,
                  struct threads *threads, struct error *err) {
    struct panels *g = memory_zeros(1, sizeof *g, "kernel matrix", err);
    if (!g) {
        return -1;
    }
    size_t entry = is_double ? sizeof(double) : sizeof(float);
    g->is_double = is_double;
    if (kernel_rows_create(&g->rows, kernel, data, err) < 0 ||
        (kernel->type == KERNEL_PRECOMPUTED &&
         (check_serials(data, err) < 0 || check_symmetric(&g->rows, err) < 0))) {
        panels_free(g);
        return -1;
    }
    g->rows.cluster = cluster;
    plan_tasks(g);
    g->end_cached = rows_that_fit(g->first, g->start[g->own_end], cache_bytes, entry);
    size_t end =
        larger(row_offset((g->end_cached + GROUP - 1) / GROUP * GROUP), row_offset(g->first));
    g->entries = memory_array(end - row_offset(g->first), entry, "kernel matrix", err);
    if (!g->entries || build_cached(g, threads, err) < 0) {
        panels_free(g);
        return -1;
    }
    *panels = g;
    return 0;
}

void panels_free(struct panels *panels) {
    if (!panels) {
        return;
    }
    kernel_rows_free(&panels->rows);
    free(panels->entries);
    free(panels);
}

size_t panels_size(const struct panels *panels) {
    return panels->rows.data->n_rows;
}

bool panels_is_double(const struct panels *panels) {
    return panels->is_double;
}

const struct kernel_rows *panels_rows(const struct panels *panels) {
    return &panels->rows;
}

/* ---- products ---- */

/* Divides 0..n into runs of pieces in which b is all zero, or not. Returns the number of runs. */
static size_t find_runs(const double *b, size_t n, struct run *runs) {
    size_t n_runs = 0;
    for (size_t first = 0; first < n; first += RUN) {
        size_t end = smaller(n, first + RUN);
        bool zero = !any_nonzero(b, first, end);
        if (n_runs > 0 && runs[n_runs - 1].zero == zero) {
            runs[n_runs - 1].end = end;
        } else {
            runs[n_runs++] = (struct run){first, end, zero};
        }
    }
    return n_runs;
}

/* True if the row is cached and may be read: if the matrix is distributed, each process caches
 * other rows, and all must see the same entries, so that none is read. */
static bool is_cached(const struct panels *panels, size_t row) {
    return !panels->rows.cluster && row < panels->end_cached;
}

/* partial (k, n), in columns 0..start[task + 1] = the contribution of the rows of a task to the
 * product. */
static void multiply_task(void *argument, size_t task, size_t worker) {
    struct product *product = argument;
    struct helper *helper = &product->helper[worker];
    size_t n = panels_size(product->panels);
    double *partial = product->partial + (product->serial ? 0 : task * n * product->k);
    for (size_t o = 0; o < product->k; o++) {
        memset(partial + o * n, 0, product->start[task + 1] * sizeof *partial);
    }
    if (!atomic_load(&product->failed) &&
        (product->panels->is_double ? double_multiply_task
                                    : float_multiply_task)(product, task, helper, partial) < 0) {
        atomic_store(&product->failed, true);
    }
}

/* total (k, n) = the sum of the contributions of all tasks, added in their order, so that it does
 * not depend on the number of threads. */
static int run_product(struct product *product, double *total, struct threads *threads,
                       struct error *err) {
    const struct panels *panels = product->panels;
    size_t n = panels_size(panels), cells = n * product->k, workers = threads_count(threads);
    bool whole = panels->end_cached == panels->start[panels->own_end];
    product->serial = workers == 1 || product->n_tasks == 1 ||
                      (whole && n * n / 2 * product->k < MIN_PARALLEL_ENTRIES);
    product->partial = memory_array(product->serial ? 1 : product->n_tasks, cells * sizeof(double),
                                    "partial products", err);
    product->helper = memory_zeros(workers, sizeof *product->helper, "workspace", err);
    int status = product->partial && product->helper ? 0 : -1;
    if (status == 0 && !product->serial) {
        threads_run(threads, product->n_tasks, multiply_task, product);
    }
    memset(total, 0, cells * sizeof *total);
    for (size_t t = 0; status == 0 && t < product->n_tasks; t++) {
        if (product->serial) {
            multiply_task(product, t, 0);
        }
        const double *partial = product->partial + (product->serial ? 0 : t * cells);
        for (size_t o = 0; o < product->k; o++) {
            array_add(total + o * n, 1, partial + o * n, product->start[t + 1]);
        }
    }
    for (size_t w = 0; product->helper && w < workers; w++) {
        struct helper *helper = &product->helper[w];
        if (helper->error.kind != ERROR_NONE) {
            *err = helper->error;
            status = -1;
        }
        kernel_scratch_free(helper->scratch);
        free(helper->tile);
        free(helper->work);
    }
    free(product->partial);
    free(product->helper);
    if (status == 0) {
        cluster_sum(panels->rows.cluster, total, cells);
    }
    return status;
}

int panels_product(const struct panels *panels, const double *b, double *out,
                   struct threads *threads, struct error *err) {
    size_t n = panels_size(panels);
    struct product product = {.panels = panels,
                              .k = 1,
                              .vector = b,
                              .runs =
                                  memory_array(n / RUN + 1, sizeof *product.runs, "products", err),
                              .used = memory_array(n / GROUP + 1, sizeof(bool), "products", err),
                              .n_tasks = panels->own_end - panels->own,
                              .start = panels->start + panels->own};
    int status = product.runs && product.used ? 0 : -1;
    if (status == 0) {
        product.n_runs = find_runs(b, n, product.runs);
        for (size_t r = 0; r < n; r += GROUP) {
            product.used[r / GROUP] = any_nonzero(b, r, smaller(n, r + GROUP));
        }
        status = run_product(&product, out, threads, err);
    }
    free(product.runs);
    free(product.used);
    return status;
}

/* Fills b and `used` from B (n, k), whose row i is that of rows[i]. */
static void take_columns(struct product *product, const uint32_t *rows, size_t n, const double *b) {
    size_t k = product->k;
    for (size_t i = 0; i < n; i++) {
        size_t row = rows ? rows[i] : i;
        for (size_t o = 0; o < k; o++) {
            size_t at = o * product->stride + row;
            if (product->panels->is_double) {
                ((double *)product->b)[at] = b[i * k + o];
            } else {
                ((float *)product->b)[at] = (float)b[i * k + o];
            }
            product->used[row / GROUP] = product->used[row / GROUP] || b[i * k + o] != 0;
        }
    }
}

int panels_products(const struct panels *panels, const uint32_t *rows, size_t n, const double *b,
                    size_t k, double *out, struct threads *threads, struct error *err) {
    size_t size = panels_size(panels), groups = (size + GROUP - 1) / GROUP;
    /* tasks are merged until the partial sums are at most MAX_PARTIAL_SUMS; depends on the sizes
     * only */
    size_t fit = MAX_PARTIAL_SUMS / (size * k + 1),
           tasks = smaller(larger(fit, 1), panels->n_tasks);
    size_t start[MAX_TASKS + 1];
    for (size_t t = 0; t <= tasks; t++) {
        start[t] = panels->start[t * panels->n_tasks / tasks];
    }
    struct product product = {
        .panels = panels, .k = k, .stride = groups * GROUP, .n_tasks = tasks, .start = start};
    size_t entry = panels->is_double ? sizeof(double) : sizeof(float);
    product.b = memory_zeros(product.stride, padded(k) * entry, "products", err);
    product.used = memory_zeros(groups, sizeof(bool), "products", err);
    double *total = memory_array(size, k * sizeof *total, "products", err);
    int status = product.b && product.used && total ? 0 : -1;
    if (status == 0) {
        take_columns(&product, rows, n, b);
        status = run_product(&product, total, threads, err);
    }
    for (size_t i = 0; status == 0 && i < n; i++) {
        for (size_t o = 0; o < k; o++) {
            out[i * k + o] = total[o * size + (rows ? rows[i] : i)];
        }
    }
    free(product.b);
    free(product.used);
    free(total);
    return status;
}

/* ---- entries ---- */

/* block (n_i, n_j) = the entries at rows i and columns j, computed in double. */
static int compute_block(const struct panels *panels, const uint32_t *i, size_t n_i,
                         const uint32_t *j, size_t n_j, double *block, struct error *err) {
    struct kernel_scratch *scratch;
    if (kernel_scratch_create(&scratch, err) < 0) {
        return -1;
    }
    double **out = memory_array(n_i, sizeof *out, "rows of a block", err);
    for (size_t r = 0; out && r < n_i; r++) {
        out[r] = block + r * n_j;
    }
    struct kernel_tile tile = {.x = {&panels->rows, i, 0, n_i}, .z = {&panels->rows, j, 0, n_j}};
    int status = out ? kernel_tile_double(&tile, out, scratch, err) : -1;
    free(out);
    kernel_scratch_free(scratch);
    return status;
}

int panels_block(const struct panels *panels, const uint32_t *i, size_t n_i, const uint32_t *j,
                 size_t n_j, double *block, struct error *err) {
    bool all_cached = true;
    for (size_t r = 0; r < n_i; r++) {
        all_cached = all_cached && is_cached(panels, i[r]);
    }
    for (size_t c = 0; c < n_j; c++) {
        all_cached = all_cached && is_cached(panels, j[c]);
    }
    if (!all_cached && compute_block(panels, i, n_i, j, n_j, block, err) < 0) {
        return -1;
    }
    for (size_t r = 0; r < n_i; r++) {
        for (size_t c = 0; c < n_j; c++) {
            size_t row = larger(i[r], j[c]), column = smaller(i[r], j[c]);
            if (is_cached(panels, row)) {
                size_t at = row_offset(row) + column;
                block[r * n_j + c] = panels->is_double
                                         ? ((const double *)panels->entries)[at]
                                         : (double)((const float *)panels->entries)[at];
            }
        }
    }
    return 0;
}

int panels_block_exact(const struct panels *panels, const uint32_t *i, size_t n_i,
                       const uint32_t *j, size_t n_j, double *block, struct error *err) {
    bool given = panels->rows.kernel->type == KERNEL_PRECOMPUTED; /* in float */
    return panels->is_double || given ? panels_block(panels, i, n_i, j, n_j, block, err)
                                      : compute_block(panels, i, n_i, j, n_j, block, err);
}

size_t panels_cached_bytes(const struct panels *panels) {
    return (row_offset(panels->end_cached) - row_offset(panels->first)) *
           (panels->is_double ? sizeof(double) : sizeof(float));
}

bool panels_is_cached(const struct panels *panels) {
    return !panels->rows.cluster && panels->end_cached == panels_size(panels);
}

void panels_row(const struct panels *panels, uint32_t i, const uint32_t *j, size_t n,
                const uint32_t *position, float *row) {
    const float *entries = panels->entries;
    const double *doubles = panels->entries;
    for (size_t c = 0; c < n; c++) {
        uint32_t other = position ? position[j[c]] : j[c];
        size_t at = row_offset(larger(i, other)) + smaller(i, other);
        row[c] = panels->is_double ? (float)doubles[at] : entries[at];
    }
}
