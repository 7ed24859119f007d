/* svm-smm-predict: predicts labels and decision values by a model of svm-smm-train. */
#include "families/shared/tables.h"

#include "common/model/label_line.h"
#include "families/shared/confusion.h"
#include "families/smm/frontend/matrix_shape.h"

static const struct option_spec own_options[] = {
    OPTION_HEADER, OPTION_NAMES,
    OPTION(TEXT, 0, "confusion", "FILE",
           "also write a table of how many rows of each label (lines) were predicted as each label "
           "(columns), with tabs between columns",
           SINGLE)};

static const char *const extra_options[] = {"confusion", NULL};

static const char *const model_keys[] = {"labels", "shape", "rank", "tau", "stationarity", NULL};

static int check(const struct options *options, const struct model *model, struct error *err) {
    (void)options;
    return confusion_check(true, model, err);
}

static void limit(const void *model, const char *comment, struct input_limit *limit) {
    matrix_shape_limit(model_value(model, "shape"), comment, limit);
}

static int take_rows(const struct model *model, const struct data *rows, struct error *err) {
    return matrix_shape_takes(model_value(model, "shape"), rows, err);
}

static int open_lines(void **state, const struct options *options, const struct model *model,
                      struct error *err) {
    bool table = options_given(options, "confusion");
    if (confusion_open(state, sizeof(struct confusion_lines), true, table, model, err) < 0) {
        return -1;
    }
    struct confusion_lines *lines = *state;
    lines->names = row_names_open(options);
    lines->scores = true;
    return 0;
}

const struct predictor smm_predictor = {
    .name = "smm",
    .summary = "Predicts the labels of test_file, one a line with its decision value, by a "
               "model of svm-smm-train.",
    .labels = DATA_NAME,
    TABLE(options, own_options),
    .measures = &smm_measures,
    .model_keys = model_keys,
    .wants_comments = row_names_wanted,
    .check = check,
    .limit = limit,
    .take_rows = take_rows,
    .open = open_lines,
    .add = confusion_add_lines,
    .decide = confusion_decide,
    .extra_options = extra_options,
    .write_extra = confusion_write,
    .close = confusion_close};
