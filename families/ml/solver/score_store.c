/* Scores under changes of single blocks (score_store.h): one BLAS product per chunk of kernel
 * rows. */
#include "families/ml/solver/score_store.h"

#include "common/base/ahead.h"
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
    TOGETHER = 4,          /* rows of W read or changed at once */
    CHUNK = 128,           /* rows whose steps are applied at once */
    SLICE = 512,           /* rows of S updated at once, so that K's part stays in cache */
    COLUMNS = 32,          /* columns of W per task of a rebuild */
    SERIAL_WORK = 1 << 18, /* entries of K of a product; below, threads cost more than they gain */
    /* columns of W from which a second thread works on it; with fewer, products of rows and waiting
     * cost more */
    MIN_AHEAD_WIDTH = 256
};

/* ---- linear rows ---- */

#define REAL float
#define NAME(x) float_##x
#include "families/ml/solver/score_store_real.h"
#undef REAL
#undef NAME

#define REAL double
#define NAME(x) double_##x
#include "families/ml/solver/score_store_real.h"
#undef REAL
#undef NAME

/* x'y */
static double row_product(const struct stored_row *x, const struct stored_row *y) {
    double sum = 0;
    if (!x->column) {
        for (size_t k = 0; k < x->n; k++) {
            sum += (double)x->value[k] * (double)y->value[k];
        }
        return sum;
    }
    for (size_t i = 0, j = 0; i < x->n && j < y->n;) { /* without branches */
        uint32_t a = x->column[i], b = y->column[j];
        sum += a == b ? (double)x->value[i] * (double)y->value[j] : 0;
        i += a <= b;
        j += b <= a;
    }
    return sum;
}

/* ---- creation ---- */

static int create_kernel(struct ml_store *store, struct error *err) {
    const struct problem *problem = store->problem;
    size_t width = store->width, workers = threads_count(problem->threads);
    store->S =
        threads_zeros(problem->threads, store->rows->n, width * sizeof(double), "scores", err);
    store->chunk = ARRAYS_CREATE("a chunk of rows", err,
                                 ARRAYS(CHUNK * width, double, &store->chunk_s, &store->chunk_d),
                                 ARRAYS((size_t)CHUNK * CHUNK, double, &store->chunk_k),
                                 ARRAYS(workers * CHUNK * SLICE, double, &store->slices),
                                 ARRAYS(CHUNK, uint32_t, &store->chunk_index));
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
    store->block = ARRAYS_CREATE(
        "rows", err, ARRAYS(rows->n, double, &store->diagonal),
        ARRAYS(rows->n, uint32_t, &store->index),
        ARRAYS(width, double, &store->visited[0].s, &store->visited[1].s, &store->visited[0].change,
               &store->visited[1].change),
        ARRAYS(width, uint32_t, &store->visited[0].changed, &store->visited[1].changed));
    int status = store->block ? 0 : -1;
    for (size_t i = 0; status == 0 && i < rows->n; i++) {
        store->index[i] = (uint32_t)ml_rows_index(rows, problem, i);
    }
    for (size_t i = 0; status == 0 && !problem->gram && i < rows->n; i++) {
        struct stored_row row = data_stored(problem->data, store->index[i]);
        store->diagonal[i] = row_product(&row, &row);
    }
    if (status == 0 && problem->gram) {
        status = create_kernel(store, err);
    }
    if (status < 0) {
        ml_store_free(store);
    }
    return status;
}

void ml_store_free(struct ml_store *store) {
    free(store->block);
    free(store->W);
    free(store->W_single);
    free(store->S);
    free(store->chunk);
    *store = (struct ml_store){0};
}

static void linear_row_scores(const struct ml_store *store, const struct stored_row *row,
                              double *s) {
    if (store->W) {
        double_row_scores(row, store->W, store->width, s);
    } else {
        float_row_scores(row, store->W_single, store->width, s);
    }
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
    linear_row_scores(store, &row, s);
}

void ml_store_scale(struct ml_store *store, double factor) {
    size_t n = (store->S ? store->rows->n : store->problem->data->n_features) * store->width;
    double *all = store->S ? store->S : store->W;
    for (size_t k = 0; all && k < n; k++) {
        all[k] *= factor;
    }
    for (size_t k = 0; store->W_single && k < n; k++) {
        store->W_single[k] = (float)(factor * (double)store->W_single[k]);
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

/* ---- weights ---- */

/* out (n_features, stride) += X'beta, columns 0..width of both. */
struct adjoint {
    const struct ml_store *store;
    const double *beta;
    double *out;
    size_t width, stride;
};

/* out += x b', n columns of each. */
static inline __attribute__((always_inline)) void add_columns(const struct stored_row *row,
                                                              const double *restrict b, size_t n,
                                                              double *out, size_t stride) {
    for (size_t k = 0; k < row->n; k++) {
        double *restrict w = out + (size_t)stored_column(*row, k) * stride;
        double x = (double)row->value[k];
#pragma omp simd
        for (size_t c = 0; c < n; c++) {
            w[c] += x * b[c];
        }
    }
}

/* A task takes some columns and all rows, so sums do not depend on the threads. COLUMNS of beta
 * stay in registers, and these columns of out in the cache. */
DISPATCH static void adjoint_task(void *argument, size_t task, size_t worker) {
    const struct adjoint *adjoint = argument;
    const struct ml_store *store = adjoint->store;
    size_t first = task * COLUMNS, n = smaller(COLUMNS, adjoint->width - first);
    (void)worker;
    for (size_t i = 0; i < store->rows->n; i++) {
        const double *beta = adjoint->beta + i * store->width + first;
        bool zero = true;
        for (size_t c = 0; c < n; c++) {
            zero = zero && beta[c] == 0;
        }
        if (!zero) {
            struct stored_row row = data_stored(store->problem->data, store->index[i]);
            if (n == COLUMNS) {
                add_columns(&row, beta, COLUMNS, adjoint->out + first, adjoint->stride);
            } else {
                add_columns(&row, beta, n, adjoint->out + first, adjoint->stride);
            }
        }
    }
}

void ml_store_adjoint(const struct ml_store *store, const double *beta, size_t stride,
                      double *out) {
    size_t width = smaller(stride, store->width), n = store->problem->data->n_features * stride;
    struct adjoint adjoint = {store, beta, out, width, stride};
    memset(out, 0, n * sizeof *out);
    threads_run(store->problem->threads, (width + COLUMNS - 1) / COLUMNS, adjoint_task, &adjoint);
    cluster_sum(store->rows->cluster, out, n);
}

int ml_store_start(struct ml_store *store, const double *beta, bool single, struct error *err) {
    struct threads *threads = store->problem->threads;
    size_t n = store->problem->data->n_features * store->width;
    bool was_zero = store->is_zero;
    store->is_zero = !beta;
    if (store->S) {
        if (!beta && !was_zero) {
            memset(store->S, 0, store->rows->n * store->width * sizeof(double));
        }
        return 0;
    }
    if (!beta) {
        free(store->W);
        free(store->W_single);
        store->W = single ? NULL : threads_zeros(threads, n, sizeof(double), "weights", err);
        store->W_single = single ? threads_zeros(threads, n, sizeof(float), "weights", err) : NULL;
        return store->W || store->W_single ? 0 : -1;
    }
    store->W = store->W ? store->W : threads_zeros(threads, n, sizeof(double), "weights", err);
    if (!store->W) {
        return -1;
    }
    ml_store_adjoint(store, beta, store->width, store->W);
    if (!single) {
        free(store->W_single);
        store->W_single = NULL;
        return 0;
    }
    float *rounded =
        store->W_single ? store->W_single : memory_array(n, sizeof *rounded, "weights", err);
    for (size_t k = 0; rounded && k < n; k++) {
        rounded[k] = (float)store->W[k];
    }
    store->W_single = rounded;
    free(store->W);
    store->W = NULL;
    return rounded ? 0 : -1;
}

/* ---- sweeps ---- */

/* A sweep over rows order[0..n) of a linear problem. */
struct linear_sweep {
    struct ml_store *store;
    const uint32_t *order;
    size_t n, at; /* place of the row that is visited */
    bool (*visit)(void *, size_t, const double *, double *);
    void *context;
};

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
    if (!store->S) {
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

/* Adds the change of the row, if there is one, to W. */
static void update_weights(struct ml_store *store, const struct ml_visited *visited) {
    const struct stored_row *row = &visited->row;
    size_t n = visited->n_changed;
    bool few = n < store->width / 4;
    if (n == 0) {
        return;
    }
    if (store->W && few) {
        double_row_update_few(row, visited->change, visited->changed, n, store->W, store->width);
    } else if (store->W) {
        double_row_update(row, visited->change, store->W, store->width);
    } else if (few) {
        float_row_update_few(row, visited->change, visited->changed, n, store->W_single,
                             store->width);
    } else {
        float_row_update(row, visited->change, store->W_single, store->width);
    }
}

/* Computes the scores of the row at a place of the order. */
static void take_row(const struct linear_sweep *sweep, struct ml_visited *visited, size_t at) {
    const struct ml_store *store = sweep->store;
    visited->row = data_stored(store->problem->data, store->index[sweep->order[at]]);
    visited->n_changed = 0;
    linear_row_scores(store, &visited->row, visited->s);
}

/* Calls visit, and lists the labels that change. */
static void visit_row(const struct linear_sweep *sweep, struct ml_visited *visited, size_t at) {
    const struct ml_store *store = sweep->store;
    visited->n_changed = 0;
    if (!sweep->visit(sweep->context, sweep->order[at], visited->s, visited->change)) {
        return;
    }
    for (uint32_t c = 0; c < store->rows->q; c++) {
        visited->changed[visited->n_changed] = c;
        visited->n_changed += visited->change[c] != 0;
    }
    for (size_t c = 0; store->damping != 1 && c < store->width; c++) {
        visited->change[c] *= store->damping;
    }
}

/* Job: the change of the row before the one that is visited, and the scores of the row after it. */
static void prepare_next(void *argument) {
    const struct linear_sweep *sweep = argument;
    struct ml_visited *other = &sweep->store->visited[(sweep->at + 1) % 2];
    update_weights(sweep->store, other);
    if (sweep->at + 1 < sweep->n) {
        take_row(sweep, other, sweep->at + 1);
    }
}

/* Adds the change of a row to the scores of the next one. */
static void correct_scores(struct ml_visited *next, const struct ml_visited *visited) {
    double product = row_product(&next->row, &visited->row);
    for (size_t e = 0; product != 0 && e < visited->n_changed; e++) {
        next->s[visited->changed[e]] += product * visited->change[visited->changed[e]];
    }
}

/* While a row is visited, another thread works on W. It computes the scores of the next row without
 * the change of the row that is visited, which is added when it is known. */
static void sweep_ahead(void *argument, struct ahead *ahead) {
    struct linear_sweep *sweep = argument;
    struct ml_visited *visited = sweep->store->visited;
    take_row(sweep, &visited[0], 0);
    visited[1].n_changed = 0;
    for (sweep->at = 0; sweep->at < sweep->n; sweep->at++) {
        struct ml_visited *current = &visited[sweep->at % 2];
        ahead_post(ahead);
        visit_row(sweep, current, sweep->at);
        ahead_wait(ahead);
        if (sweep->at + 1 < sweep->n) {
            correct_scores(&visited[(sweep->at + 1) % 2], current);
        }
    }
    update_weights(sweep->store, &visited[(sweep->n - 1) % 2]);
}

static void sweep_linear(struct linear_sweep *sweep) {
    struct ml_store *store = sweep->store;
    if (store->width >= MIN_AHEAD_WIDTH && sweep->n > 0) {
        ahead_run(store->problem->threads, sweep_ahead, prepare_next, sweep);
        return;
    }
    for (size_t at = 0; at < sweep->n; at++) {
        take_row(sweep, &store->visited[0], at);
        visit_row(sweep, &store->visited[0], at);
        update_weights(store, &store->visited[0]);
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
    if (!store->S) {
        struct linear_sweep sweep = {store, order, n, 0, visit, context};
        sweep_linear(&sweep);
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
