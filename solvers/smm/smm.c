#include "solvers/smm/smm.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "solvers/methods/score_map.h"
#include "solvers/smm/binary.h"
#include "solvers/smm/certify.h"
#include "solvers/smm/lowrank.h"
#include "solvers/smm/maps.h"
#include "solvers/smm/nuclear.h"
#include "solvers/smm/svd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RANK_ROUNDING = 1e-9; /* singular values below, relative to the first, are 0 */

struct smm {
    const struct problem *problem;
    struct smm_matrices matrices;
    size_t cells;
    struct labels labels;
    size_t n_machines;
    struct smm_machine *machine; /* (n_machines) */
    double *unit;                /* (n) cost of a row, relative to C */
    uint32_t *class;             /* (n) number of its label */
    double *y, *cost;            /* (n) of the machine at work */
    double *s, *breaks;          /* (n), (2n) work */
    double *M;                   /* (cells) work */
    struct binary *svm;          /* on the rows themselves */
    struct score_map map;
    struct certify *certify;
    struct smm_nuclear **nuclear; /* (n_machines) iterates; NULL before the first */
};

const struct smm_machine *smm_machines(const struct smm *smm, size_t *n) {
    *n = smm->n_machines;
    return smm->machine;
}

const struct labels *smm_labels(const struct smm *smm) {
    return &smm->labels;
}

void smm_shape(const struct smm *smm, size_t *height, size_t *width) {
    *height = smm->matrices.height;
    *width = smm->matrices.width;
}

/* ---- creating ---- */

static int take_labels(struct smm *smm, const double *weight, struct error *err) {
    const struct data *data = smm->problem->data;
    if (labels_collect(&smm->labels, smm->problem->data, smm->problem->rows, smm->problem->n, err) <
        0) {
        return -1;
    }
    if (smm->labels.names.n < 2) {
        return error_set(err, ERROR_RUNTIME,
                         "all rows have one label: there is nothing to tell "
                         "apart");
    }
    uint32_t *map = memory_array(data->names.n, sizeof *map, "labels", err);
    if (!map) {
        return -1;
    }
    labels_map(&smm->labels, &data->names, map);
    for (size_t i = 0; i < smm->problem->n; i++) {
        smm->class[i] = map[data->label[i]];
        smm->unit[i] = weight ? weight[data->label[i]] : 1;
    }
    free(map);
    return 0;
}

static int create_machines(struct smm *smm, struct error *err) {
    size_t height = smm->matrices.height, width = smm->matrices.width;
    size_t k = height < width ? height : width;
    smm->n_machines = smm->labels.names.n == 2 ? 1 : smm->labels.names.n;
    smm->machine = memory_zeros(smm->n_machines, sizeof *smm->machine, "machines", err);
    smm->nuclear = memory_zeros(smm->n_machines, sizeof *smm->nuclear, "machines", err);
    if (!smm->machine || !smm->nuclear) {
        return -1;
    }
    for (size_t m = 0; m < smm->n_machines; m++) {
        struct smm_machine *machine = &smm->machine[m];
        machine->W = memory_zeros(smm->cells + height * k + k + k * width, sizeof *machine->W,
                                  "a matrix", err);
        if (!machine->W) {
            return -1;
        }
        machine->U = machine->W + smm->cells;
        machine->s = machine->U + height * k;
        machine->Vt = machine->s + k;
    }
    return 0;
}

static int create_parts(struct smm *smm, const double *weight, struct error *err) {
    size_t n = smm->problem->n;
    smm->class = memory_array(n, sizeof *smm->class, "labels", err);
    smm->unit = memory_array(n, 6 * sizeof *smm->unit, "costs", err);
    smm->M = memory_array(smm->cells, sizeof *smm->M, "a matrix", err);
    if (!smm->class || !smm->unit || !smm->M) {
        return -1;
    }
    smm->y = smm->unit + n;
    smm->cost = smm->y + n;
    smm->s = smm->cost + n;
    smm->breaks = smm->s + n;
    const struct binary_rows rows = {
        .n = n, .d = smm->cells, .data = smm->problem->data, .threads = smm->problem->threads};
    return take_labels(smm, weight, err) < 0 || create_machines(smm, err) < 0 ||
                   score_map_create(&smm->map, smm->problem, err) < 0 ||
                   certify_create(&smm->certify, smm->problem, &smm->map, 0, err) < 0
               ? -1
               : binary_create(&smm->svm, &rows, err);
}

int smm_create(struct smm **smm, const struct problem *problem, size_t height, size_t width,
               const double *weight, struct error *err) {
    struct smm *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->cells = height * width;
    made->matrices = (struct smm_matrices){.data = problem->data,
                                           .n = problem->n,
                                           .height = height,
                                           .width = width,
                                           .threads = problem->threads};
    if (create_parts(made, weight, err) < 0) {
        smm_free(made);
        return -1;
    }
    *smm = made;
    return 0;
}

void smm_free(struct smm *smm) {
    if (!smm) {
        return;
    }
    for (size_t m = 0; m < smm->n_machines; m++) {
        if (smm->machine) {
            free(smm->machine[m].W);
        }
        if (smm->nuclear) {
            smm_nuclear_free(smm->nuclear[m]);
        }
    }
    free(smm->machine);
    free(smm->nuclear);
    binary_free(smm->svm);
    certify_free(smm->certify);
    score_map_free(&smm->map);
    labels_free(&smm->labels);
    free(smm->class);
    free(smm->unit);
    free(smm->M);
    free(smm);
}

/* ---- one machine ---- */

/* What a machine's solver tells. */
struct outcome {
    uint64_t iterations;
    bool converged;
    enum stop_reason reason; /* when not converged */
};

/* How often a fit that looked converged, but is not when certified, is taken further. */
enum { POLISH_ROUNDS = 4 };

/* Both bounds of W and the dual point, at the door; W = 0 where nothing better is there. */
static int certify(struct smm *smm, const struct binary_loss *loss, double tau, const double *alpha,
                   struct smm_machine *machine, struct error *err) {
    double sum;
    const struct smm_claim claim = {.matrices = &smm->matrices,
                                    .loss = loss,
                                    .tau = tau,
                                    .W = machine->W,
                                    .bias = machine->bias,
                                    .alpha = alpha};
    if (smm_certify(smm->certify, &claim, &machine->certificate, err) < 0) {
        return -1;
    }
    if (machine->certificate.worse) {
        memset(machine->W, 0, smm->cells * sizeof *machine->W);
        memset(smm->s, 0, smm->problem->n * sizeof *smm->s);
        machine->bias = binary_bias(loss, smm->s, smm->problem->n, smm->breaks, &sum);
    }
    machine->primal = machine->certificate.primal;
    machine->dual = machine->certificate.dual;
    return 0;
}

static void conclude(const struct smm_machine *machine, double epsilon, enum stop_reason reason,
                     uint64_t iterations, struct outcome *outcome) {
    *outcome = (struct outcome){.iterations = iterations,
                                .converged = machine->certificate.gap <= epsilon,
                                .reason = reason};
}

static int solve_svm(struct smm *smm, const struct binary_loss *loss, double epsilon,
                     const struct monitor *monitor, struct smm_machine *machine,
                     struct outcome *outcome, struct error *err) {
    struct binary_fit fit;
    double aim = epsilon;
    uint64_t iterations = 0;
    if (smm->n_machines > 1) {
        binary_forget(smm->svm);
    }
    for (int round = 0;; round++) {
        if (binary_solve(smm->svm, loss, aim, monitor, &fit, err) < 0) {
            return -1;
        }
        memcpy(machine->W, fit.w, smm->cells * sizeof *machine->W);
        machine->bias = fit.bias;
        iterations += fit.iterations;
        if (certify(smm, loss, 0, fit.alpha, machine, err) < 0) {
            return -1;
        }
        if (machine->certificate.gap <= epsilon || fit.reason || round == POLISH_ROUNDS) {
            break;
        }
        aim /= 2;
    }
    conclude(machine, epsilon, fit.reason ? fit.reason : STOP_ROUNDING, iterations, outcome);
    return 0;
}

static int solve_nuclear(struct smm *smm, size_t m, const struct binary_loss *loss,
                         const struct smm_parameters *parameters, const struct monitor *monitor,
                         struct outcome *outcome, struct error *err) {
    struct smm_machine *machine = &smm->machine[m];
    if (parameters->tau == 0) {
        return solve_svm(smm, loss, parameters->epsilon, monitor, machine, outcome, err);
    }
    if (!smm->nuclear[m] &&
        smm_nuclear_create(&smm->nuclear[m], &smm->matrices, smm->svm, err) < 0) {
        return -1;
    }
    if (smm->n_machines > 1) {
        binary_forget(smm->svm);
    }
    struct smm_nuclear_fit fit;
    double aim = parameters->epsilon;
    uint64_t iterations = 0;
    for (int round = 0;; round++) {
        if (smm_nuclear_solve(smm->nuclear[m], loss, parameters->tau, aim, monitor, machine->W,
                              &fit, err) < 0) {
            return -1;
        }
        machine->bias = fit.bias;
        iterations += fit.iterations;
        if (certify(smm, loss, parameters->tau, fit.alpha, machine, err) < 0) {
            return -1;
        }
        if (machine->certificate.gap <= parameters->epsilon || fit.reason ||
            round == POLISH_ROUNDS) {
            break;
        }
        aim /= 2;
    }
    conclude(machine, parameters->epsilon, fit.reason ? fit.reason : STOP_ROUNDING, iterations,
             outcome);
    return 0;
}

/* ---- the starts of a machine of bounded rank ---- */

struct start {
    struct smm_point point;
    struct smm_trace trace;
    struct error err;
    bool failed;
};

/* All starts: tasks of their own, each serial. */
struct starts {
    const struct smm *smm;
    struct smm_lowrank problem;
    struct smm_matrices matrices;
    const struct smm_parameters *parameters;
    size_t machine;
    const double *svd_Vt; /* (k, width) of the SVM's W */
    size_t n;
    struct start *start; /* (n) */
};

/* Rows of Vt (r, width): orthonormal, random by the seed. */
static int draw_start(const struct starts *starts, size_t number, double *Vt, struct error *err) {
    enum { UNIFORMS = 12 }; /* summed: about normal, by + and - only */
    size_t r = starts->problem.rank, width = starts->matrices.width;
    double *normal = memory_array(r * (width + r + 1), sizeof *normal, "a start", err);
    if (!normal) {
        return -1;
    }
    struct random random;
    random_start(&random, starts->parameters->seed, starts->machine << 32 | number);
    for (size_t j = 0; j < r * width; j++) {
        double sum = -UNIFORMS / 2;
        for (int k = 0; k < UNIFORMS; k++) {
            sum += random_unit(&random);
        }
        normal[j] = sum;
    }
    int status =
        svd_thin(normal, r, width, normal + r * width, normal + r * width + r * r, Vt, err);
    free(normal);
    return status;
}

static void descend(void *argument, size_t task, size_t worker) {
    (void)worker;
    struct starts *starts = argument;
    struct start *start = &starts->start[task];
    size_t r = starts->problem.rank;
    const struct smm_parameters *parameters = starts->parameters;
    bool random = task > 0 || parameters->random_start || parameters->method == SMM_ALTERNATE;
    int status = smm_point_create(&start->point, &starts->matrices, r, &start->err);
    if (status == 0 && random) {
        status = draw_start(starts, task, start->point.Vt, &start->err);
    } else if (status == 0) {
        memcpy(start->point.Vt, starts->svd_Vt, r * starts->matrices.width * sizeof(double));
    }
    if (status == 0) {
        status = smm_lowrank_descend(&starts->problem, &start->point, &start->trace, &start->err);
    }
    start->failed = status < 0;
}

/* The lowest objective, the first of equals; the machine gets it. */
static int take_best(struct smm *smm, const struct starts *starts, const struct binary_loss *loss,
                     struct smm_machine *machine, struct outcome *outcome, struct error *err) {
    size_t best = 0;
    enum stop_reason limit = 0;
    machine->n_starts = starts->n;
    machine->worst = -INFINITY;
    for (size_t k = 0; k < starts->n; k++) {
        const struct start *start = &starts->start[k];
        if (start->failed) {
            *err = start->err;
            return -1;
        }
        best = start->point.objective < starts->start[best].point.objective ? k : best;
        machine->worst = fmax(machine->worst, start->point.objective);
        outcome->iterations += start->trace.iterations;
        limit = limit ? limit : start->trace.limit;
    }
    const struct start *start = &starts->start[best];
    double sum;
    machine->best = start->point.objective;
    machine->stationarity = start->trace.stationarity;
    if (smm_point_matrix(&start->point, &smm->matrices, starts->problem.rank, machine->W, err) <
        0) {
        return -1;
    }
    smm_scores(&smm->matrices, machine->W, smm->s);
    machine->bias = binary_bias(loss, smm->s, smm->problem->n, smm->breaks, &sum);
    machine->primal = 0.5 * array_dot(machine->W, machine->W, smm->cells) + sum;
    double epsilon = starts->parameters->epsilon;
    outcome->converged =
        !start->trace.limit &&
        (starts->problem.alternate ? start->trace.rests : machine->stationarity <= epsilon);
    outcome->reason = limit ? limit : STOP_NOT_STATIONARY;
    return 0;
}

static int solve_lowrank(struct smm *smm, size_t m, const struct binary_loss *loss,
                         const struct smm_parameters *parameters, const struct monitor *monitor,
                         struct outcome *outcome, struct error *err) {
    struct smm_machine *machine = &smm->machine[m];
    size_t height = smm->matrices.height, width = smm->matrices.width;
    size_t k = height < width ? height : width;
    const struct monitor inner = monitor_inner(monitor);
    if (solve_svm(smm, loss, parameters->epsilon, &inner, machine, outcome, err) < 0 ||
        svd_thin(machine->W, height, width, machine->U, machine->s, machine->Vt, err) < 0) {
        return -1;
    }
    struct starts starts = {.smm = smm,
                            .matrices = smm->matrices,
                            .parameters = parameters,
                            .machine = m,
                            .svd_Vt = machine->Vt,
                            .n = 1 + parameters->restarts};
    /* each start has its own count of iterations, so that a limit does not depend on which thread
     * is faster */
    struct monitor_shared shared;
    const struct monitor watch = monitor_share(&shared, monitor);
    starts.problem = (struct smm_lowrank){.matrices = &starts.matrices,
                                          .loss = loss,
                                          .rank = parameters->rank < k ? parameters->rank : k,
                                          .epsilon = parameters->epsilon,
                                          .alternate = parameters->method == SMM_ALTERNATE,
                                          .bound = machine->dual,
                                          .monitor = &watch};
    starts.start = memory_zeros(starts.n, sizeof *starts.start, "starts", err);
    if (!starts.start) {
        monitor_shared_free(&shared);
        return -1;
    }
    *outcome = (struct outcome){.iterations = 1}; /* the SVM */
    if (starts.n > 1) { /* threads go to the starts, else into the only one */
        starts.matrices.threads = NULL;
        threads_run(smm->problem->threads, starts.n, descend, &starts);
    } else {
        descend(&starts, 0, 0);
    }
    monitor_shared_free(&shared);
    int status = take_best(smm, &starts, loss, machine, outcome, err);
    for (size_t i = 0; i < starts.n; i++) {
        smm_point_free(&starts.start[i].point);
    }
    free(starts.start);
    return status;
}

/* ---- all machines ---- */

static int solve_machine(struct smm *smm, size_t m, const struct smm_parameters *parameters,
                         const struct monitor *monitor, struct outcome *outcome,
                         struct error *err) {
    struct smm_machine *machine = &smm->machine[m];
    size_t height = smm->matrices.height, width = smm->matrices.width;
    size_t k = height < width ? height : width;
    uint32_t positive = smm->n_machines == 1 ? 1 : (uint32_t)m;
    for (size_t i = 0; i < smm->problem->n; i++) {
        smm->y[i] = smm->class[i] == positive ? 1 : -1;
        smm->cost[i] = parameters->cost * smm->unit[i];
    }
    const struct binary_loss loss = {
        .y = smm->y, .cost = smm->cost, .squared = parameters->loss == SMM_SQUARED_HINGE};
    *outcome = (struct outcome){0};
    int status;
    switch (parameters->formulation) {
    case SMM_LOWRANK:
        status = solve_lowrank(smm, m, &loss, parameters, monitor, outcome, err);
        break;
    case SMM_NUCLEAR:
        status = solve_nuclear(smm, m, &loss, parameters, monitor, outcome, err);
        break;
    default:
        status = solve_svm(smm, &loss, parameters->epsilon, monitor, machine, outcome, err);
    }
    if (status < 0 ||
        svd_thin(machine->W, height, width, machine->U, machine->s, machine->Vt, err) < 0) {
        return -1;
    }
    machine->rank = 0;
    while (machine->rank < k && machine->s[machine->rank] > RANK_ROUNDING * machine->s[0]) {
        machine->rank++;
    }
    return isfinite(machine->primal) && isfinite(machine->dual)
               ? 0
               : error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
}

static int fill_weights(const struct smm *smm, struct solution *solution, struct error *err) {
    size_t n = smm->n_machines;
    solution->n_outputs = n;
    solution->weights = memory_array(smm->cells, n * sizeof(double), "weights", err);
    solution->bias = memory_array(n, sizeof(double), "weights", err);
    if (!solution->weights || !solution->bias) {
        return -1;
    }
    for (size_t m = 0; m < n; m++) {
        solution->bias[m] = smm->machine[m].bias;
        for (size_t j = 0; j < smm->cells; j++) {
            solution->weights[j * n + m] = smm->machine[m].W[j];
        }
    }
    return 0;
}

int smm_solve(struct smm *smm, const struct smm_parameters *parameters,
              const struct monitor *monitor, struct solution *solution, struct error *err) {
    size_t k =
        smm->matrices.height < smm->matrices.width ? smm->matrices.height : smm->matrices.width;
    *solution = (struct solution){.converged = true, .certified = true};
    struct certificate sum = {.certified = true, .flat = parameters->formulation != SMM_LOWRANK};
    for (size_t m = 0; m < smm->n_machines; m++) {
        struct outcome outcome;
        if (solve_machine(smm, m, parameters, monitor, &outcome, err) < 0) {
            return -1;
        }
        sum.primal += smm->machine[m].primal;
        sum.dual += smm->machine[m].dual;
        sum.nothing += smm->machine[m].certificate.nothing;
        sum.flat &= smm->machine[m].certificate.flat || smm->machine[m].certificate.worse;
        solution->iterations += outcome.iterations;
        if (!outcome.converged) {
            solution->reason = stop_limited(solution->reason) ? solution->reason : outcome.reason;
            solution->converged = false;
        }
    }
    bool convex = parameters->formulation != SMM_LOWRANK || parameters->rank >= k;
    certify_sum(&sum, convex, solution);
    if (fill_weights(smm, solution, err) < 0) {
        solution_free(solution);
        return -1;
    }
    return 0;
}
