/* The kernel matrix in panels of rows: building it, products with it, its entries. panels_rows.h
 * makes here, twice, the part that depends on the entries' type. Over 500 lines, for all of it is
 * about how one struct lays entries out, which nobody else sees. */
#include "common/kernel/panels.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/vector.h"
#include "common/kernel/kernel_private.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Rows are stored in groups of GROUP, of equal length: 1 + the last row's number, up to GROUP. */
enum {
    GROUP = 16,
    TILE_ROWS = 1024, /* most rows of a tile computed at once: it stays in the second-level cache */
    TILE_COLUMNS = 256,
    PRODUCT_COLUMNS = 512,    /* of a piece of a many-column product, summed in the entries' type */
    RUN = 512,                /* b is searched for zeros in pieces of this length */
    TASK_ENTRIES = 1 << 16,   /* a product is cut into tasks of at least so many entries, */
    TASKS = 32,               /* at most this many; both are fixed so that sums are */
    SERIAL_ENTRIES = 1 << 19, /* below, waking other threads takes longer than it saves */
    PRODUCT_CELLS = 1 << 23   /* of the partial sums of a many-column product */
};

/* Columns first..end, in which b is or is not zero. */
struct run {
    size_t first, end;
    bool zero;
};

/* Of a worker. Made at first use. */
struct helper {
    void *work; /* (GROUP + PRODUCT_COLUMNS, k) sums of a product with k columns */
    void *tile; /* (TILE_ROWS, TILE_COLUMNS) entries that are recomputed, */
    struct kernel_scratch *scratch; /* by this */
    struct error error;
};

struct panels {
    struct kernel_rows rows;
    bool wide;
    size_t first, kept; /* rows first..kept are in entries; first is start[own] */
    void *entries;      /* float, double if wide */
    size_t n_tasks;
    size_t own, own_end;     /* tasks of this rank */
    size_t start[TASKS + 1]; /* rows of the tasks of a product, multiples of GROUP but the last */
};

/* A product at work: with one column, in double, or with k, in the entries' type. */
struct product {
    const struct panels *panels;
    size_t k;
    const double *vector; /* (n) the one column; NULL: */
    void *b;              /* (n, k) the columns */
    struct run *runs;     /* (n_runs) of the one column */
    size_t n_runs;
    bool *used; /* (groups of rows) whether the columns are not zero there */
    size_t n_tasks;
    const size_t *start;   /* (n_tasks + 1) rows of the tasks */
    bool serial;           /* one task after the other, in one place */
    double *partial;       /* (n_tasks, n, k) */
    struct helper *helper; /* (workers) */
    atomic_bool failed;
};

/* Computing the rows that are kept. */
struct build {
    const struct panels *panels;
    struct {
        size_t r, c;
    } * tile;
    size_t n_tiles, tile_rows;
    struct kernel_scratch **scratch;
    struct error *error;
    atomic_bool failed;
};

/* Entries before row r: those of whole groups, GROUP rows of GROUP, 2 GROUP, ..., then of rows. */
static size_t row_offset(size_t r) {
    size_t group = r / GROUP;
    return GROUP * GROUP * (group * (group + 1) / 2) + r % GROUP * GROUP * (group + 1);
}

static bool any_nonzero(const double *b, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        if (b[i] != 0) {
            return true;
        }
    }
    return false;
}

/* Whether the columns of a product are not zero in rows first..end, first a multiple of GROUP. */
static bool any_used(const struct product *product, size_t first, size_t end) {
    for (size_t r = first; r < end; r += GROUP) {
        if (product->used[r / GROUP]) {
            return true;
        }
    }
    return false;
}

/* Makes what a task needs, with `computes` for entries that are not kept. */
static int prepare_helper(const struct product *product, struct helper *helper, bool computes) {
    size_t entry = product->panels->wide ? sizeof(double) : sizeof(float);
    struct error *err = &helper->error;
    if (!product->vector && !helper->work) {
        helper->work =
            memory_array((GROUP + PRODUCT_COLUMNS) * product->k, entry, "kernel tile", err);
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
#define GEMM cblas_sgemm
#define NAME(x) float_##x
#include "common/kernel/panels_rows.h"

#define REAL double
#define TILE kernel_tile_double
#define VECTOR vector_double
#define GEMM cblas_dgemm
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

/* A serial number is that of a column, or where the last columns are zeros that no row stores, of a
 * row. There may be more columns yet than either if rows were taken out of a larger matrix: the row
 * of such a column is zero too. */
static int check_serials(const struct data *data, struct error *err) {
    size_t most = larger(data->n_features, data->n_rows);
    for (size_t i = 0; i < data->n_rows; i++) {
        uint64_t serial = data->serial[i];
        if (serial == 0 || (serial > most && !row_is_zero(data, i))) {
            return error_set(err, ERROR_RUNTIME,
                             "precomputed kernel: row %zu: serial number %llu: must be 1..%zu",
                             i + 1, (unsigned long long)serial, most);
        }
    }
    return 0;
}

/* Only the lower half is used: the file must have the same in the upper one, up to the rounding of
 * its decimals. */
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

/* The end of as many rows from `first` on as fit, in whole groups, at most of rows up to `end`. */
static size_t rows_that_fit(size_t first, size_t end, size_t cache_bytes, size_t entry) {
    size_t kept = first, before = row_offset(first);
    while (kept < end && row_offset(kept + GROUP) - before <= cache_bytes / entry) {
        kept += GROUP;
    }
    return smaller(kept, end);
}

/* Tasks of equal numbers of entries. */
static void plan_tasks(struct panels *panels) {
    double n = (double)panels->rows.data->n_rows;
    double tasks = floor(n * n / 2 / TASK_ENTRIES);
    panels->n_tasks = tasks < 1 ? 1 : tasks > TASKS ? TASKS : (size_t)tasks;
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

/* Lists the tiles: columns by columns, so that each meets as many rows as possible. */
static int plan_tiles(struct build *build, struct error *err) {
    size_t first = build->panels->first, kept = build->panels->kept;
    build->tile_rows = kept - first > 8 * TILE_ROWS ? TILE_ROWS : TILE_ROWS / 2;
    for (int pass = 0; pass < 2; pass++) {
        build->n_tiles = 0;
        for (size_t c = 0; c < kept; c += TILE_COLUMNS) {
            for (size_t r = larger(c, first); r < kept; r += build->tile_rows) {
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

static int build_kept(struct panels *panels, struct threads *threads, struct error *err) {
    size_t workers = threads_count(threads);
    struct build build = {.panels = panels,
                          .scratch = kernel_scratch_array(workers, err),
                          .error = memory_zeros(workers, sizeof *build.error, "errors", err)};
    int status = build.scratch && build.error ? plan_tiles(&build, err) : -1;
    if (status == 0) {
        threads_run(threads, build.n_tiles, panels->wide ? double_build_task : float_build_task,
                    &build);
        for (size_t w = 0; w < workers; w++) {
            if (build.error[w].kind != ERROR_NONE) {
                *err = build.error[w];
                status = -1;
            }
        }
    }
    free(build.tile);
    free(build.error);
    kernel_scratch_array_free(build.scratch, workers);
    return status;
}

int panels_create(struct panels **panels, const struct kernel *kernel, const struct data *data,
                  size_t cache_bytes, bool wide, struct cluster *cluster, struct threads *threads,
                  struct error *err) {
    struct panels *g = memory_zeros(1, sizeof *g, "kernel matrix", err);
    if (!g) {
        return -1;
    }
    size_t entry = wide ? sizeof(double) : sizeof(float);
    g->wide = wide;
    if (kernel_rows_create(&g->rows, kernel, data, err) < 0 ||
        (kernel->type == KERNEL_PRECOMPUTED &&
         (check_serials(data, err) < 0 || check_symmetric(&g->rows, err) < 0))) {
        panels_free(g);
        return -1;
    }
    g->rows.cluster = cluster;
    plan_tasks(g);
    g->kept = rows_that_fit(g->first, g->start[g->own_end], cache_bytes, entry);
    size_t end = larger(row_offset((g->kept + GROUP - 1) / GROUP * GROUP), row_offset(g->first));
    g->entries = memory_array(end - row_offset(g->first), entry, "kernel matrix", err);
    if (!g->entries || build_kept(g, threads, err) < 0) {
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

bool panels_is_wide(const struct panels *panels) {
    return panels->wide;
}

const struct kernel_rows *panels_rows(const struct panels *panels) {
    return &panels->rows;
}

/* ---- products ---- */

/* Cuts 0..n into runs of pieces in which b is all zero, or is not. */
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

/* Whether a row is kept that is asked for here: of a spread matrix each rank has others, and all
 * are to see the same entries. */
static bool is_kept(const struct panels *panels, size_t row) {
    return !panels->rows.cluster && row < panels->kept;
}

/* partial[0..start[task + 1]) = what the rows of a task give. */
static void multiply_task(void *argument, size_t task, size_t worker) {
    struct product *product = argument;
    struct helper *helper = &product->helper[worker];
    double *partial = product->partial;
    if (!product->serial) {
        partial += task * panels_size(product->panels) * product->k;
    }
    memset(partial, 0, product->start[task + 1] * product->k * sizeof *partial);
    if (!atomic_load(&product->failed) &&
        (product->panels->wide ? double_multiply_task : float_multiply_task)(product, task, helper,
                                                                             partial) < 0) {
        atomic_store(&product->failed, true);
    }
}

/* total (n, k) = the sums of the tasks, added in order, with or without threads. */
static int run_product(struct product *product, double *total, struct threads *threads,
                       struct error *err) {
    const struct panels *panels = product->panels;
    size_t n = panels_size(panels), cells = n * product->k, workers = threads_count(threads);
    bool whole = panels->kept == panels->start[panels->own_end];
    product->serial =
        workers == 1 || product->n_tasks == 1 || (whole && n * n / 2 * product->k < SERIAL_ENTRIES);
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
        for (size_t i = 0; i < product->start[t + 1] * product->k; i++) {
            total[i] += partial[i];
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

/* Fills b and used from the rows' B. */
static void take_columns(struct product *product, const uint32_t *rows, size_t n, const double *b) {
    size_t k = product->k;
    for (size_t i = 0; i < n; i++) {
        size_t row = rows ? rows[i] : i;
        for (size_t o = 0; o < k; o++) {
            if (product->panels->wide) {
                ((double *)product->b)[row * k + o] = b[i * k + o];
            } else {
                ((float *)product->b)[row * k + o] = (float)b[i * k + o];
            }
            product->used[row / GROUP] = product->used[row / GROUP] || b[i * k + o] != 0;
        }
    }
}

int panels_products(const struct panels *panels, const uint32_t *rows, size_t n, const double *b,
                    size_t k, double *out, struct threads *threads, struct error *err) {
    size_t size = panels_size(panels), groups = (size + GROUP - 1) / GROUP;
    /* as many tasks together as make the partial sums fit: depends on the sizes only */
    size_t fit = PRODUCT_CELLS / (size * k + 1), tasks = smaller(larger(fit, 1), panels->n_tasks);
    size_t start[TASKS + 1];
    for (size_t t = 0; t <= tasks; t++) {
        start[t] = panels->start[t * panels->n_tasks / tasks];
    }
    struct product product = {.panels = panels, .k = k, .n_tasks = tasks, .start = start};
    product.b = memory_zeros(groups * GROUP * k, panels->wide ? sizeof(double) : sizeof(float),
                             "products", err);
    product.used = memory_zeros(groups, sizeof(bool), "products", err);
    double *total = memory_array(size, k * sizeof *total, "products", err);
    int status = product.b && product.used && total ? 0 : -1;
    if (status == 0) {
        take_columns(&product, rows, n, b);
        status = run_product(&product, total, threads, err);
    }
    for (size_t i = 0; status == 0 && i < n; i++) {
        memcpy(out + i * k, total + (rows ? rows[i] : i) * k, k * sizeof *out);
    }
    free(product.b);
    free(product.used);
    free(total);
    return status;
}

/* ---- entries ---- */

/* Entries of rows that are not kept, computed in double. */
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
    bool kept = true;
    for (size_t r = 0; r < n_i; r++) {
        kept = kept && is_kept(panels, i[r]);
    }
    for (size_t c = 0; c < n_j; c++) {
        kept = kept && is_kept(panels, j[c]);
    }
    if (!kept && compute_block(panels, i, n_i, j, n_j, block, err) < 0) {
        return -1;
    }
    for (size_t r = 0; r < n_i; r++) {
        for (size_t c = 0; c < n_j; c++) {
            size_t row = larger(i[r], j[c]), column = smaller(i[r], j[c]);
            if (is_kept(panels, row)) {
                size_t at = row_offset(row) + column;
                block[r * n_j + c] = panels->wide ? ((const double *)panels->entries)[at]
                                                  : (double)((const float *)panels->entries)[at];
            }
        }
    }
    return 0;
}

int panels_block_exact(const struct panels *panels, const uint32_t *i, size_t n_i,
                       const uint32_t *j, size_t n_j, double *block, struct error *err) {
    bool given = panels->rows.kernel->type == KERNEL_PRECOMPUTED; /* in float */
    return panels->wide || given ? panels_block(panels, i, n_i, j, n_j, block, err)
                                 : compute_block(panels, i, n_i, j, n_j, block, err);
}

size_t panels_kept_bytes(const struct panels *panels) {
    return (row_offset(panels->kept) - row_offset(panels->first)) *
           (panels->wide ? sizeof(double) : sizeof(float));
}

bool panels_is_whole(const struct panels *panels) {
    return !panels->rows.cluster && panels->kept == panels_size(panels);
}

void panels_row(const struct panels *panels, uint32_t i, const uint32_t *j, size_t n,
                const uint32_t *place, float *row) {
    const float *entries = panels->entries;
    const double *wide = panels->entries;
    for (size_t c = 0; c < n; c++) {
        uint32_t other = place ? place[j[c]] : j[c];
        size_t at = row_offset(larger(i, other)) + smaller(i, other);
        row[c] = panels->wide ? (float)wide[at] : entries[at];
    }
}

double panels_products_rounding(void) {
    return (PRODUCT_COLUMNS + 4) * (double)FLT_EPSILON / 2;
}
