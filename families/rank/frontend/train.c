/* svm-rank-train: the options of RankSVM, its model header, report and proof. */
#include "families/shared/tables.h"

#include "common/base/number.h"
#include "driver/report.h"
#include "families/rank/frontend/disagreement.h"
#include "families/rank/frontend/probability.h"
#include "families/rank/frontend/query_weights.h"
#include "families/rank/frontend/targets.h"
#include "families/rank/solver/rank.h"
#include "families/shared/label_weights.h"

static const char *const formulations[] = {"rank", NULL};
static const char *const formulation_meanings[] = {
    "1/2 |f|^2 + C sum over preferences of l(score of the better row - score of the other)", NULL};
static const char *const solvers[] = {"auto", "ocas", "newton", "fw", NULL};
static const char *const solver_meanings[] = {
    "the fastest that applies", "cutting planes", "Newton's method; not for pair features",
    "conditional gradient, for the hinge: slow, for comparison", NULL};
static const char *const cost_units[] = {"pair", "query", "ndcg", "gain",
                                         NULL}; /* enum rank_unit */
static const char *const cost_unit_meanings[] = {
    "a preference", "the preferences of a query together: each costs C / their number",
    "a decrease of NDCG by 1: a preference costs C times the decrease when its rows are swapped in "
    "the ideal order of their query; labels are grades, see --gain",
    "a gain of 1: a preference costs C times the difference of the gains of its rows; labels are "
    "grades, see --gain",
    NULL};
static const char *const pair_features[] = {"none", "exterior", NULL};
static const char *const pair_feature_meanings[] = {
    "the difference of the rows: the model is a score for rows",
    "phi_i x phi_j - phi_j x phi_i: the model predicts pairs (svm-rank-predict --pairs), not "
    "scores",
    NULL};
static const char *const steps[] = {"linesearch", "diminishing", NULL};
static const char *const step_meanings[] = {"exact line search", "2 / (iteration + 2)", NULL};
static const char *const stops[] = {"gap", "decay", NULL};
static const char *const stop_meanings[] = {"the gap", "the ratio of the gap to the first one",
                                            NULL};

static const struct option_spec own_options[] = {
    OPTION(WEIGHTS, 'w', "weight", "QID:W",
           "the pairs of that query cost W times as much; may be repeated, and written -wQID W",
           SINGLE),
    OPTION(WINDOW, 0, "rank-gap", "LOW:HIGH",
           "preferences are the pairs whose labels are LOW to HIGH positions apart among the "
           "distinct labels of their query",
           SINGLE, .initial = "1:inf", .low = 1, .high = UINT32_MAX - 1.0),
    OPTION(NUMBER, 0, "pairs", "F", "all preferences, or a random share F of them", OPEN,
           .initial = "all", .high = 1, .low_excluded = true, .word = "all", .word_value = 1),
    OPTION(CHOICE, 0, "cost-per", "UNIT", "unit that costs C", OPEN, .initial = "pair",
           .choices = cost_units, .meanings = cost_unit_meanings),
    OPTION(CHOICE, 0, "pair-features", "NAME", "features of pairs, in the space of any kernel",
           SINGLE, .initial = "none", .choices = pair_features, .meanings = pair_feature_meanings),
    OPTION(CHOICE, 0, "step", "NAME", "step of solver fw", SINGLE, .initial = "linesearch",
           .choices = steps, .meanings = step_meanings),
    OPTION(CHOICE, 0, "stop", "NAME", "of solver fw: what --epsilon bounds", SINGLE,
           .initial = "gap", .choices = stops, .meanings = stop_meanings),
    OPTION(COUNT, 0, "targets", "0|1",
           "1: also fit, for each query, a monotone map from scores to labels with intervals of "
           "90%, to out-of-fold scores of five folds; predictions are then `score value low high`, "
           "separated by tabs",
           SINGLE, .initial = "0", .high = 1)};

static bool exterior_features(const struct options *options) {
    return options_choice(options, "pair-features") == 1;
}

static bool wants_targets(const struct options *options) {
    return options_number(options, "targets") != 0;
}

static int check(const struct options *options, struct error *err) {
    enum rank_method method = (enum rank_method)options_choice(options, "solver");
    size_t kernel = options_choice(options, "kernel");
    bool exterior = exterior_features(options), targets = wants_targets(options);
    bool queries = options_choice(options, "query-features") != 0;
    bool by_query =
        queries || scale_kind_by_query((enum scale_kind)options_choice(options, "scale"));
    bool exported = options_given(options, "libsvm") || options_given(options, "liblinear");
    bool conditional = options_given(options, "step") || options_given(options, "stop");
    const struct refusal refusals[] = {
        {exterior && exported, "no other program knows pair features"},
        {exterior && options_number(options, "probability") != 0,
         "no probabilities with --pair-features exterior"},
        {exterior && options_given(options, "max-sv"), "no --max-sv with --pair-features exterior"},
        {exterior && targets, "no --targets with --pair-features exterior"},
        {queries && (kernel == KERNEL_LINEAR || kernel == KERNEL_PRECOMPUTED),
         "--query-features wants a kernel of features that is not linear: linear scores order the "
         "rows of a query alike without them"},
        {queries && options_choice(options, "scale") == SCALE_L2,
         "--query-features is not for --scale l2"},
        {queries && exported, "no other program knows features of queries"},
        {by_query && targets, "no --targets with --query-features or --scale by query: folds and "
                              "standards have parts of a query, and other means than all of it"},
        {method == RANK_FW && options_lists(options, "loss", RANK_SQUARED_HINGE),
         "--solver fw is for the hinge loss"},
        {method == RANK_NEWTON && exterior, "--solver newton is not for pair features"},
        {method != RANK_FW && conditional, "--step and --stop are for --solver fw"},
        {0}};
    return options_refuse(refusals, err);
}

static int check_distributed(const struct options *options, struct error *err) {
    const struct refusal refusals[] = {
        {exterior_features(options),
         "--pair-features exterior is not distributed over MPI processes"},
        {options_choice(options, "query-features") != 0,
         "--query-features is not distributed over MPI processes"},
        {options_number(options, "pairs") < 1,
         "a share of --pairs is not distributed over MPI processes"},
        {0}};
    return options_refuse(refusals, err);
}

static bool linear_gain(const struct options *options) {
    return options_choice(options, "gain") == 1;
}

/* Whether labels are grades, from which gains are computed. */
static bool graded(enum rank_unit unit) {
    return unit == RANK_NDCG || unit == RANK_GAIN;
}

static uint32_t window_end(double value) {
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static int open_problem(void **state, const struct problem *problem, struct point point,
                        struct error *err) {
    const struct option *window = options_find(point.options, "rank-gap");
    struct query_weights weights;
    struct rank *rank = NULL;
    if (query_weights_read(&weights, point.options, problem->data, err) < 0) {
        return -1;
    }
    struct rank_preferences preferences = {.gap_low = window_end(window->number[0]),
                                           .gap_high = window_end(window->number[1]),
                                           .fraction = point_number(point, "pairs"),
                                           .seed = (uint64_t)point_number(point, "seed"),
                                           .unit = (enum rank_unit)point_choice(point, "cost-per"),
                                           .linear_gain = linear_gain(point.options),
                                           .exterior = exterior_features(point.options),
                                           .keep = options_given(point.options, "proof"),
                                           .n_weights = weights.n,
                                           .weight_query = weights.query,
                                           .weight = weights.weight};
    int status = rank_create(&rank, problem, &preferences, err);
    query_weights_free(&weights);
    *state = rank;
    return status;
}

static void close_problem(void *state) {
    rank_free(state);
}

static struct rank_parameters parameters_of(struct point point) {
    return (struct rank_parameters){.loss = (enum rank_loss)point_choice(point, "loss"),
                                    .method = (enum rank_method)point_choice(point, "solver"),
                                    .cost = point_number(point, "cost"),
                                    .epsilon = point_number(point, "epsilon"),
                                    .step = (enum rank_step)point_choice(point, "step"),
                                    .stop = (enum rank_stop)point_choice(point, "stop")};
}

static int solve(void *state, struct point point, const struct monitor *monitor,
                 struct solution *solution, struct error *err) {
    struct rank_parameters parameters = parameters_of(point);
    return rank_solve(state, &parameters, monitor, solution, err);
}

static int replace(void *state, struct point point, struct solution *solution, struct error *err) {
    struct rank_parameters parameters = parameters_of(point);
    return rank_replace(state, &parameters, solution, err);
}

static int header(const void *state, struct point point, struct model *model, struct error *err) {
    struct rank_counts counts = rank_counts(state);
    if (model_add(model, err, "groups", "%zu", counts.n_groups) < 0 ||
        model_add_number(model, err, "pairs", counts.n_pairs) < 0) {
        return -1;
    }
    if (exterior_features(point.options) &&
        model_add(model, err, "pair-features", "exterior") < 0) {
        return -1;
    }
    enum rank_unit unit = (enum rank_unit)point_choice(point, "cost-per");
    if (unit != RANK_PAIR && model_add(model, err, "cost-per", "%s", cost_units[unit]) < 0) {
        return -1;
    }
    bool linear = graded(unit) && linear_gain(point.options);
    return linear ? model_add(model, err, "gain", "linear") : 0;
}

static void report(const void *state, struct point point, const struct model *model,
                   struct output *output) {
    (void)model;
    (void)point;
    struct rank_counts counts = rank_counts(state);
    output_format(output, "groups = %zu\n", counts.n_groups);
    if (counts.n_groups_without_pairs > 0) {
        output_format(output, "groups-without-pairs = %zu\n", counts.n_groups_without_pairs);
    }
    report_number(output, "pairs", counts.n_pairs);
}

static void prove_problem(struct point point, struct proof_writer *proof) {
    const struct option *window = options_find(point.options, "rank-gap");
    const struct option *unit = options_find(point.options, "cost-per");
    char text[32];
    if (options_given(point.options, "rank-gap")) {
        proof_writer_text(proof, "rank-gap", window->text);
    }
    if (point_choice(point, "cost-per") != RANK_PAIR) {
        proof_writer_text(proof, "cost-per", point_text(point, unit, text));
    }
    if (graded((enum rank_unit)point_choice(point, "cost-per")) && linear_gain(point.options)) {
        proof_writer_text(proof, "gain", "linear");
    }
    if (point_number(point, "pairs") < 1) {
        proof_writer_number(proof, "pairs", point_number(point, "pairs"));
        proof_writer_number(proof, "seed", point_number(point, "seed"));
    }
    label_weights_prove(point.options, proof);
}

static void prove(const void *state, struct point point, struct proof_writer *proof) {
    const struct rank_points *points = rank_get_points(state);
    prove_problem(point, proof);
    for (size_t t = 0; t < points->n_points; t++) {
        char weight[NUMBER_LENGTH];
        size_t length = number_format(points->point[t].weight, weight);
        proof_writer_pair(proof, "point", weight, length, points->point[t].smoothing);
    }
    for (size_t i = 0; i < points->n; i++) {
        for (size_t t = 0; t < points->n_points; t++) {
            double score = points->point[t].scores[i];
            if (score != 0) {
                proof_writer_value(proof, (uint32_t)i, (uint32_t)(t + 1), 0, score);
            }
        }
    }
    for (size_t p = 0; p < points->n_pairs; p++) {
        struct rank_pair pair = points->pair[p];
        proof_writer_value(proof, pair.better, pair.worse + 1, 0, pair.alpha);
    }
}

static int calibrate(const struct held_out *folds, size_t n_folds, struct point point,
                     struct model *model, struct error *err) {
    uint64_t seed = (uint64_t)point_number(point, "seed");
    double slope;
    if (options_number(point.options, "probability") != 0 &&
        (rank_probability_slope(&slope, folds, n_folds, seed, err) < 0 ||
         model_add_number(model, err, "probability-slope", slope) < 0)) {
        return -1;
    }
    return wants_targets(point.options) ? targets_fit(folds, n_folds, seed, model, err) : 0;
}

const struct family rank_family = {
    .name = "rank",
    .summary = "Trains a RankSVM: scores that order the rows of each query (qid) as their "
               "targets do.",
    .has = FAMILY_LOSS | FAMILY_KERNEL | FAMILY_PROBABILITY | FAMILY_EXPORT |
           FAMILY_DISTRIBUTED_GRAM | FAMILY_LANDMARKS | FAMILY_QUERY_FEATURES | FAMILY_MAX_SV,
    .labels = DATA_NUMBER,
    .folds_by_query = true,
    .formulations = formulations,
    .formulation_meanings = formulation_meanings,
    .solvers = solvers,
    .solver_meanings = solver_meanings,
    TABLE(options, own_options),
    .measures = &rank_measures,
    .check = check,
    .check_distributed = check_distributed,
    .check_data = query_weights_check,
    .pair_features = exterior_features,
    .open = open_problem,
    .solve = solve,
    .close = close_problem,
    .replace = replace,
    .header = header,
    .report = report,
    .prove = prove,
    .calibrates = wants_targets,
    .calibrate_by_row = true,
    .calibrate = calibrate,
    .warn_of_rows = disagreement_warn};
