#include "solvers/mc/mc.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "solvers/mc/certify.h"
#include "solvers/mc/fw.h"
#include "solvers/mc/interior.h"
#include "solvers/mc/kernel.h"
#include "solvers/mc/kernel_parts.h"
#include "solvers/mc/linear.h"
#include "solvers/mc/newton.h"
#include "solvers/mc/task.h"
#include "solvers/methods/score_map.h"
#include "solvers/methods/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sweeps after which Newton's method takes over where the Hessian is small: loose gaps cost less
 * than these, tight ones and large C many times more; and those after which an interior point does,
 * at the least. */
enum { FIRST_SWEEPS = 80 };

/* Newton must be cheap beside these sweeps: of weights squared, at most that many for each row. */
static const double WEIGHTS_PER_ROW = 60;

/* Multiplications of a sweep in the time of one of a plain loop. */
static const double SWEEP_SPEED = 2;

struct mc {
    const struct problem *problem;
    struct labels labels;
    uint32_t *y;    /* (n) */
    double *weight; /* (k) */
    struct mc_task task;
    struct score_map map;
    struct certify *certify;
    struct mc_linear *linear; /* NULL before the first use, as the next */
    struct mc_kernel *kernel;
    bool searched;         /* parts are known */
    struct parts parts;    /* of the kernel matrix; of a part there are none */
    struct mc_alpha alpha; /* of the last solution, if the task keeps it */
};

/* The classes, those of the rows, and the weights of C by the names of the data. */
static int set_classes(struct mc *mc, const double *weight, struct error *err) {
    const struct problem *problem = mc->problem;
    const struct names *names = &problem->data->names;
    if (labels_collect(&mc->labels, problem->data, problem->rows, problem->n, problem->cluster,
                       err) < 0) {
        return -1;
    }
    if (mc->labels.names.n < 2) {
        return error_set(err, ERROR_RUNTIME,
                         "all training rows have the label '%s': two classes are the least",
                         mc->labels.names.n ? mc->labels.names.name[0] : "");
    }
    uint32_t *map = memory_array(names->n, sizeof *map, "classes", err);
    mc->y = memory_array(problem->n, sizeof *mc->y, "classes", err);
    mc->weight = memory_array(mc->labels.names.n, sizeof *mc->weight, "classes", err);
    if (!map || !mc->y || !mc->weight) {
        free(map);
        return -1;
    }
    labels_map(&mc->labels, names, map);
    for (size_t i = 0; i < problem->n; i++) {
        mc->y[i] = map[problem->data->label[problem->rows ? problem->rows[i] : i]];
    }
    for (size_t l = 0; l < names->n; l++) {
        if (map[l] != LABELS_UNKNOWN) {
            mc->weight[map[l]] = weight ? weight[l] : 1;
        }
    }
    free(map);
    return 0;
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
        .y = made->y,
        .weight = made->weight,
        .bias = setup->bias,
        .seed = setup->seed,
        .keep = setup->keep};
    if (score_map_create(&made->map, problem, err) < 0 ||
        certify_create(&made->certify, problem, &made->map, setup->bias, err) < 0) {
        mc_free(made);
        return -1;
    }
    made->task.certify = made->certify;
    *mc = made;
    return 0;
}

void mc_free(struct mc *mc) {
    if (!mc) {
        return;
    }
    mc_linear_free(mc->linear);
    mc_kernel_free(mc->kernel);
    parts_free(&mc->parts);
    certify_free(mc->certify);
    score_map_free(&mc->map);
    labels_free(&mc->labels);
    mc_alpha_free(&mc->alpha);
    free(mc->y);
    free(mc->weight);
    free(mc);
}

const struct labels *mc_get_labels(const struct mc *mc) {
    return &mc->labels;
}

const struct mc_alpha *mc_get_alpha(const struct mc *mc) {
    return &mc->alpha;
}

/* ---- linear ---- */

static size_t n_weights(const struct mc *mc) {
    return ((size_t)mc->problem->data->n_features + 1) * mc->labels.names.n;
}

static int run_newton(struct mc *mc, const struct mc_goal *goal, struct mc_fit *start,
                      const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    double mu = 1;
    if (start) {
        /* ten times the smoothing whose own gap would be about the one that is there: with that
         * itself, the start is too far from its path */
        double norm = array_dot(start->weights, start->weights, n_weights(mc));
        mu = 20 * (start->primal - start->dual) / (start->dual + norm / 2);
    }
    return mc_newton_solve(&mc->task, goal, start ? start->weights : NULL, mu, monitor, fit, err);
}

static int run_interior(struct mc *mc, const struct mc_goal *goal, struct mc_fit *start,
                        const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    bool possible;
    if (mc_interior_solve(&mc->task, goal, monitor, fit, &possible, err) < 0) {
        return -1;
    }
    if (!possible) { /* the start is better */
        fit->primal = INFINITY;
        fit->certificate = (struct certificate){.primal = INFINITY, .certified = true};
    }
    if (mc->problem->gram && !stop_limited(fit->reason)) { /* what ended it is still in the way */
        fit->reason = start->reason;
    }
    return 0;
}

static int run_kernel(struct mc *mc, const struct mc_goal *goal, struct mc_fit *start,
                      const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    (void)start;
    return mc_kernel_solve(mc->kernel, goal, monitor, fit, err);
}

static int run_approach(struct mc *mc, const struct mc_goal *goal, struct mc_fit *start,
                        const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    (void)start;
    return mc_kernel_approach(mc->kernel, goal, monitor, fit, err);
}

static int run_split(struct mc *mc, const struct mc_goal *goal, struct mc_fit *start,
                     const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    (void)start;
    return mc_kernel_split(mc->kernel, goal, monitor, fit, err);
}

/* A method that goes on from a fit. */
typedef int (*method)(struct mc *mc, const struct mc_goal *goal, struct mc_fit *start,
                      const struct monitor *monitor, struct mc_fit *fit, struct error *err);

/* True if the fit is not what was asked for, and nobody has ended it. */
static bool is_unfinished(const struct mc_fit *fit, double epsilon) {
    return !stop_limited(fit->reason) && !(fit->certificate.gap <= epsilon);
}

/* Another method, from the fit; the better bounds of both are kept. */
static int go_on(struct mc *mc, method solve, const struct mc_goal *goal,
                 const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct mc_fit start = *fit;
    struct monitor_run run;
    const struct monitor onward = monitor_after(&run, monitor, start.iterations, 0);
    if (solve(mc, goal, &start, &onward, fit, err) < 0) {
        mc_fit_free(&start);
        return -1;
    }
    mc_fit_join(fit, &start);
    return 0;
}

/* Sweeps that cost half of an interior point; 0, no limit, where there are too many weights. */
static uint64_t sweeps_before_interior(const struct mc *mc) {
    const struct data *data = mc->problem->data;
    double values = cluster_total(mc->problem->cluster, (double)data_values(data));
    double work = mc_interior_work(&mc->task), k = (double)mc->labels.names.n;
    double sweep = k * (2 * values + 10 * (double)mc->task.n_all) / SWEEP_SPEED;
    return isfinite(work) ? (uint64_t)fmax(work / sweep / 2, FIRST_SWEEPS) : 0;
}

static int run_linear(struct mc *mc, const struct mc_parameters *parameters,
                      const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    double size = (double)n_weights(mc);
    bool small =
        size <= MC_NEWTON_WEIGHTS && size * size <= WEIGHTS_PER_ROW * (double)mc->task.n_all;
    struct mc_goal goal = {.cost = parameters->cost, .epsilon = parameters->epsilon};
    if (parameters->method == MC_NEWTON) {
        return run_newton(mc, &goal, NULL, monitor, fit, err);
    }
    if (!mc->linear && mc_linear_create(&mc->linear, &mc->task, err) < 0) {
        return -1;
    }
    uint64_t sweeps = sweeps_before_interior(mc);
    goal.most = parameters->method == MC_AUTO && small ? FIRST_SWEEPS : sweeps;
    if (mc_linear_solve(mc->linear, &goal, monitor, fit, err) < 0) {
        return -1;
    }
    if (parameters->method == MC_AUTO && small && is_unfinished(fit, goal.epsilon) &&
        go_on(mc, run_newton, &goal, monitor, fit, err) < 0) {
        return -1;
    }
    return sweeps > 0 && is_unfinished(fit, goal.epsilon)
               ? go_on(mc, run_interior, &goal, monitor, fit, err)
               : 0;
}

/* ---- kernels ---- */

/* Whether a kernel's interior point may end what is left. */
static bool is_for_interior(const struct mc *mc, const struct certificate *certificate) {
    return certificate->certified && !mc->problem->cluster && isfinite(mc_interior_work(&mc->task));
}

static int run_gram(struct mc *mc, const struct mc_goal *goal, const struct monitor *monitor,
                    struct mc_fit *fit, struct error *err);

/* A part of the kernel matrix, which is not parted again. */
static int run_part(void *context, const struct mc_task *task, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    const struct mc *mc = context;
    struct mc part = {
        .problem = task->problem, .labels = mc->labels, .task = *task, .searched = true};
    int status = run_gram(&part, goal, monitor, fit, err);
    mc_kernel_free(part.kernel);
    return status;
}

/* By parts if the kernel matrix falls apart, which is found out once; then as a whole, if that is
 * not enough. */
static int run_start(struct mc *mc, const struct mc_goal *goal, const struct monitor *monitor,
                     struct mc_fit *fit, struct error *err) {
    int found = mc->searched ? 0 : mc_kernel_parts_find(&mc->parts, &mc->task, monitor, err);
    mc->searched = mc->searched || found == 0;
    if (found < 0) {
        return -1;
    }
    if (mc->parts.n < 2) {
        return mc_kernel_solve(mc->kernel, goal, monitor, fit, err);
    }
    if (mc_kernel_parts_run(&mc->parts, mc->kernel, &mc->task, goal, run_part, mc, monitor, fit,
                            err) < 0) {
        return -1;
    }
    return is_unfinished(fit, goal->epsilon) ? go_on(mc, run_kernel, goal, monitor, fit, err) : 0;
}

static int run_gram(struct mc *mc, const struct mc_goal *goal, const struct monitor *monitor,
                    struct mc_fit *fit, struct error *err) {
    if ((!mc->kernel && mc_kernel_create(&mc->kernel, &mc->task, err) < 0) ||
        run_start(mc, goal, monitor, fit, err) < 0) {
        return -1;
    }
    if (mc_kernel_is_slow(mc->kernel) && is_unfinished(fit, goal->epsilon) &&
        mc_kernel_has_approach(mc->kernel) &&
        go_on(mc, run_approach, goal, monitor, fit, err) < 0) {
        return -1;
    }
    if (mc_kernel_is_slow(mc->kernel) && is_unfinished(fit, goal->epsilon)) {
        if (go_on(mc, run_split, goal, monitor, fit, err) < 0) {
            return -1;
        }
    }
    const struct certificate *found = &fit->certificate;
    if (is_unfinished(fit, goal->epsilon) && is_for_interior(mc, found) &&
        go_on(mc, run_interior, goal, monitor, fit, err) < 0) {
        return -1;
    }
    if (is_unfinished(fit, goal->epsilon) && mc_is_rounding(found, found->paid + found->lost)) {
        fit->reason = STOP_ROUNDING;
    }
    return 0;
}

/* ---- all ---- */

/* What a fit through tolerances is of. */
struct solving {
    struct mc *mc;
    const struct mc_parameters *parameters;
    const struct monitor *monitor;
    struct mc_fit *fit; /* the best; empty before the first run */
};

/* Solves to the gap; the better bounds of it and the best are the best then. */
static int solve_to(void *context, double epsilon, struct tolerance_end *end, struct error *err) {
    struct solving *solving = context;
    struct mc *mc = solving->mc;
    struct mc_parameters own = *solving->parameters;
    struct mc_goal goal = {.cost = own.cost, .epsilon = epsilon};
    struct mc_fit found = {0}, *fit = solving->fit;
    struct monitor_run run;
    const struct monitor onward = monitor_after(&run, solving->monitor, fit->iterations, 0);
    own.epsilon = epsilon;
    if ((mc->problem->gram ? run_gram(mc, &goal, &onward, &found, err)
                           : run_linear(mc, &own, &onward, &found, err)) < 0) {
        mc_fit_free(&found);
        return -1;
    }
    if (fit->weights && found.unsolved) {
        fit->reason = found.reason;
    } else if (fit->weights) {
        mc_fit_join(&found, fit);
        *fit = found;
    } else {
        *fit = found;
    }
    end->gap = fit->certificate.certified ? fit->certificate.gap : (double)NAN;
    end->limited = stop_limited(fit->reason);
    return 0;
}

static int run(struct mc *mc, const struct mc_parameters *parameters, const struct monitor *monitor,
               struct mc_fit *fit, struct error *err) {
    if (parameters->method == MC_NEWTON &&
        (mc->problem->gram || n_weights(mc) > MC_NEWTON_WEIGHTS)) {
        return error_set(err, ERROR_USAGE,
                         "--solver newton is for the linear kernel, with at most %d weights "
                         "(features times classes)",
                         MC_NEWTON_WEIGHTS);
    }
    struct mc_goal goal = {.cost = parameters->cost, .epsilon = parameters->epsilon};
    if (parameters->method == MC_FW) {
        return mc_fw_solve(&mc->task, &goal, monitor, fit, err);
    }
    struct solving solving = {mc, parameters, monitor, fit};
    return tolerance_solve(solve_to, &solving, parameters->epsilon,
                           mc->task.n_all * mc->labels.names.n, err);
}

/* W = 0, which has the primal that is certified. */
static void take_nothing(const struct mc *mc, struct solution *solution) {
    size_t k = solution->n_outputs;
    size_t rows = mc->problem->gram ? mc->task.n : mc->problem->data->n_features;
    memset(solution->weights, 0, rows * k * sizeof *solution->weights);
    if (solution->bias) {
        memset(solution->bias, 0, k * sizeof *solution->bias);
    }
}

/* W = 0 for lack of time. */
static int give_nothing(struct mc *mc, double cost, struct solution *solution, struct error *err) {
    size_t k = mc->labels.names.n;
    size_t rows = mc->problem->gram ? mc->task.n : mc->problem->data->n_features;
    solution->n_outputs = k;
    solution->weights = memory_zeros(rows, k * sizeof(double), "weights", err);
    solution->bias = mc->task.bias > 0 ? memory_zeros(k, sizeof(double), "weights", err) : NULL;
    if (!solution->weights || (mc->task.bias > 0 && !solution->bias)) {
        solution_free(solution);
        return -1;
    }
    certify_nothing(mc->problem, mc_loss_of_nothing(&mc->task, cost), solution);
    return 0;
}

int mc_solve(struct mc *mc, const struct mc_parameters *parameters, const struct monitor *monitor,
             struct solution *solution, struct error *err) {
    struct mc_fit fit = {0};
    *solution = (struct solution){0};
    if (monitor_late(monitor)) {
        return give_nothing(mc, parameters->cost, solution, err);
    }
    if (run(mc, parameters, monitor, &fit, err) < 0) {
        mc_fit_free(&fit);
        return -1;
    }
    if (fit.unsolved) {
        return give_nothing(mc, parameters->cost, solution, err);
    }
    *solution = (struct solution){.n_outputs = mc->labels.names.n,
                                  .weights = fit.weights,
                                  .bias = fit.bias,
                                  .iterations = fit.iterations};
    mc_alpha_free(&mc->alpha);
    mc->alpha = fit.alpha;
    certify_conclude(&fit.certificate, parameters->epsilon, fit.reason ? fit.reason : STOP_ROUNDS,
                     solution);
    if (fit.certificate.worse) {
        take_nothing(mc, solution);
    }
    return 0;
}
