#include "families/mc/measures.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "families/confusion.h"
#include "families/decide.h"
#include "families/mc/probability.h"

#include <math.h>
#include <stdlib.h>

static const double LEAST_PROBABILITY = 1e-15;

struct state {
    struct confusion confusion; /* the first: its measures look for it there */
    bool calibrated;
    double scale;        /* of scores, if calibrated */
    double log_loss;     /* summed */
    double *probability; /* (k) */
};

static void free_state(void *opened) {
    struct state *state = opened;
    confusion_free(&state->confusion);
    free(state->probability);
    free(state);
}

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    (void)options;
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
    state->probability = memory_array(model->n_outputs, sizeof(double), "measures", err);
    struct labels labels;
    if (!state->probability || label_line_read(&labels, model, err) < 0 ||
        confusion_create(&state->confusion, &labels, false, false, err) < 0 ||
        mc_probability_read(model, &state->calibrated, &state->scale, err) < 0) {
        free_state(state);
        return -1;
    }
    *opened = state;
    return 0;
}

static int add(void *opened, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err) {
    struct state *state = opened;
    if (confusion_names(&state->confusion, &data->names, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t label = data->label[rows ? rows[i] : i];
        const double *score = scores + i * n_scores;
        confusion_add(&state->confusion, label, decide_largest(score, n_scores));
        if (state->calibrated && label != UINT32_MAX) {
            size_t c = state->confusion.number[label];
            mc_probability(state->scale, score, n_scores, state->probability);
            double p = c < n_scores ? state->probability[c] : 0;
            state->log_loss -= log(fmax(p, LEAST_PROBABILITY));
        }
    }
    return 0;
}

static struct measured_rows rows(const void *opened) {
    const struct state *state = opened;
    return confusion_rows(&state->confusion);
}

/* ---- the table ---- */

static double log_loss(const void *opened, const struct measure *measure, double *weight) {
    const struct state *state = opened;
    (void)measure;
    *weight = confusion_rates(&state->confusion).rows;
    return state->calibrated && *weight > 0 ? state->log_loss / *weight : (double)NAN;
}

static const struct measure_row table[] = {
    {.name = "accuracy", .accuracy = true, .value = confusion_accuracy},
    {.name = "balanced-accuracy", .value = confusion_balanced},
    {.name = "macro-f1", .value = confusion_macro_f1},
    /* folds have no probabilities */
    {.name = "log-loss", .lower_is_better = true, .predictor_only = true, .value = log_loss}};

const struct measures mc_measures = {.table = table,
                                     .n_table = sizeof table / sizeof table[0],
                                     .create = create_state,
                                     .add = add,
                                     .rows = rows,
                                     .free = free_state};
