/* Scores under changes of single blocks (score_store.h): one BLAS product per chunk of kernel
 * rows. */
#include "families/ml/solver/score_store.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/gram.h"
#include "fit/work.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum {
    VECTOR = 8, /* doubles of the widest vector */
    /* adjacent rows that stay together: their entries are adjacent in the Gram matrix */
    GROUP = 16,
    TOGETHER = 4,         /* rows of W read or changed at once */
    CHUNK = 128,          /* rows whose steps are applied at once */
    SLICE = 512,          /* rows of S updated at once, so that K's part stays in cache */
    COLUMNS = 16,         /* columns of W per task of a rebuild */
    SERIAL_WORK = 1 << 18 /* entries of K of a product; below, threads cost more than they gain */
};

/* ---- linear rows ---- */

/* The next entries of a row that are not 0, at most TOGETHER: values and rows of W. Memory serves
 * several rows of W at once faster than one after the other. */
struct entries {
    size_t n;
    double x[TOGETHER];
    double *w[TOGETHER];
};

static struct entries next_entries(const struct stored_row *row, size_t *k, double *W,
                                   size_t width) {
    struct entries entries;
    entries.n = 0;
    for (; *k < row->n && entries.n < TOGETHER; ++*k) {
        if (row->value[*k] != 0) {
            entries.x[entries.n] = (double)row->value[*k];
            entries.w[entries.n++] = W + (size_t)stored_column(*row, *k) * width;
        }
    }
    return entries;
}

/* s (width) = W'x */
DISPATCH static void row_scores(const struct stored_row *row, double *W, size_t width,
                                double *restrict s) {
    memset(s, 0, width * sizeof *s);
    for (size_t k = 0; k < row->n;) {
        struct entries entries = next_entries(row, &k, W, width);
        if (entries.n == TOGETHER) {
#pragma omp simd
            for (size_t c = 0; c < width; c++) {
                double sum = s[c];
                for (size_t e = 0; e < TOGETHER; e++) {
                    sum += entries.x[e] * entries.w[e][c];
                }
                s[c] = sum;
            }
            continue;
        }
        for (size_t e = 0; e < entries.n; e++) {
            array_add(s, entries.x[e], entries.w[e], width);
        }
    }
}

/* W += x change', columns first..end. */
DISPATCH static void row_update(const struct stored_row *row, const double *restrict change,
                                double *W, size_t width, size_t first, size_t end) {
    for (size_t k = 0; k < row->n;) {
        struct entries entries = next_entries(row, &k, W, width);
        if (entries.n == TOGETHER) {
#pragma omp simd
            for (size_t c = first; c < end; c++) {
                for (size_t e = 0; e < TOGETHER; e++) {
                    entries.w[e][c] += entries.x[e] * change[c];
                }
            }
            continue;
        }
        for (size_t e = 0; e < entries.n; e++) {
            array_add(entries.w[e] + first, entries.x[e], change + first, end - first);
        }
    }
}

/* The same for the labels changed[0..n_changed) only. */
static void row_update_few(const struct stored_row *row, const double *change,
                           const uint32_t *changed, size_t n_changed, double *W, size_t width) {
    for (size_t k = 0; k < row->n; k++) {
        double *w = W + (size_t)stored_column(*row, k) * width;
        double x = (double)row->value[k];
        for (size_t e = 0; e < n_changed; e++) {
            w[changed[e]] += x * change[changed[e]];
        }
    }
}

static double row_square(const struct stored_row *row) {
    double sum = 0;
    for (size_t k = 0; k < row->n; k++) {
        sum += (double)row->value[k] * (double)row->value[k];
    }
    return sum;
}

/* ---- creation ---- */

static int create_linear(struct ml_store *store, struct error *err) {
    const struct data *data = store->problem->data;
    store->W = threads_zeros(store->problem->threads, data->n_features,
                             store->width * sizeof(double), "weights", err);
    if (!store->W) {
        return -1;
    }
    for (size_t i = 0; i < store->rows->n; i++) {
        struct stored_row row = data_stored(data, store->index[i]);
        store->diagonal[i] = row_square(&row);
    }
    return 0;
}

static int create_kernel(struct ml_store *store, struct error *err) {
    const struct problem *problem = store->problem;
    size_t width = store->width, workers = threads_count(problem->threads);
    store->S =
        threads_zeros(problem->threads, store->rows->n, width * sizeof(double), "scores", err);
    const struct arrays arrays[] = {ARRAYS(CHUNK * width, double, &store->chunk_s, &store->chunk_d),
                                    ARRAYS((size_t)CHUNK * CHUNK, double, &store->chunk_k),
                                    ARRAYS(workers * CHUNK * SLICE, double, &store->slices),
                                    ARRAYS(CHUNK, uint32_t, &store->chunk_index)};
    store->chunk = arrays_create(arrays, sizeof arrays / sizeof arrays[0], "a chunk of rows", err);
    if (!store->S || !store->chunk) {
        return -1;
    }
    const struct kernel_rows *rows = gram_rows(problem->gram);
    for (size_t i = 0; i < store->rows->n; i++) {
        store->diagonal[i] = kernel_value(rows, store->index[i], rows, store->index[i]);
    }
    return 0;
}

int ml_store_create(struct ml_store *store, const struct problem *problem,
                    const struct ml_rows *rows, struct error *err) {
    size_t width = ((size_t)rows->q + VECTOR - 1) / VECTOR * VECTOR;
    *store = (struct ml_store){
        .problem = problem, .rows = rows, .width = width, .is_zero = true, .damping = 1};
    const struct arrays arrays[] = {
        ARRAYS(rows->n, double, &store->diagonal), ARRAYS(rows->n, uint32_t, &store->index),
        ARRAYS(width, double, &store->s, &store->change), ARRAYS(width, uint32_t, &store->changed)};
    store->block = arrays_create(arrays, sizeof arrays / sizeof arrays[0], "rows", err);
    int status = store->block ? 0 : -1;
    for (size_t i = 0; status == 0 && i < rows->n; i++) {
        store->index[i] = (uint32_t)ml_rows_index(rows, problem, i);
    }
    if (status == 0) {
        status = (problem->gram ? create_kernel : create_linear)(store, err);
    }
    if (status < 0) {
        ml_store_free(store);
    }
    return status;
}

void ml_store_free(struct ml_store *store) {
    free(store->block);
    free(store->W);
    free(store->S);
    free(store->chunk);
    *store = (struct ml_store){0};
}

void ml_store_scores(const struct ml_store *store, size_t i, double *s) {
    if (store->S) {
        memcpy(s, store->S + i * store->width, store->width * sizeof *s);
        return;
    }
    if (store->is_zero) {
        memset(s, 0, store->width * sizeof *s);
        return;
    }
    struct stored_row row = data_stored(store->problem->data, store->index[i]);
    row_scores(&row, store->W, store->width, s);
}

void ml_store_scale(struct ml_store *store, double factor) {
    size_t n = store->S ? store->rows->n : store->problem->data->n_features;
    double *all = store->S ? store->S : store->W;
    for (size_t k = 0; k < n * store->width; k++) {
        all[k] *= factor;
    }
}

/* ---- products with K ---- */

/* S += K[:, rows] D for a list of rows. */
struct product {
    struct ml_store *store;
    const uint32_t *rows; /* (n) of the Gram matrix */
    size_t n;
    const double *D;     /* (n, width) */
    struct error *error; /* (workers) */
};

static void product_task(void *argument, size_t task, size_t worker) {
    const struct product *product = argument;
    struct ml_store *store = product->store;
    size_t first = task * SLICE, n = smaller(SLICE, store->rows->n - first), width = store->width;
    double *K = store->slices + worker * ((size_t)CHUNK * SLICE);
    if (gram_block(store->problem->gram, product->rows, product->n, store->index + first, n, K,
                   &product->error[worker]) == 0) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)n, (int)width, (int)product->n, 1,
                    K, (int)n, product->D, (int)width, 1, store->S + first * width, (int)width);
    }
}

static int add_product(struct ml_store *store, const uint32_t *rows, size_t n, const double *D,
                       struct error *err) {
    struct threads *threads = store->problem->threads;
    size_t workers = threads_count(threads), tasks = (store->rows->n + SLICE - 1) / SLICE;
    bool serial = store->rows->n * n < SERIAL_WORK;
    struct product product = {store, rows, n, D,
                              memory_zeros(workers, sizeof *product.error, "errors", err)};
    if (!product.error) {
        return -1;
    }
    threads_run(serial ? NULL : threads, tasks, product_task, &product);
    int status = 0;
    for (size_t w = 0; w < workers; w++) {
        if (product.error[w].kind != ERROR_NONE) {
            *err = product.error[w];
            status = -1;
        }
    }
    free(product.error);
    return status;
}

/* ---- rebuilding ---- */

struct rebuild {
    struct ml_store *store;
    const double *beta;
};

/* W += x b', COLUMNS columns of each: b stays in registers, and these columns of W in the cache. */
DISPATCH static void add_columns(const struct stored_row *row, const double *restrict b, double *W,
                                 size_t width) {
    for (size_t k = 0; k < row->n; k++) {
        double *restrict w = W + (size_t)stored_column(*row, k) * width;
        double x = (double)row->value[k];
#pragma omp simd
        for (size_t c = 0; c < COLUMNS; c++) {
            w[c] += x * b[c];
        }
    }
}

/* A task takes some columns of W and all rows, so sums do not depend on the threads. */
static void rebuild_task(void *argument, size_t task, size_t worker) {
    const struct rebuild *rebuild = argument;
    struct ml_store *store = rebuild->store;
    size_t width = store->width, first = task * COLUMNS, end = smaller(first + COLUMNS, width);
    (void)worker;
    for (size_t i = 0; i < store->rows->n; i++) {
        const double *beta = rebuild->beta + i * width;
        bool zero = true;
        for (size_t c = first; c < end; c++) {
            zero = zero && beta[c] == 0;
        }
        if (zero) {
            continue;
        }
        struct stored_row row = data_stored(store->problem->data, store->index[i]);
        if (end - first == COLUMNS) {
            add_columns(&row, beta + first, store->W + first, width);
        } else {
            row_update(&row, beta, store->W, width, first, end);
        }
    }
}

void ml_store_rebuild(struct ml_store *store, const double *beta) {
    size_t width = store->width, n = store->problem->data->n_features * width;
    struct rebuild rebuild = {store, beta};
    store->is_zero = false;
    memset(store->W, 0, n * sizeof(double));
    threads_run(store->problem->threads, (width + COLUMNS - 1) / COLUMNS, rebuild_task, &rebuild);
    cluster_sum(store->rows->cluster, store->W, n);
}

/* ---- sweeps ---- */

double ml_store_work(const struct ml_store *store) {
    double width = (double)store->width, n = (double)store->rows->n, values = 0;
    if (store->S) {
        return work_blas2_float(n * n * width + n * CHUNK * width);
    }
    for (size_t i = 0; i < store->rows->n; i++) {
        struct stored_row row = data_stored(store->problem->data, store->index[i]);
        values += (double)row.n;
    }
    return work_blas2_float(4 * values * width);
}

void ml_store_order(const struct ml_store *store, uint32_t *order, size_t n,
                    struct random *random) {
    if (store->W) {
        random_shuffle(random, order, n);
        return;
    }
    /* whole groups are permuted; the last one, which may be short, stays */
    size_t groups = n / GROUP;
    for (size_t g = groups; g > 1; g--) {
        size_t other = (size_t)random_below(random, g);
        uint32_t *a = order + (g - 1) * GROUP, *b = order + other * GROUP, copy[GROUP];
        memcpy(copy, a, sizeof copy);
        memmove(a, b, sizeof copy);
        memcpy(b, copy, sizeof copy);
    }
}

static void sweep_linear(struct ml_store *store, const uint32_t *order, size_t n,
                         bool (*visit)(void *, size_t, const double *, double *), void *context) {
    size_t width = store->width;
    for (size_t at = 0; at < n; at++) {
        size_t i = order[at];
        struct stored_row row = data_stored(store->problem->data, store->index[i]);
        row_scores(&row, store->W, width, store->s);
        if (!visit(context, i, store->s, store->change)) {
            continue;
        }
        uint32_t *changed = store->changed;
        size_t n_changed = 0;
        for (uint32_t c = 0; c < store->rows->q; c++) {
            changed[n_changed] = c;
            n_changed += store->change[c] != 0;
        }
        for (size_t c = 0; store->damping != 1 && c < width; c++) {
            store->change[c] *= store->damping;
        }
        if (n_changed < width / 4) {
            row_update_few(&row, store->change, changed, n_changed, store->W, width);
        } else {
            row_update(&row, store->change, store->W, width, 0, width);
        }
    }
}

/* Visits order[0..n), n <= CHUNK. */
static int sweep_chunk(struct ml_store *store, const uint32_t *order, size_t n,
                       bool (*visit)(void *, size_t, const double *, double *), void *context,
                       struct random *random, struct error *err) {
    size_t width = store->width, n_changed = 0;
    uint32_t visit_order[CHUNK], *index = store->chunk_index;
    for (size_t k = 0; k < n; k++) {
        index[k] = store->index[order[k]];
        visit_order[k] = (uint32_t)k;
        memcpy(store->chunk_s + k * width, store->S + order[k] * width, width * sizeof(double));
    }
    if (gram_block(store->problem->gram, index, n, index, n, store->chunk_k, err) < 0) {
        return -1;
    }
    memset(store->chunk_d, 0, n * width * sizeof(double));
    random_shuffle(random, visit_order, n);
    bool moved[CHUNK] = {false};
    for (size_t t = 0; t < n; t++) {
        size_t k = visit_order[t];
        double *change = store->chunk_d + k * width;
        moved[k] = visit(context, order[k], store->chunk_s + k * width, change);
        for (size_t next = t + 1; moved[k] && next < n; next++) {
            size_t other = visit_order[next];
            array_add(store->chunk_s + other * width, store->chunk_k[k * n + other], change, width);
        }
    }
    for (size_t k = 0; k < n; k++) { /* moves those that changed to the front */
        if (moved[k]) {
            index[n_changed] = index[k];
            memmove(store->chunk_d + n_changed * width, store->chunk_d + k * width,
                    width * sizeof(double));
            n_changed++;
        }
    }
    return n_changed > 0 ? add_product(store, index, n_changed, store->chunk_d, err) : 0;
}

int ml_store_sweep(struct ml_store *store, const uint32_t *order, size_t n,
                   bool (*visit)(void *context, size_t i, const double *s, double *change),
                   void *context, struct random *random, struct error *err) {
    store->is_zero = false;
    if (store->W) {
        sweep_linear(store, order, n, visit, context);
        return 0;
    }
    for (size_t first = 0; first < n; first += CHUNK) {
        if (sweep_chunk(store, order + first, smaller(CHUNK, n - first), visit, context, random,
                        err) < 0) {
            return -1;
        }
    }
    return 0;
}
