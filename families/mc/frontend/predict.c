/* The table of svm-mc-predict: predicts labels, scores and probabilities. */
#include "families/shared/tables.h"

#include "common/model/label_line.h"
#include "families/mc/frontend/probability.h"
#include "families/shared/confusion.h"

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
    struct confusion_lines base;
    double scale;
    double p[]; /* (k) */
};

static void probabilities(const void *state, const double *score, double *p) {
    const struct lines *lines = state;
    mc_probability(lines->scale, score, lines->base.confusion.n_scores, p);
}

static int open_lines(void **state, const struct options *options, const struct model *model,
                      struct error *err) {
    bool calibrated, table = options_given(options, "confusion");
    bool probability = options_number(options, "probability") != 0;
    size_t bytes = sizeof(struct lines) + model->n_outputs * sizeof(double);
    if (confusion_open(state, bytes, false, table, model, err) < 0) {
        return -1;
    }
    struct lines *lines = *state;
    lines->base.names = row_names_open(options);
    lines->base.names.header |= probability; /* as LIBSVM's svm-predict -b 1 */
    lines->base.scores = probability || options_given(options, "scores");
    lines->base.probabilities = probability ? probabilities : NULL;
    lines->base.p = lines->p;
    return mc_probability_read(model, &calibrated, &lines->scale, err);
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
    .add = confusion_add_lines,
    .decide = confusion_decide,
    .probabilities = probabilities,
    .extra_options = extra_options,
    .write_extra = confusion_write,
    .close = confusion_close};
