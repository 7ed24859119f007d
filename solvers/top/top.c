#include "solvers/top/top.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "solvers/methods/score_map.h"
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

/* A square this much below 0, of its terms, or a dual above the primal, of both, is no rounding. */
static const double INDEFINITE = 1e-9;

/* w = 0 is called optimal when its own gap is as small as this. */
static const double TRIVIAL = 1e-6;

struct top {
    const struct problem *problem;
    struct top_setting setting;
    struct score_map map;
    struct top_engines engines[2]; /* by enum top_loss; without map: not open */
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

int top_open(struct top **top, const struct problem *problem, const struct top_setting *setting,
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
        top_close(made);
        return -1;
    }
    read_weights(made);
    if (check_classes(made, err) || choose_k(made, err) ||
        score_map_create(&made->map, problem, err)) {
        top_close(made);
        return -1;
    }
    *top = made;
    return 0;
}

void top_close(struct top *top) {
    if (!top) {
        return;
    }
    for (int loss = 0; loss < 2; loss++) {
        top_engines_free(&top->engines[loss]);
    }
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

static int open_engines(struct top *top, enum top_loss loss, struct error *err) {
    struct top_engines *engines = &top->engines[loss];
    struct top_risk *risk = &engines->risk;
    size_t n = top->problem->n;
    if (engines->map) {
        return 0;
    }
    if (top_risk_create(risk, n, err)) {
        return -1;
    }
    risk->kind = kind_of(top->setting.formulation);
    risk->square = loss == TOP_SQUARED_HINGE;
    risk->theta = top->setting.theta;
    risk->budget = top->setting.tau * top->counts.top_weight;
    memcpy(risk->cost, top->cost, n * sizeof(double));
    memcpy(risk->mass, top->setting.formulation == TOP_SVM ? top->negative : top->mass,
           n * sizeof(double));
    if (top_risk_ready(risk, top->counts.k, err)) {
        top_risk_free(risk);
        return -1;
    }
    engines->problem = top->problem;
    engines->map = &top->map;
    return 0;
}

/* ---- the certificate ---- */

/* Adds what b'K b may have lost by rounding, where terms cancel: a part of (sum |b_i| |phi_i|)^2.
 */
static int add_rounding(const struct score_map *map, const double *b, double *rounding,
                        struct error *err) {
    double *diagonal = memory_array(map->n, sizeof *diagonal, "a certificate", err), sum = 0;
    if (!diagonal || map->diagonal(map, diagonal, err)) {
        free(diagonal);
        return -1;
    }
    for (size_t i = 0; i < map->n; i++) {
        sum += fabs(b[i]) * sqrt(fabs(diagonal[i]));
    }
    free(diagonal);
    *rounding += 1e-14 * sum * sum;
    return 0;
}

/* Work of a certificate. */
struct certificate {
    double
        *weights;   /* (dimension, 2) of the primal, and of the dual; or of both, if they are one */
    double *scores; /* (n, 2) of them */
    double *b;      /* (n) alpha - beta */
    double *s, *g;  /* (n) scores of the primal, a subgradient there */
    size_t outputs;
};

static void free_certificate(struct certificate *certificate) {
    free(certificate->weights);
    free(certificate->scores);
    free(certificate->b);
}

/* Weights of the fit and of its dual point, and their scores, from the data. */
static int prepare_certificate(const struct top *top, const struct fit *fit,
                               struct certificate *certificate, struct error *err) {
    const struct score_map *map = &top->map;
    size_t n = map->n, d = map->dimension;
    *certificate =
        (struct certificate){.weights = memory_array(d, 3 * sizeof(double), "a certificate", err),
                             .scores = memory_array(n, 2 * sizeof(double), "a certificate", err),
                             .b = memory_array(n, 3 * sizeof(double), "a certificate", err)};
    if (!certificate->weights || !certificate->scores || !certificate->b) {
        return -1;
    }
    certificate->s = certificate->b + n;
    certificate->g = certificate->s + n;
    for (size_t i = 0; i < n; i++) {
        certificate->b[i] = fit->alpha[i] - fit->beta[i];
    }
    double *both = certificate->weights, *dual = both + 2 * d;
    if (map->adjoint(map, certificate->b, dual, err)) {
        return -1;
    }
    bool same = memcmp(fit->weights, dual, d * sizeof *dual) == 0;
    size_t outputs = certificate->outputs = same ? 1 : 2;
    for (size_t k = 0; k < d; k++) {
        both[outputs * k] = fit->weights[k];
        both[outputs * k + outputs - 1] = dual[k];
    }
    return map->exact(map, both, outputs, certificate->scores, err);
}

/* Makes the dual point feasible, and recomputes both bounds in double from the weights and it, and
 * the threshold. *indefinite: they show that the kernel is not positive semidefinite. */
static int certify(struct top *top, const struct top_parameters *parameters, struct fit *fit,
                   double *threshold, bool *indefinite, struct error *err) {
    const struct score_map *map = &top->map;
    struct top_risk *risk = &top->engines[parameters->loss].risk;
    struct certificate certificate;
    top_dual_repair(risk, parameters->cost, fit->alpha, fit->beta);
    int status = prepare_certificate(top, fit, &certificate, err);
    if (status == 0) {
        const double *both = certificate.weights, *scores = certificate.scores;
        const double *other = map->primal ? both : scores;
        size_t outputs = certificate.outputs, last = outputs - 1;
        double norm = 0, dual_norm = 0, terms = 0, offset;
        for (size_t k = 0; k < map->dimension; k++) {
            double square = both[outputs * k] * other[outputs * k];
            double dual_square = both[outputs * k + last] * other[outputs * k + last];
            norm += square;
            dual_norm += dual_square;
            terms += fabs(square) + fabs(dual_square);
        }
        for (size_t i = 0; i < map->n; i++) {
            certificate.s[i] = scores[outputs * i];
        }
        fit->primal = 0.5 * norm +
                      parameters->cost * top_risk_cut(risk, certificate.s, certificate.g, &offset);
        *threshold = risk->threshold;
        fit->dual = top_risk_dual(risk, parameters->cost, fit->alpha, fit->beta) - 0.5 * dual_norm;
        double rounding = INDEFINITE * terms;
        status = map->primal ? 0 : add_rounding(map, certificate.b, &rounding, err);
        *indefinite =
            norm < -rounding || dual_norm < -rounding ||
            fit->dual - fit->primal > INDEFINITE * (fabs(fit->dual) + fabs(fit->primal)) + rounding;
        if (status == 0 && (!isfinite(fit->primal) || !isfinite(fit->dual))) {
            status =
                error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
        }
    }
    free_certificate(&certificate);
    return status;
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
                        const struct monitor *monitor, struct fit *fit, bool *indefinite,
                        struct error *err) {
    double threshold, epsilon = parameters->epsilon;
    if (take_nothing(top, parameters, fit, &top->threshold, err)) {
        return -1;
    }
    double nothing = fit->primal;
    if (nothing_is_best(top, parameters)) {
        balance(top, parameters, fit);
        return certify(top, parameters, fit, &threshold, indefinite, err) ||
                       take_trivial(top, parameters, fit, err)
                   ? -1
                   : 0;
    }
    for (int round = 0;; round++) {
        struct fit found = {0};
        if (top_engines_solve(&top->engines[parameters->loss], parameters, epsilon, fit->iterations,
                              monitor, &found, err) ||
            certify(top, parameters, &found, &threshold, indefinite, err)) {
            fit_free(&found);
            return -1;
        }
        if (*indefinite) {
            fit->dual = -INFINITY; /* what was found is all there is */
            fit->primal = INFINITY;
        }
        bool stopped = !found.converged;
        take_better(top, fit, &found, threshold);
        fit_free(&found);
        if (*indefinite) {
            return 0;
        }
        bool useful = fit->primal < nothing;
        bool reached = gap_reached(fit->primal, fit->dual, parameters->epsilon);
        if (!useful && gap_reached(nothing, fit->dual, fmin(TRIVIAL, parameters->epsilon))) {
            return take_trivial(top, parameters, fit, err);
        }
        if (stopped || (reached && useful) || round == POLISH_ROUNDS ||
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
    if (check_method(top, parameters, err)) {
        return -1;
    }
    if (is_grill(top->setting.formulation)) {
        return solve_grill(top, parameters, monitor, solution, err);
    }
    struct fit fit = {0};
    bool indefinite = false;
    if (open_engines(top, parameters->loss, err) ||
        solve_convex(top, parameters, monitor, &fit, &indefinite, err)) {
        fit_free(&fit);
        return -1;
    }
    *solution = (struct solution){.n_outputs = 1,
                                  .weights = fit.weights,
                                  .primal = fit.primal,
                                  .dual = fit.dual,
                                  .iterations = fit.iterations,
                                  .reason = fit.reason};
    fit.weights = NULL;
    solution->gap = indefinite ? NAN : gap_relative(fit.primal, fit.dual);
    solution->certified = !indefinite;
    solution->converged = solution->gap <= parameters->epsilon;
    if (indefinite) {
        solution->dual = 0;
        solution->converged = false;
        solution->reason = stop_limited(fit.reason) ? fit.reason : STOP_INDEFINITE;
    } else if (!solution->converged && !solution->reason) {
        solution->reason = STOP_ROUNDING;
    }
    fit_free(&fit);
    return 0;
}
