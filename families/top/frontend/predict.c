/* svm-top-predict: labels and scores by a model of svm-top-train. */
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "families/shared/row_names.h"
#include "families/top/frontend/labels.h"
#include "families/top/frontend/roc.h"

#include <math.h>
#include <stdlib.h>

static const struct option_spec own_options[] = {
    OPTION_HEADER,
    OPTION_NAMES,
    OPTION(TEXT, 0, "roc", "FILE",
           "also write the ROC curve: for each score the rates of false and true positives at or "
           "above it, separated by tabs",
           SINGLE),
    OPTION(COUNT, 0, "roc-points", "N",
           "of --roc: at most N points, evenly spaced along the curve, with both ends", SINGLE,
           .low = 3, .high = 1e9, .absent = "all"),
    OPTION(TEXT, 0, "pr", "FILE",
           "also write the precision-recall curve: for each score the recall and the precision of "
           "the rows at or above it, separated by tabs",
           SINGLE),
    OPTION(TEXT, 0, "confusion", "FILE",
           "also write how many positives and negatives were predicted as each: a table with tabs "
           "between columns",
           SINGLE),
    OPTION(NUMBER, 0, "threshold", "T",
           "rows that score above T are positive; measures fpr, tpr and precision are theirs, with "
           "their exact intervals of 95%: fpr-low, fpr-high, ...",
           SINGLE, .absent = "the model's")};

enum { ROC, PR, CONFUSION };
static const char *const extra_options[] = {"roc", "pr", "confusion", NULL};

static const char *const model_keys[] = {TOP_LABELS_KEY,
                                         "positive",
                                         "top-k",
                                         "tau",
                                         "theta",
                                         "max-sv",
                                         TOP_THRESHOLD_KEY,
                                         TOP_CALIBRATED_TAU_KEY,
                                         TOP_CALIBRATED_THRESHOLD_KEY,
                                         TOP_CALIBRATED_RATE_KEYS,
                                         NULL};

static int check(const struct options *options, const struct model *model, struct error *err) {
    if (options_given(options, "roc-points") && !options_given(options, "roc")) {
        return error_set(err, ERROR_USAGE, "--roc-points is for --roc");
    }
    struct top_decision decision;
    if (top_decision_read(&decision, model, err) < 0) {
        return -1;
    }
    top_decision_free(&decision);
    return 0;
}

struct lines {
    struct top_decision decision;
    struct row_names names;
    bool stores_rows;     /* for extra files */
    struct top_rows rows; /* the stored rows */
    size_t roc_points;    /* maximal number of points of a curve; 0: all */
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
    lines->names = row_names_open(options);
    for (size_t k = 0; extra_options[k]; k++) {
        lines->stores_rows |= options_given(options, extra_options[k]);
    }
    if (options_given(options, "roc-points")) {
        lines->roc_points = (size_t)options_number(options, "roc-points");
    }
    if (options_given(options, "threshold")) {
        lines->decision.threshold = options_number(options, "threshold");
    }
    lines->rows.positive = model_value(model, "positive");
    *opened = lines;
    return 0;
}

/* The index of the predicted class: 0 positive, 1 negative. */
static size_t decide(const void *opened, const double *score) {
    const struct top_decision *decision = &((const struct lines *)opened)->decision;
    return top_decide(decision, *score) == decision->positive ? 0 : 1;
}

static int add_rows(void *opened, const struct data *rows, const double *scores,
                    struct output *output, struct error *err) {
    struct lines *lines = opened;
    if (output) {
        row_names_header(&lines->names, NULL, output);
    }
    for (size_t i = 0; output && i < rows->n_rows; i++) {
        output_format(output, "%s%s", top_decide(&lines->decision, scores[i]),
                      lines->names.separator);
        output_number(output, scores[i]);
        row_names_end_line(&lines->names, rows, i, output);
    }
    return lines->stores_rows ? top_rows_add(&lines->rows, rows, NULL, rows->n_rows, scores, err)
                              : 0;
}

static void write_point(struct output *output, double x, double y, double score) {
    output_number(output, x);
    output_write(output, "\t", 1);
    output_number(output, y);
    output_write(output, "\t", 1);
    output_number(output, score);
    output_write(output, "\n", 1);
}

/* Writes the corners of the curve: for each score the rates at or above it. With more than
 * max_points (0: no limit) the curve's length is divided into max_points - 2 equal parts, and the
 * first point in each part is written. */
static void write_roc(struct output *output, const struct roc *roc, size_t max_points) {
    double parts = max_points > 0 ? (double)(max_points - 2) : 0, last = 0;
    output_format(output, "fpr\ttpr\tthreshold\n0\t0\tinf\n");
    for (size_t i = 0; i < roc->n_steps; i++) {
        const struct roc_step *step = &roc->step[i];
        double fpr = (double)(step->negatives_above + step->negatives) / (double)roc->n_negative;
        double tpr = (double)(step->positives_above + step->positives) / (double)roc->n_positive;
        double part = floor(parts * (fpr + tpr) / 2);
        if (max_points == 0 || roc->n_steps < max_points || part > last || i + 1 == roc->n_steps) {
            write_point(output, fpr, tpr, step->score);
            last = part;
        }
    }
}

static void write_precision(struct output *output, const struct roc *roc) {
    output_format(output, "recall\tprecision\tthreshold\n0\t1\tinf\n");
    for (size_t i = 0; i < roc->n_steps; i++) {
        const struct roc_step *step = &roc->step[i];
        double right = (double)(step->positives_above + step->positives);
        double wrong = (double)(step->negatives_above + step->negatives);
        write_point(output, right / (double)roc->n_positive, right / (right + wrong), step->score);
    }
}

static void write_confusion(struct output *output, const struct lines *lines) {
    const struct top_decision *decision = &lines->decision;
    size_t count[2][2] = {{0}};
    for (size_t i = 0; i < lines->rows.n; i++) {
        bool predicted = lines->rows.score[i] > decision->threshold;
        count[!lines->rows.is_positive[i]][!predicted]++;
    }
    output_format(output, "label\t%s\t%s\n", decision->positive, decision->negative);
    for (size_t k = 0; k < 2; k++) {
        output_format(output, "%s\t%zu\t%zu\n", k ? decision->negative : decision->positive,
                      count[k][0], count[k][1]);
    }
}

static int write_extra(void *opened, size_t option, struct output *output, struct error *err) {
    struct lines *lines = opened;
    struct roc roc;
    if (option == CONFUSION) {
        write_confusion(output, lines);
        return 0;
    }
    if (roc_create(&roc, lines->rows.score, lines->rows.is_positive, lines->rows.n, err) < 0) {
        return -1;
    }
    int status = 0;
    if (roc.n_positive == 0 || (option == ROC && roc.n_negative == 0)) {
        status = error_set(err, ERROR_RUNTIME,
                           option == ROC ? "--roc wants rows of both classes"
                                         : "--pr wants rows of positives");
    } else if (option == ROC) {
        write_roc(output, &roc, lines->roc_points);
    } else {
        write_precision(output, &roc);
    }
    roc_free(&roc);
    return status;
}

const struct predictor top_predictor = {
    .name = "top",
    .summary = "Writes the label and the score of each row of test_file, by a model of "
               "svm-top-train.",
    .labels = DATA_NAME,
    TABLE(options, own_options),
    .measures = &top_measures,
    .model_keys = model_keys,
    .wants_comments = row_names_wanted,
    .check = check,
    .open = open_lines,
    .add = add_rows,
    .decide = decide,
    .extra_options = extra_options,
    .write_extra = write_extra,
    .close = close_lines};
