/* svm-ml-train: options, problem and report of the multi-label Rank-SVM. */
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "families/ml/frontend/propensity.h"
#include "families/ml/frontend/threshold.h"
#include "families/ml/solver/ml.h"
#include "families/shared/label_weights.h"

#include <stdlib.h>

static const char *const formulations[] = {"rank", NULL};
static const char *const formulation_meanings[] = {
    "Elisseeff and Weston's Rank-SVM: 1/2 sum |f_k|^2 + C sum over rows of the mean, over its "
    "labels p and the others r, of l(score of p - score of r)",
    NULL};
static const char *const solvers[] = {"auto", "bcd", "", "interior", NULL};
static const char *const solver_meanings[] = {
    "bcd, then interior, or ADMM where there are too many rows or labels for it",
    "block coordinate ascent, a row at a time", "",
    "interior-point method, for up to 4096 weights: features or rows, times labels", NULL};

static const struct option_spec own_options[] = {
    OPTION(FLAG, 0, "free-bias", NULL, "a bias for each label, which does not count in the norm",
           SINGLE),
    OPTION(COUNT, 'h', "shrinking", "0|1", "1: leave out rows that do not contribute to the gap",
           SINGLE, .initial = "1", .high = 1),
    OPTION(TEXT, 0, "threshold", "HOW",
           "how sets of labels are made from scores, fitted to the training rows and stored in the "
           "model: labels above a level that depends linearly on the row's scores (ew), above one "
           "level (global), each above its own level (scut), the K largest (top:K), or those above "
           "0 (zero)",
           SINGLE, .initial = "ew"),
    OPTION(FLAG, 0, "at-least-one", NULL,
           "predict the label of the largest score if a set would be empty", SINGLE),
    LABEL_WEIGHTS_OF_ROWS};

static int check(const struct options *options, struct error *err) {
    bool free_bias = options_given(options, "free-bias");
    bool biased = options_find(options, "bias")->n > 1 || options_number(options, "bias") != 0;
    if (free_bias && biased) {
        return error_set(err, ERROR_USAGE, "--bias and --free-bias exclude each other");
    }
    struct ml_threshold threshold;
    return ml_threshold_parse(&threshold, options_text(options, "threshold"), err);
}

/* ---- the problem ---- */

struct state {
    struct ml *ml;
    struct threads *threads;
    struct ml_threshold threshold; /* of the last solution */
    double *label_rows; /* (q) training rows with each label; NULL before the first fit */
};

static void close_problem(void *opened) {
    struct state *state = opened;
    ml_threshold_free(&state->threshold);
    free(state->label_rows);
    ml_free(state->ml);
    free(state);
}

static int open_problem(void **opened, const struct problem *problem, struct point point,
                        struct error *err) {
    struct ml_setup setup = {.bias = point_number(point, "bias"),
                             .free_bias = options_given(point.options, "free-bias"),
                             .shrinking = point_number(point, "shrinking") != 0,
                             .keep = options_given(point.options, "proof"),
                             .seed = (uint64_t)point_number(point, "seed")};
    struct state *state = memory_zeros(1, sizeof *state, "a problem", err);
    if (!state || ml_create(&state->ml, problem, &setup, err) < 0) {
        free(state);
        return -1;
    }
    state->threads = problem->threads;
    *opened = state;
    return 0;
}

static int solve(void *opened, struct point point, const struct monitor *monitor,
                 struct solution *solution, struct error *err) {
    struct ml_parameters parameters = {.loss = (enum ml_loss)point_choice(point, "loss"),
                                       .method = (enum ml_method)point_choice(point, "solver"),
                                       .cost = point_number(point, "cost"),
                                       .epsilon = point_number(point, "epsilon")};
    const struct state *state = opened;
    return ml_solve(state->ml, &parameters, monitor, solution, err);
}

static int fit_threshold(void *opened, struct point point, const struct monitor *monitor,
                         bool *late, struct error *err) {
    struct state *state = opened;
    const struct ml_rows *rows = ml_get_rows(state->ml);
    struct ml_threshold *threshold = &state->threshold;
    if (!state->label_rows) {
        state->label_rows = memory_array(rows->q, sizeof *state->label_rows, "labels", err);
        if (!state->label_rows) {
            return -1;
        }
        ml_label_rows_count(rows, state->label_rows);
    }
    ml_threshold_free(threshold);
    if (ml_threshold_parse(threshold, options_text(point.options, "threshold"), err) < 0) {
        return -1;
    }
    threshold->at_least_one = options_given(point.options, "at-least-one");
    return ml_threshold_fit(threshold, rows, ml_get_scores(state->ml), state->threads, monitor,
                            late, err);
}

/* ---- report, model and proof ---- */

static int header(const void *opened, struct point point, struct model *model, struct error *err) {
    (void)point;
    const struct state *state = opened;
    const struct ml_rows *rows = ml_get_rows(state->ml);
    return label_line_write(&rows->labels, model, err) < 0 ||
                   ml_numbers_write(ML_LABEL_ROWS_KEY, "", state->label_rows, rows->q, model, err) <
                       0
               ? -1
               : ml_threshold_write(&state->threshold, model, err);
}

static void report(const void *opened, struct point point, const struct model *model,
                   struct output *output) {
    (void)model;
    (void)point;
    const struct state *state = opened;
    const struct ml_rows *rows = ml_get_rows(state->ml);
    output_format(output, "labels = %u\n", (unsigned)rows->q);
    if (rows->n_empty > 0) {
        output_format(output, "rows-without-labels = %zu\n", rows->n_empty);
    }
    if (rows->n_full > 0) {
        output_format(output, "rows-with-all-labels = %zu\n", rows->n_full);
    }
}

static void prove(const void *opened, struct point point, struct proof_writer *proof) {
    const struct state *state = opened;
    const struct ml_proof_point *dual = ml_get_proof_point(state->ml);
    if (options_given(point.options, "free-bias")) {
        proof_writer_text(proof, "free-bias", "yes");
    }
    for (size_t i = 0; i < dual->n; i++) {
        struct ml_proof_entry entry = dual->entry[i];
        proof_writer_value(proof, entry.row, entry.p + 1, entry.r == entry.p ? 0 : entry.r + 1,
                           entry.value);
    }
}

const struct family ml_family = {
    .name = "ml",
    .summary = "Trains a multi-label Rank-SVM: scores that put the labels of each row before "
               "all others, and sets of labels from them.",
    .has = FAMILY_LOSS | FAMILY_KERNEL | FAMILY_BIAS | FAMILY_ROW_WEIGHTS,
    .labels = DATA_SET,
    .scores_labels = true,
    .formulations = formulations,
    .formulation_meanings = formulation_meanings,
    .solvers = solvers,
    .solver_meanings = solver_meanings,
    TABLE(options, own_options),
    .measures = &ml_measures,
    .check = check,
    .open = open_problem,
    .solve = solve,
    .close = close_problem,
    .fit_threshold = fit_threshold,
    .header = header,
    .report = report,
    .prove = prove};
