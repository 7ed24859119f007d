/* The table of svm-mc-predict: predicts labels, scores and probabilities. */
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "families/mc/frontend/probability.h"
#include "families/shared/confusion.h"
#include "families/shared/row_names.h"

#include <stdlib.h>

static const struct option_spec own_options[] = {
    OPTION(COUNT, 'b', "probability", "0|1",
           "1: after the label write the probabilities of all classes, in the order of a first "
           "line `labels`, as LIBSVM does; for models of -b 1",
           SINGLE, .initial = "0", .high = 1),
    OPTION(FLAG, 0, "scores", NULL,
           "after the label write the scores of all classes, in the order of the model's line "
           "`labels`",
           SINGLE),
    OPTION_LABELS_HEADER, OPTION_NAMES,
    OPTION(TEXT, 0, "confusion", "FILE",
           "also write a table of how many rows of each label (lines) were predicted as each class "
           "(columns), with tabs between columns",
           SINGLE)};

static const char *const extra_options[] = {"confusion", NULL};

static const char *const model_keys[] = {LABELS_KEY, "margin-scale", "max-sv", MC_PROBABILITY_KEY,
                                         NULL};

static int check(const struct options *options, const struct model *model, struct error *err) {
    bool probability = options_number(options, "probability") != 0, calibrated;
    double scale;
    if (probability && options_given(options, "scores")) {
        return error_set(err, ERROR_USAGE, "--probability and --scores exclude each other");
    }
    if (row_names_check_header(options, probability, err) < 0) {
        return -1;
    }
    if (mc_probability_read(model, &calibrated, &scale, err) < 0 ||
        confusion_check(false, model, err) < 0) {
        return -1;
    }
    return probability && !calibrated
               ? error_set(err, ERROR_RUNTIME, "the model has no probabilities: train it with -b 1")
               : 0;
}

struct lines {
    struct confusion confusion;
    struct row_names names;
    bool scores, probability;
    double scale;
    double *p; /* (k) */
};

static void close_lines(void *state) {
    free(((struct lines *)state)->p);
    confusion_close(state);
}

static int open_lines(void **state, const struct options *options, const struct model *model,
                      struct error *err) {
    bool calibrated, table = options_given(options, "confusion");
    if (confusion_open(state, sizeof(struct lines), false, table, model, err) < 0) {
        return -1;
    }
    struct lines *lines = *state;
    lines->scores = options_given(options, "scores");
    lines->probability = options_number(options, "probability") != 0;
    lines->names = row_names_open(options);
    lines->names.header |= lines->probability; /* as LIBSVM's svm-predict -b 1 */
    lines->p = memory_array(model->n_outputs, sizeof(double), "predictions", err);
    if (!lines->p || mc_probability_read(model, &calibrated, &lines->scale, err) < 0) {
        close_lines(lines);
        *state = NULL;
        return -1;
    }
    return 0;
}

static void probabilities(const void *state, const double *score, double *p) {
    const struct lines *lines = state;
    mc_probability(lines->scale, score, lines->confusion.n_scores, p);
}

static void write_row(struct lines *lines, const double *score, struct output *output) {
    size_t predicted = confusion_decide(lines, score);
    output_format(output, "%s", confusion_name(&lines->confusion, predicted));
    if (lines->probability) {
        probabilities(lines, score, lines->p);
        score = lines->p;
    }
    confusion_write_scores(score,
                           lines->probability || lines->scores ? lines->confusion.n_scores : 0,
                           lines->names.separator, output);
}

static int add_rows(void *state, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = state;
    size_t n = rows->n_rows, k = lines->confusion.n_scores;
    if (lines->confusion.cell && confusion_count(lines, rows, NULL, n, scores, k, err) < 0) {
        return -1;
    }
    if (output) {
        row_names_header(&lines->names, &lines->confusion.labels, output);
    }
    for (size_t i = 0; output && i < n; i++) {
        write_row(lines, scores + i * k, output);
        row_names_end_line(&lines->names, rows, i, output);
    }
    return 0;
}

const struct predictor mc_predictor = {
    .name = "mc",
    .summary = "Predicts the labels of test_file, one a line, by a model of svm-mc-train or of "
               "LIBLINEAR's train -s 4.",
    .labels = DATA_NAME,
    TABLE(options, own_options),
    .measures = &mc_measures,
    .model_keys = model_keys,
    .imports = true,
    .wants_comments = row_names_wanted,
    .check = check,
    .open = open_lines,
    .add = add_rows,
    .decide = confusion_decide,
    .probabilities = probabilities,
    .extra_options = extra_options,
    .write_extra = confusion_write,
    .close = close_lines};
