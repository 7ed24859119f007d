/* The smm solver: creation, binary subproblems, the outer loop over tolerances with certificates,
 * and the solution. Longer than 500 lines, because all functions work on one private struct. */
#include "families/smm/solver/smm.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/data/row_weights.h"
#include "common/linear_algebra/svd.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/binary_interior_point.h"
#include "families/smm/solver/certify.h"
#include "families/smm/solver/matrix_rows.h"
#include "families/smm/solver/multistart.h"
#include "families/smm/solver/newton.h"
#include "families/smm/solver/policy.h"
#include "fit/score_map.h"
#include "fit/stop.h"
#include "fit/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* relative to the largest singular value; smaller ones count as 0 */
static const double RANK_ROUNDING = 1e-9;

struct smm {
    const struct problem *problem;
    struct smm_matrices matrices;
    size_t cells;
    struct labels labels;
    size_t n_subproblems;
    struct smm_subproblem *subproblem; /* (n_subproblems) */
    double *relative_cost;             /* (n) cost of a row, relative to C */
    uint32_t *class;                   /* (n) number of its label */
    double *y, *cost;                  /* (n) of the present subproblem */
    double *s, *breaks;                /* (n), (2n) work */
    struct smm_newton *newton;
    struct score_map map;
    struct certify *certify;
    double final_seconds; /* seconds reserved for the end of a solve; or 0 */
};

const struct smm_subproblem *smm_subproblems(const struct smm *smm, size_t *n) {
    *n = smm->n_subproblems;
    return smm->subproblem;
}

size_t smm_rows(const struct smm *smm) {
    return smm->problem->n;
}

const struct labels *smm_labels(const struct smm *smm) {
    return &smm->labels;
}

void smm_shape(const struct smm *smm, size_t *height, size_t *width) {
    *height = smm->matrices.height;
    *width = smm->matrices.width;
}

/* ---- creation ---- */

static int take_labels(struct smm *smm, const double *weight, const char *positive,
                       struct error *err) {
    const struct data *data = smm->problem->data;
    if (labels_collect(&smm->labels, smm->problem->data, smm->problem->rows, smm->problem->n,
                       smm->problem->cluster, err) < 0 ||
        (positive && labels_order_pair(&smm->labels, positive, err) < 0)) {
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
        double own = data->weight ? data->weight[i] : 1;
        smm->class[i] = map[data->label[i]];
        smm->relative_cost[i] = (weight ? weight[data->label[i]] : 1) * own;
    }
    free(map);
    return row_weights_refuse_zero(data, smm->problem->cluster, "smm", err);
}

static int create_subproblems(struct smm *smm, struct error *err) {
    size_t height = smm->matrices.height, width = smm->matrices.width;
    size_t k = smaller(height, width);
    smm->n_subproblems = smm->labels.names.n == 2 ? 1 : smm->labels.names.n;
    smm->subproblem = memory_zeros(smm->n_subproblems, sizeof *smm->subproblem, "subproblems", err);
    if (!smm->subproblem) {
        return -1;
    }
    for (size_t m = 0; m < smm->n_subproblems; m++) {
        struct smm_subproblem *subproblem = &smm->subproblem[m];
        subproblem->W = memory_zeros(smm->cells + height * k + k + k * width, sizeof *subproblem->W,
                                     "a matrix", err);
        subproblem->alpha =
            smm->problem->zero_only
                ? NULL
                : memory_zeros(smm->problem->n, sizeof *subproblem->alpha, "dual variables", err);
        if (!subproblem->W || (!subproblem->alpha && !smm->problem->zero_only)) {
            return -1;
        }
        subproblem->U = subproblem->W + smm->cells;
        subproblem->s = subproblem->U + height * k;
        subproblem->Vt = subproblem->s + k;
    }
    return 0;
}

static int create_parts(struct smm *smm, const double *weight, const char *positive,
                        struct error *err) {
    size_t n = smm->problem->n;
    smm->class = memory_array(n, sizeof *smm->class, "labels", err);
    smm->relative_cost = memory_array(n, 6 * sizeof *smm->relative_cost, "costs", err);
    if (!smm->class || !smm->relative_cost) {
        return -1;
    }
    smm->y = smm->relative_cost + n;
    smm->cost = smm->y + n;
    smm->s = smm->cost + n;
    smm->breaks = smm->s + n;
    const struct binary_rows rows = binary_rows_of(&smm->matrices);
    return take_labels(smm, weight, positive, err) < 0 || create_subproblems(smm, err) < 0 ||
                   score_map_create(&smm->map, smm->problem, err) < 0 ||
                   certify_create(&smm->certify, smm->problem, &smm->map, 0, err) < 0
               ? -1
               : smm_newton_create(&smm->newton, &rows, smm->matrices.height, smm->matrices.width,
                                   err);
}

int smm_create(struct smm **smm, const struct problem *problem, size_t height, size_t width,
               const double *weight, const char *positive, struct error *err) {
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
                                           .threads = problem->threads,
                                           .cluster = problem->cluster};
    if (create_parts(made, weight, positive, err) < 0) {
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
    for (size_t m = 0; smm->subproblem && m < smm->n_subproblems; m++) {
        free(smm->subproblem[m].W);
        free(smm->subproblem[m].alpha);
    }
    free(smm->subproblem);
    smm_newton_free(smm->newton);
    certify_free(smm->certify);
    score_map_free(&smm->map);
    labels_free(&smm->labels);
    free(smm->class);
    free(smm->relative_cost);
    free(smm);
}

/* ---- one subproblem ---- */

/* Solves per tolerance. */
enum { MAX_RUNS = 5 };

/* Certifies both bounds of W and the dual point. */
static int certify_points(struct smm *smm, const struct binary_loss *loss, double tau,
                          const double *alpha, const double *W, double bias,
                          struct certificate *certificate, struct error *err) {
    const struct smm_claim input = {
        .matrices = &smm->matrices, .loss = loss, .tau = tau, .W = W, .bias = bias, .alpha = alpha};
    return smm_certify(smm->certify, &input, certificate, err);
}

/* Seconds reserved for the final certificate and for the last work of a solver after its deadline,
 * from the measured time of one certificate. 0 without a deadline. */
static int measure_final_work(struct smm *smm, const struct binary_loss *loss, double tau,
                              const struct monitor *monitor, struct smm_subproblem *subproblem,
                              struct error *err) {
    const double reserved_certificates = 3;
    size_t n = smm->problem->n;
    double seconds_left = monitor_seconds_left(monitor);
    struct certificate certificate;
    smm->final_seconds = 0;
    if (seconds_left == INFINITY) {
        return 0;
    }
    memset(subproblem->W, 0, smm->cells * sizeof *subproblem->W);
    for (size_t i = 0; i < n; i++) {
        subproblem->alpha[i] = 1 / (double)n;
    }
    if (certify_points(smm, loss, tau, subproblem->alpha, subproblem->W, 0, &certificate, err) <
        0) {
        return -1;
    }
    smm->final_seconds = reserved_certificates * (seconds_left - monitor_seconds_left(monitor));
    return 0;
}

/* Certifies the subproblem's W and bias; W becomes the zero solution if that is better, and alpha 0
 * if its bound is. The dual point is made feasible: the cost of y'alpha != 0 is subtracted from its
 * bound. */
static int certify(struct smm *smm, const struct binary_loss *loss, double tau,
                   struct smm_subproblem *subproblem, struct error *err) {
    double sum, *alpha = subproblem->alpha;
    struct certificate *certificate = &subproblem->certificate;
    binary_balance(loss->cluster, loss->y, smm->problem->n, alpha);
    if (certify_points(smm, loss, tau, alpha, subproblem->W, subproblem->bias, certificate, err) <
        0) {
        return -1;
    }
    if (certificate->zero_is_better) {
        memset(subproblem->W, 0, smm->cells * sizeof *subproblem->W);
        memset(smm->s, 0, smm->problem->n * sizeof *smm->s);
        subproblem->bias = binary_bias(loss, smm->s, smm->problem->n, smm->breaks, &sum);
    }
    if (certificate->dual == 0) { /* a negative bound would lower the sum over subproblems */
        memset(alpha, 0, smm->problem->n * sizeof *alpha);
    }
    subproblem->primal = certificate->primal;
    subproblem->dual = certificate->dual;
    return 0;
}

/* The best points over outer iterations. */
struct best {
    double *W, *alpha; /* (cells), (n); W is NULL before the first */
    double bias;
    struct certificate certificate;
};

/* Keeps the better primal and the better dual point of this and earlier outer iterations, in both
 * structs. */
static int update_best(struct smm *smm, const struct binary_loss *loss, double tau,
                       struct best *best, struct smm_subproblem *subproblem, struct error *err) {
    size_t n = smm->problem->n;
    bool first = !best->W;
    if (first) {
        best->W = memory_array(smm->cells + n, sizeof *best->W, "a matrix", err);
        if (!best->W) {
            return -1;
        }
        best->alpha = best->W + smm->cells;
    }
    bool primal = !first && best->certificate.primal < subproblem->primal;
    bool dual = !first && best->certificate.dual > subproblem->dual;
    if (primal) {
        memcpy(subproblem->W, best->W, smm->cells * sizeof *best->W);
        subproblem->bias = best->bias;
    }
    if (dual) {
        memcpy(subproblem->alpha, best->alpha, n * sizeof *best->alpha);
    }
    if ((primal || dual) && certify_points(smm, loss, tau, subproblem->alpha, subproblem->W,
                                           subproblem->bias, &subproblem->certificate, err) < 0) {
        return -1;
    }
    subproblem->primal = subproblem->certificate.primal;
    subproblem->dual = subproblem->certificate.dual;
    memcpy(best->W, subproblem->W, smm->cells * sizeof *best->W);
    memcpy(best->alpha, subproblem->alpha, n * sizeof *best->alpha);
    best->bias = subproblem->bias;
    best->certificate = subproblem->certificate;
    return 0;
}

/* A fit of one binary subproblem. */
struct solving {
    struct smm *smm;
    struct smm_state state;
    const struct monitor *monitor;
    struct best best;
    struct smm_subproblem *subproblem;
    double last_gap; /* certified gap of the previous outer iteration */
    uint64_t iterations;
    enum stop_reason reason;
};

/* One outer iteration. If rounding has closed the gap between the running bounds of Newton's
 * method, they meet any smaller tolerance without progress; then the interior-point method, whose
 * bounds differ, runs alone. */
static int solve_once(void *context, double tolerance, struct tolerance_result *end,
                      struct error *err) {
    const double min_progress = 0.5;
    struct solving *solving = context;
    struct smm *smm = solving->smm;
    struct smm_state *state = &solving->state;
    struct smm_subproblem *subproblem = solving->subproblem;
    const struct binary_fit *fit = &state->fit;
    state->epsilon = tolerance;
    if (smm_policy_solve(state, solving->monitor, err) < 0) {
        return -1;
    }
    subproblem->bias = fit->bias;
    solving->iterations += fit->iterations;
    solving->reason = fit->reason ? fit->reason : STOP_ROUNDING;
    if (certify(smm, state->loss, state->tau, subproblem, err) < 0 ||
        update_best(smm, state->loss, state->tau, &solving->best, subproblem, err) < 0) {
        return -1;
    }
    double gap = subproblem->certificate.gap;
    bool stalled =
        fit->reason || !(fit->dual < fit->primal) || !(gap < min_progress * solving->last_gap);
    bool last = state->failed || !policy_applies(&smm_policy, ALGORITHM_INTERIOR_POINT, state);
    end->gap = gap;
    end->limited = stop_limited(fit->reason);
    end->converged = !(stalled && last);
    state->failed = state->failed || stalled;
    solving->last_gap = gap;
    return 0;
}

static int solve_to(void *context, double epsilon, struct tolerance_result *end,
                    struct error *err) {
    struct solving *solving = context;
    const struct certificate *found = &solving->subproblem->certificate;
    solving->last_gap = INFINITY;
    solving->state.failed = false;
    if (tolerance_tighten(solve_once, solving, epsilon, MAX_RUNS, err) < 0) {
        return -1;
    }
    end->gap = found->certified ? found->gap : (double)NAN;
    end->limited = stop_limited(solving->reason);
    return 0;
}

/* Solves the SVM, with the nuclear norm if tau > 0. */
static int solve_convex(struct smm *smm, size_t m, const struct binary_loss *loss, double tau,
                        double epsilon, const struct monitor *monitor, struct smm_outcome *outcome,
                        struct error *err) {
    struct smm_subproblem *subproblem = &smm->subproblem[m];
    struct solving solving = {.smm = smm,
                              .monitor = monitor,
                              .subproblem = subproblem,
                              .state = {.matrices = &smm->matrices,
                                        .newton = smm->newton,
                                        .tau = tau,
                                        .loss = loss,
                                        .W = subproblem->W,
                                        .alpha = subproblem->alpha}};
    smm_newton_forget(smm->newton);
    int status = tolerance_solve(solve_to, &solving, epsilon,
                                 cluster_count(loss->cluster, smm->problem->n), err);
    if (status == 0) {
        *outcome = (struct smm_outcome){
            .iterations = solving.iterations,
            .converged =
                subproblem->certificate.certified && subproblem->certificate.gap <= epsilon,
            .reason = certify_reason(&subproblem->certificate, solving.reason)};
    }
    free(solving.best.W);
    return status;
}

/* Whether all rows have the same score. */
static bool scores_are_equal(const struct smm *smm) {
    double extremes[2] = {-INFINITY, -INFINITY}; /* the largest, and minus the smallest */
    for (size_t i = 0; i < smm->problem->n; i++) {
        extremes[0] = fmax(extremes[0], smm->s[i]);
        extremes[1] = fmax(extremes[1], -smm->s[i]);
    }
    cluster_max(smm->problem->cluster, extremes, 2);
    return extremes[0] == -extremes[1];
}

/* Solves lowrank from the SVM's W. The subproblem gets the best point of all starts. */
static int solve_lowrank(struct smm *smm, size_t m, const struct binary_loss *loss,
                         const struct smm_parameters *parameters, const struct monitor *monitor,
                         struct smm_outcome *outcome, struct error *err) {
    struct smm_subproblem *subproblem = &smm->subproblem[m];
    struct monitor_run early; /* the work after the SVM takes as long as the SVM's end */
    struct monitor svm_monitor = monitor_deadline_only(monitor);
    svm_monitor.algorithm = monitor ? monitor->algorithm : NULL;
    const struct monitor inner = monitor_reserve_time(&early, &svm_monitor, 2 * smm->final_seconds);
    double sum;
    if (solve_convex(smm, m, loss, 0, parameters->epsilon, &inner, outcome, err) < 0 ||
        svd_thin(subproblem->W, smm->matrices.height, smm->matrices.width, subproblem->U,
                 subproblem->s, subproblem->Vt, err) < 0) {
        return -1;
    }
    monitor_algorithm(monitor, ALGORITHM_ALTERNATION);
    const struct smm_starts starts = {.matrices = &smm->matrices,
                                      .loss = loss,
                                      .parameters = parameters,
                                      .number = m,
                                      .monitor = monitor,
                                      .distributed = smm->problem->starts};
    if (smm_starts_solve(&starts, subproblem, outcome, err) < 0) {
        return -1;
    }
    smm_scores(&smm->matrices, subproblem->W, smm->s);
    subproblem->bias = binary_bias(loss, smm->s, smm->problem->n, smm->breaks, &sum);
    subproblem->primal = 0.5 * array_dot(subproblem->W, subproblem->W, smm->cells) + sum;
    subproblem->certificate.constant_scores = scores_are_equal(smm);
    subproblem->certificate.zero_is_better = false; /* it referred to the SVM */
    size_t height = smm->matrices.height, width = smm->matrices.width;
    if (parameters->rank >= smaller(height, width)) { /* an SVM, with its dual point */
        return certify(smm, loss, 0, subproblem, err);
    }
    return 0;
}

/* ---- all subproblems ---- */

/* Whether the deadline has passed: on any process if starts are distributed, because all must
 * agree. */
static bool is_past_deadline(const struct smm *smm, const struct monitor *monitor) {
    return cluster_any(smm->problem->starts, monitor_past_deadline(monitor));
}

/* The zero solution with its best bias and alpha = 0, if there is no time to solve. */
static void set_zero(struct smm *smm, const struct binary_loss *loss,
                     struct smm_subproblem *subproblem, struct smm_outcome *outcome) {
    size_t n = smm->problem->n;
    double sum, zero_loss = smm_loss_of_zero(loss, n);
    memset(subproblem->W, 0, smm->cells * sizeof *subproblem->W);
    if (subproblem->alpha) {
        memset(subproblem->alpha, 0, n * sizeof *subproblem->alpha);
    }
    memset(smm->s, 0, n * sizeof *smm->s);
    subproblem->bias = binary_bias(loss, smm->s, n, smm->breaks, &sum);
    subproblem->rank = 0;
    subproblem->primal = subproblem->best = subproblem->worst = zero_loss;
    subproblem->dual = 0;
    subproblem->certificate = (struct certificate){.primal = zero_loss,
                                                   .zero_primal = zero_loss,
                                                   .certified = true,
                                                   .constant_scores = true,
                                                   .zero_is_better = true};
    subproblem->stationarity = INFINITY;
    subproblem->n_starts = 0;
    *outcome = (struct smm_outcome){.zero_only = true, .reason = STOP_TIME};
}

static int solve_subproblem(struct smm *smm, size_t m, const struct smm_parameters *parameters,
                            const struct monitor *monitor, struct smm_outcome *outcome,
                            struct error *err) {
    struct smm_subproblem *subproblem = &smm->subproblem[m];
    size_t height = smm->matrices.height, width = smm->matrices.width;
    size_t k = smaller(height, width);
    uint32_t positive = smm->n_subproblems == 1 ? 1 : (uint32_t)m;
    for (size_t i = 0; i < smm->problem->n; i++) {
        smm->y[i] = smm->class[i] == positive ? 1 : -1;
        /* not 0 by underflow, which certificates allow for */
        smm->cost[i] = fmax(parameters->cost * smm->relative_cost[i], DBL_TRUE_MIN);
    }
    const struct binary_loss loss = {.y = smm->y,
                                     .cost = smm->cost,
                                     .squared = parameters->loss == SMM_SQUARED_HINGE,
                                     .cluster = smm->problem->cluster};
    double tau = parameters->formulation == SMM_NUCLEAR ? parameters->tau : 0;
    bool past_deadline = is_past_deadline(smm, monitor);
    if (m == 0 && !past_deadline &&
        measure_final_work(smm, &loss, tau, monitor, subproblem, err) < 0) {
        return -1;
    }
    struct monitor_run early;
    const struct monitor final_seconds = monitor_reserve_time(&early, monitor, smm->final_seconds);
    *outcome = (struct smm_outcome){0};
    if (past_deadline || is_past_deadline(smm, &final_seconds)) {
        set_zero(smm, &loss, subproblem, outcome);
        return 0;
    }
    const struct smm_state state = {.lowrank = parameters->formulation == SMM_LOWRANK};
    int status =
        policy_applies(&smm_policy, ALGORITHM_ALTERNATION, &state)
            ? solve_lowrank(smm, m, &loss, parameters, &final_seconds, outcome, err)
            : solve_convex(smm, m, &loss, tau, parameters->epsilon, &final_seconds, outcome, err);
    if (status < 0 || svd_thin(subproblem->W, height, width, subproblem->U, subproblem->s,
                               subproblem->Vt, err) < 0) {
        return -1;
    }
    subproblem->rank = 0;
    while (subproblem->rank < k &&
           subproblem->s[subproblem->rank] > RANK_ROUNDING * subproblem->s[0]) {
        subproblem->rank++;
    }
    return isfinite(subproblem->primal) && isfinite(subproblem->dual) ? 0 : stop_overflow(err);
}

static int fill_weights(const struct smm *smm, struct solution *solution, struct error *err) {
    size_t n = smm->n_subproblems;
    solution->n_outputs = n;
    solution->weights = memory_array(smm->cells, n * sizeof(double), "weights", err);
    solution->bias = memory_array(n, sizeof(double), "weights", err);
    if (!solution->weights || !solution->bias) {
        return -1;
    }
    for (size_t m = 0; m < n; m++) {
        solution->bias[m] = smm->subproblem[m].bias;
        for (size_t j = 0; j < smm->cells; j++) {
            solution->weights[j * n + m] = smm->subproblem[m].W[j];
        }
    }
    return 0;
}

int smm_solve(struct smm *smm, const struct smm_parameters *parameters,
              const struct monitor *monitor, struct solution *solution, struct error *err) {
    size_t k = smaller(smm->matrices.height, smm->matrices.width);
    *solution = (struct solution){.converged = true, .certified = true, .zero_only = true};
    struct certificate sum = {.certified = true, .constant_scores = true};
    for (size_t m = 0; m < smm->n_subproblems; m++) {
        struct smm_outcome outcome;
        if (solve_subproblem(smm, m, parameters, monitor, &outcome, err) < 0) {
            return -1;
        }
        certify_add(&sum, smm->subproblem[m].primal, smm->subproblem[m].dual,
                    &smm->subproblem[m].certificate);
        solution->iterations += outcome.iterations;
        solution->zero_only &= outcome.zero_only;
        if (!outcome.converged) {
            solution->reason = stop_limited(solution->reason) ? solution->reason : outcome.reason;
            solution->converged = false;
        }
    }
    bool convex = parameters->formulation != SMM_LOWRANK || parameters->rank >= k;
    certify_sum(&sum, convex, parameters->epsilon, solution);
    if (fill_weights(smm, solution, err) < 0) {
        solution_free(solution);
        return -1;
    }
    return 0;
}
