#include "families/smm/measures.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "families/confusion.h"
#include "families/decide.h"

#include <math.h>
#include <stdlib.h>

struct state {
    struct confusion confusion; /* the first: its measures look for it there */
};

static void free_state(void *opened) {
    struct state *state = opened;
    confusion_free(&state->confusion);
    free(state);
}

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    (void)options;
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
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

static struct measured_rows rows(const void *opened) {
    const struct state *state = opened;
    return confusion_rows(&state->confusion);
}

/* ---- the table ---- */

/* Rows of two labels, of which the last is positive: those of the class that the model predicts, or
 * does not. */
enum { POSITIVE = 1, PREDICTED = 2 };

static double count(const void *opened, const struct measure *measure, double *weight) {
    const struct state *state = opened;
    const struct confusion *confusion = &state->confusion;
    size_t class = measure->row->number & POSITIVE ? 1 : 0;
    *weight = confusion_rates(&state->confusion).rows;
    if (confusion->labels.names.n != 2 || !(*weight > 0)) {
        return (double)NAN;
    }
    double right = confusion->right[class];
    return measure->row->number & PREDICTED ? right : confusion->actual[class] - right;
}

/* Numbers of rows do not average over folds. */
static const struct measure_row table[] = {
    {.name = "accuracy", .accuracy = true, .value = confusion_accuracy},
    {.name = "balanced-accuracy", .value = confusion_balanced},
    {.name = "true-positives",
     .predictor_only = true,
     .number = POSITIVE | PREDICTED,
     .value = count},
    {.name = "false-negatives",
     .lower_is_better = true,
     .predictor_only = true,
     .number = POSITIVE,
     .value = count},
    {.name = "false-positives", .lower_is_better = true, .predictor_only = true, .value = count},
    {.name = "true-negatives", .predictor_only = true, .number = PREDICTED, .value = count}};

const struct measures smm_measures = {.table = table,
                                      .n_table = sizeof table / sizeof table[0],
                                      .create = create_state,
                                      .add = add,
                                      .rows = rows,
                                      .free = free_state};
