/* Classes of labels, rows with their classes, and the decision threshold with its calibration by
 * folds. */
#include "families/top/frontend/labels.h"

#include "common/base/memory.h"
#include "common/data/decimal.h"
#include "families/top/frontend/roc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The class of a label; TOP_UNKNOWN: the label is not a number, and no positive label is given. */
static int top_labels_class(const char *name, const char *positive) {
    struct decimal number;
    if (positive) {
        return names_equal(name, positive) ? TOP_POSITIVE : TOP_NEGATIVE;
    }
    if (!decimal_read(&number, name, strlen(name))) {
        return TOP_UNKNOWN;
    }
    return decimal_is_positive(&number) ? TOP_POSITIVE : TOP_NEGATIVE;
}

int top_labels_check(const struct data *data, const char *positive, struct error *err) {
    size_t n_positive = 0;
    for (size_t i = 0; i < data->names.n; i++) {
        const char *name = data->names.name[i];
        int class = top_labels_class(name, positive);
        if (class == TOP_UNKNOWN) {
            return error_set(err, ERROR_RUNTIME,
                             "label '%s' is not a number: say by --positive which one is positive",
                             name);
        }
        n_positive += class == TOP_POSITIVE;
    }
    if (positive && n_positive == 0) {
        return error_set(err, ERROR_USAGE, "option --positive: no training row has the label '%s'",
                         positive);
    }
    bool single = n_positive == 0 || n_positive == data->names.n;
    return single && data->names.n > 1
               ? error_set(err, ERROR_RUNTIME, "%s above 0: --positive LABEL names the positives",
                           n_positive ? "all labels are" : "no label is")
               : 0;
}

void top_labels_read(const struct data *data, const char *positive, bool *is_positive) {
    for (size_t i = 0; i < data->names.n; i++) {
        is_positive[i] = top_labels_class(data->names.name[i], positive) == TOP_POSITIVE;
    }
}

const char *top_labels_name(const struct data *data, const char *positive, bool of_positive) {
    const char *name = NULL;
    for (size_t i = 0; i < data->names.n; i++) {
        if ((top_labels_class(data->names.name[i], positive) == TOP_POSITIVE) != of_positive) {
            continue;
        }
        if (name) {
            return of_positive ? "+1" : positive ? "rest" : "-1";
        }
        name = data->names.name[i];
    }
    return name ? name : of_positive ? "+1" : "-1";
}

/* ---- rows ---- */

/* Determines the class of each name of the data. */
static int read_classes(struct top_rows *rows, const struct names *names, struct error *err) {
    if (memory_grow(&rows->class, memory_room(0, rows->n_classes), names->n, sizeof *rows->class,
                    "measures", err) < 0) {
        return -1;
    }
    for (; rows->n_classes < names->n; rows->n_classes++) {
        rows->class[rows->n_classes] =
            top_labels_class(names->name[rows->n_classes], rows->positive);
    }
    return 0;
}

int top_rows_add(struct top_rows *rows, const struct data *data, const uint32_t *row, size_t n,
                 const double *scores, struct error *err) {
    size_t room = rows->room, wanted = rows->n + n;
    if (read_classes(rows, &data->names, err) < 0 ||
        memory_grow(&rows->score, room, wanted, sizeof *rows->score, "measures", err) < 0 ||
        memory_grow(&rows->is_positive, room, wanted, sizeof *rows->is_positive, "measures", err) <
            0) {
        return -1;
    }
    rows->room = memory_room(room, wanted);
    for (size_t i = 0; i < n; i++) {
        uint32_t label = data->label[row ? row[i] : i];
        if (label == UINT32_MAX) {
            continue;
        }
        int class = rows->class[label];
        if (class == TOP_UNKNOWN) {
            rows->n_unknown++;
        } else {
            rows->score[rows->n] = scores[i];
            rows->is_positive[rows->n++] = class == TOP_POSITIVE;
        }
    }
    return 0;
}

void top_rows_free(struct top_rows *rows) {
    free(rows->score);
    free(rows->is_positive);
    free(rows->class);
    *rows = (struct top_rows){0};
}

/* ---- decisions ---- */

int top_threshold_read(double *threshold, const struct model *model, struct error *err) {
    return model_number(model, TOP_THRESHOLD_KEY, 0, threshold, err) < 0
               ? -1
               : model_number(model, TOP_CALIBRATED_THRESHOLD_KEY, *threshold, threshold, err);
}

int top_decision_read(struct top_decision *decision, const struct model *model, struct error *err) {
    *decision = (struct top_decision){0};
    const char *labels = model_value(model, TOP_LABELS_KEY);
    if (model->n_outputs != 1 || !labels || !strchr(labels, ' ')) {
        return error_set(err, ERROR_RUNTIME, "the model has not one score and two labels");
    }
    if (top_threshold_read(&decision->threshold, model, err) < 0) {
        return -1;
    }
    decision->names = memory_text(labels, strlen(labels), "labels", err);
    if (!decision->names) {
        return -1;
    }
    char *blank = strchr(decision->names, ' ');
    *blank = '\0';
    decision->positive = decision->names;
    decision->negative = blank + 1;
    return 0;
}

void top_decision_free(struct top_decision *decision) {
    free(decision->names);
    *decision = (struct top_decision){0};
}

const char *top_decide(const struct top_decision *decision, double score) {
    return score > decision->threshold ? decision->positive : decision->negative;
}

/* ---- calibration ---- */

/* The fits of folds have fewer rows and another |f| than the model. Unless margins of 1 around a
 * fixed threshold set the scale of the scores (norm 0), they differ by about that ratio. */
static int add_fold(struct top_rows *rows, const struct held_out *fold, double norm,
                    struct error *err) {
    size_t first = rows->n;
    double ratio = fold->norm > 0 && norm > 0 ? norm / fold->norm : 1;
    if (top_rows_add(rows, fold->data, fold->rows, fold->n, fold->scores, err) < 0) {
        return -1;
    }
    for (size_t i = first; i < rows->n; i++) {
        rows->score[i] *= ratio;
    }
    return 0;
}

/* Adds the threshold that the share tau exceeds, and the rates there. */
static int add_calibrated(const struct roc *roc, double tau, struct model *model,
                          struct error *err) {
    static const char *const rate_keys[] = {TOP_CALIBRATED_RATE_KEYS};
    double threshold = roc_threshold(roc, tau);
    if (isnan(threshold)) { /* tau = 1: all negatives may pass */
        double lowest = roc->step[roc->n_steps - 1].score;
        threshold = fmin(lowest - 1, nextafter(lowest, -INFINITY));
    }
    size_t positives, negatives;
    roc_above(roc, threshold, &positives, &negatives);
    struct share fpr = share_exact((double)negatives, (double)roc->n_negative),
                 tpr = share_exact((double)positives, (double)roc->n_positive);
    const double rates[] = {fpr.value, fpr.low, fpr.high, tpr.value, tpr.low, tpr.high};
    int status = model_add_number(model, err, TOP_CALIBRATED_TAU_KEY, tau) < 0
                     ? -1
                     : model_add_number(model, err, TOP_CALIBRATED_THRESHOLD_KEY, threshold);
    for (size_t i = 0; i < sizeof rates / sizeof rates[0] && status == 0; i++) {
        status = model_add_number(model, err, rate_keys[i], rates[i]);
    }
    return status;
}

int top_calibrate(const struct held_out *folds, size_t n_folds, double tau, double norm,
                  struct model *model, struct error *err) {
    struct top_rows rows = {.positive = model_value(model, "positive")};
    struct roc roc = {0};
    int status = 0;
    for (size_t i = 0; i < n_folds && status == 0; i++) {
        status = add_fold(&rows, &folds[i], norm, err);
    }
    if (status == 0) {
        status = roc_create(&roc, rows.score, rows.is_positive, rows.n, err);
    }
    if (status == 0) {
        status = add_calibrated(&roc, tau, model, err);
    }
    roc_free(&roc);
    top_rows_free(&rows);
    return status;
}
