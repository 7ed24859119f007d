/* The steps of Newton's method along the smoothing path: scores, Hessian, dual points. */
#include "families/mc/solver/newton.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/linear.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/hessian.h"
#include "families/mc/solver/smoothed_loss.h"
#include "fit/stop.h"
#include "fit/work.h"
#include "methods/smoothing_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Accuracy of the line search, relative to the target of primal - dual: a small gain of the primal
 * can be a large one of the dual. */
static const double LINE_TARGET = 1e-6;

static const double MAX_SCORES = 1 << 26; /* of which there are four arrays: 2 GB */

/* Newton steps of a typical solve, and the fraction of the rows with curvature. */
static const double TYPICAL_STEPS = 10, CURVED_PART = 0.3;

size_t mc_newton_cheap_features(const struct mc_task *task) {
    const double squared_weights_per_row = 60;
    double k = mc_is_separable(&task->shape) ? 1 : (double)task->shape.k;
    double max = sqrt(squared_weights_per_row * (double)task->n_all) / k;
    return smaller(mc_hessian_max_features(&task->shape), (size_t)max);
}

double mc_newton_work(const struct mc_task *task) {
    const struct data *data = task->problem->data;
    double values = cluster_total(task->problem->cluster, (double)data_values(data));
    double n = (double)task->n_all, k = (double)task->shape.k;
    if (data->n_features >= mc_hessian_max_features(&task->shape) || n * k > MAX_SCORES) {
        return INFINITY;
    }
    double d = (double)data->n_features + 1, pairs = mc_is_separable(&task->shape) ? k : k * k;
    return TYPICAL_STEPS *
           (work_blas3(CURVED_PART * n * d * d * pairs / 2) +
            mc_hessian_factor_work(&task->shape, d) + work_blas2(k * (4 * values + 10 * n)));
}

struct newton {
    const struct mc_task *task;
    struct mc_smooth smooth;
    struct score_map map; /* from W (d, k) to scores (n, k) */
    struct huber_path path;
    size_t n, k, d, size;       /* rows, classes, features with the constant one, d k */
    double *best_dual_w;        /* (d, k) W(alpha) of the best dual point */
    struct mc_alpha best_alpha; /* alpha of the best dual point */
    int alpha_status;           /* -1: memory was short for best_alpha, */
    struct error error;         /* with this error */
    struct mc_hessian hessian;
    double *x;      /* (d) a row */
    double *theta;  /* (k) curvatures of a row's terms */
    double *right;  /* (size) */
    uint32_t *term; /* (k) */
    void *block;    /* all arrays */
};

/* s (n, k) = X W. */
static int find_scores(const struct score_map *map, const double *w, double *s, struct error *err) {
    const struct newton *newton = map->context;
    const struct problem *problem = newton->task->problem;
    size_t k = newton->k;
    double bias = newton->task->bias;
    const double *last = w + (newton->d - 1) * k;
    linear_scores(problem->data, w, newton->d - 1, k, s, problem->threads);
    for (size_t j = 0; bias > 0 && j < newton->n * k; j++) {
        s[j] += bias * last[j % k];
    }
    (void)err;
    return 0;
}

/* W = X'r, r (n, k). */
static int find_adjoint(const struct score_map *map, const double *r, double *w,
                        struct error *err) {
    const struct newton *newton = map->context;
    const struct problem *problem = newton->task->problem;
    const struct data *data = problem->data;
    size_t k = newton->k, d = newton->d - 1;
    memset(w, 0, newton->size * sizeof *w);
    for (size_t i = 0; i < newton->n; i++) {
        const double *row = r + i * k;
        struct stored_row x = data_stored(data, i);
        if (array_largest(row, k) == 0) {
            continue;
        }
        for (size_t t = 0; t < x.n; t++) {
            array_add(w + stored_column(x, t) * k, (double)x.value[t], row, k);
        }
        array_add(w + d * k, newton->task->bias, row, k);
    }
    cluster_sum(problem->cluster, w, newton->size);
    (void)err;
    return 0;
}

/* step = -(I + C/mu S)^-1 gradient; S is of the terms in the smoothed region of a smoothing of
 * `region`. */
static int newton_step(void *context, double region, bool *found, struct error *err) {
    struct newton *newton = context;
    const struct huber_path *path = &newton->path;
    const struct mc_task *task = newton->task;
    size_t k = newton->k, d = newton->d;
    mc_hessian_begin(&newton->hessian, d);
    for (size_t i = 0; i < newton->n; i++) {
        bool capped;
        size_t n = mc_smooth_region(&newton->smooth, region, task->y[i], path->s + i * k,
                                    newton->term, &capped);
        if (n == 0 || (capped && n == 1)) { /* a maximum of one term is linear */
            continue;
        }
        for (size_t p = 0; p < n; p++) {
            newton->theta[p] = path->cost * task->row_weight[i] / newton->smooth.mu;
        }
        data_row_dense(task->problem->data, i, d - 1, newton->x);
        newton->x[d - 1] = task->bias;
        mc_hessian_add(&newton->hessian, newton->x, task->y[i], newton->term, n, newton->theta,
                       capped, 0);
    }
    mc_hessian_end(&newton->hessian);
    for (size_t c = 0; c < k; c++) {
        for (size_t f = 0; f < d; f++) {
            newton->right[c * d + f] = -path->gradient[f * k + c];
        }
    }
    *found = mc_hessian_factor(&newton->hessian, false) == 0;
    if (!*found) {
        return 0;
    }
    mc_hessian_solve(&newton->hessian, newton->right);
    for (size_t c = 0; c < k; c++) {
        for (size_t f = 0; f < d; f++) {
            path->step[f * k + c] = newton->right[c * d + f];
        }
    }
    return find_scores(&newton->map, path->step, path->step_s, err);
}

static int dual_bound(void *context, double squared_norm, double *dual, struct error *err) {
    const struct huber_path *path = &((struct newton *)context)->path;
    double linear = path->cost * path->offset; /* sum of alpha */
    *dual = linear - squared_norm / 2;
    (void)err;
    return 0;
}

static void store_dual(void *context) {
    struct newton *newton = context;
    const struct huber_path *path = &newton->path;
    memcpy(newton->best_dual_w, path->dual_weights, newton->size * sizeof *path->dual_weights);
    if (newton->alpha_status == 0) {
        newton->alpha_status = mc_smooth_alpha(&newton->smooth, path->cost, path->s,
                                               &newton->best_alpha, &newton->error);
    }
}

static void model_gradient(void *context, double region) {
    struct newton *newton = context;
    mc_smooth_follow(&newton->smooth, region, newton->path.s, newton->path.g);
}

static const struct huber_steps STEPS = {.dual_bound = dual_bound,
                                         .store_dual = store_dual,
                                         .model_gradient = model_gradient,
                                         .step = newton_step};

static int allocate(struct newton *newton, struct mc_fit *fit, struct error *err) {
    size_t size = newton->size;
    struct huber_path *path = &newton->path;
    newton->block = ARRAYS_CREATE(
        "weights", err,
        ARRAYS(size, double, &path->w, &path->gradient, &path->step, &path->dual_weights,
               &newton->best_dual_w, &newton->right),
        ARRAYS(newton->map.n, double, &path->s, &path->g, &path->step_s, &path->trial),
        ARRAYS(newton->d, double, &newton->x), ARRAYS(newton->k, double, &newton->theta),
        ARRAYS(newton->k, uint32_t, &newton->term));
    path->best_w = fit->weights = memory_array(size, sizeof(double), "weights", err);
    fit->bias =
        newton->task->bias > 0 ? memory_array(newton->k, sizeof(double), "bias", err) : NULL;
    bool all = newton->block && fit->weights && (newton->task->bias <= 0 || fit->bias);
    return all && mc_hessian_create(&newton->hessian, newton->task, newton->d, err) == 0 &&
                   mc_smooth_create(&newton->smooth, newton->task, err) == 0
               ? 0
               : -1;
}

static void release(struct newton *newton) {
    free(newton->block);
    mc_alpha_free(&newton->best_alpha);
    mc_hessian_free(&newton->hessian);
    mc_smooth_free(&newton->smooth);
}

/* Certifies the best primal and the best dual point. */
static int certify(const struct newton *newton, struct mc_fit *fit, struct error *err) {
    const struct mc_task *task = newton->task;
    double *bias = memory_zeros(newton->k, sizeof *bias, "bias", err);
    if (!bias) {
        return -1;
    }
    for (size_t c = 0; c < newton->k; c++) {
        bias[c] = task->bias * newton->best_dual_w[(newton->d - 1) * newton->k + c];
    }
    const struct mc_dual dual = {
        .weights = newton->best_dual_w, .bias = bias, .alpha = &newton->best_alpha};
    int status = mc_certify(task, newton->path.cost, &dual, fit, err);
    free(bias);
    return status;
}

int mc_newton_solve(const struct mc_task *task, const struct mc_goal *goal, const double *start,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    size_t k = task->shape.k, d = (size_t)task->problem->data->n_features + 1;
    struct newton newton = {.task = task, .n = task->n, .k = k, .d = d, .size = d * k};
    newton.map = (struct score_map){.n = task->n * k,
                                    .dimension = d * k,
                                    .primal = true,
                                    .context = &newton,
                                    .cluster = task->problem->cluster,
                                    .scores = find_scores,
                                    .adjoint = find_adjoint};
    newton.path = (struct huber_path){.steps = &STEPS,
                                      .context = &newton,
                                      .monitor = monitor,
                                      .map = &newton.map,
                                      .mu = &newton.smooth.mu,
                                      .loss = &newton.smooth.loss,
                                      .cost = goal->cost,
                                      .epsilon = goal->epsilon,
                                      .piecewise_linear = true,
                                      .line_target = LINE_TARGET,
                                      .primal = INFINITY,
                                      .dual = 0}; /* of alpha = 0 */
    *fit = (struct mc_fit){0};
    int status =
        allocate(&newton, fit, err) < 0 || mc_alpha_create(&newton.best_alpha, task->n, k, err) < 0
            ? -1
            : 0;
    if (status == 0) {
        newton.path.risk = mc_smooth_risk(&newton.smooth);
        if (start) {
            memcpy(newton.path.w, start, newton.size * sizeof *start);
        }
        find_scores(&newton.map, newton.path.w, newton.path.s, err);
        status = huber_path_run(&newton.path, err);
        fit->iterations = newton.path.iterations;
        fit->reason = newton.path.reason;
    }
    if (newton.alpha_status < 0) {
        *err = newton.error;
        status = -1;
    }
    for (size_t c = 0; status == 0 && fit->bias && c < k; c++) {
        fit->bias[c] = task->bias * fit->weights[(d - 1) * k + c];
    }
    status = status < 0 ? -1 : certify(&newton, fit, err);
    release(&newton);
    if (status < 0) {
        mc_fit_free(fit);
    }
    return status;
}
