/* The problem of classification at the top: weights and K of its rows, and a solve as a sequence
 * of target gaps, each certified. */
#include "families/top/solver/top.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/top/solver/certify.h"
#include "families/top/solver/grill.h"
#include "families/top/solver/policy.h"
#include "families/top/solver/risk.h"
#include "families/top/solver/zero_solution.h"
#include "fit/certify.h"
#include "fit/score_map.h"
#include "fit/tolerance.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative rounding-error bound of a row's loss, as in certificates. */
static const double ROUNDING = 1e-15;

/* w = 0 is reported as optimal if its own gap is at most this. */
static const double ZERO_GAP = 1e-5;

struct top {
    const struct problem *problem;
    /* the problem with the constant feature, which `map` and the algorithms use */
    struct problem with_constant;
    struct top_setting setting;
    struct score_map map;
    struct top_certifier certifier;      /* created at first use */
    struct top_algorithms algorithms[2]; /* by enum top_loss; map == NULL: not created */
    double *cost;                        /* (n) weights of positives, 0: no positive */
    double *mass;                        /* (n) weights in J */
    double *negative;                    /* (n) weights of negatives */
    void *weights;                       /* the block of these */
    struct top_counts counts;
    struct top_level level; /* of the last solution */
    double *alpha, *beta;   /* (n) the dual point of the last solution; NULL: none */
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

/* Adds the counts of all processes; top_weight is that of this one. */
static void join_counts(struct top_counts *counts, struct cluster *cluster,
                        long double top_weight) {
    long double weights[] = {(long double)counts->positive_weight, top_weight};
    counts->n_positive = cluster_count(cluster, counts->n_positive);
    counts->n_negative = cluster_count(cluster, counts->n_negative);
    cluster_sum_long(cluster, weights, 2);
    counts->positive_weight = (double)weights[0];
    counts->top_weight = (double)weights[1];
    counts->top_weight_rounding = (double)(weights[1] - (long double)counts->top_weight);
    counts->weight_error = cluster_largest(cluster, counts->weight_error);
}

/* Sets the weights of the rows, by class. */
static void read_weights(struct top *top) {
    const struct data *data = top->problem->data;
    const struct top_setting *setting = &top->setting;
    struct top_counts *counts = &top->counts;
    bool all = counts_all(setting->formulation);
    long double sum = 0;
    for (size_t i = 0; i < top->problem->n; i++) {
        uint32_t row = top->problem->rows ? top->problem->rows[i] : (uint32_t)i;
        uint32_t label = data->label[row];
        double of_label = setting->weight ? setting->weight[label] : 1;
        double row_weight = data->weight ? data->weight[row] : 1, weight = of_label * row_weight;
        if (fma(of_label, row_weight, -weight) != 0) {
            counts->weight_error = DBL_EPSILON / 2;
        }
        bool positive = setting->positive[label];
        top->cost[i] = positive ? weight : 0;
        top->negative[i] = positive ? 0 : weight;
        top->mass[i] = positive && !all ? 0 : weight;
        /* equal rows: the largest score is that of one of them */
        if (setting->formulation == TOP_PUSH && top->mass[i] > 0) {
            top->mass[i] = 1;
        }
        counts->n_positive += positive && weight > 0;
        counts->n_negative += !positive && weight > 0;
        counts->positive_weight += top->cost[i];
        sum += (long double)top->mass[i];
    }
    join_counts(&top->counts, top->problem->cluster, sum);
}

static int set_k(struct top *top, struct error *err) {
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
        /* a whole number, as published; nearbyint rounds halves to even */
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
    made->with_constant = *problem;
    made->with_constant.constant = setting->formulation == TOP_SVM ? setting->bias : 0;
    made->setting = *setting;
    made->weights =
        ARRAYS_CREATE("weights of rows", err,
                      ARRAYS(problem->n, double, &made->cost, &made->mass, &made->negative));
    if (!made->weights) {
        free(made);
        return -1;
    }
    read_weights(made);
    if (check_classes(made, err) < 0 || set_k(made, err) < 0 ||
        score_map_create(&made->map, &made->with_constant, err) < 0) {
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
        top_algorithms_free(&top->algorithms[loss]);
    }
    top_certifier_free(&top->certifier);
    score_map_free(&top->map);
    free(top->weights);
    free(top->alpha);
    free(top->beta);
    free(top);
}

struct top_counts top_counts(const struct top *top) {
    return top->counts;
}

struct top_last top_last(const struct top *top) {
    bool raises = !top->map.primal && isfinite(top->level.rounding);
    double rounding = raises ? top->level.rounding : 0;
    return (struct top_last){.threshold = top->level.threshold + rounding,
                             .highest_score = top->level.highest,
                             .alpha = top->alpha,
                             .beta = top->beta};
}

static int create_algorithms(struct top *top, enum top_loss loss, struct error *err) {
    struct top_algorithms *algorithms = &top->algorithms[loss];
    struct top_risk *risk = &algorithms->risk;
    size_t n = top->problem->n;
    if (algorithms->map) {
        return 0;
    }
    if (!top->certifier.certify && top_certifier_create(&top->certifier, top->problem, &top->map,
                                                        top->with_constant.constant, err) < 0) {
        return -1;
    }
    if (top_risk_create(risk, n, err) < 0) {
        return -1;
    }
    risk->cluster = top->map.cluster;
    risk->kind = kind_of(top->setting.formulation);
    risk->square = loss == TOP_SQUARED_HINGE;
    risk->theta = top->setting.theta;
    long double budget =
        (long double)top->setting.tau *
        ((long double)top->counts.top_weight + (long double)top->counts.top_weight_rounding);
    risk->budget = (double)budget;
    risk->budget_rounding = (double)(budget - (long double)risk->budget);
    risk->mass_error = top->counts.weight_error;
    memcpy(risk->cost, top->cost, n * sizeof(double));
    memcpy(risk->mass, top->setting.formulation == TOP_SVM ? top->negative : top->mass,
           n * sizeof(double));
    top_risk_ready(risk, top->counts.k);
    double values = top->map.primal ? (double)data_values(top->problem->data) : 0;
    algorithms->values = cluster_total(top->map.cluster, values);
    algorithms->problem = &top->with_constant;
    algorithms->map = &top->map;
    algorithms->plain = &top->certifier.plain;
    algorithms->norm_bound = certify_norm_bounds(top->certifier.certify);
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
    bool pairs = parameters->method == TOP_CD && formulation != TOP_SVM;
    if (top->map.cluster && (is_grill(formulation) || parameters->method == TOP_SMO || pairs)) {
        return error_set(err, ERROR_USAGE, "grill, smo and cd want all rows in one place");
    }
    if (parameters->method == TOP_CD && formulation == TOP_SVM && !top->map.primal) {
        return error_set(err, ERROR_USAGE, "solver cd of svm is for the linear kernel");
    }
    return 0;
}

/* The best bounds of a solve so far: a fit with its certificate; primal and dual may be of
 * different outer iterations. */
struct best {
    struct fit fit;
    struct certificate certificate;
    bool found;       /* there is one */
    const char *zero; /* why w = 0 is optimal, or NULL */
};

/* Takes the better bounds of a fit. level is that of its weights. */
static void take_better(struct top *top, struct best *best, struct fit *fit,
                        const struct certificate *certificate, struct top_level level) {
    struct certificate *better = &best->certificate;
    uint64_t iterations = best->fit.iterations + fit->iterations;
    if (!best->found || certificate->primal < better->primal) {
        array_swap(&best->fit.weights, &fit->weights);
        best->fit.bias = fit->bias;
        better->primal = certificate->primal;
        better->norm = certificate->norm;
        better->constant_scores = certificate->constant_scores;
        better->zero_is_better = certificate->zero_is_better;
        top->level = level;
    }
    if (!best->found || certificate->dual > better->dual) {
        array_swap(&best->fit.alpha, &fit->alpha);
        array_swap(&best->fit.beta, &fit->beta);
        better->dual = certificate->dual;
    }
    better->certified = certificate->certified;
    better->failed = certificate->failed;
    better->zero_primal = certificate->zero_primal;
    better->rounding = certificate->rounding;
    certify_compare(better);
    best->found = true;
    best->fit.iterations = iterations;
    best->fit.reason = fit->reason;
}

/* Takes w = 0, whose primal is certified. */
static void take_zero(struct top *top, enum top_loss loss, struct best *best) {
    struct top_risk *risk = &top->algorithms[loss].risk;
    memset(best->fit.weights, 0, top->map.dimension * sizeof(double));
    best->fit.bias = 0;
    top->level = (struct top_level){.threshold = top_risk_threshold_at_zero(risk), .highest = 0};
    best->certificate.primal = best->certificate.zero_primal;
    best->certificate.zero_is_better = true;
    certify_compare(&best->certificate);
}

/* A solve through its sequence of target gaps. */
struct solving {
    struct top *top;
    const struct top_parameters *parameters;
    const struct monitor *monitor;
    double target;  /* the current target gap */
    bool converged; /* the algorithms have reached their target gap */
    bool missed;    /* they had, but not the certificate, in the last run */
    struct best best;
};

static bool stops_as_published(const struct solving *solving) {
    return solving->parameters->method == TOP_CD && solving->top->setting.formulation != TOP_SVM;
}

/* Whether the best primal is below that of w = 0. */
static bool beats_zero(const struct solving *solving) {
    const struct certificate *certificate = &solving->best.certificate;
    const struct top_risk *risk = &solving->top->algorithms[solving->parameters->loss].risk;
    double rounding = ((double)risk->n_all + 16) * ROUNDING;
    return certificate->primal < certificate->zero_primal * (1 - rounding);
}

/* Records whether the algorithms have reached `epsilon`, the target of the run, with kernels or a
 * large constant feature, but the certified gap is above it: four times, or for the second time.
 * The linear problem of explicit features does not count: other algorithms follow it. */
static void judge_certificate(struct solving *solving, struct top_algorithms *algorithms,
                              double gap, double epsilon) {
    const double factor = 4;
    const struct top *top = solving->top;
    bool constant = top->with_constant.constant > 0 && top->map.dimension > top->map.n;
    bool counts = solving->parameters->method == TOP_AUTO && solving->converged &&
                  (!top->map.primal || constant) && !algorithms->linear;
    algorithms->certificate_failed |= counts && gap > factor * epsilon;
    algorithms->missed_twice |= counts && solving->missed && gap > epsilon;
    solving->missed = counts && !(gap <= solving->target);
}

/* Runs the policy once, certifies its fit, and takes the better bounds. A fit that is no better
 * than w = 0 has to show that w = 0 is optimal, to the gap ZERO_GAP. */
static int solve_once(void *context, double epsilon, struct tolerance_result *end,
                      struct error *err) {
    struct solving *solving = context;
    struct top *top = solving->top;
    const struct top_parameters *parameters = solving->parameters;
    struct top_algorithms *algorithms = &top->algorithms[parameters->loss];
    struct best *best = &solving->best;
    struct fit fit = {0};
    struct certificate certificate;
    struct top_level level;
    double zero_gap = fmin(ZERO_GAP, solving->target);
    bool trivial = best->found && !beats_zero(solving);
    int status = top_algorithms_solve(algorithms, parameters,
                                      trivial ? epsilon * (zero_gap / solving->target) : epsilon,
                                      best->fit.iterations, solving->monitor, &fit, err);
    if (status == 0) {
        status = top_certify(&top->certifier, &algorithms->risk, parameters->cost, solving->target,
                             &fit, &certificate, &level, err);
    }
    if (status == 0) {
        solving->converged = fit.converged && !stops_as_published(solving);
        take_better(top, best, &fit, &certificate, level);
    }
    fit_free(&fit);
    if (status < 0) {
        return -1;
    }
    double gap = best->certificate.certified ? best->certificate.gap : (double)NAN;
    judge_certificate(solving, algorithms, gap, epsilon);
    if (algorithms->linear && !(gap <= solving->target)) {
        top_linear_form_free(algorithms->linear);
        algorithms->linear = NULL;
        algorithms->n_explicit = 0;
    }
    if (gap >= 0 && !beats_zero(solving)) {
        if (gap_reached(best->certificate.zero_primal, best->certificate.dual, zero_gap)) {
            take_zero(top, parameters->loss, best);
            best->zero = top_zero_explain(kind_of(top->setting.formulation));
            solving->converged = false;
        }
        gap *= solving->target / zero_gap;
    }
    *end = (struct tolerance_result){
        .gap = gap, .limited = stop_limited(best->fit.reason), .converged = solving->converged};
    return 0;
}

/* Solves to the gap epsilon, with warm starts from larger ones, and tightens the algorithms' target
 * until it is certified. */
static int solve_to(void *context, double epsilon, struct tolerance_result *end,
                    struct error *err) {
    enum { MAX_RUNS = 9 };
    struct solving *solving = context;
    struct best *best = &solving->best;
    solving->target = epsilon;
    solving->missed = false;
    best->zero = NULL;
    struct top_algorithms *algorithms = &solving->top->algorithms[solving->parameters->loss];
    algorithms->certificate_failed = algorithms->missed_twice = false;
    if (tolerance_tighten(solve_once, solving, epsilon, MAX_RUNS, err) < 0) {
        return -1;
    }
    if (solving->converged && !(best->certificate.gap <= epsilon && beats_zero(solving))) {
        best->fit.reason = STOP_ROUNDING;
    }
    *end = (struct tolerance_result){.gap = best->certificate.certified ? best->certificate.gap
                                                                        : (double)NAN,
                                     .limited = stop_limited(best->fit.reason)};
    return 0;
}

/* The published ascent has its own stopping rule, so it needs no sequence of gaps. */
static int solve_convex(struct solving *solving, struct error *err) {
    double epsilon = solving->parameters->epsilon;
    struct tolerance_result end;
    return stops_as_published(solving)
               ? solve_to(solving, epsilon, &end, err)
               : tolerance_solve(solve_to, solving, epsilon,
                                 solving->top->algorithms[solving->parameters->loss].risk.n_all,
                                 err);
}

/* topmeank, if w = 0 is known to be optimal without solving. */
static int solve_trivial(struct top *top, const struct top_parameters *parameters,
                         struct best *best, struct error *err) {
    struct top_risk *risk = &top->algorithms[parameters->loss].risk;
    struct top_level level;
    best->found = true;
    if (top_zero_fit(risk, parameters->cost, top->map.dimension, &best->fit, err) < 0 ||
        top_certify(&top->certifier, risk, parameters->cost, parameters->epsilon, &best->fit,
                    &best->certificate, &level, err) < 0) {
        return -1;
    }
    take_zero(top, parameters->loss, best);
    best->zero = top_zero_explain(kind_of(top->setting.formulation));
    return 0;
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
    monitor_algorithm(monitor, ALGORITHM_GRADIENT);
    double *s = memory_array(top->problem->n, sizeof *s, "scores", err);
    int status = s ? top_grill_solve(&grill, monitor, solution, &top->level.threshold, err) : -1;
    if (status == 0) {
        status = top->map.scores(&top->map, solution->weights, s, err);
        top->level.highest = -INFINITY;
    }
    for (size_t i = 0; status == 0 && i < top->problem->n; i++) {
        top->level.highest = fmax(top->level.highest, s[i]);
    }
    free(s);
    return status;
}

/* Returns w = 0 if the deadline has passed. */
static int return_zero(struct top *top, const struct top_parameters *parameters,
                       struct solution *solution, struct error *err) {
    struct top_risk *risk = &top->algorithms[parameters->loss].risk;
    double primal;
    if (create_algorithms(top, parameters->loss, err) < 0 ||
        top_loss_at_zero(risk, parameters->cost, &primal, err) < 0) {
        return -1;
    }
    top->level = (struct top_level){.threshold = top_risk_threshold_at_zero(risk), .highest = 0};
    return certify_zero_solution(top->problem, primal, top->map.dimension, 1, false, solution, err);
}

/* Sets the solution's bias. The weight of the constant feature stays behind the other weights,
 * where it is not read. */
static int set_bias(const struct top *top, double bias, struct solution *solution,
                    struct error *err) {
    if (top->with_constant.constant == 0) {
        return 0;
    }
    solution->bias = memory_array(1, sizeof *solution->bias, "the bias", err);
    if (!solution->bias) {
        solution_free(solution);
        return -1;
    }
    solution->bias[0] = bias;
    return 0;
}

int top_solve(struct top *top, const struct top_parameters *parameters,
              const struct monitor *monitor, struct solution *solution, struct error *err) {
    *solution = (struct solution){0};
    if (check_method(top, parameters, err) < 0) {
        return -1;
    }
    if (is_grill(top->setting.formulation)) {
        return solve_grill(top, parameters, monitor, solution, err);
    }
    if (monitor_past_deadline(monitor)) {
        return return_zero(top, parameters, solution, err);
    }
    struct monitor_run run;
    const struct monitor onward = monitor_reserve_time(&run, monitor, 0);
    struct solving solving = {.top = top, .parameters = parameters, .monitor = &onward};
    struct best *best = &solving.best;
    int status = create_algorithms(top, parameters->loss, err);
    top->algorithms[parameters->loss].reserved_seconds = &run.seconds;
    if (status == 0) {
        bool trivial = top->setting.formulation == TOP_MEAN_K &&
                       top_zero_is_optimal(&top->algorithms[parameters->loss].risk);
        status = trivial ? solve_trivial(top, parameters, best, err) : solve_convex(&solving, err);
    }
    if (status == 0) {
        if (best->certificate.zero_is_better) {
            take_zero(top, parameters->loss, best);
        }
        *solution = (struct solution){.n_outputs = 1,
                                      .weights = best->fit.weights,
                                      .zero = best->zero,
                                      .iterations = best->fit.iterations};
        best->fit.weights = NULL;
        status = set_bias(top, best->fit.bias, solution, err);
    }
    if (status == 0) {
        array_swap(&top->alpha, &best->fit.alpha);
        array_swap(&top->beta, &best->fit.beta);
        certify_conclude(&best->certificate, parameters->epsilon,
                         best->fit.reason ? best->fit.reason : STOP_ROUNDING, solution);
    }
    top->algorithms[parameters->loss].reserved_seconds = NULL;
    fit_free(&best->fit);
    return status;
}

int top_replace(struct top *top, const struct top_parameters *parameters, struct solution *solution,
                struct error *err) {
    struct best best = {.fit = {.weights = solution->weights,
                                .points = solution->points,
                                .alpha = top->alpha,
                                .beta = top->beta,
                                .bias = solution->bias ? solution->bias[0] : 0,
                                .has_bias = true}};
    if (top_certify(&top->certifier, &top->algorithms[parameters->loss].risk, parameters->cost,
                    parameters->epsilon, &best.fit, &best.certificate, &top->level, err) < 0) {
        return -1;
    }
    if (best.certificate.zero_is_better) {
        take_zero(top, parameters->loss, &best);
    }
    if (solution->bias) {
        solution->bias[0] = best.fit.bias;
    }
    certify_conclude(&best.certificate, parameters->epsilon, STOP_STALLED, solution);
    return 0;
}
