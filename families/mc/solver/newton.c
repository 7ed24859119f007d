/* The steps of Newton's method along the smoothing path: Hessian, line search, bounds. */
#include "families/mc/solver/newton.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/kernel/linear.h"
#include "common/linear_algebra/cholesky.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/hessian.h"
#include "families/mc/solver/smoothed_loss.h"
#include "fit/stop.h"
#include "fit/work.h"
#include "methods/line_search.h"
#include "methods/smoothing_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MIN_MU = 1e-9; /* where rounding of margins / mu ends the path */
/* Accuracy of the line search, relative to the predicted decrease of the step, and to the target of
 * primal - dual: a small gain of the primal can be a large one of the dual. */
static const double LINE_ACCURACY = 1e-3, LINE_TARGET = 1e-4;

/* Newton steps of a typical solve, and the fraction of the rows with curvature. */
static const double TYPICAL_STEPS = 10, CURVED_PART = 0.3;

double mc_newton_work(const struct mc_task *task) {
    const struct data *data = task->problem->data;
    double values = cluster_total(task->problem->cluster, (double)data_values(data));
    double n = (double)task->n_all, k = (double)task->shape.k;
    double size = k * ((double)data->n_features + 1);
    return TYPICAL_STEPS * (work_blas3(CURVED_PART * n * size * size / 2) + work_cholesky(size) +
                            work_blas2(k * (4 * values + 10 * n)));
}

struct newton {
    const struct mc_task *task;
    struct mc_smooth smooth;
    struct risk risk;
    struct mc_fit *fit; /* the best primal point */
    double cost;
    size_t n, k, d, size;               /* rows, classes, features with the constant one, d k */
    double *w, *gradient, *step, *dual; /* (d, k) */
    double *best_dual_w;                /* (d, k) W(alpha) of the best dual point */
    struct mc_alpha best_alpha;         /* alpha of the best dual point */
    int alpha_status;                   /* -1: memory was short for best_alpha, */
    struct error error;                 /* with this error */
    double *s, *g, *q, *trial;          /* (n, k) */
    struct mc_hessian hessian;
    double *x;                  /* (d) a row */
    double *theta;              /* (k) curvatures of a row's terms */
    double *right;              /* (size) */
    uint32_t *term;             /* (k) */
    double squared_norm, value; /* |w|^2, smooth risk */
    void *block;                /* all arrays */
};

/* s (n, k) = X W. */
static void find_scores(const struct newton *newton, const double *w, double *s) {
    const struct problem *problem = newton->task->problem;
    size_t k = newton->k;
    double bias = newton->task->bias;
    const double *last = w + (newton->d - 1) * k;
    linear_scores(problem->data, w, newton->d - 1, k, s, problem->threads);
    for (size_t j = 0; bias > 0 && j < newton->n * k; j++) {
        s[j] += bias * last[j % k];
    }
}

/* W = X'r, r (n, k). */
static void find_adjoint(const struct newton *newton, const double *r, double *w) {
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
}

/* step = -(I + C/mu S)^-1 gradient; S is of the terms in the smoothed region of a smoothing of
 * `region`. */
static int newton_step(void *context, const struct huber_path *path, double region, bool *found,
                       struct error *err) {
    (void)path;
    (void)err;
    struct newton *newton = context;
    const struct mc_task *task = newton->task;
    size_t k = newton->k, d = newton->d, size = newton->size;
    mc_hessian_begin(&newton->hessian, d);
    for (size_t i = 0; i < newton->n; i++) {
        bool capped;
        size_t n = mc_smooth_region(&newton->smooth, region, task->y[i], newton->s + i * k,
                                    newton->term, &capped);
        if (n == 0 || (capped && n == 1)) { /* a maximum of one term is linear */
            continue;
        }
        for (size_t p = 0; p < n; p++) {
            newton->theta[p] = newton->cost * task->row_weight[i] / newton->smooth.mu;
        }
        data_row_dense(task->problem->data, i, d - 1, newton->x);
        newton->x[d - 1] = task->bias;
        mc_hessian_add(&newton->hessian, newton->x, task->y[i], newton->term, n, newton->theta,
                       capped, 0);
    }
    mc_hessian_end(&newton->hessian);
    for (size_t c = 0; c < k; c++) {
        for (size_t f = 0; f < d; f++) {
            newton->right[c * d + f] = -newton->gradient[f * k + c];
        }
    }
    *found = cholesky_factor(newton->hessian.H, size) == 0;
    if (!*found) {
        return 0;
    }
    cholesky_solve(newton->hessian.H, size, newton->right);
    for (size_t c = 0; c < k; c++) {
        for (size_t f = 0; f < d; f++) {
            newton->step[f * k + c] = newton->right[c * d + f];
        }
    }
    return 0;
}

/* Evaluates the smoothed risk with its gradient, and the bounds of the original problem. */
static int evaluate(void *context, const struct huber_path *path, struct huber_point *at,
                    struct error *err) {
    struct newton *newton = context;
    double offset;
    newton->smooth.mu = path->mu;
    newton->value = newton->risk.cut(&newton->smooth, newton->s, newton->g, &offset);
    find_adjoint(newton, newton->g, newton->dual);
    for (size_t j = 0; j < newton->size; j++) {
        newton->dual[j] *= -newton->cost;
        newton->gradient[j] = newton->w[j] - newton->dual[j];
    }
    newton->squared_norm = array_dot(newton->w, newton->w, newton->size);
    at->residual = array_dot(newton->gradient, newton->gradient, newton->size) / 2;
    at->primal = newton->squared_norm / 2 + newton->cost * newton->smooth.loss;
    double linear = newton->cost * offset; /* sum of alpha */
    at->dual = linear - array_dot(newton->dual, newton->dual, newton->size) / 2;
    return isfinite(at->primal) ? 0 : stop_overflow(err);
}

static int search(void *context, const struct huber_path *path, struct error *err) {
    struct newton *newton = context;
    size_t size = newton->size, m = newton->n * newton->k;
    const struct problem *problem = newton->task->problem;
    find_scores(newton, newton->step, newton->q);
    struct linesearch line = {
        .risk = &newton->risk,
        .cluster = problem->cluster,
        .cost = newton->cost,
        .s = newton->s,
        .d = newton->q,
        .squared_norm = newton->squared_norm,
        .mixed = array_dot(newton->w, newton->step, size),
        .curvature = array_dot(newton->step, newton->step, size),
        .value = newton->value,
        .slope = cluster_total(problem->cluster, array_dot(newton->g, newton->q, m)),
        .trial = newton->trial,
        .g = newton->g};
    double predicted = -array_dot(newton->gradient, newton->step, size) / 2;
    double target = path->epsilon * path->primal;
    struct linesearch_result found =
        linesearch_minimise(&line, fmin(LINE_ACCURACY * predicted, LINE_TARGET * target));
    array_add(newton->w, found.theta, newton->step, size);
    (void)err;
    find_scores(newton, newton->w, newton->s);
    return 0;
}

static void store_primal(void *context) {
    const struct newton *newton = context;
    memcpy(newton->fit->weights, newton->w, newton->size * sizeof *newton->w);
}

static void store_dual(void *context) {
    struct newton *newton = context;
    memcpy(newton->best_dual_w, newton->dual, newton->size * sizeof *newton->dual);
    if (newton->alpha_status == 0) {
        newton->alpha_status = mc_smooth_alpha(&newton->smooth, newton->cost, newton->s,
                                               &newton->best_alpha, &newton->error);
    }
}

static int lower_mu(void *context, double region, double mu, struct error *err) {
    struct newton *newton = context;
    double offset;
    newton->smooth.mu = mu;
    mc_smooth_follow(&newton->smooth, region, newton->s, newton->g);
    (void)err;
    find_adjoint(newton, newton->g, newton->gradient);
    for (size_t j = 0; j < newton->size; j++) {
        newton->gradient[j] = newton->w[j] + newton->cost * newton->gradient[j];
    }
    newton->value = newton->risk.cut(&newton->smooth, newton->s, newton->g, &offset);
    return 0;
}

static const struct huber_steps STEPS = {.evaluate = evaluate,
                                         .store_primal = store_primal,
                                         .store_dual = store_dual,
                                         .lower_mu = lower_mu,
                                         .step = newton_step,
                                         .search = search};

static int allocate(struct newton *newton, struct mc_fit *fit, struct error *err) {
    size_t size = newton->size, m = newton->n * newton->k;
    const struct arrays arrays[] = {
        ARRAYS(size, double, &newton->w, &newton->gradient, &newton->step, &newton->dual,
               &newton->best_dual_w, &newton->right),
        ARRAYS(m, double, &newton->s, &newton->g, &newton->q, &newton->trial),
        ARRAYS(newton->d, double, &newton->x), ARRAYS(newton->k, double, &newton->theta),
        ARRAYS(newton->k, uint32_t, &newton->term)};
    newton->block = arrays_create(arrays, sizeof arrays / sizeof arrays[0], "weights", err);
    fit->weights = memory_array(size, sizeof(double), "weights", err);
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
    int status = mc_certify(task, newton->cost, &dual, fit, err);
    free(bias);
    return status;
}

int mc_newton_solve(const struct mc_task *task, const struct mc_goal *goal, const double *start,
                    double mu, const struct monitor *monitor, struct mc_fit *fit,
                    struct error *err) {
    size_t k = task->shape.k, d = (size_t)task->problem->data->n_features + 1;
    struct newton newton = {
        .task = task, .fit = fit, .cost = goal->cost, .n = task->n, .k = k, .d = d, .size = d * k};
    *fit = (struct mc_fit){0};
    int status = allocate(&newton, fit, err);
    if (status == 0) {
        status = mc_alpha_create(&newton.best_alpha, task->n, k, err);
    }
    if (status == 0) {
        newton.risk = mc_smooth_risk(&newton.smooth);
        if (start) {
            memcpy(newton.w, start, newton.size * sizeof *start);
        }
        find_scores(&newton, newton.w, newton.s);
        struct huber_path path = {.steps = &STEPS,
                                  .context = &newton,
                                  .monitor = monitor,
                                  .epsilon = goal->epsilon,
                                  .piecewise_linear = true,
                                  .min_mu = MIN_MU,
                                  .mu = fmin(fmax(mu, MIN_MU), HUBER_FIRST_MU),
                                  .primal = INFINITY,
                                  .dual = 0}; /* of alpha = 0 */
        status = huber_path_run(&path, err);
        fit->iterations = path.iterations;
        fit->reason = path.reason;
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
