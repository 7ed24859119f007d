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
#include <pthread.h>
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

/* Of a worker: what it needs to recompute entries. Made at first use. */
struct helper {
    struct kernel_scratch *scratch;
    void *tile; /* (TILE_ROWS, TILE_COLUMNS) */
    struct error error;
};

/* What one product needs. Kept from product to product in a list. */
struct workspace {
    struct workspace *next;
    struct run *runs;
    double *partial; /* (n_partials, n) */
    size_t n_partials;
    struct helper *helper; /* (n_helpers) */
    size_t n_helpers;
};

struct panels {
    struct kernel_rows rows;
    bool wide;
    size_t first, kept; /* rows first..kept are in entries; first is start[own] */
    void *entries;      /* float, double if wide */
    size_t n_tasks;
    size_t own, own_end;     /* tasks of this rank */
    size_t start[TASKS + 1]; /* rows of the tasks of a product, multiples of GROUP but the last */
    pthread_mutex_t mutex;
    struct workspace *spare;
};

/* A product at work. */
struct product {
    const struct panels *panels;
    const double *b;
    const struct run *runs;
    size_t n_runs;
    struct workspace *workspace;
    atomic_bool failed;
};

/* A many-column product at work. */
struct products {
    const struct panels *panels;
    size_t k;
    void *b;    /* (n, k) in the entries' type */
    bool *used; /* (groups of rows) whether b is not zero there */
    size_t n_tasks;
    size_t start[TASKS + 1];
    bool serial;           /* one task after the other, in one place */
    double *partial;       /* (n_tasks, n, k) */
    double *total;         /* (n, k) */
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
    uint64_t at = data->row_start ? data->row_start[i] : (uint64_t)i * data->n_features;
    uint64_t end = data->row_start ? data->row_start[i + 1] : at + data->n_features;
    while (at < end && data->value[at] == 0) {
        at++;
    }
    return at == end;
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
    pthread_mutex_init(&g->mutex, NULL);
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

static void workspace_free(struct workspace *workspace) {
    for (size_t i = 0; i < workspace->n_helpers; i++) {
        kernel_scratch_free(workspace->helper[i].scratch);
        free(workspace->helper[i].tile);
    }
    free(workspace->helper);
    free(workspace->runs);
    free(workspace->partial);
    free(workspace);
}

void panels_free(struct panels *panels) {
    if (!panels) {
        return;
    }
    while (panels->spare) {
        struct workspace *next = panels->spare->next;
        workspace_free(panels->spare);
        panels->spare = next;
    }
    pthread_mutex_destroy(&panels->mutex);
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

/* A spare workspace or a new one, grown to what this product needs. Workspaces are the caller's
 * part of a panels that is otherwise constant: hence the cast in panels_product. */
static struct workspace *workspace_get(struct panels *panels, size_t n_partials, size_t n_helpers,
                                       struct error *err) {
    size_t n = panels_size(panels);
    pthread_mutex_lock(&panels->mutex);
    struct workspace *w = panels->spare;
    panels->spare = w ? w->next : NULL;
    pthread_mutex_unlock(&panels->mutex);
    if (!w) {
        w = memory_zeros(1, sizeof *w, "workspace", err);
        if (!w) {
            return NULL;
        }
        w->runs = memory_array(n / RUN + 1, sizeof *w->runs, "workspace", err);
    }
    if (w->n_partials < n_partials) {
        free(w->partial);
        w->partial = memory_array(n_partials * n, sizeof *w->partial, "partial products", err);
        w->n_partials = w->partial ? n_partials : 0;
    }
    if (w->n_helpers < n_helpers) {
        struct helper *more = memory_zeros(n_helpers, sizeof *more, "workspace", err);
        if (more) {
            if (w->n_helpers) {
                memcpy(more, w->helper, w->n_helpers * sizeof *more);
            }
            free(w->helper);
            w->helper = more;
            w->n_helpers = n_helpers;
        }
    }
    if (!w->runs || w->n_partials < n_partials || w->n_helpers < n_helpers) {
        workspace_free(w);
        return NULL;
    }
    return w;
}

static void workspace_put(struct panels *panels, struct workspace *workspace) {
    pthread_mutex_lock(&panels->mutex);
    workspace->next = panels->spare;
    panels->spare = workspace;
    pthread_mutex_unlock(&panels->mutex);
}

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
static void multiply(struct product *product, size_t task, size_t worker, double *partial) {
    const struct panels *panels = product->panels;
    size_t first = panels->start[task], end = panels->start[task + 1];
    size_t middle = larger(first, smaller(end, panels->kept));
    memset(partial, 0, end * sizeof *partial);
    if (panels->wide) {
        double_multiply_kept(panels, product, first, middle, partial);
    } else {
        float_multiply_kept(panels, product, first, middle, partial);
    }
    if (middle < end && !atomic_load(&product->failed)) {
        struct helper *helper = &product->workspace->helper[worker];
        int status = panels->wide ? double_multiply_computed(panels, product, middle, end, partial,
                                                             helper, &helper->error)
                                  : float_multiply_computed(panels, product, middle, end, partial,
                                                            helper, &helper->error);
        if (status < 0) {
            atomic_store(&product->failed, true);
        }
    }
}

static void multiply_task(void *argument, size_t number, size_t worker) {
    struct product *product = argument;
    size_t task = product->panels->own + number;
    multiply(product, task, worker,
             product->workspace->partial + number * panels_size(product->panels));
}

static void add(double *out, const double *partial, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] += partial[i];
    }
}

int panels_product(const struct panels *panels, const double *b, double *out,
                   struct threads *threads, struct error *err) {
    struct panels *g = (struct panels *)panels;
    size_t n = panels_size(panels), workers = threads_count(threads);
    size_t tasks = panels->own_end - panels->own;
    bool whole = panels->kept == panels->start[panels->own_end];
    bool serial = workers == 1 || (n * n / 2 < SERIAL_ENTRIES && whole);
    struct workspace *workspace = workspace_get(g, serial ? 1 : tasks, whole ? 0 : workers, err);
    if (!workspace) {
        return -1;
    }
    struct product product = {.panels = panels,
                              .b = b,
                              .runs = workspace->runs,
                              .n_runs = find_runs(b, n, workspace->runs),
                              .workspace = workspace};
    if (!serial) {
        threads_run(threads, tasks, multiply_task, &product);
    }
    /* The sums of the tasks are added in order, with or without threads. */
    memset(out, 0, n * sizeof *out);
    for (size_t task = panels->own; task < panels->own_end; task++) {
        if (serial) {
            multiply(&product, task, 0, workspace->partial);
            add(out, workspace->partial, panels->start[task + 1]);
        } else {
            add(out, workspace->partial + (task - panels->own) * n, panels->start[task + 1]);
        }
    }
    int status = 0;
    for (size_t w = 0; w < workspace->n_helpers; w++) {
        if (workspace->helper[w].error.kind != ERROR_NONE) {
            *err = workspace->helper[w].error;
            workspace->helper[w].error = (struct error){.kind = ERROR_NONE};
            status = -1;
        }
    }
    workspace_put(g, workspace);
    if (status == 0) {
        cluster_sum(panels->rows.cluster, out, n);
    }
    return status;
}

/* ---- many columns at once ---- */

static void products_task(void *argument, size_t task, size_t worker) {
    struct products *products = argument;
    size_t cells = products->start[task + 1] * products->k;
    double *partial = products->partial;
    if (!products->serial) {
        partial += task * panels_size(products->panels) * products->k;
    }
    memset(partial, 0, cells * sizeof *partial);
    if (atomic_load(&products->failed)) {
        return;
    }
    int status = products->panels->wide ? double_multiply_task(products, task, worker, partial)
                                        : float_multiply_task(products, task, worker, partial);
    if (status < 0) {
        atomic_store(&products->failed, true);
    }
}

/* Tasks of a panels_product, as many together as make the partial sums fit; at least groups of rows
 * stay whole. Depends on the sizes only. */
static void plan_products(struct products *products) {
    const struct panels *panels = products->panels;
    size_t fit = PRODUCT_CELLS / (panels_size(panels) * products->k + 1);
    size_t n = smaller(larger(fit, 1), panels->n_tasks);
    products->n_tasks = n;
    for (size_t t = 0; t <= n; t++) {
        products->start[t] = panels->start[t * panels->n_tasks / n];
    }
}

/* Fills b and used from the rows' B. */
static void take_columns(struct products *products, const uint32_t *rows, size_t n,
                         const double *b) {
    size_t k = products->k;
    for (size_t i = 0; i < n; i++) {
        size_t row = rows ? rows[i] : i;
        for (size_t o = 0; o < k; o++) {
            if (products->panels->wide) {
                ((double *)products->b)[row * k + o] = b[i * k + o];
            } else {
                ((float *)products->b)[row * k + o] = (float)b[i * k + o];
            }
            products->used[row / GROUP] = products->used[row / GROUP] || b[i * k + o] != 0;
        }
    }
}

/* Runs the tasks and adds their sums in order, with or without threads. */
static void run_products(struct products *products, struct threads *threads) {
    size_t cells = panels_size(products->panels) * products->k;
    if (!products->serial) {
        threads_run(threads, products->n_tasks, products_task, products);
    }
    for (size_t t = 0; t < products->n_tasks; t++) {
        if (products->serial) {
            products_task(products, t, 0);
        }
        add(products->total, products->partial + (products->serial ? 0 : t * cells),
            products->start[t + 1] * products->k);
    }
}

int panels_products(const struct panels *panels, const uint32_t *rows, size_t n, const double *b,
                    size_t k, double *out, struct threads *threads, struct error *err) {
    size_t size = panels_size(panels), workers = threads_count(threads);
    size_t groups = (size + GROUP - 1) / GROUP;
    struct products products = {.panels = panels, .k = k};
    plan_products(&products);
    products.b = memory_zeros(groups * GROUP * k, panels->wide ? sizeof(double) : sizeof(float),
                              "products", err);
    products.used = memory_zeros(groups, sizeof(bool), "products", err);
    products.serial = workers == 1 || products.n_tasks == 1;
    products.partial = memory_array((products.serial ? 1 : products.n_tasks) * size,
                                    k * sizeof(double), "partial products", err);
    products.total = memory_zeros(size, k * sizeof(double), "products", err);
    products.helper = memory_zeros(workers, sizeof *products.helper, "workspace", err);
    int status = -1;
    if (products.b && products.used && products.partial && products.total && products.helper) {
        take_columns(&products, rows, n, b);
        run_products(&products, threads);
        status = 0;
        for (size_t w = 0; w < workers; w++) {
            if (products.helper[w].error.kind != ERROR_NONE) {
                *err = products.helper[w].error;
                status = -1;
            }
        }
    }
    for (size_t i = 0; status == 0 && i < n; i++) {
        memcpy(out + i * k, products.total + (rows ? rows[i] : i) * k, k * sizeof *out);
    }
    for (size_t w = 0; products.helper && w < workers; w++) {
        kernel_scratch_free(products.helper[w].scratch);
        free(products.helper[w].tile);
    }
    free(products.b);
    free(products.used);
    free(products.partial);
    free(products.total);
    free(products.helper);
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
