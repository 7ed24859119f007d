#include "families/smm/measures.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "families/confusion.h"
#include "families/decide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ACCURACY,
    BALANCED,
    TRUE_POSITIVES,
    FALSE_NEGATIVES,
    FALSE_POSITIVES,
    TRUE_NEGATIVES,
    MEASURES
};

static const char *const measure_names[MEASURES] = {"accuracy",        "balanced-accuracy",
                                                    "true-positives",  "false-negatives",
                                                    "false-positives", "true-negatives"};

struct state {
    struct confusion confusion;
    size_t n_measures;
};

/* Numbers of rows do not average over folds. */
static size_t count_measures(const struct options *options) {
    return options_has(options, "folds") ? TRUE_POSITIVES : MEASURES;
}

static int list(const struct options *options, struct measure **measures, size_t *n,
                struct error *err) {
    *n = count_measures(options);
    *measures = memory_zeros(*n, sizeof **measures, "measures", err);
    for (size_t m = 0; *measures && m < *n; m++) {
        snprintf((*measures)[m].name, MEASURE_NAME, "%s", measure_names[m]);
        (*measures)[m].accuracy = m == ACCURACY;
        (*measures)[m].lower_is_better = m == FALSE_NEGATIVES || m == FALSE_POSITIVES;
    }
    return *measures ? 0 : -1;
}

static void free_state(void *opened) {
    struct state *state = opened;
    confusion_free(&state->confusion);
    free(state);
}

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
    state->n_measures = count_measures(options);
    struct labels labels;
    if (label_line_read_pair(&labels, model, err) < 0 ||
        confusion_create(&state->confusion, &labels, true, false, err) < 0) {
        free(state);
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
        confusion_add(&state->confusion, data->label[rows ? rows[i] : i],
                      decide_signed(scores + i * n_scores, n_scores));
    }
    return 0;
}

static int values(void *opened, double *value, double *weight, struct error *err) {
    (void)err;
    const struct state *state = opened;
    const struct confusion *confusion = &state->confusion;
    struct confusion_rates rates = confusion_rates(confusion);
    value[ACCURACY] = rates.accuracy;
    value[BALANCED] = rates.balanced;
    if (state->n_measures == MEASURES) {
        bool pair = confusion->labels.names.n == 2 && rates.rows > 0;
        const double *actual = confusion->actual, *right = confusion->right;
        value[TRUE_NEGATIVES] = pair ? right[0] : (double)NAN;
        value[FALSE_POSITIVES] = pair ? actual[0] - right[0] : (double)NAN;
        value[FALSE_NEGATIVES] = pair ? actual[1] - right[1] : (double)NAN;
        value[TRUE_POSITIVES] = pair ? right[1] : (double)NAN;
    }
    for (size_t m = 0; m < state->n_measures; m++) {
        weight[m] = rates.rows;
    }
    return 0;
}

static struct measured_rows rows(const void *opened) {
    const struct state *state = opened;
    return confusion_rows(&state->confusion);
}

const struct measures smm_measures = {.list = list,
                                      .create = create_state,
                                      .add = add,
                                      .values = values,
                                      .rows = rows,
                                      .free = free_state};
