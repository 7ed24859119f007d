/* Scores of a kernel expansion, in double, from kernel tiles that are not stored.
 *
 * Rows of z without coefficients are skipped. For different x and z a task is a block of rows of x.
 * For x = z the rows are put in a list, the m with coefficients first, n in all: only the entries
 * below the diagonal in the first m columns of that list are computed, and each is used for the
 * scores of its row and of its column. A task is then a block of that triangle, and the partial
 * sums are added in the order of the tasks. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/kernel_private.h"
#include "common/kernel/rounding.h"
#include "common/kernel/task_sums.h"
#include "common/kernel/tile_products.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 256,
    MANY_ROWS = 1024,
    /* up to FEW rows, and for more than MANY_OUTPUTS outputs, whose partial sums are large, tasks
     * have ROWS rows; else MANY_ROWS */
    FEW = 2048,
    MANY_OUTPUTS = 128,
    /* partial sums per thread that may wait for those of earlier tasks; more if they take at
     * most WAITING_BYTES */
    WAITING = 2
};
static const size_t WAITING_BYTES = (size_t)64 << 20;

/* Rows first..end and columns column..column_end of the list. */
struct task_block {
    size_t first, end, column, column_end;
};

struct scores {
    const struct kernel_rows *x, *z;
    const double *coefficients;
    size_t n_outputs;
    double *scores;                    /* (rows of x, n_outputs) */
    struct tile_coefficients *ordered; /* the coefficients of list[0..m) */
    uint32_t *list; /* rows of z with coefficients; then, if `symmetric`, the other rows */
    size_t m, n;    /* length of the list: rows with coefficients, and all */
    bool symmetric; /* x is z: one triangle serves both */
    bool floats;    /* values are computed in float; x is z */
    size_t tasks, rows_per_task;
    /* error bounds of the values are multiplied, not the values; NULL: the values */
    const struct kernel_rounding *rounding;
    struct cluster *cluster;      /* processes that share the tasks; NULL: none */
    size_t own, own_end;          /* tasks of this process: own..own_end */
    struct task_block *block;     /* (tasks), if `symmetric` */
    struct task_sums *sums;       /* (n, n_outputs), if `symmetric` */
    struct kernel_worker *worker; /* blocks: rows of TILE_STRIDE, and if `floats` in float too */
    atomic_bool failed;
};

static void set_rows(double **out, double *tile, size_t n) {
    for (size_t r = 0; r < n; r++) {
        out[r] = tile + r * TILE_STRIDE;
    }
}

static void fail(struct scores *s) {
    atomic_store(&s->failed, true);
}

static int compute_floats(const struct kernel_tile *tile, double *const *out,
                          struct kernel_worker *worker) {
    float *row[ROWS], *first = (float *)((double *)worker->block + ROWS * TILE_STRIDE);
    for (size_t r = 0; r < tile->x.n; r++) {
        row[r] = first + r * TILE_STRIDE;
    }
    if (kernel_tile_float(tile, row, worker->scratch, &worker->error) < 0) {
        return -1;
    }
    for (size_t r = 0; r < tile->x.n; r++) {
        size_t n = kernel_tile_columns(tile, r);
        for (size_t c = 0; c < n; c++) {
            out[r][c] = (double)row[r][c];
        }
    }
    return 0;
}

/* Computes the values of the tile, or their error bounds, and pads the rows with 0 to whole chunks.
 */
static int compute(const struct scores *s, const struct kernel_tile *tile, double *const *out,
                   struct kernel_worker *worker) {
    size_t n = tile->z.n, end = (n + TILE_CHUNK - 1) / TILE_CHUNK * TILE_CHUNK;
    for (size_t r = 0; r < tile->x.n; r++) {
        memset(out[r] + n, 0, (end - n) * sizeof *out[r]);
    }
    int status = s->floats ? compute_floats(tile, out, worker)
                           : kernel_tile_double(tile, out, worker->scratch, &worker->error);
    if (status < 0) {
        return -1;
    }
    for (size_t r = 0; s->rounding && r < tile->x.n; r++) {
        kernel_rounding_entries(s->rounding, kernel_side_row(&tile->x, r), tile->z.index,
                                kernel_tile_columns(tile, r), out[r]);
    }
    return 0;
}

/* Task: scores of a block of rows of x. */
static void score_rows(void *argument, size_t number, size_t worker) {
    struct scores *s = argument;
    size_t task = s->own + number, first = task * s->rows_per_task;
    size_t n = s->x->data->n_rows - first;
    n = n < s->rows_per_task ? n : s->rows_per_task;
    double *out[MANY_ROWS];
    set_rows(out, s->worker[worker].block, n);
    double *scores = s->scores + first * s->n_outputs;
    memset(scores, 0, n * s->n_outputs * sizeof *scores);
    for (size_t c = 0; c < s->m && !atomic_load(&s->failed); c += TILE_COLUMNS) {
        size_t columns = s->m - c < TILE_COLUMNS ? s->m - c : TILE_COLUMNS;
        struct kernel_tile tile = {.x = {s->x, NULL, first, n},
                                   .z = {s->z, s->list + c, 0, columns}};
        if (compute(s, &tile, out, &s->worker[worker]) < 0) {
            fail(s);
            return;
        }
        tile_multiply(s->ordered, s->worker[worker].block, n, c, columns, scores);
    }
}

/* Adds the diagonal entries of the whole matrix in a tile to the sums of their rows, where each
 * counts once, and sets them and all entries right of them to 0: out[r] is list row x_at + r. */
static void use_diagonal(const struct scores *s, const struct kernel_tile *tile, double *const *out,
                         double *rows) {
    for (size_t r = 0; r < tile->x.n; r++) {
        size_t row = tile->x_at + r, end = kernel_tile_columns(tile, r), k = s->n_outputs;
        if (end > 0 && tile->z_at + end == row + 1) {
            array_add(rows + r * k, out[r][--end], s->coefficients + s->list[row] * k, k);
        }
        memset(out[r] + end, 0, (tile->z.n - end) * sizeof *out[r]);
    }
}

/* rows, columns = the sums over the entries of the block for their rows and for their columns. */
static int sum_block(struct scores *s, const struct task_block *block, size_t worker, double *rows,
                     double *columns) {
    double *out[ROWS];
    size_t k = s->n_outputs, width = block->column_end - block->column;
    set_rows(out, s->worker[worker].block, ROWS);
    for (size_t first = block->first; first < block->end; first += ROWS) {
        size_t n = block->end - first < ROWS ? block->end - first : ROWS;
        size_t used = first < s->m ? (n < s->m - first ? n : s->m - first) : 0;
        struct kernel_tile tile = {.x = {s->x, s->list + first, 0, n},
                                   .z = {s->x, s->list + block->column, 0, width},
                                   .lower = true,
                                   .x_at = first,
                                   .z_at = block->column};
        if (first + n <= block->column) {
            continue;
        }
        if (atomic_load(&s->failed) || compute(s, &tile, out, &s->worker[worker]) < 0) {
            return -1;
        }
        double *own = rows + (first - block->first) * k;
        if (block->column_end > first) {
            use_diagonal(s, &tile, out, own);
        }
        tile_multiply_both(s->ordered, s->worker[worker].block, n, block->column, width, own, first,
                           used, columns);
    }
    return 0;
}

static void score_triangle(void *argument, size_t number, size_t worker) {
    struct scores *s = argument;
    const struct task_block *block = &s->block[s->own + number];
    size_t k = s->n_outputs;
    struct task_range range[2] = {{block->first * k, (block->end - block->first) * k},
                                  {block->column * k, (block->column_end - block->column) * k}};
    double *sums = task_sums_open(s->sums, number, &s->worker[worker].error);
    if (sums) {
        memset(sums, 0, (range[0].n + range[1].n) * sizeof *sums);
    }
    if (!sums || sum_block(s, block, worker, sums, sums + range[0].n) < 0) {
        fail(s);
    }
    task_sums_close(s->sums, number, sums, range);
}

static void copy_scores(const struct scores *s) {
    const double *sums = task_sums_all(s->sums);
    size_t k = s->n_outputs;
    for (size_t i = 0; i < s->n; i++) {
        memcpy(s->scores + s->list[i] * k, sums + i * k, k * sizeof *s->scores);
    }
}

static bool has_coefficients(const struct scores *s, size_t i) {
    bool all_zero = true;
    for (size_t o = 0; o < s->n_outputs; o++) {
        all_zero = all_zero && s->coefficients[i * s->n_outputs + o] == 0;
    }
    return !all_zero;
}

static int make_list(struct scores *s, struct error *err) {
    size_t n = s->z->data->n_rows;
    s->list = memory_array(n, sizeof *s->list, "list of rows", err);
    if (!s->list) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        if (has_coefficients(s, i)) {
            s->list[s->n++] = (uint32_t)i;
        }
    }
    s->m = s->n;
    s->symmetric = s->x == s->z;
    for (size_t i = 0; s->symmetric && i < n; i++) {
        if (!has_coefficients(s, i)) {
            s->list[s->n++] = (uint32_t)i;
        }
    }
    return 0;
}

/* Lists the blocks of the triangle, by rows and within these by columns; only counts them if
 * `block` is NULL. */
static size_t list_blocks(const struct scores *s, struct task_block *block) {
    size_t n = 0;
    for (size_t first = 0; first < s->n; first += s->rows_per_task) {
        size_t end = s->n - first < s->rows_per_task ? s->n : first + s->rows_per_task;
        size_t columns = end < s->m ? end : s->m;
        for (size_t c = 0; c < columns; c += TILE_COLUMNS, n++) {
            if (block) {
                size_t column_end = columns - c < TILE_COLUMNS ? columns : c + TILE_COLUMNS;
                block[n] = (struct task_block){first, end, c, column_end};
            }
        }
    }
    return n;
}

/* Chooses the tasks; depends only on the sizes. */
static int plan(struct scores *s, struct error *err) {
    if (!s->symmetric) {
        size_t n = s->x->data->n_rows;
        s->rows_per_task = n < 16 * MANY_ROWS ? ROWS : MANY_ROWS;
        s->tasks = (n + s->rows_per_task - 1) / s->rows_per_task;
        return 0;
    }
    s->rows_per_task = s->n < FEW || s->n_outputs > MANY_OUTPUTS ? ROWS : MANY_ROWS;
    s->tasks = list_blocks(s, NULL);
    s->block = memory_array(s->tasks, sizeof *s->block, "tasks", err);
    if (!s->block) {
        return -1;
    }
    list_blocks(s, s->block);
    return 0;
}

/* Selects the tasks of this process. */
static void share(struct scores *s) {
    size_t ranks = cluster_size(s->cluster), rank = cluster_rank(s->cluster);
    s->own = s->tasks * rank / ranks;
    s->own_end = s->tasks * (rank + 1) / ranks;
}

static int prepare(struct scores *s, size_t workers, struct error *err) {
    if (make_list(s, err) < 0 ||
        tile_coefficients_create(&s->ordered, s->coefficients, s->n_outputs, s->list, s->m, err) <
            0 ||
        plan(s, err) < 0) {
        return -1;
    }
    size_t rows = s->symmetric ? ROWS : s->rows_per_task; /* rows of a tile */
    size_t value = sizeof(double) + (s->floats ? sizeof(float) : 0);
    s->worker = kernel_workers_create(workers, rows * TILE_STRIDE * value, err);
    return s->worker ? 0 : -1;
}

/* Computes the scores of all rows of x. */
static int run(struct scores *s, struct threads *threads, struct error *err) {
    size_t workers = threads_count(threads);
    int status = prepare(s, workers, err);
    if (status == 0) {
        share(s);
        if (s->symmetric) {
            size_t block = (s->rows_per_task + TILE_COLUMNS) * s->n_outputs;
            size_t max_blocks = WAITING_BYTES / sizeof(double) / block;
            max_blocks = max_blocks > WAITING * workers ? max_blocks : WAITING * workers;
            status = task_sums_create(&s->sums, s->n * s->n_outputs, s->own_end - s->own, block,
                                      max_blocks, err);
        }
    }
    if (status == 0) {
        threads_run(threads, s->own_end - s->own, s->symmetric ? score_triangle : score_rows, s);
        status = kernel_workers_error(s->worker, workers, err);
    }
    if (status == 0 && s->symmetric) {
        copy_scores(s);
    }
    kernel_workers_free(s->worker, workers);
    free(s->list);
    tile_coefficients_free(s->ordered);
    free(s->block);
    task_sums_free(s->sums);
    if (status == 0) {
        cluster_sum(s->cluster, s->scores, s->x->data->n_rows * s->n_outputs);
    }
    return status;
}

int kernel_scores(const struct kernel_rows *x, const struct kernel_rows *z,
                  const double *coefficients, size_t n_outputs, double *scores,
                  struct threads *threads, struct error *err) {
    struct scores s = {.x = x,
                       .z = z,
                       .coefficients = coefficients,
                       .n_outputs = n_outputs,
                       .scores = scores,
                       .cluster = x == z ? x->cluster : NULL};
    return run(&s, threads, err);
}

/* A term is added with those of its tile's row, or of its task's column, and then with those of the
 * other tasks. Their number is that for all rows: the m may be spread over those that have a
 * coefficient in another output. */
size_t kernel_scores_additions(const struct kernel_rows *x, size_t m) {
    size_t in_task = MANY_ROWS + MANY_ROWS / ROWS + 1;
    size_t n = x->data->n_rows, tasks = n / TILE_COLUMNS + n / ROWS + 2;
    return smaller(m, in_task + tasks + cluster_size(x->cluster));
}

int kernel_scores_float(const struct kernel_rows *x, const double *coefficients, size_t n_outputs,
                        double *scores, struct threads *threads, struct error *err) {
    struct scores s = {.x = x,
                       .z = x,
                       .coefficients = coefficients,
                       .n_outputs = n_outputs,
                       .scores = scores,
                       .floats = true,
                       .cluster = x->cluster};
    return run(&s, threads, err);
}

int kernel_rounding_scores(const struct kernel_rounding *rounding, const double *size,
                           size_t n_outputs, double *error, struct threads *threads,
                           struct error *err) {
    const struct kernel_rows *rows = rounding->rows;
    struct scores s = {.x = rows,
                       .z = rows,
                       .coefficients = size,
                       .n_outputs = n_outputs,
                       .scores = error,
                       .rounding = rounding,
                       .cluster = rows->cluster};
    return run(&s, threads, err);
}
