/* svm-ml-predict: label sets, by a model of svm-ml-train. */
#include "families/ml/ml.h"

#include "common/base/memory.h"
#include "common/data/labels.h"
#include "common/model/label_line.h"
#include "families/ml/measures.h"
#include "families/ml/threshold.h"

#include <stdlib.h>

static const struct option_spec own_options[] = {
    {.name = "scores",
     .kind = OPTION_FLAG,
     .help = "behind the labels of each row the scores of all labels, in the order of the model's "
             "line `labels`"}};

static const char *const model_keys[] = {LABELS_KEY, ML_THRESHOLD_KEY, ML_AT_LEAST_ONE_KEY, NULL};

struct lines {
    struct labels labels;
    struct ml_threshold threshold;
    bool scores;
    bool *chosen; /* (q) */
};

static void close_lines(void *state) {
    struct lines *lines = state;
    labels_free(&lines->labels);
    ml_threshold_free(&lines->threshold);
    free(lines->chosen);
    free(lines);
}

static int open_lines(void **state, const struct options *options, const struct model *model,
                      struct error *err) {
    struct lines *lines = memory_zeros(1, sizeof *lines, "predictions", err);
    if (!lines) {
        return -1;
    }
    lines->scores = options_given(options, "scores");
    lines->chosen = memory_array(model->n_outputs, sizeof(bool), "predictions", err);
    if (!lines->chosen || label_line_read(&lines->labels, model, err) < 0 ||
        ml_threshold_read(&lines->threshold, model, (uint32_t)model->n_outputs, err) < 0) {
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

static int add_rows(void *state, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = state;
    const struct names *names = &lines->labels.names;
    (void)err;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const double *s = scores + i * names->n;
        choose(lines, s, lines->chosen);
        const char *between = "";
        for (size_t k = 0; k < names->n; k++) {
            if (lines->chosen[k]) {
                output_format(output, "%s%s", between, names->name[k]);
                between = ",";
            }
        }
        for (size_t k = 0; lines->scores && k < names->n; k++) {
            output_write(output, " ", 1);
            output_number(output, s[k]);
        }
        output_write(output, "\n", 1);
    }
    return 0;
}

const struct predictor ml_predictor = {
    .name = "ml",
    .summary = "Predicts the labels of each row, with commas between, by a model of "
               "svm-ml-train.",
    .labels = DATA_SET,
    .options = own_options,
    .n_options = sizeof own_options / sizeof own_options[0],
    .measures = &ml_measures,
    .model_keys = model_keys,
    .open = open_lines,
    .add = add_rows,
    .choose = choose,
    .close = close_lines};
