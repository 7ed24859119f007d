/* The kernel problem of linear rows, and weights from its coefficients (linear_dual.h). */
#include "families/mc/solver/linear_dual.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/kernel/gram.h"
#include "common/kernel/linear.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/policy.h"
#include "fit/score_map.h"

#include <math.h>
#include <stdlib.h>

enum {
    MAX_ROWS = 4096,   /* the factor of X X' then has 134 MB */
    MAX_RESCALINGS = 3 /* trials of a larger multiple of the weights */
};

struct mc_linear_dual {
    const struct mc_task *linear;
    struct kernel kernel;
    struct gram *gram;
    struct problem problem;
    struct score_map map;
    struct certify *certify;
    struct mc_task task;
    struct mc_solvers solvers;
    double cost; /* of the present solve */
};

double mc_linear_dual_work(const struct mc_task *task) {
    const struct problem *problem = task->problem;
    return problem->gram || problem->cluster || task->n > MAX_ROWS
               ? INFINITY
               : mc_admm_work(task->n, task->shape.k, problem->cache_bytes);
}

int mc_linear_dual_create(struct mc_linear_dual **dual, const struct mc_task *task,
                          struct error *err) {
    struct mc_linear_dual *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->linear = task;
    made->kernel = (struct kernel){.type = KERNEL_LINEAR};
    made->problem = *task->problem;
    size_t bytes = task->problem->cache_bytes / 2;
    if (gram_create(&made->gram, &made->kernel, made->problem.data, bytes, false,
                    made->problem.threads, err) < 0) {
        mc_linear_dual_free(made);
        return -1;
    }
    made->problem.gram = made->gram;
    made->problem.cache_bytes -= gram_cached_bytes(made->gram);
    made->task = *task;
    made->task.problem = &made->problem;
    made->task.keep = true;
    if (score_map_create(&made->map, &made->problem, err) < 0 ||
        certify_create(&made->certify, &made->problem, &made->map, task->bias, err) < 0) {
        mc_linear_dual_free(made);
        return -1;
    }
    made->task.certify = made->certify;
    made->solvers.task = &made->task;
    *dual = made;
    return 0;
}

void mc_linear_dual_free(struct mc_linear_dual *dual) {
    if (!dual) {
        return;
    }
    mc_solvers_free(&dual->solvers);
    certify_free(dual->certify);
    score_map_free(&dual->map);
    gram_free(dual->gram);
    free(dual);
}

/* weights (n_features + 1, k) = X'U of the coefficients U (n, k), with those of the constant
 * feature in the last row, and bias (k), their contributions to the scores. */
static int find_weights(const struct mc_task *task, const double *U, double *weights, double *bias,
                        struct error *err) {
    const struct data *data = task->problem->data;
    size_t n = task->n, k = task->shape.k, d = data->n_features;
    double *column, *w;
    void *block = ARRAYS_CREATE("weights", err, ARRAYS(n, double, &column), ARRAYS(d, double, &w));
    int status = block ? 0 : -1;
    for (size_t c = 0; status == 0 && c < k; c++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            column[i] = U[i * k + c];
            sum += column[i];
        }
        status = linear_adjoint(data, column, w, task->problem->threads, err);
        for (size_t f = 0; status == 0 && f < d; f++) {
            weights[f * k + c] = w[f];
        }
        weights[d * k + c] = task->bias * sum;
        bias[c] = task->bias * weights[d * k + c];
    }
    free(block);
    return status;
}

/* Certifies the fit's weights times factor. */
static int certify_multiple(const struct mc_task *task, double cost, double factor,
                            const struct mc_dual *point, struct mc_fit *fit, struct error *err) {
    size_t k = task->shape.k, entries = (task->problem->data->n_features + (size_t)1) * k;
    for (size_t j = 0; j < entries; j++) {
        fit->weights[j] *= factor;
    }
    for (size_t c = 0; fit->bias && c < k; c++) {
        fit->bias[c] *= factor;
    }
    return mc_certify(task, cost, point, fit, err);
}

/* Certifies the fit's weights, and larger multiples of them while the rounding of scores at the
 * margin costs more than their length. */
static int certify_multiples(const struct mc_task *task, double cost, const struct mc_dual *point,
                             struct mc_fit *fit, struct error *err) {
    const struct certificate *found = &fit->certificate;
    int status = certify_multiple(task, cost, 1, point, fit, err);
    for (int t = 0; status == 0 && t < MAX_RESCALINGS && found->scaling > 1; t++) {
        double factor = found->scaling, primal = found->primal;
        status = certify_multiple(task, cost, factor, point, fit, err);
        if (status == 0 && found->primal > primal) {
            return certify_multiple(task, cost, 1 / factor, point, fit, err);
        }
    }
    return status;
}

/* Certifies the weights of the coefficients and of the dual point of `found`, which is of the
 * kernel problem. */
static int certify_weights(const struct mc_linear_dual *dual, double epsilon,
                           const struct mc_fit *found, struct mc_fit *fit, struct error *err) {
    const struct mc_task *task = dual->linear;
    size_t n = task->n, k = task->shape.k, rows = task->problem->data->n_features + (size_t)1;
    bool has_bias = task->bias > 0;
    double *U, *W, *bias, *no_bias, *alpha;
    void *block =
        ARRAYS_CREATE("weights", err, ARRAYS(n * k, double, &U), ARRAYS(rows * k, double, &W),
                      ARRAYS(k, double, &bias, &no_bias, &alpha));
    fit->weights = memory_array(rows, k * sizeof *fit->weights, "weights", err);
    fit->bias = has_bias ? memory_array(k, sizeof *fit->bias, "bias", err) : NULL;
    int status = block && fit->weights && (!has_bias || fit->bias) ? 0 : -1;
    for (size_t i = 0; status == 0 && i < n; i++) {
        mc_alpha_load(&found->alpha, i, alpha);
        mc_centred_coefficients(&task->shape, task->y[i], alpha, U + i * k);
    }
    if (status == 0 && (find_weights(task, found->weights, fit->weights,
                                     has_bias ? fit->bias : no_bias, err) < 0 ||
                        find_weights(task, U, W, bias, err) < 0)) {
        status = -1;
    }
    if (status == 0) {
        const struct mc_dual point = {.alpha = &found->alpha,
                                      .weights = W,
                                      .bias = has_bias ? bias : NULL,
                                      .target_gap = epsilon,
                                      .compute_scaling = true};
        status = certify_multiples(task, dual->cost, &point, fit, err);
    }
    free(block);
    return status;
}

/* An mc_run. Reasons of the kernel problem count as rounding, which certify_reason examines. */
static int run(void *context, double epsilon, const struct monitor *monitor, struct mc_fit *fit,
               struct error *err) {
    struct mc_linear_dual *dual = context;
    struct mc_fit found = {0};
    struct mc_state state = {&dual->solvers, MC_AUTO, dual->cost, epsilon, &found};
    int status = mc_policy_solve(&state, monitor, err);
    fit->iterations = found.iterations;
    fit->reason = stop_limited(found.reason) || !found.reason ? found.reason : STOP_ROUNDING;
    fit->unsolved = found.unsolved;
    if (status == 0 && !found.unsolved) {
        status = certify_weights(dual, epsilon, &found, fit, err);
    }
    mc_fit_free(&found);
    return status;
}

int mc_linear_dual_solve(struct mc_linear_dual *dual, const struct mc_goal *goal,
                         const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    dual->cost = goal->cost;
    return mc_fit_tighten(run, dual, goal, monitor, fit, err);
}
