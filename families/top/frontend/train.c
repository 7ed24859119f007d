/* svm-top-train: classification at the top. */
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "driver/report.h"
#include "families/shared/label_weights.h"
#include "families/top/frontend/labels.h"
#include "families/top/solver/top.h"
#include "methods/distributed_ascent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const formulations[] = {"toppush", "toppushk",  "tau-fpl", "topmeank",
                                           "patmat",  "patmat-np", "grill",   "grill-np",
                                           "svm",     NULL};
static const char *const uncertified[] = {"grill", "grill-np", NULL};
static const char *const formulation_meanings[] = {
    "t is the largest score of a negative",
    "the mean of the K largest scores of negatives",
    "the same, K = tau times the number of negatives (the nearest whole number, at least 1)",
    "the mean of the K largest scores of all n rows, K = tau n",
    "sum over all n rows of l(-theta (s - t)) = tau n",
    "the same over the n- negatives, = tau n- (Neyman-Pearson)",
    "t is the exact (1 - tau) quantile of all scores, and negatives cost l(t - s) too, C n+/n- "
    "each; not convex: linear only, without certified gap",
    "the same with the quantile of the negatives' scores",
    "no threshold: C-SVC, for comparison; without bias unless --bias is given",
    NULL};
static const char *const solvers[] = {"auto", "smo", "bundle", "cd", "interior", NULL};
static const char *const solver_meanings[] = {
    "linear kernel: bundle and smo (svm above 256 features: cd and bundle) in alternating time "
    "slices; other kernels: "
    "smo; interior where these converge slowly",
    "sequential minimal optimisation: two dual variables and the block of those at their upper "
    "bound at a time",
    "cutting planes",
    "coordinate ascent as published, which may stall away from the optimum and then says so; of "
    "svm: dual coordinate descent, for the linear kernel, which converges",
    "interior-point method: few steps, each of cubic cost in the number of rows (some thousand at "
    "a time) or of features of the linear kernel; also takes over where smo or bundle converge "
    "slowly",
    NULL};

static const struct option_spec own_options[] = {
    OPTION(CHOICE, 's', "formulation", "NAME",
           "threshold t of the objective 1/2 |f|^2 + C sum over positives of l(s - t), s the score",
           OPEN),
    OPTION(NUMBER, 0, "lambda", "L",
           "instead of --cost: C = 1 / (L n+), n+ the number of positives", SOLVE, .high = INFINITY,
           .low_excluded = true),
    OPTION(NUMBER, 'k', "top-k", "K", "K of toppushk, not necessarily whole", OPEN, .initial = "5",
           .low = 1, .high = 1e15),
    OPTION(NUMBER, 0, "tau", "T",
           "tau of tau-fpl, topmeank, patmat, patmat-np, grill and grill-np: a share of the rows",
           OPEN, .initial = "0.05", .high = 1, .low_excluded = true),
    OPTION(NUMBER, 0, "theta", "T", "theta of patmat and patmat-np", OPEN, .initial = "1",
           .high = INFINITY, .low_excluded = true),
    OPTION(NUMBER, 'B', "bias", "V",
           "of svm: add a constant feature of value V to each row (0: none), whose weight counts "
           "in the norm. In the other formulations a bias would shift scores and t alike",
           OPEN, .initial = "0", .high = 1e6),
    OPTION(TEXT, 0, "positive", "LABEL", "the label of positives; all others are negative", SINGLE,
           .absent = "numbers above 0"),
    OPTION(NUMBER, 0, "calibrate", "T",
           "predict positive above the threshold that the share T of negatives exceeds, fitted to "
           "out-of-fold scores of five random folds, not of --fold-file; equal rows are held out "
           "together",
           SINGLE, .high = 1, .absent = "above t at the training rows"),
    OPTION(COUNT, 0, "starts", "N",
           "random starts of grill and grill-np, of which the best is used", SINGLE,
           .initial = "10", .low = 1, .high = 1e6),
    OPTION(COUNT, 'h', "shrinking", "0|1",
           "1: solver smo leaves out dual variables that stay at a bound", SINGLE, .initial = "1",
           .high = 1)};

/* Options that only some of the formulations take. */
static const char *const of_some[] = {"top-k", "tau", "theta", "bias", NULL};

static bool takes(enum top_formulation formulation, const char *option) {
    if (strcmp(option, "top-k") == 0) {
        return formulation == TOP_PUSH_K;
    }
    if (strcmp(option, "bias") == 0) {
        return formulation == TOP_SVM;
    }
    if (strcmp(option, "theta") == 0) {
        return formulation == TOP_PAT_MAT || formulation == TOP_PAT_MAT_NP;
    }
    return formulation != TOP_PUSH && formulation != TOP_PUSH_K && formulation != TOP_SVM;
}

static bool applies(struct point point, const char *option) {
    bool lambda = options_given(point.options, "lambda");
    for (size_t i = 0; of_some[i]; i++) {
        if (strcmp(option, of_some[i]) == 0) {
            return takes((enum top_formulation)point_choice(point, "formulation"), option);
        }
    }
    return strcmp(option, "lambda") == 0 ? lambda : strcmp(option, "cost") != 0 || !lambda;
}

/* Refuses an option that none of the given formulations takes. */
static int check_unused(const struct options *options, const char *name, struct error *err) {
    const struct option *given = options_find(options, "formulation");
    bool used = false;
    for (size_t i = 0; i < given->n; i++) {
        used |= takes((enum top_formulation)given->number[i], name);
    }
    return used || !options_given(options, name)
               ? 0
               : error_set(err, ERROR_USAGE, "--%s is not for formulation %s", name, given->text);
}

static int check(const struct options *options, struct error *err) {
    const struct option *given = options_find(options, "formulation");
    bool linear = options_choice(options, "kernel") == KERNEL_LINEAR;
    size_t solver = options_choice(options, "solver");
    for (size_t i = 0; i < given->n; i++) {
        enum top_formulation formulation = (enum top_formulation)given->number[i];
        bool grill = formulation == TOP_GRILL || formulation == TOP_GRILL_NP;
        if (grill && !linear) {
            return error_set(err, ERROR_USAGE, "formulation %s is for the linear kernel",
                             formulations[formulation]);
        }
        if (grill && options_given(options, "proof")) {
            return error_set(err, ERROR_USAGE,
                             "--proof is not for formulation %s, which nothing bounds",
                             formulations[formulation]);
        }
        if (grill && solver != TOP_AUTO) {
            return error_set(err, ERROR_USAGE, "--solver %s is not for formulation %s",
                             solvers[solver], formulations[formulation]);
        }
        if (formulation == TOP_SVM && solver == TOP_CD && !linear) {
            return error_set(err, ERROR_USAGE,
                             "--solver cd of formulation svm is for the linear kernel");
        }
    }
    if (options_given(options, "lambda") && options_given(options, "cost")) {
        return error_set(err, ERROR_USAGE, "--lambda and --cost exclude each other");
    }
    int status = 0;
    for (size_t i = 0; of_some[i] && status == 0; i++) {
        status = check_unused(options, of_some[i], err);
    }
    return status;
}

static int check_distributed(const struct options *options, struct error *err) {
    size_t solver = options_choice(options, "solver");
    enum top_formulation formulation = (enum top_formulation)options_choice(options, "formulation");
    return solver == TOP_SMO || (solver == TOP_CD && formulation != TOP_SVM)
               ? error_set(err, ERROR_USAGE,
                           "fits by --solver %s are not distributed over MPI processes",
                           solvers[solver])
               : 0;
}

/* Data with a smaller share of nonzero values are for coordinate descent. On denser data it may
 * converge slowly, and its fallback solvers gain by distributing the rows. */
static const double SPARSE = 0.5;

/* Starts of grill are independent, except for an iteration limit, which holds for all together. */
static enum family_distribution share(struct point point, const struct family_size *size) {
    enum top_formulation formulation = (enum top_formulation)point_choice(point, "formulation");
    if (formulation == TOP_SVM) {
        enum top_method method = (enum top_method)point_choice(point, "solver");
        bool sparse = size->values < SPARSE * size->rows * size->features;
        bool descent = method == TOP_CD || (method == TOP_AUTO && sparse);
        return descent && size->room &&
                       !rounds_are_faster(size->ranks, size->values, size->features)
                   ? FAMILY_SINGLE_PROCESS
                   : FAMILY_DISTRIBUTED_ROWS;
    }
    if (formulation != TOP_GRILL && formulation != TOP_GRILL_NP) {
        return FAMILY_DISTRIBUTED_ROWS;
    }
    return point_number(point, "starts") > 1 && point_number(point, "max-iter") == 0
               ? FAMILY_DISTRIBUTED_STARTS
               : FAMILY_SINGLE_PROCESS;
}

static int check_data(const struct options *options, const struct data *data,
                      struct cluster *cluster, struct error *err) {
    (void)cluster;
    return top_labels_check(data, options_text(options, "positive"), err) < 0
               ? -1
               : label_weights_check(options, data, err);
}

/* ---- the problem ---- */

struct state {
    const struct problem *problem;
    struct top *top;
};

static int open_problem(void **opened, const struct problem *problem, struct point point,
                        struct error *err) {
    const struct data *data = problem->data;
    size_t n = data->names.n;
    struct state *state = memory_zeros(1, sizeof *state, "a problem", err);
    bool *positive = memory_array(n, sizeof *positive, "labels", err);
    double *weight = memory_array(n, sizeof *weight, "labels", err);
    int status = -1;
    if (state && positive && weight) {
        struct top_setting setting = {.formulation =
                                          (enum top_formulation)point_choice(point, "formulation"),
                                      .positive = positive,
                                      .weight = weight,
                                      .k = point_number(point, "top-k"),
                                      .tau = point_number(point, "tau"),
                                      .theta = point_number(point, "theta"),
                                      .bias = point_number(point, "bias")};
        state->problem = problem;
        label_weights_read(point.options, data, weight);
        top_labels_read(data, options_text(point.options, "positive"), positive);
        status = top_create(&state->top, problem, &setting, err);
    }
    free(positive);
    free(weight);
    if (status < 0) {
        free(state);
        return -1;
    }
    *opened = state;
    return 0;
}

static void close_problem(void *opened) {
    struct state *state = opened;
    top_free(state->top);
    free(state);
}

static double cost_of(const struct state *state, struct point point) {
    double lambda = point_number_or(point, "lambda", 0);
    return lambda > 0 ? 1 / (lambda * top_counts(state->top).positive_weight)
                      : point_number(point, "cost");
}

static struct top_parameters parameters_of(const struct state *state, struct point point) {
    return (struct top_parameters){.loss = (enum top_loss)point_choice(point, "loss"),
                                   .method = (enum top_method)point_choice(point, "solver"),
                                   .cost = cost_of(state, point),
                                   .epsilon = point_number(point, "epsilon"),
                                   .shrink = point_number(point, "shrinking") != 0,
                                   .seed = (uint64_t)point_number(point, "seed"),
                                   .starts = (size_t)point_number(point, "starts")};
}

static int solve(void *opened, struct point point, const struct monitor *monitor,
                 struct solution *solution, struct error *err) {
    struct state *state = opened;
    struct top_parameters parameters = parameters_of(state, point);
    return top_solve(state->top, &parameters, monitor, solution, err);
}

static int replace(void *opened, struct point point, struct solution *solution, struct error *err) {
    struct state *state = opened;
    struct top_parameters parameters = parameters_of(state, point);
    return top_replace(state->top, &parameters, solution, err);
}

/* ---- the model and the report ---- */

static int header(const void *opened, struct point point, struct model *model, struct error *err) {
    const struct state *state = opened;
    const struct data *data = state->problem->data;
    const char *positive = options_text(point.options, "positive");
    enum top_formulation formulation = (enum top_formulation)point_choice(point, "formulation");
    model->cost = cost_of(state, point);
    if (model_add(model, err, TOP_LABELS_KEY, "%s %s", top_labels_name(data, positive, true),
                  top_labels_name(data, positive, false)) < 0 ||
        (positive && model_add(model, err, "positive", "%s", positive) < 0) ||
        (takes(formulation, "top-k") &&
         model_add_number(model, err, "top-k", top_counts(state->top).k) < 0) ||
        (takes(formulation, "tau") &&
         model_add_number(model, err, "tau", point_number(point, "tau")) < 0) ||
        (takes(formulation, "theta") &&
         model_add_number(model, err, "theta", point_number(point, "theta")) < 0)) {
        return -1;
    }
    return model_add_number(model, err, TOP_THRESHOLD_KEY, top_last(state->top).threshold);
}

/* Writes a number of the model, if it has that key. */
static void report_key(const struct model *model, const char *key, struct output *output) {
    struct error ignored;
    double value;
    if (model_value(model, key) && model_number(model, key, 0, &value, &ignored) == 0) {
        report_number(output, key, value);
    }
}

static void report(const void *opened, struct point point, const struct model *model,
                   struct output *output) {
    static const char *const calibrated[] = {TOP_CALIBRATED_THRESHOLD_KEY,
                                             TOP_CALIBRATED_RATE_KEYS};
    (void)point;
    const struct state *state = opened;
    struct top_counts counts = top_counts(state->top);
    output_format(output, "positives = %zu\nnegatives = %zu\n", counts.n_positive,
                  counts.n_negative);
    if (counts.k > 0) {
        report_number(output, "K", counts.k);
    }
    report_number(output, "threshold", top_last(state->top).threshold);
    for (size_t i = 0; i < sizeof calibrated / sizeof calibrated[0]; i++) {
        report_key(model, calibrated[i], output);
    }
}

/* What may help where w = 0 is optimal. A larger K, in the mean, lowers the threshold, and the
 * positives' centroid is then less likely to be one of the means of K rows. For the quantile every
 * row counts, and for svm too: w = 0 is optimal only if the centroids of the classes coincide, for
 * svm those of weighted sums. */
static const char *zero_advice(enum top_formulation formulation) {
    switch (formulation) {
    case TOP_PUSH:
        return "-s patmat-np --tau T and -s svm -B 1 -w LABEL:W have no such limit";
    case TOP_PUSH_K:
        return "a larger --top-k may help; -s patmat-np --tau T and -s svm -B 1 -w LABEL:W have no "
               "such limit";
    case TOP_TAU_FPL:
    case TOP_MEAN_K:
        return "a larger --tau may help; -s patmat-np --tau T and -s svm -B 1 -w LABEL:W have no "
               "such limit";
    case TOP_SVM:
        return "-w LABEL:W, a larger cost or another kernel may help";
    default:
        return "a larger cost or another kernel may help";
    }
}

static void note(const void *opened, struct point point, const struct solution *solution,
                 const struct model *model, struct output *output) {
    const struct state *state = opened;
    struct error ignored;
    double threshold;
    if (solution->zero) {
        output_format(output, "note = %s; %s\n", solution->zero,
                      zero_advice((enum top_formulation)point_choice(point, "formulation")));
    } else if (!solution->constant_scores && !solution->zero_only &&
               top_threshold_read(&threshold, model, &ignored) == 0 &&
               !(top_last(state->top).highest_score > threshold)) {
        output_format(output, "note = no training row is above the threshold: %s\n",
                      model_value(model, TOP_CALIBRATED_THRESHOLD_KEY)
                          ? "a larger --calibrate lowers it"
                          : "--calibrate T sets it for new rows, of which the share T of negatives "
                            "passes");
    }
}

static void prove(const void *opened, struct point point, struct proof_writer *proof) {
    const struct state *state = opened;
    const struct top_last last = top_last(state->top);
    label_weights_prove(point.options, proof);
    if (top_counts(state->top).k > 0) {
        proof_writer_number(proof, "K", top_counts(state->top).k);
    }
    for (size_t i = 0; i < state->problem->n; i++) {
        if (last.alpha[i] != 0) {
            proof_writer_value(proof, (uint32_t)i, 1, 0, last.alpha[i]);
        }
        if (last.beta[i] != 0) {
            proof_writer_value(proof, (uint32_t)i, 2, 0, last.beta[i]);
        }
    }
}

static int calibrate(const struct held_out *folds, size_t n_folds, struct point point,
                     struct model *model, struct error *err) {
    bool fixed = point_choice(point, "formulation") == TOP_SVM;
    return top_calibrate(folds, n_folds, point_number(point, "calibrate"), fixed ? 0 : model->norm,
                         model, err);
}

static bool calibrates(const struct options *options) {
    return options_given(options, "calibrate");
}

const struct family top_family = {
    .name = "top",
    .summary = "Trains a classifier at the top: positives are to score above a threshold that "
               "the highest negatives make.",
    .has = FAMILY_LOSS | FAMILY_KERNEL | FAMILY_WEIGHT | FAMILY_ROW_WEIGHTS | FAMILY_EXPORT |
           FAMILY_MAX_SV,
    .labels = DATA_NAME,
    .formulations = formulations,
    .uncertified = uncertified,
    .formulation_meanings = formulation_meanings,
    .solvers = solvers,
    .solver_meanings = solver_meanings,
    .matrix = FAMILY_ROWS,
    TABLE(options, own_options),
    .measures = &top_measures,
    .applies = applies,
    .check = check,
    .check_distributed = check_distributed,
    .share = share,
    .check_data = check_data,
    .open = open_problem,
    .solve = solve,
    .close = close_problem,
    .replace = replace,
    .header = header,
    .report = report,
    .note = note,
    .prove = prove,
    .calibrates = calibrates,
    .calibrate = calibrate};
