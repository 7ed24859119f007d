#include "solvers/top/top.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "solvers/methods/score_map.h"
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
        if (counts->k > counts->top_weight) {
            return error_set(err, ERROR_RUNTIME, "K is %g, but there are only %g negatives",
                             counts->k, counts->top_weight);
        }
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
        score_map_create(&made->map, problem, err) < 0) {
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

/* Adds what b'K b may have lost by rounding, where terms cancel: a part of (sum |b_i| |phi_i|)^2.
 */
static int add_rounding(const struct score_map *map, const double *b, double *rounding,
                        struct error *err) {
    double *diagonal = memory_array(map->n, sizeof *diagonal, "a certificate", err), sum = 0;
    if (!diagonal || map->diagonal(map, diagonal, err) < 0) {
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

/* Recomputes both bounds in double from the weights, and the threshold. *indefinite: they show
 * that the kernel is not positive semidefinite. */
static int certify(struct top *top, const struct top_parameters *parameters, struct fit *fit,
                   bool *indefinite, struct error *err) {
    const struct score_map *map = &top->map;
    size_t n = map->n, d = map->dimension;
    double *both = memory_array(d, 2 * sizeof *both, "a certificate", err);
    double *scores = memory_array(n, 2 * sizeof *scores, "a certificate", err);
    double *s = memory_array(n, 2 * sizeof *s, "a certificate", err);
    bool same = memcmp(fit->weights, fit->dual_weights, d * sizeof *both) == 0;
    size_t outputs = same ? 1 : 2, last = outputs - 1;
    int status = -1;
    if (both && scores && s) {
        for (size_t k = 0; k < d; k++) {
            both[outputs * k] = fit->weights[k];
            both[outputs * k + last] = fit->dual_weights[k];
        }
        status = map->exact(map, both, outputs, scores, err);
    }
    if (status == 0) {
        double norm = 0, dual_norm = 0, terms = 0, offset;
        const double *other = map->primal ? both : scores;
        for (size_t k = 0; k < d; k++) {
            norm += both[outputs * k] * other[outputs * k];
            dual_norm += both[outputs * k + last] * other[outputs * k + last];
            terms += fabs(both[outputs * k] * other[outputs * k]) +
                     fabs(both[outputs * k + last] * other[outputs * k + last]);
        }
        for (size_t i = 0; i < n; i++) {
            s[i] = scores[outputs * i];
        }
        struct top_risk *risk = &top->engines[parameters->loss].risk;
        fit->primal = 0.5 * norm + parameters->cost * top_risk_cut(risk, s, s + n, &offset);
        fit->dual = fit->dual_offset - 0.5 * dual_norm;
        top->threshold = risk->threshold;
        double rounding = INDEFINITE * terms;
        status = map->primal ? 0 : add_rounding(map, fit->dual_weights, &rounding, err);
        *indefinite =
            norm < -rounding || dual_norm < -rounding ||
            fit->dual - fit->primal > INDEFINITE * (fabs(fit->dual) + fabs(fit->primal)) + rounding;
        if (status == 0 && (!isfinite(fit->primal) || !isfinite(fit->dual))) {
            status =
                error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
        }
    }
    free(both);
    free(scores);
    free(s);
    return status;
}

/* ---- w = 0 ---- */

/* The primal of w = 0; its threshold is left in the risk. */
static int primal_of_nothing(struct top *top, const struct top_parameters *parameters,
                             double *primal, struct error *err) {
    size_t n = top->problem->n;
    double *s = memory_zeros(n, 2 * sizeof *s, "scores", err);
    if (!s) {
        return -1;
    }
    double offset;
    *primal =
        parameters->cost * top_risk_cut(&top->engines[parameters->loss].risk, s, s + n, &offset);
    free(s);
    return 0;
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

/* Makes w = 0 the fit. dual is a bound that is known. */
static int take_nothing(struct top *top, enum top_loss loss, double primal, double dual,
                        struct fit *fit, struct error *err) {
    uint64_t iterations = fit->iterations;
    size_t d = top->map.dimension;
    double offset;
    size_t n = top->problem->n;
    fit_free(fit);
    fit->weights = memory_zeros(d, sizeof(double), "weights", err);
    fit->dual_weights = memory_zeros(d, sizeof(double), "weights", err);
    double *s = memory_zeros(n, 2 * sizeof *s, "scores", err);
    if (!fit->weights || !fit->dual_weights || !s) {
        free(s);
        fit_free(fit);
        return -1;
    }
    struct top_risk *risk = &top->engines[loss].risk;
    top_risk_cut(risk, s, s + n, &offset);
    top->threshold = risk->threshold;
    free(s);
    fit->primal = primal;
    fit->dual = dual;
    fit->iterations = iterations;
    fit->converged = true;
    top->trivial = explain(top);
    return 0;
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

/* Solves until the gap that is computed from the data is as asked, and the fit better than w = 0.
 */
static int solve_convex(struct top *top, const struct top_parameters *parameters,
                        const struct monitor *monitor, struct fit *fit, bool *indefinite,
                        struct error *err) {
    double nothing, epsilon = parameters->epsilon, best_dual = 0;
    uint64_t iterations = 0;
    if (primal_of_nothing(top, parameters, &nothing, err) < 0) {
        return -1;
    }
    if (nothing_is_best(top, parameters)) {
        *fit = (struct fit){0};
        return take_nothing(top, parameters->loss, nothing, nothing, fit, err);
    }
    for (int round = 0;; round++) {
        if (top_engines_solve(&top->engines[parameters->loss], parameters, epsilon, iterations,
                              monitor, fit, err) < 0) {
            return -1;
        }
        iterations += fit->iterations;
        fit->iterations = iterations;
        if (certify(top, parameters, fit, indefinite, err) < 0) {
            fit_free(fit);
            return -1;
        }
        if (*indefinite) {
            return 0;
        }
        best_dual = fmax(best_dual, fit->dual);
        bool useful = fit->primal < nothing;
        bool reached = gap_reached(fit->primal, fit->dual, parameters->epsilon);
        if (!useful && gap_reached(nothing, best_dual, fmin(TRIVIAL, parameters->epsilon))) {
            return take_nothing(top, parameters->loss, nothing, best_dual, fit, err);
        }
        if (!fit->converged || (reached && useful) || round == POLISH_ROUNDS ||
            parameters->method == TOP_CD) {
            return 0;
        }
        fit_free(fit);
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
    struct fit fit;
    bool indefinite = false;
    if (create_engines(top, parameters->loss, err) < 0 ||
        solve_convex(top, parameters, monitor, &fit, &indefinite, err) < 0) {
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
