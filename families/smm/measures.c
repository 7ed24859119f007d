#include "families/smm/measures.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "solvers/smm/smm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts ---- */

int smm_counts_open(struct smm_counts *counts, const struct model *model, struct error *err) {
    *counts = (struct smm_counts){0};
    if (label_line_read_pair(&counts->labels, model, err) < 0) {
        return -1;
    }
    size_t n = counts->labels.names.n;
    counts->cell = memory_zeros(n + 1, n * sizeof *counts->cell, "counts", err);
    if (!counts->cell) {
        smm_counts_close(counts);
        return -1;
    }
    return 0;
}

void smm_counts_close(struct smm_counts *counts) {
    labels_free(&counts->labels);
    free(counts->cell);
    free(counts->number);
    *counts = (struct smm_counts){0};
}

/* Takes in the names that the file has had so far. */
static int map_names(struct smm_counts *counts, const struct names *names, struct error *err) {
    if (names->n == counts->n_numbers) {
        return 0;
    }
    uint32_t *number = memory_array(names->n, sizeof *number, "labels", err);
    if (!number) {
        return -1;
    }
    free(counts->number);
    counts->number = number;
    counts->n_numbers = names->n;
    labels_map(&counts->labels, names, number);
    return 0;
}

int smm_counts_add(struct smm_counts *counts, const struct data *data, const uint32_t *rows,
                   size_t n, const double *scores, size_t n_scores, struct error *err) {
    size_t k = counts->labels.names.n;
    if (map_names(counts, &data->names, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t label = data->label[rows ? rows[i] : i];
        if (label != UINT32_MAX) {
            uint32_t number = counts->number[label];
            size_t actual = number == LABELS_UNKNOWN ? k : number;
            counts->cell[actual * k + smm_predict(scores + i * n_scores, n_scores)]++;
        }
    }
    return 0;
}

/* ---- measures ---- */

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
    struct smm_counts counts;
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
    smm_counts_close(&state->counts);
    free(state);
}

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
    state->n_measures = count_measures(options);
    if (smm_counts_open(&state->counts, model, err) < 0) {
        free(state);
        return -1;
    }
    *opened = state;
    return 0;
}

static int add(void *opened, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err) {
    struct state *state = opened;
    return smm_counts_add(&state->counts, data, rows, n, scores, n_scores, err);
}

static int values(void *opened, double *value, double *weight, struct error *err) {
    (void)err;
    const struct state *state = opened;
    size_t k = state->counts.labels.names.n;
    const double *cell = state->counts.cell;
    double rows = 0, right = 0, recalls = 0, occur = 0;
    for (size_t l = 0; l <= k; l++) {
        double actual = 0;
        for (size_t p = 0; p < k; p++) {
            actual += cell[l * k + p];
        }
        double good = l < k ? cell[l * k + l] : 0;
        rows += actual;
        right += good;
        recalls += actual > 0 ? good / actual : 0;
        occur += actual > 0;
    }
    value[ACCURACY] = rows > 0 ? right / rows : (double)NAN;
    value[BALANCED] = occur > 0 ? recalls / occur : (double)NAN;
    if (state->n_measures == MEASURES) {
        bool pair = k == 2 && rows > 0;
        value[TRUE_NEGATIVES] = pair ? cell[0] : (double)NAN;
        value[FALSE_POSITIVES] = pair ? cell[1] : (double)NAN;
        value[FALSE_NEGATIVES] = pair ? cell[2] : (double)NAN;
        value[TRUE_POSITIVES] = pair ? cell[3] : (double)NAN;
    }
    for (size_t m = 0; m < state->n_measures; m++) {
        weight[m] = rows;
    }
    return 0;
}

const struct measures smm_measures = {
    .list = list, .create = create_state, .add = add, .values = values, .free = free_state};
