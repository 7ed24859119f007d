/* svm-top-predict: labels and scores by a model of svm-top-train. */
#include "families/top/top.h"

#include "common/base/memory.h"
#include "families/top/decide.h"
#include "families/top/measures.h"
#include "families/top/roc.h"

#include <stdlib.h>
#include <string.h>

static const struct option_spec own_options[] = {
    {.name = "roc",
     .kind = OPTION_TEXT,
     .value = "FILE",
     .help = "also write the ROC curve: a line for each score with the rates of false and true "
             "positives at or above it, tabs between"},
    {.name = "threshold",
     .kind = OPTION_NUMBER,
     .value = "T",
     .absent = "the model's",
     .help = "rows that score above T are positive"}};

static const char *const model_keys[] = {TOP_LABELS_KEY,
                                         "positive",
                                         "top-k",
                                         "tau",
                                         "theta",
                                         TOP_THRESHOLD_KEY,
                                         TOP_CALIBRATED_TAU_KEY,
                                         TOP_CALIBRATED_THRESHOLD_KEY,
                                         NULL};

static int check(const struct options *options, const struct model *model, struct error *err) {
    (void)options;
    struct top_decision decision;
    if (top_decision_read(&decision, model, err) < 0) {
        return -1;
    }
    top_decision_free(&decision);
    return 0;
}

struct lines {
    struct top_decision decision;
    bool roc;             /* the curve is wanted */
    struct top_rows rows; /* for it */
};

static void close_lines(void *opened) {
    struct lines *lines = opened;
    top_rows_free(&lines->rows);
    top_decision_free(&lines->decision);
    free(lines);
}

static int open_lines(void **opened, const struct options *options, const struct model *model,
                      struct error *err) {
    struct lines *lines = memory_zeros(1, sizeof *lines, "predictions", err);
    if (!lines) {
        return -1;
    }
    if (top_decision_read(&lines->decision, model, err) < 0) {
        close_lines(lines);
        return -1;
    }
    lines->roc = options_given(options, "roc");
    if (options_given(options, "threshold")) {
        lines->decision.threshold = options_number(options, "threshold");
    }
    lines->rows.positive = model_value(model, "positive");
    *opened = lines;
    return 0;
}

static int add_rows(void *opened, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = opened;
    for (size_t i = 0; output && i < rows->n_rows; i++) {
        output_format(output, "%s ", top_decide(&lines->decision, scores[i]));
        output_number(output, scores[i]);
        output_write(output, "\n", 1);
    }
    return lines->roc ? top_rows_add(&lines->rows, rows, NULL, rows->n_rows, scores, err) : 0;
}

/* The corners of the curve: a row for each score, with what lies at or above it. */
static void write_curve(struct output *output, const struct roc *roc) {
    output_format(output, "fpr\ttpr\tthreshold\n0\t0\tinf\n");
    for (size_t i = 0; i < roc->n_steps; i++) {
        const struct roc_step *step = &roc->step[i];
        output_number(output,
                      (double)(step->negatives_above + step->negatives) / (double)roc->n_negative);
        output_write(output, "\t", 1);
        output_number(output,
                      (double)(step->positives_above + step->positives) / (double)roc->n_positive);
        output_write(output, "\t", 1);
        output_number(output, step->score);
        output_write(output, "\n", 1);
    }
}

static int write_roc(void *opened, struct output *output, struct error *err) {
    struct lines *lines = opened;
    struct roc roc;
    if (roc_create(&roc, lines->rows.score, lines->rows.is_positive, lines->rows.n, err) < 0) {
        return -1;
    }
    int status = 0;
    if (roc.n_positive == 0 || roc.n_negative == 0) {
        status = error_set(err, ERROR_RUNTIME, "--roc wants rows of both classes");
    } else {
        write_curve(output, &roc);
    }
    roc_free(&roc);
    return status;
}

const struct predictor top_predictor = {
    .name = "top",
    .summary = "Writes the label and the score of each row of test_file, by a model of "
               "svm-top-train.",
    .labels = DATA_NAME,
    .options = own_options,
    .n_options = sizeof own_options / sizeof own_options[0],
    .measures = &top_measures,
    .model_keys = model_keys,
    .check = check,
    .open = open_lines,
    .add = add_rows,
    .extra_option = "roc",
    .write_extra = write_roc,
    .close = close_lines};
