#include "solvers/ml/fw.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "solvers/methods/conditional.h"
#include "solvers/methods/score_map.h"
#include "solvers/ml/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_ROWS = 256 };

struct context {
    struct ml_store *store;
    double constant;
    double *total;               /* (width) */
    struct ml_scratch **scratch; /* (workers) */
    double *loss, *offset;       /* (tasks) */
    double *beta;                /* (rows, width) the dual point */

    const double *s; /* of the call at hand */
    double *g, *out;
};

static size_t count_tasks(const struct ml_store *store) {
    return (store->rows->n + TASK_ROWS - 1) / TASK_ROWS;
}

/* ---- the map: all labels side by side ---- */

static void scores_task(void *argument, size_t task, size_t worker) {
    const struct context *context = argument;
    const struct ml_store *store = context->store;
    size_t width = store->width;
    (void)worker;
    for (size_t i = task * TASK_ROWS; i < (task + 1) * TASK_ROWS && i < store->rows->n; i++) {
        double *s = context->out + i * width;
        ml_store_scores(store, i, s);
        array_add(s, 1, context->total, width);
    }
}

static int scores(const struct score_map *map, const double *weights, double *s,
                  struct error *err) {
    struct context *context = map->context;
    struct ml_store *store = context->store;
    size_t width = store->width, n = store->rows->n;
    memset(context->total, 0, width * sizeof(double));
    if (map->primal) {
        size_t d = map->dimension - width;
        memcpy(store->W, weights, d * sizeof(double));
        array_add(context->total, sqrt(context->constant), weights + d, width);
    } else {
        if (ml_store_rebuild(store, weights, err) < 0) {
            return -1;
        }
        for (size_t i = 0; i < n; i++) {
            array_add(context->total, context->constant, weights + i * width, width);
        }
    }
    context->out = s;
    threads_run(map->threads, count_tasks(store), scores_task, context);
    return 0;
}

static int adjoint(const struct score_map *map, const double *r, double *weights,
                   struct error *err) {
    struct context *context = map->context;
    struct ml_store *store = context->store;
    size_t width = store->width, n = store->rows->n;
    if (!map->primal) {
        memcpy(weights, r, map->dimension * sizeof *weights);
        return 0;
    }
    if (ml_store_rebuild(store, r, err) < 0) {
        return -1;
    }
    size_t d = map->dimension - width;
    memcpy(weights, store->W, d * sizeof *weights);
    memset(weights + d, 0, width * sizeof *weights);
    for (size_t i = 0; i < n; i++) {
        array_add(weights + d, sqrt(context->constant), r + i * width, width);
    }
    cluster_sum(map->cluster, weights + d, width);
    return 0;
}

/* ---- the risk ---- */

static void cut_task(void *argument, size_t task, size_t worker) {
    struct context *context = argument;
    const struct ml_store *store = context->store;
    size_t width = store->width;
    context->loss[task] = context->offset[task] = 0;
    for (size_t i = task * TASK_ROWS; i < (task + 1) * TASK_ROWS && i < store->rows->n; i++) {
        struct ml_block block = ml_rows_block(store->rows, i, ML_HINGE, 1);
        double conjugate, *g = context->g + i * width;
        memset(g, 0, width * sizeof *g);
        context->loss[task] += ml_block_vertex(&block, context->s + i * width, g, &conjugate,
                                               context->scratch[worker]);
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            context->offset[task] += g[block.relevant[p]];
        }
        for (size_t k = 0; k < width; k++) {
            g[k] = -g[k];
        }
    }
}

static double cut(void *opened, const double *s, double *g, double *offset) {
    struct context *context = opened;
    size_t tasks = count_tasks(context->store);
    context->s = s;
    context->g = g;
    threads_run(context->store->problem->threads, tasks, cut_task, context);
    double loss = 0;
    *offset = 0;
    for (size_t task = 0; task < tasks; task++) {
        loss += context->loss[task];
        *offset += context->offset[task];
    }
    double sums[] = {loss, *offset};
    cluster_sum(context->store->rows->cluster, sums, 2);
    *offset = sums[1];
    return sums[0];
}

static void join(void *opened, const double *s, const double *plane, double step) {
    struct context *context = opened;
    (void)s;
    size_t n = context->store->rows->n * context->store->width;
    for (size_t k = 0; k < n; k++) {
        context->beta[k] += step * (plane[k] - context->beta[k]);
    }
}

/* ---- the fit ---- */

static int create(struct context *context, struct error *err) {
    const struct ml_store *store = context->store;
    size_t workers = threads_count(store->problem->threads), tasks = count_tasks(store);
    context->total = memory_array(store->width, sizeof(double), "scores", err);
    context->scratch = memory_zeros(workers, sizeof *context->scratch, "work of rows", err);
    context->loss = memory_array(tasks, sizeof(double), "losses", err);
    context->offset = memory_array(tasks, sizeof(double), "losses", err);
    if (!context->total || !context->scratch || !context->loss || !context->offset) {
        return -1;
    }
    for (size_t w = 0; w < workers; w++) {
        if (ml_scratch_create(&context->scratch[w], store->rows->q, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static void release(struct context *context) {
    size_t workers = threads_count(context->store->problem->threads);
    for (size_t w = 0; context->scratch && w < workers; w++) {
        ml_scratch_free(context->scratch[w]);
    }
    free(context->scratch);
    free(context->total);
    free(context->loss);
    free(context->offset);
}

int ml_fw_solve(struct ml_store *store, double constant, double cost, double epsilon,
                const struct monitor *monitor, double *beta, uint64_t *iterations,
                enum stop_reason *reason, struct error *err) {
    struct context context = {.store = store, .constant = constant, .beta = beta};
    bool primal = store->W != NULL;
    size_t rows = primal ? store->problem->data->n_features + (size_t)1 : store->rows->n;
    struct score_map map = {.n = store->rows->n * store->width,
                            .dimension = rows * store->width,
                            .primal = primal,
                            .context = &context,
                            .cluster = store->rows->cluster,
                            .threads = store->problem->threads,
                            .scores = scores,
                            .adjoint = adjoint};
    struct risk risk = {.n = map.n, .context = &context, .cut = cut};
    struct conditional how = {.cost = cost, .epsilon = epsilon, .context = &context, .join = join};
    memset(beta, 0, map.n * sizeof *beta);
    struct fit fit = {0};
    int status = create(&context, err);
    if (status == 0) {
        status = conditional_solve(&map, &risk, &how, monitor, &fit, err);
    }
    *iterations = fit.iterations;
    *reason = fit.reason;
    fit_free(&fit);
    release(&context);
    return status;
}
