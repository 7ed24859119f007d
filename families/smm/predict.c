/* svm-smm-predict: labels and decision values, by a model of svm-smm-train. */
#include "families/smm/smm.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "families/confusion.h"
#include "families/decide.h"
#include "families/smm/matrix_shape.h"
#include "families/smm/measures.h"

#include <stdlib.h>

static const struct option_spec own_options[] = {
    OPTION(TEXT, 0, "confusion", "FILE",
           "write a table of how many rows of each label (lines) are predicted as each (columns), "
           "tabs between",
           SINGLE)};

static const char *const extra_options[] = {"confusion", NULL};

static const char *const model_keys[] = {"labels", "shape", "rank", "tau", "stationarity", NULL};

static int check(const struct options *options, const struct model *model, struct error *err) {
    (void)options;
    struct labels labels;
    if (label_line_read_pair(&labels, model, err) < 0) {
        return -1;
    }
    labels_free(&labels);
    return 0;
}

static void limit(const void *model, const char *comment, struct input_limit *limit) {
    matrix_shape_limit(model_value(model, "shape"), comment, limit);
}

static int take_rows(const struct model *model, const struct data *rows, struct error *err) {
    return matrix_shape_takes(model_value(model, "shape"), rows, err);
}

struct lines {
    size_t n_scores;
    struct confusion confusion; /* with the model's labels */
    bool table;                 /* of confusions: wanted */
};

static void close_lines(void *state) {
    struct lines *lines = state;
    confusion_free(&lines->confusion);
    free(lines);
}

static int open_lines(void **state, const struct options *options, const struct model *model,
                      struct error *err) {
    struct lines *lines = memory_zeros(1, sizeof *lines, "predictions", err);
    if (!lines) {
        return -1;
    }
    struct labels labels;
    lines->table = options_given(options, "confusion");
    lines->n_scores = model->n_outputs;
    if (label_line_read_pair(&labels, model, err) < 0 ||
        confusion_create(&lines->confusion, &labels, true, lines->table, err) < 0) {
        close_lines(lines);
        return -1;
    }
    *state = lines;
    return 0;
}

static size_t decide(const void *state, const double *score) {
    const struct lines *lines = state;
    return decide_signed(score, lines->n_scores);
}

static int add_rows(void *state, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = state;
    size_t n = lines->n_scores;
    if (lines->table && confusion_names(&lines->confusion, &rows->names, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < rows->n_rows; i++) {
        const double *score = scores + i * n;
        size_t predicted = decide(lines, score);
        if (lines->table) {
            confusion_add(&lines->confusion, rows->label[i], predicted);
        }
        if (!output) {
            continue;
        }
        output_format(output, "%s", confusion_name(&lines->confusion, predicted));
        for (size_t k = 0; k < n; k++) {
            output_write(output, " ", 1);
            output_number(output, score[k]);
        }
        output_write(output, "\n", 1);
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

const struct predictor smm_predictor = {
    .name = "smm",
    .summary = "Predicts the labels of test_file, one a line with its decision value, by a "
               "model of svm-smm-train.",
    .labels = DATA_NAME,
    .options = own_options,
    .n_options = sizeof own_options / sizeof own_options[0],
    .measures = &smm_measures,
    .model_keys = model_keys,
    .check = check,
    .limit = limit,
    .take_rows = take_rows,
    .open = open_lines,
    .add = add_rows,
    .decide = decide,
    .extra_options = extra_options,
    .write_extra = write_table,
    .close = close_lines};
