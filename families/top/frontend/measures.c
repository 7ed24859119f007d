/* Measures of predictions at the top for both programs: the measures of roc.h in the driver's
 * table, with the classes of the model. */
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "families/top/frontend/labels.h"
#include "families/top/frontend/roc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options of both programs. */
static const struct option_spec measure_options[] = {
    OPTION(NUMBER, 0, "tpr", "X,...",
           "tpr@X: the share of positives strictly above a threshold: for X >= 1 the mean score of "
           "the X highest negatives, for X < 1 the smallest threshold that at most the share X of "
           "negatives exceeds. For X < 1 predictors also report tpr-low@X and tpr-high@X, the "
           "exact interval of 95% for that threshold",
           LIST, .initial = "1,0.01,0.05,0.1", .high = 1e15, .low_excluded = true),
    OPTION(NUMBER, 0, "pauc", "F,...",
           "pauc@F: the area under the ROC curve up to a false positive rate of F, over F; and "
           "mcclish@F, the same scaled so that 0.5 is chance",
           LIST, .initial = "0.1", .high = 1, .low_excluded = true),
    OPTION(COUNT, 0, "precision", "K,...",
           "precision@K: the share of positives among the K highest", LIST, .initial = "10",
           .low = 1, .high = 1e15)};

struct state {
    char *positive; /* owned */
    double threshold;
    struct top_rows rows;
    struct roc roc;                          /* made at the end; empty if a class is empty */
    size_t positives_above, negatives_above; /* the threshold; set at the end */
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
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state || top_threshold_read(&state->threshold, model, err) < 0) {
        free(state);
        return -1;
    }
    if (options_has(options, "threshold") && options_given(options, "threshold")) {
        state->threshold = options_number(options, "threshold");
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
    (void)n_scores; /* always one */
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
        roc_free(&state->roc); /* then every measure is NaN */
    }
    roc_above(&state->roc, state->threshold, &state->positives_above, &state->negatives_above);
    return 0;
}

static struct measured_rows rows(const void *opened) {
    const struct state *state = opened;
    const struct top_rows *rows = &state->rows;
    bool passes = state->positives_above + state->negatives_above > 0;
    return (struct measured_rows){
        .labelled = rows->n + rows->n_unknown,
        .unknown = rows->n_unknown,
        .known = rows->n,
        .note = passes || state->roc.n_positive == 0
                    ? NULL
                    : "no row is above the threshold: --threshold T sets another, or train with "
                      "--calibrate T"};
}

/* ---- the table ---- */

/* from ABOVE on: rates of the rows above the threshold, each with the ends of its interval */
enum {
    TPR,
    TPR_LOW,
    TPR_HIGH,
    AUC,
    PAUC,
    MCCLISH,
    PRECISION,
    POS_AT_TOP,
    AVERAGE_PRECISION,
    ABOVE
};

static double tpr(const struct roc *roc, double at) {
    return at >= 1 ? roc_tpr_at_count(roc, (size_t)at) : roc_tpr_at_rate(roc, at);
}

/* An end of the exact confidence interval of tpr@X, X a share of negatives, for its threshold. */
static double tpr_end(const struct roc *roc, double at, bool high) {
    double n = (double)roc->n_positive;
    if (at >= 1 || roc->n_positive == 0) {
        return NAN;
    }
    struct share share = share_exact(nearbyint(roc_tpr_at_rate(roc, at) * n), n);
    return high ? share.high : share.low;
}

/* number: 0 to 2 the false positive rate, 3 to 5 the true positive rate, 6 to 8 the precision. */
static double rate_above(const struct state *state, int number) {
    double right = (double)state->positives_above, wrong = (double)state->negatives_above;
    struct share share = number < 3   ? share_exact(wrong, (double)state->roc.n_negative)
                         : number < 6 ? share_exact(right, (double)state->roc.n_positive)
                                      : share_exact(right, right + wrong);
    return number % 3 == 0 ? share.value : number % 3 == 1 ? share.low : share.high;
}

static double value(const void *opened, const struct measure *measure, double *weight) {
    const struct state *state = opened;
    const struct roc *roc = &state->roc;
    double at = measure->at;
    (void)weight;
    switch (measure->row->number) {
    case TPR:
        return tpr(roc, at);
    case TPR_LOW:
    case TPR_HIGH:
        return tpr_end(roc, at, measure->row->number == TPR_HIGH);
    case AUC:
        return roc_partial_auc(roc, 1);
    case PAUC:
        return roc_partial_auc(roc, at);
    case MCCLISH:
        return roc_mcclish(roc, at);
    case PRECISION:
        return roc_precision(roc, (size_t)at);
    case POS_AT_TOP:
        return roc_positives_at_top(roc);
    case AVERAGE_PRECISION:
        return roc_average_precision(roc);
    default:
        return rate_above(state, measure->row->number - ABOVE);
    }
}

static const char *refuse_tpr(double at) {
    return at >= 1 && at != floor(at) ? "is not whole, nor below 1" : NULL;
}

#define TPR_ROW(name_, number_, predicts)                                                          \
    {                                                                                              \
        .name = name_, .option = "tpr", .refuse = refuse_tpr, .predictor_only = predicts,          \
        .number = number_                                                                          \
    }
#define ABOVE_ROW(name_, number_)                                                                  \
    { .name = name_, .predictor_only = true, .number = ABOVE + (number_) }

static const struct measure_row table[] = {
    TPR_ROW("tpr", TPR, false),
    TPR_ROW("tpr-low", TPR_LOW, true),
    TPR_ROW("tpr-high", TPR_HIGH, true),
    {.name = "auc", .chance = 0.5, .number = AUC},
    {.name = "pauc", .option = "pauc", .number = PAUC},
    {.name = "mcclish", .option = "pauc", .chance = 0.5, .number = MCCLISH},
    {.name = "precision", .option = "precision", .number = PRECISION},
    {.name = "pos@top", .number = POS_AT_TOP},
    {.name = "average-precision", .number = AVERAGE_PRECISION},
    ABOVE_ROW("fpr", 0),
    ABOVE_ROW("fpr-low", 1),
    ABOVE_ROW("fpr-high", 2),
    ABOVE_ROW("tpr", 3),
    ABOVE_ROW("tpr-low", 4),
    ABOVE_ROW("tpr-high", 5),
    ABOVE_ROW("precision", 6),
    ABOVE_ROW("precision-low", 7),
    ABOVE_ROW("precision-high", 8)};

const struct measures top_measures = {TABLE(options, measure_options),
                                      TABLE(table, table),
                                      .create = create_state,
                                      .add = add,
                                      .finish = finish,
                                      .value = value,
                                      .rows = rows,
                                      .free = free_state};
