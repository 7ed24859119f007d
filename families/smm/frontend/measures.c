/* Measures of predictions of support matrix machines, for both programs.
 *
 *   accuracy           share of the rows whose label is predicted
 *   balanced-accuracy  mean over the occurring labels of the share of their rows predicted right
 *   true-positives, false-negatives, false-positives, true-negatives
 *                      numbers of rows; with two labels only, of which the last in the model's
 *                      order is positive. Measures of the predictor, not of cross-validation
 *   matrix-rank        the largest rank of the model's matrices of weights. A measure of
 *                      cross-validation, not of the predictor
 * Rows without a label are left out. Labels that the model does not have are never predicted, and
 * count as one label. */
#include "families/shared/confusion.h"
#include "families/shared/tables.h"

#include <math.h>
#include <stdlib.h>

struct state {
    struct confusion confusion;
    double matrix_rank; /* NaN: the model has none */
};

static int create(void **opened, const struct options *options, const struct model *model,
                  struct error *err) {
    (void)options;
    if (confusion_open(opened, sizeof(struct state), true, false, model, err) < 0) {
        return -1;
    }
    const char *rank = model_value(model, "rank");
    ((struct state *)*opened)->matrix_rank = rank ? strtod(rank, NULL) : (double)NAN;
    return 0;
}

/* Flags of counts of rows with two labels, the last of which is positive: rows of the positive
 * class; rows predicted positive. */
enum { COUNT = 4, POSITIVE = 1, PREDICTED = 2 };
enum { MATRIX_RANK = CONFUSION_RATES };

static double value(const void *opened, const struct measure *measure, double *weight) {
    const struct state *state = opened;
    const struct confusion *confusion = &state->confusion;
    int number = measure->row->number;
    double rate = confusion_rate(confusion, number, weight);
    if (number == MATRIX_RANK) {
        return state->matrix_rank;
    }
    if (number < COUNT) {
        return rate;
    }
    if (confusion->labels.names.n != 2 || !(*weight > 0)) {
        return (double)NAN;
    }
    size_t class = number & POSITIVE ? 1 : 0;
    double right = confusion->right[class];
    return number & PREDICTED ? right : confusion->actual[class] - right;
}

/* The counts are of models of two labels, which have one score. */
static bool defined(const struct measure *measure, const struct options *options,
                    const struct model *model, const struct data *data) {
    (void)options;
    (void)data;
    return measure->row->number < COUNT || model->n_outputs == 1;
}

/* Counts of rows do not average over folds. */
#define ROWS(name_, lower, flags)                                                                  \
    { .name = name_, .lower_is_better = lower, .predictor_only = true, .number = COUNT | (flags) }

static const struct measure_row table[] = {
    {.name = "accuracy", .accuracy = true, .number = CONFUSION_ACCURACY},
    {.name = "balanced-accuracy", .number = CONFUSION_BALANCED},
    {.name = "matrix-rank", .lower_is_better = true, .trainer_only = true, .number = MATRIX_RANK},
    ROWS("true-positives", false, POSITIVE | PREDICTED),
    ROWS("false-negatives", true, POSITIVE),
    ROWS("false-positives", true, 0),
    ROWS("true-negatives", false, PREDICTED)};

const struct measures smm_measures = {
    TABLE(table, table), .defined = defined,     .create = create,       .add = confusion_count,
    .value = value,      .rows = confusion_rows, .free = confusion_close};
