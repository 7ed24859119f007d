#include "families/top/measures.h"

#include "common/base/memory.h"
#include "families/top/interval.h"
#include "families/top/labels.h"
#include "families/top/roc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options of both programs. */
static const struct option_spec measure_options[] = {
    OPTION(NUMBER, 0, "tpr", "X,...",
           "tpr@X: the share of positives strictly above a threshold: for X >= 1 the mean of the X "
           "largest negatives, for X < 1 the one that lets no more than the share X of negatives "
           "pass; predictors tell tpr-low@X and tpr-high@X too, for X < 1, the exact interval of "
           "95% for that threshold",
           LIST, .initial = "1,0.01,0.05,0.1", .high = 1e15, .low_excluded = true),
    OPTION(NUMBER, 0, "pauc", "F,...",
           "pauc@F: the area under the ROC curve up to a false positive rate of F, over F; and "
           "mcclish@F, the same scaled so that 0.5 is chance",
           LIST, .initial = "0.1", .high = 1, .low_excluded = true),
    OPTION(COUNT, 0, "precision", "K,...",
           "precision@K: the share of positives among the K highest", LIST, .initial = "10",
           .low = 1, .high = 1e15)};

/* ---- rows ---- */

/* Takes in the names of the data: the class of each. */
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

/* ---- their measures ---- */

struct state {
    char *positive; /* owned */
    struct top_rows rows;
    struct roc roc; /* at the end; empty where a class is */
};

static void free_state(void *opened) {
    struct state *state = opened;
    free(state->positive);
    top_rows_free(&state->rows);
    roc_free(&state->roc);
    free(state);
}

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    (void)options;
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
    const char *positive = model_value(model, "positive");
    if (positive) {
        state->positive = memory_text(positive, strlen(positive), "a label", err);
        if (!state->positive) {
            free_state(state);
            return -1;
        }
    }
    state->rows.positive = state->positive;
    *opened = state;
    return 0;
}

static int add(void *opened, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err) {
    struct state *state = opened;
    (void)n_scores; /* one */
    return top_rows_add(&state->rows, data, rows, n, scores, err);
}

static int finish(void *opened, const struct measure *wanted, size_t n, struct error *err) {
    struct state *state = opened;
    (void)wanted;
    (void)n;
    if (roc_create(&state->roc, state->rows.score, state->rows.is_positive, state->rows.n, err) <
        0) {
        return -1;
    }
    if (state->roc.n_positive == 0 || state->roc.n_negative == 0) {
        roc_free(&state->roc); /* of which every measure is NaN */
    }
    return 0;
}

static struct measured_rows rows(const void *opened) {
    const struct top_rows *rows = &((const struct state *)opened)->rows;
    return (struct measured_rows){
        .labelled = rows->n + rows->n_unknown, .unknown = rows->n_unknown, .known = rows->n};
}

/* ---- the table ---- */

static const struct roc *curve(const void *opened) {
    return &((const struct state *)opened)->roc;
}

static double tpr(const void *opened, const struct measure *measure, double *weight) {
    (void)weight;
    return measure->at >= 1 ? roc_tpr_at_count(curve(opened), (size_t)measure->at)
                            : roc_tpr_at_rate(curve(opened), measure->at);
}

/* The ends of the exact interval of tpr@X, X a share of negatives, with its threshold as given. */
static double tpr_end(const void *opened, const struct measure *measure, bool high) {
    const struct roc *roc = curve(opened);
    double ends[2];
    if (measure->at >= 1 || roc->n_positive == 0) {
        return NAN;
    }
    double n = (double)roc->n_positive;
    interval_exact(nearbyint(roc_tpr_at_rate(roc, measure->at) * n), n, &ends[0], &ends[1]);
    return ends[high];
}

static double tpr_low(const void *opened, const struct measure *measure, double *weight) {
    (void)weight;
    return tpr_end(opened, measure, false);
}

static double tpr_high(const void *opened, const struct measure *measure, double *weight) {
    (void)weight;
    return tpr_end(opened, measure, true);
}

static const char *refuse_tpr(double at) {
    return at >= 1 && at != floor(at) ? "is not whole, nor below 1" : NULL;
}

static double auc(const void *opened, const struct measure *measure, double *weight) {
    (void)measure;
    (void)weight;
    return roc_auc(curve(opened));
}

static double pauc(const void *opened, const struct measure *measure, double *weight) {
    (void)weight;
    return roc_partial_auc(curve(opened), measure->at);
}

static double mcclish(const void *opened, const struct measure *measure, double *weight) {
    (void)weight;
    return roc_mcclish(curve(opened), measure->at);
}

static double precision(const void *opened, const struct measure *measure, double *weight) {
    (void)weight;
    return roc_precision(curve(opened), (size_t)measure->at);
}

static double pos_at_top(const void *opened, const struct measure *measure, double *weight) {
    (void)measure;
    (void)weight;
    return roc_positives_at_top(curve(opened));
}

static double average_precision(const void *opened, const struct measure *measure, double *weight) {
    (void)measure;
    (void)weight;
    return roc_average_precision(curve(opened));
}

static const struct measure_row table[] = {
    {.name = "tpr", .option = "tpr", .refuse = refuse_tpr, .value = tpr},
    {.name = "tpr-low",
     .option = "tpr",
     .refuse = refuse_tpr,
     .predictor_only = true,
     .value = tpr_low},
    {.name = "tpr-high",
     .option = "tpr",
     .refuse = refuse_tpr,
     .predictor_only = true,
     .value = tpr_high},
    {.name = "auc", .value = auc},
    {.name = "pauc", .option = "pauc", .value = pauc},
    {.name = "mcclish", .option = "pauc", .value = mcclish},
    {.name = "precision", .option = "precision", .value = precision},
    {.name = "pos@top", .value = pos_at_top},
    {.name = "average-precision", .value = average_precision}};

const struct measures top_measures = {.options = measure_options,
                                      .n_options =
                                          sizeof measure_options / sizeof measure_options[0],
                                      .table = table,
                                      .n_table = sizeof table / sizeof table[0],
                                      .create = create_state,
                                      .add = add,
                                      .finish = finish,
                                      .rows = rows,
                                      .free = free_state};
