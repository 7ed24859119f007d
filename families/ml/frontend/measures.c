/* The measures of label sets, for both programs: connects ml_metrics with the driver's table of
 * measures. */
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "common/data/labels.h"
#include "common/model/label_line.h"
#include "families/ml/frontend/metrics.h"
#include "families/ml/frontend/propensity.h"
#include "families/ml/frontend/threshold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options of both programs. */
static const struct option_spec measure_options[] = {
    OPTION(COUNT, 0, "precision", "K,...",
           "precision@K: the share of relevant labels among the K highest of a row", LIST,
           .initial = "1,3,5", .low = 1, .high = UINT32_MAX),
    OPTION(COUNT, 0, "ndcg", "K,...",
           "ndcg@K: the discounted gain of the K highest labels of a row, relative to that of the "
           "ideal order",
           LIST, .initial = "1,3,5", .low = 1, .high = UINT32_MAX),
    OPTION(COUNT, 0, "psp", "K,...",
           "psp@K: propensity-scored precision, in which labels of few training rows count more, "
           "relative to that of the ideal order",
           LIST, .initial = "1,3,5", .low = 1, .high = UINT32_MAX),
    OPTION(NUMBER, 0, "propensity-a", "A",
           "A of psp@K: a label of n training rows counts 1 + c (n + B)^-A, with c = (log rows - "
           "1) (B + 1)^A",
           SINGLE, .initial = "0.55", .high = 10),
    OPTION(NUMBER, 0, "propensity-b", "B", "B of psp@K", SINGLE, .initial = "1.5", .low = 0.01,
           .high = 1e6)};

struct state {
    struct labels labels;
    struct ml_threshold threshold;
    struct ml_metrics metrics;
    struct names unknown;       /* labels that the model does not have */
    bool *relevant, *predicted; /* (q) of one row */
    struct ml_cut *cut;         /* (metrics.n_cuts) */
    double *inverse; /* (q + 1), or NULL if the model does not say; see ml_propensity_read */
    struct measured_rows rows;
    double value[ML_METRICS], weight[ML_METRICS]; /* filled in by finish */
};

static void free_state(void *opened) {
    struct state *state = opened;
    labels_free(&state->labels);
    ml_threshold_free(&state->threshold);
    ml_metrics_free(&state->metrics);
    names_free(&state->unknown);
    free(state->relevant);
    free(state->predicted);
    free(state->cut);
    free(state->inverse);
    free(state);
}

static bool is_cut(const struct measure *measure) {
    return measure->row->option != NULL;
}

/* Creates the measures of the K highest labels that the options ask for. */
static int create_cuts(struct state *state, const struct options *options,
                       const struct model *model, struct error *err) {
    struct measure *wanted;
    size_t n;
    if (ml_propensity_read(model, options_number(options, "propensity-a"),
                           options_number(options, "propensity-b"), &state->inverse, err) < 0 ||
        measures_list(&ml_measures, options, &wanted, &n, err) < 0) {
        return -1;
    }
    state->cut = memory_array(n, sizeof *state->cut, "measures", err);
    for (size_t k = 0; state->cut && k < n; k++) {
        if (is_cut(&wanted[k])) {
            state->cut[state->metrics.n_cuts++] = (struct ml_cut){
                .kind = (enum ml_cut_kind)wanted[k].row->number, .at = (uint32_t)wanted[k].at};
        }
    }
    free(wanted);
    state->metrics.cut = state->cut;
    state->metrics.inverse = state->inverse;
    return state->cut ? 0 : -1;
}

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
    uint32_t q = (uint32_t)model->n_outputs;
    state->relevant = memory_array(q, sizeof(bool), "measures", err);
    state->predicted = memory_array(q, sizeof(bool), "measures", err);
    if (!state->relevant || !state->predicted ||
        label_line_read(&state->labels, model, false, err) < 0 ||
        ml_threshold_read(&state->threshold, model, q, err) < 0 ||
        ml_metrics_create(&state->metrics, q, err) < 0 ||
        create_cuts(state, options, model, err) < 0) {
        free_state(state);
        return -1;
    }
    *opened = state;
    return 0;
}

/* Marks the relevant labels of a row and counts the row; the model does not have *n_unknown of
 * them. */
static int mark_relevant(struct state *state, const struct data *data, size_t row,
                         const uint32_t *map, uint32_t *n_unknown, struct error *err) {
    uint64_t n_labels = data->label_start[row + 1] - data->label_start[row];
    *n_unknown = 0;
    memset(state->relevant, 0, state->metrics.q * sizeof(bool));
    for (uint64_t at = data->label_start[row]; at < data->label_start[row + 1]; at++) {
        uint32_t label = map[data->label[at]], number;
        if (label != LABELS_UNKNOWN) {
            state->relevant[label] = true;
            continue;
        }
        const char *name = data->names.name[data->label[at]];
        if (names_add(&state->unknown, name, strlen(name), &number, err) < 0) {
            return -1;
        }
        ++*n_unknown;
    }
    state->rows.labelled += n_labels > 0;
    state->rows.unknown += *n_unknown > 0;
    state->rows.known += n_labels > *n_unknown;
    return 0;
}

static int add(void *opened, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err) {
    struct state *state = opened;
    uint32_t *map = memory_array(data->names.n, sizeof *map, "labels", err);
    int status = map ? 0 : -1;
    if (map) {
        labels_map(&state->labels, &data->names, map);
    }
    for (size_t i = 0; status == 0 && i < n; i++) {
        const double *s = scores + i * n_scores;
        uint32_t n_unknown;
        status = mark_relevant(state, data, rows ? rows[i] : i, map, &n_unknown, err);
        if (status == 0) {
            ml_threshold_apply(&state->threshold, s, state->predicted);
            ml_metrics_add(&state->metrics, s, state->relevant, state->predicted, n_unknown);
        }
    }
    free(map);
    return status;
}

static int finish(void *opened, const struct measure *wanted, size_t n, struct error *err) {
    struct state *state = opened;
    (void)wanted;
    (void)n;
    (void)err;
    ml_metrics_values(&state->metrics, state->unknown.n, state->value, state->weight);
    return 0;
}

static struct measured_rows rows(const void *opened) {
    return ((const struct state *)opened)->rows;
}

/* ---- the table ---- */

/* The value of a measure of all labels, or of the K highest. */
static double value(const void *opened, const struct measure *measure, double *weight) {
    const struct state *state = opened;
    if (!is_cut(measure)) {
        *weight = state->weight[measure->row->number];
        return state->value[measure->row->number];
    }
    const struct ml_cut *found = state->cut;
    while (found->kind != (enum ml_cut_kind)measure->row->number ||
           found->at != (uint32_t)measure->at) {
        found++;
    }
    bool known = found->kind != ML_PSP || state->inverse;
    *weight = state->metrics.n_labelled > 0 && known ? found->attainable : 0;
    return *weight > 0 ? found->sum / *weight : (double)NAN;
}

/* psp@K needs the numbers of training rows of the labels, which old models do not have. */
static bool defined(const struct measure *measure, const struct options *options,
                    const struct model *model, const struct data *data) {
    (void)options;
    (void)data;
    bool propensities = is_cut(measure) && measure->row->number == ML_PSP;
    return !propensities || !model || model_value(model, ML_LABEL_ROWS_KEY);
}

static const struct measure_row table[] = {
    {.name = "hamming-loss", .lower_is_better = true, .number = ML_HAMMING_LOSS},
    {.name = "ranking-loss", .lower_is_better = true, .number = ML_RANKING_LOSS},
    {.name = "one-error", .lower_is_better = true, .number = ML_ONE_ERROR},
    {.name = "coverage", .lower_is_better = true, .number = ML_COVERAGE},
    {.name = "average-precision", .number = ML_AVERAGE_PRECISION},
    {.name = "subset-accuracy", .number = ML_SUBSET_ACCURACY},
    {.name = "micro-f1", .number = ML_MICRO_F1},
    {.name = "macro-f1", .number = ML_MACRO_F1},
    {.name = "example-f1", .number = ML_EXAMPLE_F1},
    {.name = "precision", .option = "precision", .number = ML_PRECISION},
    {.name = "ndcg", .option = "ndcg", .number = ML_NDCG},
    {.name = "psp", .option = "psp", .number = ML_PSP}};

const struct measures ml_measures = {TABLE(options, measure_options),
                                     TABLE(table, table),
                                     .defined = defined,
                                     .create = create_state,
                                     .add = add,
                                     .finish = finish,
                                     .value = value,
                                     .rows = rows,
                                     .free = free_state};
