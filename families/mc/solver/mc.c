/* Creation of a multi-class problem, and its solution through the sequence of tolerances. */
#include "families/mc/solver/mc.h"

#include "common/base/memory.h"
#include "common/data/row_weights.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/hessian.h"
#include "families/mc/solver/policy.h"
#include "families/mc/solver/task.h"
#include "fit/score_map.h"
#include "fit/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mc {
    const struct problem *problem;
    struct labels labels;
    struct mc_task task;
    struct score_map map;
    struct certify *certify;
    struct mc_solvers solvers;
    struct mc_alpha alpha; /* of the last solution, if the task stores it */
};

/* Sets the classes that occur in the rows, the task's y, and its weight of C for each row, that of
 * the class times its own. weight is indexed by the names of the data; NULL: all 1. */
static int set_classes(struct mc *mc, const double *weight, struct error *err) {
    const struct problem *problem = mc->problem;
    const struct data *data = problem->data;
    if (labels_collect(&mc->labels, data, problem->rows, problem->n, problem->cluster, err) < 0) {
        return -1;
    }
    if (mc->labels.names.n < 2) {
        return error_set(err, ERROR_RUNTIME,
                         "all training rows have the label '%s': two classes are the least",
                         mc->labels.names.n ? mc->labels.names.name[0] : "");
    }
    uint32_t *map = memory_array(data->names.n, sizeof *map, "classes", err);
    struct mc_task *task = &mc->task;
    task->y = memory_array(problem->n, sizeof *task->y, "classes", err);
    task->row_weight = memory_array(problem->n, sizeof *task->row_weight, "weights", err);
    if (!map || !task->y || !task->row_weight) {
        free(map);
        return -1;
    }
    labels_map(&mc->labels, &data->names, map);
    for (size_t i = 0; i < problem->n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        double own = data->weight ? data->weight[row] : 1;
        task->y[i] = map[data->label[row]];
        task->row_weight[i] = (weight ? weight[data->label[row]] : 1) * own;
    }
    free(map);
    return row_weights_refuse_zero(data, problem->cluster, "mc", err);
}

int mc_create(struct mc **mc, const struct problem *problem, const struct mc_setup *setup,
              struct error *err) {
    struct mc *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    if (set_classes(made, setup->weight, err) < 0) {
        mc_free(made);
        return -1;
    }
    made->task = (struct mc_task){
        .problem = problem,
        .shape = mc_shape(setup->formulation, made->labels.names.n, setup->margin_scale),
        .n = problem->n,
        .n_all = cluster_count(problem->cluster, problem->n),
        .y = made->task.y,
        .row_weight = made->task.row_weight,
        .bias = setup->bias,
        .seed = setup->seed,
        .keep = setup->keep};
    if (score_map_create(&made->map, problem, err) < 0 ||
        certify_create(&made->certify, problem, &made->map, setup->bias, err) < 0) {
        mc_free(made);
        return -1;
    }
    made->task.certify = made->certify;
    made->solvers.task = &made->task;
    *mc = made;
    return 0;
}

void mc_free(struct mc *mc) {
    if (!mc) {
        return;
    }
    mc_solvers_free(&mc->solvers);
    certify_free(mc->certify);
    score_map_free(&mc->map);
    labels_free(&mc->labels);
    mc_alpha_free(&mc->alpha);
    free(mc->task.y);
    free(mc->task.row_weight);
    free(mc);
}

const struct labels *mc_get_labels(const struct mc *mc) {
    return &mc->labels;
}

const struct mc_alpha *mc_get_alpha(const struct mc *mc) {
    return &mc->alpha;
}

/* The context of solve_to. */
struct solving {
    struct mc *mc;
    const struct mc_parameters *parameters;
    const struct monitor *monitor;
    struct mc_fit *fit; /* the best iterate; empty before the first run */
};

/* Solves to a gap of epsilon, and updates the best iterate: a tolerance_run. */
static int solve_to(void *context, double epsilon, struct tolerance_result *end,
                    struct error *err) {
    struct solving *solving = context;
    const struct mc_parameters *parameters = solving->parameters;
    struct mc_fit found = {0}, *fit = solving->fit;
    struct mc_state state = {&solving->mc->solvers, parameters->method, parameters->cost, epsilon,
                             &found};
    struct monitor_run run;
    const struct monitor onward = monitor_continue(&run, solving->monitor, fit->iterations, 0);
    if (mc_policy_solve(&state, &onward, err) < 0) {
        mc_fit_free(&found);
        return -1;
    }
    mc_fit_take(fit, &found);
    end->gap = fit->certificate.certified ? fit->certificate.gap : (double)NAN;
    end->limited = stop_limited(fit->reason);
    return 0;
}

static int run(struct mc *mc, const struct mc_parameters *parameters, const struct monitor *monitor,
               struct mc_fit *fit, struct error *err) {
    size_t max = mc_hessian_max_features(&mc->task.shape); /* with the constant one */
    if (parameters->method == MC_NEWTON &&
        (mc->problem->gram || mc->problem->data->n_features >= max)) {
        return error_set(err, ERROR_USAGE,
                         "--solver newton is for the linear kernel, with at most %zu features if "
                         "%s has %zu classes",
                         max > 0 ? max - 1 : 0, mc->task.shape.form->name, mc->task.shape.k);
    }
    struct solving solving = {mc, parameters, monitor, fit};
    return tolerance_solve(solve_to, &solving, parameters->epsilon,
                           mc->task.n_all * mc->labels.names.n, err);
}

/* Rows of solution->weights: features (linear) or training rows (kernels). */
static size_t weight_rows(const struct mc *mc) {
    return mc->problem->gram ? mc->task.n : mc->problem->data->n_features;
}

/* Returns the zero solution, when there was no time for another. */
static int give_zero(struct mc *mc, double cost, struct solution *solution, struct error *err) {
    size_t k = mc->labels.names.n;
    return certify_zero_solution(mc->problem, mc_zero_loss(&mc->task, cost), weight_rows(mc) * k, k,
                                 mc->task.bias > 0, solution, err);
}

/* Sets the bounds of the solution, and its coefficients to 0 if that is better. */
static void conclude(const struct mc *mc, const struct certificate *certificate, double epsilon,
                     enum stop_reason reason, struct solution *solution) {
    size_t k = solution->n_outputs;
    certify_conclude(certificate, epsilon, reason, solution);
    if (certificate->zero_is_better) { /* its primal is the certified one */
        memset(solution->weights, 0, weight_rows(mc) * k * sizeof *solution->weights);
        for (size_t c = 0; solution->bias && c < k; c++) {
            solution->bias[c] = 0;
        }
    }
}

/* Certifies the fit's weights and bias with the dual point of the last solution. U (n, k) and work
 * (2, k) are work. */
static int certify_last(struct mc *mc, const struct mc_parameters *parameters, double *U,
                        double *work, struct mc_fit *fit, struct error *err) {
    const struct mc_task *task = &mc->task;
    double *bias = work + task->shape.k;
    const struct mc_dual dual = {.alpha = &mc->alpha,
                                 .weights = U,
                                 .bias = task->bias > 0 ? bias : NULL,
                                 .target_gap = parameters->epsilon};
    mc_dual_coefficients(task, &mc->alpha, U, bias, work);
    return mc_certify(task, parameters->cost, &dual, fit, err);
}

int mc_replace(struct mc *mc, const struct mc_parameters *parameters, struct solution *solution,
               struct error *err) {
    size_t k = solution->n_outputs;
    struct mc_fit fit = {
        .weights = solution->weights, .points = solution->points, .bias = solution->bias};
    double *U = memory_array(mc->task.n, k * sizeof *U, "coefficients", err);
    double *work = memory_array(2 * k, sizeof *work, "coefficients", err);
    int status = U && work ? certify_last(mc, parameters, U, work, &fit, err) : -1;
    if (status == 0) {
        conclude(mc, &fit.certificate, parameters->epsilon, STOP_STALLED, solution);
    }
    mc_alpha_free(&fit.alpha);
    free(U);
    free(work);
    return status;
}

int mc_solve(struct mc *mc, const struct mc_parameters *parameters, const struct monitor *monitor,
             struct solution *solution, struct error *err) {
    struct mc_fit fit = {0};
    *solution = (struct solution){0};
    if (monitor_past_deadline(monitor)) {
        return give_zero(mc, parameters->cost, solution, err);
    }
    if (run(mc, parameters, monitor, &fit, err) < 0) {
        mc_fit_free(&fit);
        return -1;
    }
    if (fit.unsolved) {
        return give_zero(mc, parameters->cost, solution, err);
    }
    *solution = (struct solution){.n_outputs = mc->labels.names.n,
                                  .weights = fit.weights,
                                  .bias = fit.bias,
                                  .iterations = fit.iterations};
    mc_alpha_free(&mc->alpha);
    mc->alpha = fit.alpha;
    conclude(mc, &fit.certificate, parameters->epsilon,
             fit.reason ? fit.reason : STOP_OUTER_ITERATIONS, solution);
    return 0;
}
