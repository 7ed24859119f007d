#include "solvers/top/top.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "solvers/methods/score_map.h"
#include "solvers/top/certify.h"
#include "solvers/top/dual.h"
#include "solvers/top/engines.h"
#include "solvers/top/grill.h"
#include "solvers/top/risk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often a fit that looked converged, but is not when recomputed in double, or is no better than
 * w = 0, is taken further. */
enum { POLISH_ROUNDS = 8 };

/* w = 0 is called optimal when its own gap is as small as this. */
static const double TRIVIAL = 1e-6;

struct top {
    const struct problem *problem;
    struct top_setting setting;
    struct score_map map;
    struct certify *certify;
    struct top_engines engines[2]; /* by enum top_loss; without map: not made */
    double *cost;                  /* (n) weights of positives, 0: no positive */
    double *mass;                  /* (n) weights in J */
    double *negative;              /* (n) weights of negatives */
    struct top_counts counts;
    double threshold;
    const char *trivial;
};

static bool counts_all(enum top_formulation formulation) {
    return formulation == TOP_MEAN_K || formulation == TOP_PAT_MAT || formulation == TOP_GRILL;
}

static bool is_grill(enum top_formulation formulation) {
    return formulation == TOP_GRILL || formulation == TOP_GRILL_NP;
}

static enum top_kind kind_of(enum top_formulation formulation) {
    switch (formulation) {
    case TOP_PAT_MAT:
    case TOP_PAT_MAT_NP:
        return TOP_QUANTILE;
    case TOP_SVM:
        return TOP_NONE;
    default:
        return TOP_MEAN;
    }
}

/* Weights of the rows, by class. */
static void read_weights(struct top *top) {
    const struct data *data = top->problem->data;
    const struct top_setting *setting = &top->setting;
    bool all = counts_all(setting->formulation);
    for (size_t i = 0; i < top->problem->n; i++) {
        uint32_t row = top->problem->rows ? top->problem->rows[i] : (uint32_t)i;
        uint32_t label = data->label[row];
        double weight =
            (setting->weight ? setting->weight[label] : 1) * (data->weight ? data->weight[row] : 1);
        bool positive = setting->positive[label];
        top->cost[i] = positive ? weight : 0;
        top->negative[i] = positive ? 0 : weight;
        top->mass[i] = positive && !all ? 0 : weight;
        /* the largest of equal scores is that of one of them */
        if (setting->formulation == TOP_PUSH && top->mass[i] > 0) {
            top->mass[i] = 1;
        }
        struct top_counts *counts = &top->counts;
        counts->n_positive += positive && weight > 0;
        counts->n_negative += !positive && weight > 0;
        counts->positive_weight += top->cost[i];
        counts->top_weight += top->mass[i];
    }
}

static int choose_k(struct top *top, struct error *err) {
    struct top_counts *counts = &top->counts;
    double tau = top->setting.tau;
    switch (top->setting.formulation) {
    case TOP_PUSH:
        counts->k = 1;
        break;
    case TOP_PUSH_K:
        counts->k = top->setting.k;
        if (counts->k > counts->top_weight * (1 + 1e-12)) { /* sums of weights are rounded */
            return error_set(err, ERROR_RUNTIME, "K is %g, but there are only %g negatives",
                             counts->k, counts->top_weight);
        }
        counts->k = fmin(counts->k, counts->top_weight);
        break;
    case TOP_TAU_FPL:
    case TOP_MEAN_K:
        /* a whole number, as published; halves to even */
        counts->k = fmin(fmax(1, nearbyint(tau * counts->top_weight)), counts->top_weight);
        break;
    default:
        break;
    }
    return 0;
}

static int check_classes(const struct top *top, struct error *err) {
    if (top->counts.n_positive == 0 || top->counts.n_negative == 0) {
        return error_set(err, ERROR_RUNTIME, "there is no %s row of a weight above 0",
                         top->counts.n_positive == 0 ? "positive" : "negative");
    }
    return 0;
}

int top_create(struct top **top, const struct problem *problem, const struct top_setting *setting,
               struct error *err) {
    struct top *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->setting = *setting;
    made->cost = memory_array(problem->n, sizeof(double), "weights of rows", err);
    made->mass = memory_array(problem->n, sizeof(double), "weights of rows", err);
    made->negative = memory_array(problem->n, sizeof(double), "weights of rows", err);
    if (!made->cost || !made->mass || !made->negative) {
        top_free(made);
        return -1;
    }
    read_weights(made);
    if (check_classes(made, err) < 0 || choose_k(made, err) < 0 ||
        score_map_create(&made->map, problem, err) < 0 ||
        certify_create(&made->certify, problem, &made->map, 0, err) < 0) {
        top_free(made);
        return -1;
    }
    *top = made;
    return 0;
}

void top_free(struct top *top) {
    if (!top) {
        return;
    }
    for (int loss = 0; loss < 2; loss++) {
        top_engines_free(&top->engines[loss]);
    }
    certify_free(top->certify);
    score_map_free(&top->map);
    free(top->cost);
    free(top->mass);
    free(top->negative);
    free(top);
}

struct top_counts top_counts(const struct top *top) {
    return top->counts;
}

double top_threshold(const struct top *top) {
    return top->threshold;
}

const char *top_trivial(const struct top *top) {
    return top->trivial;
}

static int create_engines(struct top *top, enum top_loss loss, struct error *err) {
    struct top_engines *engines = &top->engines[loss];
    struct top_risk *risk = &engines->risk;
    size_t n = top->problem->n;
    if (engines->map) {
        return 0;
    }
    if (top_risk_create(risk, n, err) < 0) {
        return -1;
    }
    risk->kind = kind_of(top->setting.formulation);
    risk->square = loss == TOP_SQUARED_HINGE;
    risk->theta = top->setting.theta;
    risk->budget = top->setting.tau * top->counts.top_weight;
    memcpy(risk->cost, top->cost, n * sizeof(double));
    memcpy(risk->mass, top->setting.formulation == TOP_SVM ? top->negative : top->mass,
           n * sizeof(double));
    if (top_risk_ready(risk, top->counts.k, err) < 0) {
        top_risk_free(risk);
        return -1;
    }
    engines->problem = top->problem;
    engines->map = &top->map;
    return 0;
}

/* ---- the certificate ---- */

/* Makes the dual point feasible, and computes both bounds from the weights and it, and the
 * threshold. */
static int certify(struct top *top, const struct top_parameters *parameters, struct fit *fit,
                   double *threshold, struct certificate *certificate, struct error *err) {
    struct top_risk *risk = &top->engines[parameters->loss].risk;
    top_dual_repair(risk, parameters->cost, fit->alpha, fit->beta);
    const struct top_claim claim = {.map = &top->map,
                                    .risk = risk,
                                    .cost = parameters->cost,
                                    .weights = fit->weights,
                                    .alpha = fit->alpha,
                                    .beta = fit->beta};
    if (top_certify(top->certify, &claim, threshold, certificate, err) < 0) {
        return -1;
    }
    fit->primal = certificate->primal;
    fit->dual = certificate->dual;
    return 0;
}

/* ---- w = 0 ---- */

/* Makes w = 0 and the dual point 0 the fit, of which *threshold is the threshold. */
static int take_nothing(struct top *top, const struct top_parameters *parameters, struct fit *fit,
                        double *threshold, struct error *err) {
    size_t n = top->problem->n;
    struct top_risk *risk = &top->engines[parameters->loss].risk;
    *fit = (struct fit){.weights = memory_zeros(top->map.dimension, sizeof(double), "weights", err),
                        .alpha = memory_zeros(n, sizeof(double), "the dual point", err),
                        .beta = memory_zeros(n, sizeof(double), "the dual point", err)};
    double *s = memory_zeros(n, 2 * sizeof *s, "scores", err), offset;
    int status = fit->weights && fit->alpha && fit->beta && s ? 0 : -1;
    if (status == 0) {
        fit->primal = parameters->cost * top_risk_cut(risk, s, s + n, &offset);
        *threshold = risk->threshold;
    }
    free(s);
    return status;
}

/* topmeank, where the positives' own centroid is among the means of K rows: each positive's part of
 * the cost is no more than its share of the threshold. */
static bool nothing_is_best(const struct top *top, const struct top_parameters *parameters) {
    const struct top_risk *risk = &top->engines[parameters->loss].risk;
    if (top->setting.formulation != TOP_MEAN_K) {
        return false;
    }
    for (size_t i = 0; i < risk->n; i++) {
        if (risk->cost[i] > 0 && risk->cost[i] > risk->share[i] * risk->total_cost * (1 + 1e-12)) {
            return false;
        }
    }
    return true;
}

static const char *explain(const struct top *top) {
    switch (kind_of(top->setting.formulation)) {
    case TOP_MEAN:
        return "w = 0 is optimal: the centroid of the positives is no further than the means of K "
               "rows of the threshold; a smaller K or tau, or another kernel, may help";
    case TOP_QUANTILE:
        return "w = 0 is optimal: no direction takes the positives above the threshold; another "
               "tau or theta, or another kernel, may help";
    case TOP_NONE:
        break;
    }
    return "w = 0 is optimal: no direction takes the positives above the negatives; another kernel "
           "may help";
}

/* The dual point that shows it: at scores 0 the same of alpha and of beta. */
static void balance(const struct top *top, const struct top_parameters *parameters,
                    struct fit *fit) {
    const struct top_risk *risk = &top->engines[parameters->loss].risk;
    for (size_t i = 0; i < risk->n; i++) {
        fit->alpha[i] = parameters->cost * risk->cost[i] * top_slope(risk->square, 0);
        fit->beta[i] = fit->alpha[i];
    }
}

/* Makes w = 0 the primal side of the fit, whose dual shows that nothing is better. */
static int take_trivial(struct top *top, const struct top_parameters *parameters, struct fit *fit,
                        struct error *err) {
    struct fit nothing;
    int status = take_nothing(top, parameters, &nothing, &top->threshold, err);
    if (status == 0) {
        memcpy(fit->weights, nothing.weights, top->map.dimension * sizeof(double));
        fit->primal = nothing.primal;
        fit->converged = true;
        fit->reason = STOP_REACHED;
        top->trivial = explain(top);
    }
    fit_free(&nothing);
    return status;
}

/* ---- solving ---- */

static int check_method(const struct top *top, const struct top_parameters *parameters,
                        struct error *err) {
    enum top_formulation formulation = top->setting.formulation;
    if (is_grill(formulation) && parameters->method != TOP_AUTO) {
        return error_set(err, ERROR_USAGE, "grill has a solver of its own");
    }
    if (is_grill(formulation) && !top->map.primal) {
        return error_set(err, ERROR_USAGE, "grill is for the linear kernel");
    }
    if (formulation == TOP_SVM && parameters->method == TOP_CD) {
        return error_set(err, ERROR_USAGE, "solver cd: not for formulation svm");
    }
    return 0;
}

static void swap(double **a, double **b) {
    double *spare = *a;
    *a = *b;
    *b = spare;
}

/* Takes the sides of `found` that are better; threshold is that of its primal. */
static void take_better(struct top *top, struct fit *fit, struct fit *found, double threshold) {
    if (found->primal < fit->primal) {
        swap(&fit->weights, &found->weights);
        fit->primal = found->primal;
        top->threshold = threshold;
    }
    if (found->dual > fit->dual) {
        swap(&fit->alpha, &found->alpha);
        swap(&fit->beta, &found->beta);
        fit->dual = found->dual;
    }
    fit->converged = found->converged;
    fit->reason = found->reason;
    fit->iterations += found->iterations;
}

/* Solves until the gap that is computed from the data is as asked, and the fit better than w = 0.
 */
static int solve_convex(struct top *top, const struct top_parameters *parameters,
                        const struct monitor *monitor, struct fit *fit, struct certificate *best,
                        struct error *err) {
    double threshold, epsilon = parameters->epsilon;
    if (take_nothing(top, parameters, fit, &top->threshold, err) < 0) {
        return -1;
    }
    double nothing = fit->primal;
    if (nothing_is_best(top, parameters)) {
        balance(top, parameters, fit);
        return certify(top, parameters, fit, &threshold, best, err) < 0 ||
                       take_trivial(top, parameters, fit, err) < 0
                   ? -1
                   : 0;
    }
    for (int round = 0;; round++) {
        struct fit found = {0};
        struct certificate certificate;
        if (top_engines_solve(&top->engines[parameters->loss], parameters, epsilon, fit->iterations,
                              monitor, &found, err) < 0 ||
            certify(top, parameters, &found, &threshold, &certificate, err) < 0) {
            fit_free(&found);
            return -1;
        }
        if (!certificate.certified) {
            fit->dual = -INFINITY; /* what was found is all there is */
            fit->primal = INFINITY;
        }
        bool stopped = !found.converged;
        struct certificate other = *best;
        *best = round == 0 || found.primal < fit->primal ? certificate : *best;
        certify_join(best, round == 0 || found.primal >= fit->primal ? &certificate : &other);
        take_better(top, fit, &found, threshold);
        fit_free(&found);
        if (!certificate.certified) {
            return 0;
        }
        bool useful = fit->primal < nothing;
        if (!useful && gap_reached(nothing, fit->dual, fmin(TRIVIAL, parameters->epsilon))) {
            return take_trivial(top, parameters, fit, err);
        }
        if (stopped || (best->gap <= parameters->epsilon && useful) || round == POLISH_ROUNDS ||
            parameters->method == TOP_CD) {
            return 0;
        }
        epsilon /= useful ? 2 : 10;
    }
}

static int solve_grill(struct top *top, const struct top_parameters *parameters,
                       const struct monitor *monitor, struct solution *solution,
                       struct error *err) {
    const struct top_grill grill = {.problem = top->problem,
                                    .cost = top->cost,
                                    .mass = top->mass,
                                    .negative = top->negative,
                                    .tau = top->setting.tau,
                                    .C = parameters->cost,
                                    .square = parameters->loss == TOP_SQUARED_HINGE,
                                    .seed = parameters->seed,
                                    .starts = parameters->starts,
                                    .epsilon = parameters->epsilon};
    return top_grill_solve(&grill, monitor, solution, &top->threshold, err);
}

int top_solve(struct top *top, const struct top_parameters *parameters,
              const struct monitor *monitor, struct solution *solution, struct error *err) {
    *solution = (struct solution){0};
    top->trivial = NULL;
    if (check_method(top, parameters, err) < 0) {
        return -1;
    }
    if (is_grill(top->setting.formulation)) {
        return solve_grill(top, parameters, monitor, solution, err);
    }
    struct fit fit = {0};
    struct certificate certificate = {0};
    if (create_engines(top, parameters->loss, err) < 0 ||
        solve_convex(top, parameters, monitor, &fit, &certificate, err) < 0) {
        fit_free(&fit);
        return -1;
    }
    *solution =
        (struct solution){.n_outputs = 1, .weights = fit.weights, .iterations = fit.iterations};
    fit.weights = NULL;
    certify_conclude(&certificate, parameters->epsilon, fit.reason ? fit.reason : STOP_ROUNDING,
                     solution);
    solution->flat = solution->flat && !top->trivial; /* which says so, and why */
    if (certificate.worse) {
        memset(solution->weights, 0, top->map.dimension * sizeof *solution->weights);
    }
    fit_free(&fit);
    return 0;
}
