/* The problem in the other form, and the task's own weights from its solution
 * (reformulation.h). */
#include "families/mc/solver/reformulation.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/kernel/explicit_features.h"
#include "common/kernel/gram.h"
#include "common/kernel/linear.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/newton.h"
#include "families/mc/solver/policy.h"
#include "fit/score_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 4096 }; /* the factor of X X' then has 134 MB */

struct mc_reformulation {
    const struct mc_task *own;
    struct explicit_features features; /* of a kernel task */
    struct kernel kernel;              /* of a linear task, with its matrix */
    struct gram *gram;
    struct problem problem;
    struct score_map map;
    struct certify *certify;
    struct mc_task task;
    struct mc_solvers solvers;
    double cost; /* of the present solve */
};

double mc_reformulation_work(const struct mc_task *task) {
    const struct problem *problem = task->problem;
    return problem->gram || problem->cluster || task->reformulated || task->n > MAX_ROWS
               ? INFINITY
               : mc_admm_work(task->n, task->shape.k, problem->cache_bytes);
}

int mc_reformulation_size(const struct mc_task *task, size_t *size, struct error *err) {
    *size = 0;
    if (task->reformulated) { /* from features, which the policy of the linear form has left */
        return 0;
    }
    size_t d = mc_newton_cheap_features(task); /* above this kernel algorithms are as fast */
    return explicit_features_size(task->problem, d > 0 ? d - 1 : 0, task->seed, size, err);
}

/* Makes the kernel problem of a linear task. */
static int make_kernel(struct mc_reformulation *form, struct error *err) {
    form->kernel = (struct kernel){.type = KERNEL_LINEAR};
    form->problem = *form->own->problem;
    if (gram_create(&form->gram, &form->kernel, form->problem.data, form->problem.cache_bytes / 2,
                    false, form->problem.threads, err) < 0) {
        return -1;
    }
    form->problem.gram = form->gram;
    form->problem.cache_bytes -= gram_cached_bytes(form->gram);
    return 0;
}

/* Makes the linear problem of a kernel task. */
static int make_linear(struct mc_reformulation *form, size_t size, struct error *err) {
    const struct mc_task *own = form->own;
    if (explicit_features_create(&form->features, own->problem, size, own->seed, err) < 0) {
        return -1;
    }
    form->problem = form->features.problem;
    return 0;
}

int mc_reformulation_create(struct mc_reformulation **form, const struct mc_task *task, size_t size,
                            struct error *err) {
    struct mc_reformulation *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->own = task;
    made->task = *task;
    made->task.problem = &made->problem;
    made->task.keep = made->task.reformulated = true;
    if ((size > 0 ? make_linear(made, size, err) : make_kernel(made, err)) < 0 ||
        score_map_create(&made->map, &made->problem, err) < 0 ||
        certify_create(&made->certify, &made->problem, &made->map, task->bias, err) < 0) {
        mc_reformulation_free(made);
        return -1;
    }
    made->task.certify = made->certify;
    made->solvers.task = &made->task;
    *form = made;
    return 0;
}

void mc_reformulation_free(struct mc_reformulation *form) {
    if (!form) {
        return;
    }
    mc_solvers_free(&form->solvers);
    certify_free(form->certify);
    score_map_free(&form->map);
    gram_free(form->gram);
    explicit_features_free(&form->features);
    free(form);
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

/* Rows of the task's own weights, with that of the constant feature of a linear task. */
static size_t weight_rows(const struct mc_task *task) {
    return task->problem->gram ? task->n : task->problem->data->n_features + (size_t)1;
}

/* Certifies the fit's weights times factor. */
static int certify_multiple(const struct mc_task *task, double cost, double factor,
                            const struct mc_dual *point, struct mc_fit *fit, struct error *err) {
    size_t k = task->shape.k, entries = weight_rows(task) * k;
    array_scale(fit->weights, factor, entries);
    for (size_t c = 0; fit->bias && c < k; c++) {
        fit->bias[c] *= factor;
    }
    return mc_certify(task, cost, point, fit, err);
}

/* Certifies the fit's weights, and a larger multiple of them if the rounding of scores at the
 * margin costs more than their length. */
static int certify_multiples(const struct mc_task *task, double cost, const struct mc_dual *point,
                             struct mc_fit *fit, struct error *err) {
    const struct certificate *found = &fit->certificate;
    int status = certify_multiple(task, cost, 1, point, fit, err);
    double factor = found->scaling, primal = found->primal;
    if (status < 0 || !(factor > 1)) {
        return status;
    }
    status = certify_multiple(task, cost, factor, point, fit, err);
    return status == 0 && found->primal > primal
               ? certify_multiple(task, cost, 1 / factor, point, fit, err)
               : status;
}

/* Sets the fit's weights and bias. For a linear task also W and bias (k), those of the dual point
 * with coefficients U (n, k). */
static int convert(const struct mc_reformulation *form, const struct mc_fit *found, const double *U,
                   double *W, double *bias, struct mc_fit *fit, struct error *err) {
    const struct mc_task *task = form->own;
    size_t k = task->shape.k;
    if (!task->problem->gram) {
        double *own_bias = fit->bias ? fit->bias : bias; /* overwritten */
        return find_weights(task, found->weights, fit->weights, own_bias, err) < 0
                   ? -1
                   : find_weights(task, U, W, bias, err);
    }
    if (fit->bias) {
        memcpy(fit->bias, found->bias, k * sizeof *bias);
    }
    return explicit_features_expand(&form->features, found->weights, k, fit->weights, err);
}

/* Certifies the weights of the two points of `found`, which is of the other form. */
static int certify_weights(const struct mc_reformulation *form, double epsilon,
                           const struct mc_fit *found, struct mc_fit *fit, struct error *err) {
    const struct mc_task *task = form->own;
    size_t n = task->n, k = task->shape.k, rows = weight_rows(task);
    bool has_bias = task->bias > 0, kernel = task->problem->gram;
    double *U, *W, *bias, *alpha_row;
    void *block = ARRAYS_CREATE("weights", err, ARRAYS(n * k, double, &U),
                                ARRAYS(kernel ? 0 : rows * k, double, &W),
                                ARRAYS(k, double, &bias, &alpha_row));
    fit->weights = memory_array(rows, k * sizeof *fit->weights, "weights", err);
    fit->bias = has_bias ? memory_array(k, sizeof *fit->bias, "bias", err) : NULL;
    int status = block && fit->weights && (!has_bias || fit->bias) ? 0 : -1;
    if (status == 0) {
        mc_dual_coefficients(task, &found->alpha, U, bias, alpha_row);
    }
    status = status < 0 ? -1 : convert(form, found, U, W, bias, fit, err);
    if (status == 0) {
        const struct mc_dual point = {.alpha = &found->alpha,
                                      .weights = kernel ? U : W,
                                      .bias = has_bias ? bias : NULL,
                                      .target_gap = epsilon,
                                      .compute_scaling = true};
        status = certify_multiples(task, form->cost, &point, fit, err);
    }
    free(block);
    return status;
}

/* An mc_run. Reasons of the other form count as rounding, which certify_reason examines. */
static int run(void *context, double epsilon, const struct monitor *monitor, struct mc_fit *fit,
               struct error *err) {
    struct mc_reformulation *form = context;
    bool kernel = form->own->problem->gram;
    struct mc_fit found = {0};
    struct mc_state state = {&form->solvers, MC_AUTO, form->cost,
                             kernel ? EXPLICIT_FEATURES_PART * epsilon : epsilon, &found};
    int status = mc_policy_solve(&state, monitor, err);
    fit->iterations = found.iterations;
    fit->reason = stop_limited(found.reason) || !found.reason ? found.reason : STOP_ROUNDING;
    fit->unsolved = found.unsolved;
    if (status == 0 && !found.unsolved) {
        status = certify_weights(form, epsilon, &found, fit, err);
    }
    if (kernel && !fit->reason && !(fit->certificate.gap <= epsilon)) {
        fit->reason = STOP_ROUNDING;
    }
    mc_fit_free(&found);
    return status;
}

int mc_reformulation_solve(struct mc_reformulation *form, const struct mc_goal *goal,
                           const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    form->cost = goal->cost;
    if (form->own->problem->gram && !form->features.exact) {
        fit->certificate = (struct certificate){.primal = INFINITY};
        return 0;
    }
    return mc_fit_tighten(run, form, goal, monitor, fit, err);
}
