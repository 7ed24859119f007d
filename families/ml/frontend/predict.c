/* svm-ml-predict: predicts label sets by a model of svm-ml-train. */
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "common/data/labels.h"
#include "common/model/label_line.h"
#include "families/ml/frontend/propensity.h"
#include "families/ml/frontend/threshold.h"
#include "families/ml/solver/sort.h"
#include "families/shared/row_names.h"

#include <math.h>
#include <stdlib.h>

static const struct option_spec own_options[] = {
    OPTION(FLAG, 0, "scores", NULL,
           "after the labels of each row write the scores of all labels, in the order of the "
           "model's line `labels`",
           SINGLE),
    OPTION_LABELS_HEADER, OPTION_NAMES,
    OPTION(COUNT, 0, "top-k", "K",
           "instead of the labels of each row write the K labels of the largest scores, regardless "
           "of the threshold, as LABEL:SCORE, best first, separated by blanks",
           SINGLE, .low = 1, .high = UINT32_MAX, .absent = "sets of labels")};

static const char *const model_keys[] = {LABELS_KEY, ML_LABEL_ROWS_KEY, ML_THRESHOLD_KEY,
                                         ML_AT_LEAST_ONE_KEY, NULL};

static int check(const struct options *options, const struct model *model, struct error *err) {
    if (options_given(options, "top-k") && options_given(options, "scores")) {
        return error_set(err, ERROR_USAGE, "--top-k and --scores exclude each other");
    }
    if (row_names_check_header(options, false, err) < 0) {
        return -1;
    }
    return options_given(options, "psp") && !model_value(model, ML_LABEL_ROWS_KEY)
               ? error_set(err, ERROR_RUNTIME,
                           "the model has no counts of its labels (label-rows), which psp@K "
                           "needs: train it anew")
               : 0;
}

struct lines {
    struct labels labels;
    struct ml_threshold threshold;
    struct row_names row_names;
    bool scores;
    bool *chosen;            /* (q) */
    struct ml_sort *largest; /* (4 n_largest), half of it work */
    uint32_t n_largest;      /* labels of a row for --top-k; 0: predict sets */
};

static void close_lines(void *state) {
    struct lines *lines = state;
    labels_free(&lines->labels);
    ml_threshold_free(&lines->threshold);
    free(lines->chosen);
    free(lines->largest);
    free(lines);
}

static int open_lines(void **state, const struct options *options, const struct model *model,
                      struct error *err) {
    struct lines *lines = memory_zeros(1, sizeof *lines, "predictions", err);
    if (!lines) {
        return -1;
    }
    uint32_t q = (uint32_t)model->n_outputs;
    lines->scores = options_given(options, "scores");
    lines->row_names = row_names_open(options);
    if (options_given(options, "top-k")) {
        lines->n_largest = (uint32_t)fmin(options_number(options, "top-k"), q);
    }
    lines->largest = memory_array(lines->n_largest, 4 * sizeof *lines->largest, "predictions", err);
    lines->chosen = memory_array(q, sizeof(bool), "predictions", err);
    if (!lines->largest || !lines->chosen ||
        label_line_read(&lines->labels, model, false, err) < 0 ||
        ml_threshold_read(&lines->threshold, model, q, err) < 0) {
        close_lines(lines);
        return -1;
    }
    *state = lines;
    return 0;
}

static void choose(void *state, const double *scores, bool *chosen) {
    struct lines *lines = state;
    ml_threshold_apply(&lines->threshold, scores, chosen);
}

/* Writes the row's set, and its scores for --scores. */
static void write_set(struct lines *lines, const double *s, struct output *output) {
    const struct names *names = &lines->labels.names;
    choose(lines, s, lines->chosen);
    const char *between = "";
    for (size_t k = 0; k < names->n; k++) {
        if (lines->chosen[k]) {
            output_format(output, "%s%s", between, names->name[k]);
            between = ",";
        }
    }
    for (size_t k = 0; lines->scores && k < names->n; k++) {
        output_text(output, lines->row_names.separator);
        output_number(output, s[k]);
    }
}

static void write_largest(struct lines *lines, const double *s, struct output *output) {
    const struct names *names = &lines->labels.names;
    ml_sort_largest(s, (uint32_t)names->n, lines->largest, lines->n_largest,
                    lines->largest + 2 * (size_t)lines->n_largest);
    for (uint32_t k = 0; k < lines->n_largest; k++) {
        output_format(output, "%s%s:", k > 0 ? lines->row_names.separator : "",
                      names->name[lines->largest[k].index]);
        output_number(output, lines->largest[k].key);
    }
}

static int add_rows(void *state, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = state;
    (void)err;
    row_names_header(&lines->row_names, &lines->labels, output);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const double *s = scores + i * lines->labels.names.n;
        (lines->n_largest > 0 ? write_largest : write_set)(lines, s, output);
        row_names_end_line(&lines->row_names, rows, i, output);
    }
    return 0;
}

const struct predictor ml_predictor = {
    .name = "ml",
    .summary = "Predicts the labels of each row, with commas between, by a model of "
               "svm-ml-train.",
    .labels = DATA_SET,
    TABLE(options, own_options),
    .measures = &ml_measures,
    .model_keys = model_keys,
    .wants_comments = row_names_wanted,
    .check = check,
    .open = open_lines,
    .add = add_rows,
    .choose = choose,
    .close = close_lines};
