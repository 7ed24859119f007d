/* svm-smm-predict: labels and decision values, by a model of svm-smm-train. */
#include "families/smm/smm.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "families/smm/measures.h"
#include "solvers/smm/smm.h"

#include <stdlib.h>

static const struct option_spec own_options[] = {
    {.name = "confusion",
     .kind = OPTION_TEXT,
     .value = "FILE",
     .help = "write a table of how many rows of each label (lines) are predicted as each "
             "(columns), tabs between"}};

static const char *const model_keys[] = {"labels",       "shape",     "rank", "tau",
                                         "stationarity", "certified", NULL};

static int check(const struct options *options, const struct model *model, struct error *err) {
    if (options_given(options, "confusion") && options_given(options, "batch")) {
        return error_set(err, ERROR_USAGE, "--confusion is for a single test file");
    }
    struct labels labels;
    if (label_line_read_pair(&labels, model, err) < 0) {
        return -1;
    }
    labels_free(&labels);
    return 0;
}

struct lines {
    struct smm_counts counts;
    size_t n_scores;
    struct output *confusion; /* NULL: not wanted */
};

static void close_lines(void *state) {
    struct lines *lines = state;
    output_discard(lines->confusion);
    smm_counts_close(&lines->counts);
    free(lines);
}

static int open_lines(void **state, const struct options *options, const struct model *model,
                      struct error *err) {
    struct lines *lines = memory_zeros(1, sizeof *lines, "predictions", err);
    if (!lines) {
        return -1;
    }
    lines->n_scores = model->n_outputs;
    if (smm_counts_open(&lines->counts, model, err) < 0 ||
        (options_given(options, "confusion") &&
         output_open(&lines->confusion, options_text(options, "confusion"), err) < 0)) {
        close_lines(lines);
        return -1;
    }
    *state = lines;
    return 0;
}

static int add_rows(void *state, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = state;
    size_t n = lines->n_scores;
    if (lines->confusion &&
        smm_counts_add(&lines->counts, rows, NULL, rows->n_rows, scores, n, err) < 0) {
        return -1;
    }
    for (size_t i = 0; output && i < rows->n_rows; i++) {
        const double *score = scores + i * n;
        output_format(output, "%s", lines->counts.labels.names.name[smm_predict(score, n)]);
        for (size_t k = 0; k < n; k++) {
            output_write(output, " ", 1);
            output_number(output, score[k]);
        }
        output_write(output, "\n", 1);
    }
    return 0;
}

static int finish(void *state, struct output *output, struct error *err) {
    (void)output;
    struct lines *lines = state;
    struct output *table = lines->confusion;
    if (!table) {
        return 0;
    }
    const struct names *names = &lines->counts.labels.names;
    output_format(table, "label");
    for (size_t p = 0; p < names->n; p++) {
        output_format(table, "\t%s", names->name[p]);
    }
    for (size_t l = 0; l <= names->n; l++) {
        output_format(table, "\n%s", l < names->n ? names->name[l] : "(other)");
        for (size_t p = 0; p < names->n; p++) {
            output_write(table, "\t", 1);
            output_number(table, lines->counts.cell[l * names->n + p]);
        }
    }
    output_write(table, "\n", 1);
    lines->confusion = NULL;
    return output_commit(table, err);
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
    .no_output = true,
    .check = check,
    .open = open_lines,
    .add = add_rows,
    .finish = finish,
    .close = close_lines};
