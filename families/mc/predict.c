/* svm-mc-predict: labels, with scores or probabilities, by a model of svm-mc-train. */
#include "families/mc/mc.h"

#include "common/base/memory.h"
#include "common/data/labels.h"
#include "common/model/label_line.h"
#include "families/confusion.h"
#include "families/decide.h"
#include "families/mc/measures.h"
#include "families/mc/probability.h"

#include <stdlib.h>

static const struct option_spec own_options[] = {
    OPTION(COUNT, 'b', "probability", "0|1",
           "1: after the label the probabilities of all classes, in the order of a first line "
           "`labels`, as LIBSVM writes them; the model must be one of -b 1",
           SINGLE, .initial = "0", .high = 1),
    OPTION(FLAG, 0, "scores", NULL, "after the label the scores of all classes, in that order",
           SINGLE),
    OPTION(TEXT, 0, "confusion", "FILE",
           "write a table of how many rows of each label (lines) are predicted as each class "
           "(columns), tabs between",
           SINGLE)};

static const char *const extra_options[] = {"confusion", NULL};

static const char *const model_keys[] = {LABELS_KEY, "margin-scale", MC_PROBABILITY_KEY, NULL};

static int check(const struct options *options, const struct model *model, struct error *err) {
    bool probability = options_number(options, "probability") != 0, calibrated;
    double scale;
    struct labels labels;
    if (probability && options_given(options, "scores")) {
        return error_set(err, ERROR_USAGE, "--probability and --scores exclude each other");
    }
    if (mc_probability_read(model, &calibrated, &scale, err) < 0 ||
        label_line_read(&labels, model, err) < 0) {
        return -1;
    }
    labels_free(&labels);
    return probability && !calibrated
               ? error_set(err, ERROR_RUNTIME, "the model has no probabilities: train it with -b 1")
               : 0;
}

struct lines {
    bool scores, probability;
    bool begun; /* the line of labels is written */
    double scale;
    double *p;                  /* (k) */
    struct confusion confusion; /* with the model's labels */
    bool table;                 /* of confusions: wanted */
};

static void close_lines(void *state) {
    struct lines *lines = state;
    confusion_free(&lines->confusion);
    free(lines->p);
    free(lines);
}

static int open_lines(void **state, const struct options *options, const struct model *model,
                      struct error *err) {
    struct lines *lines = memory_zeros(1, sizeof *lines, "predictions", err);
    if (!lines) {
        return -1;
    }
    bool calibrated;
    struct labels labels;
    lines->table = options_given(options, "confusion");
    lines->scores = options_given(options, "scores");
    lines->probability = options_number(options, "probability") != 0;
    lines->p = memory_array(model->n_outputs, sizeof(double), "predictions", err);
    if (!lines->p || label_line_read(&labels, model, err) < 0 ||
        confusion_create(&lines->confusion, &labels, false, lines->table, err) < 0 ||
        mc_probability_read(model, &calibrated, &lines->scale, err) < 0) {
        close_lines(lines);
        return -1;
    }
    *state = lines;
    return 0;
}

/* What the probabilities are of, as LIBSVM's svm-predict -b 1 says it. */
static void begin(struct lines *lines, struct output *output) {
    const struct names *names = &lines->confusion.labels.names;
    lines->begun = true;
    if (lines->probability) {
        output_format(output, "labels");
        for (size_t c = 0; c < names->n; c++) {
            output_format(output, " %s", names->name[c]);
        }
        output_write(output, "\n", 1);
    }
}

static size_t decide(const void *state, const double *score) {
    const struct lines *lines = state;
    return decide_largest(score, lines->confusion.labels.names.n);
}

static void probabilities(const void *state, const double *score, double *p) {
    const struct lines *lines = state;
    mc_probability(lines->scale, score, lines->confusion.labels.names.n, p);
}

static void write_row(struct lines *lines, const double *score, size_t predicted,
                      struct output *output) {
    size_t k = lines->confusion.labels.names.n;
    output_format(output, "%s", confusion_name(&lines->confusion, predicted));
    if (lines->probability) {
        probabilities(lines, score, lines->p);
        score = lines->p;
    }
    for (size_t c = 0; (lines->probability || lines->scores) && c < k; c++) {
        output_write(output, " ", 1);
        output_number(output, score[c]);
    }
    output_write(output, "\n", 1);
}

static int add_rows(void *state, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = state;
    size_t k = lines->confusion.labels.names.n;
    if (lines->table && confusion_names(&lines->confusion, &rows->names, err) < 0) {
        return -1;
    }
    if (output && !lines->begun) {
        begin(lines, output);
    }
    for (size_t i = 0; i < rows->n_rows; i++) {
        size_t predicted = decide(lines, scores + i * k);
        if (lines->table) {
            confusion_add(&lines->confusion, rows->label[i], predicted);
        }
        if (output) {
            write_row(lines, scores + i * k, predicted, output);
        }
    }
    return 0;
}

static int write_table(void *state, size_t option, struct output *output, struct error *err) {
    (void)option;
    (void)err;
    struct lines *lines = state;
    confusion_write(&lines->confusion, output);
    return 0;
}

const struct predictor mc_predictor = {
    .name = "mc",
    .summary = "Predicts the labels of test_file, one a line, by a model of svm-mc-train or of "
               "LIBLINEAR's train -s 4.",
    .labels = DATA_NAME,
    .options = own_options,
    .n_options = sizeof own_options / sizeof own_options[0],
    .measures = &mc_measures,
    .model_keys = model_keys,
    .imports = true,
    .check = check,
    .open = open_lines,
    .add = add_rows,
    .decide = decide,
    .probabilities = probabilities,
    .extra_options = extra_options,
    .write_extra = write_table,
    .close = close_lines};
