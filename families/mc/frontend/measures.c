/* The measures of predicted classes, for both programs.
 *
 *   accuracy           share of the rows whose label is predicted
 *   balanced-accuracy  mean over the labels that occur of the share of their rows that is right
 *   macro-f1           mean of F1 = 2 right / (rows + predicted) over the labels that occur or are
 *                      predicted
 *   log-loss           mean of -log of the probability of the row's label, which counts as at
 *                      least 1e-15; models with probabilities only
 * Rows without a label are left out. A label that the model does not have always counts as an
 * error. */
#include "families/mc/frontend/probability.h"
#include "families/shared/confusion.h"
#include "families/shared/tables.h"

#include <math.h>

/* As scikit-learn's log_loss once had it: a probability of 0 would make the mean infinite. */
static const double MIN_PROBABILITY = 1e-15;

struct state {
    struct confusion confusion;
    bool calibrated;
    double scale;         /* of scores, if calibrated */
    double log_loss;      /* summed */
    double probability[]; /* (k) */
};

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    (void)options;
    size_t bytes = sizeof(struct state) + model->n_outputs * sizeof(double);
    if (confusion_open(opened, bytes, false, false, model, err) < 0) {
        return -1;
    }
    struct state *state = *opened;
    if (mc_probability_read(model, &state->calibrated, &state->scale, err) < 0) {
        confusion_close(state);
        *opened = NULL;
        return -1;
    }
    return 0;
}

static int add(void *opened, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err) {
    struct state *state = opened;
    if (confusion_count(state, data, rows, n, scores, n_scores, err) < 0) {
        return -1;
    }
    for (size_t i = 0; state->calibrated && i < n; i++) {
        uint32_t label = data->label[rows ? rows[i] : i];
        if (label != UINT32_MAX) {
            size_t c = state->confusion.number[label];
            mc_probability(state->scale, scores + i * n_scores, n_scores, state->probability);
            double p = c < n_scores ? state->probability[c] : 0;
            state->log_loss -= log(fmax(p, MIN_PROBABILITY));
        }
    }
    return 0;
}

enum { LOG_LOSS = CONFUSION_RATES };

static double value(const void *opened, const struct measure *measure, double *weight) {
    const struct state *state = opened;
    double rate = confusion_rate(&state->confusion, measure->row->number, weight);
    if (measure->row->number != LOG_LOSS) {
        return rate;
    }
    return state->calibrated && *weight > 0 ? state->log_loss / *weight : (double)NAN;
}

/* Only models with probabilities have a log-loss. */
static bool defined(const struct measure *measure, const struct options *options,
                    const struct model *model, const struct data *data) {
    (void)options;
    (void)data;
    return measure->row->number != LOG_LOSS || model_value(model, MC_PROBABILITY_KEY);
}

static const struct measure_row table[] = {
    {.name = "accuracy", .accuracy = true, .number = CONFUSION_ACCURACY},
    {.name = "balanced-accuracy", .number = CONFUSION_BALANCED},
    {.name = "macro-f1", .number = CONFUSION_MACRO_F1},
    /* folds have no probabilities */
    {.name = "log-loss", .lower_is_better = true, .predictor_only = true, .number = LOG_LOSS}};

const struct measures mc_measures = {
    TABLE(table, table), .defined = defined,     .create = create_state, .add = add,
    .value = value,      .rows = confusion_rows, .free = confusion_close};
