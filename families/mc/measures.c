#include "families/mc/measures.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "families/confusion.h"
#include "families/decide.h"
#include "families/mc/probability.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LEAST_PROBABILITY = 1e-15;

enum { ACCURACY, BALANCED, MACRO_F1, LOG_LOSS, MEASURES };

static const char *const names_of_measures[MEASURES] = {"accuracy", "balanced-accuracy", "macro-f1",
                                                        "log-loss"};

struct state {
    struct confusion confusion;
    size_t n_measures;
    bool calibrated;
    double scale;        /* of scores, if calibrated */
    double log_loss;     /* summed */
    double *probability; /* (k) */
};

/* The trainer's folds have no probabilities. */
static size_t count_measures(const struct options *options) {
    return options_has(options, "folds") ? LOG_LOSS : MEASURES;
}

static int list(const struct options *options, struct measure **measures, size_t *n,
                struct error *err) {
    *n = count_measures(options);
    *measures = memory_zeros(*n, sizeof **measures, "measures", err);
    for (size_t m = 0; *measures && m < *n; m++) {
        snprintf((*measures)[m].name, MEASURE_NAME, "%s", names_of_measures[m]);
        (*measures)[m].accuracy = m == ACCURACY;
        (*measures)[m].lower_is_better = m == LOG_LOSS;
    }
    return *measures ? 0 : -1;
}

static void free_state(void *opened) {
    struct state *state = opened;
    confusion_free(&state->confusion);
    free(state->probability);
    free(state);
}

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
    state->n_measures = count_measures(options);
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

static int values(void *opened, double *value, double *weight, struct error *err) {
    (void)err;
    const struct state *state = opened;
    struct confusion_rates rates = confusion_rates(&state->confusion);
    value[ACCURACY] = rates.accuracy;
    value[BALANCED] = rates.balanced;
    value[MACRO_F1] = rates.macro_f1;
    for (size_t m = 0; m < LOG_LOSS; m++) {
        weight[m] = rates.rows;
    }
    if (state->n_measures > LOG_LOSS) {
        value[LOG_LOSS] =
            state->calibrated && rates.rows > 0 ? state->log_loss / rates.rows : (double)NAN;
        weight[LOG_LOSS] = rates.rows;
    }
    return 0;
}

static struct measured_rows rows(const void *opened) {
    const struct state *state = opened;
    return confusion_rows(&state->confusion);
}

const struct measures mc_measures = {.list = list,
                                     .create = create_state,
                                     .add = add,
                                     .values = values,
                                     .rows = rows,
                                     .free = free_state};
