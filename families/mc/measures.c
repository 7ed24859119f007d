#include "families/mc/measures.h"

#include "common/base/memory.h"
#include "common/model/label_line.h"
#include "families/mc/probability.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_PROBABILITY = 1e-15;

size_t mc_predict(const double *scores, size_t k) {
    size_t best = 0;
    for (size_t c = 1; c < k; c++) {
        best = scores[c] > scores[best] ? c : best;
    }
    return best;
}

/* ---- counts ---- */

int mc_counts_open(struct mc_counts *counts, const struct model *model, bool cells,
                   struct error *err) {
    *counts = (struct mc_counts){0};
    if (label_line_read(&counts->labels, model, err) < 0) {
        return -1;
    }
    size_t k = model->n_outputs;
    counts->room = k;
    counts->right = memory_resize(NULL, k, sizeof(double), "counts", err);
    counts->actual = counts->right ? memory_resize(NULL, k, sizeof(double), "counts", err) : NULL;
    counts->predicted = memory_zeros(k, sizeof(double), "counts", err);
    counts->cell = cells ? memory_resize(NULL, k, k * sizeof(double), "counts", err) : NULL;
    if (!counts->right || !counts->actual || !counts->predicted || (cells && !counts->cell)) {
        mc_counts_close(counts);
        return -1;
    }
    for (size_t c = 0; c < k; c++) {
        counts->right[c] = counts->actual[c] = 0;
    }
    for (size_t j = 0; cells && j < k * k; j++) {
        counts->cell[j] = 0;
    }
    return 0;
}

void mc_counts_close(struct mc_counts *counts) {
    labels_free(&counts->labels);
    names_free(&counts->others);
    free(counts->number);
    free(counts->right);
    free(counts->actual);
    free(counts->predicted);
    free(counts->cell);
    *counts = (struct mc_counts){0};
}

size_t mc_counts_labels(const struct mc_counts *counts) {
    return counts->labels.names.n + counts->others.n;
}

const char *mc_counts_name(const struct mc_counts *counts, size_t label) {
    size_t k = counts->labels.names.n;
    return label < k ? counts->labels.names.name[label] : counts->others.name[label - k];
}

/* Room for one more label. */
static int make_room(struct mc_counts *counts, struct error *err) {
    size_t k = counts->labels.names.n, old = counts->room;
    size_t room = memory_room(old, mc_counts_labels(counts));
    if (memory_grow(&counts->right, old, room, sizeof(double), "counts", err) < 0 ||
        memory_grow(&counts->actual, old, room, sizeof(double), "counts", err) < 0 ||
        (counts->cell &&
         memory_grow(&counts->cell, old, room, k * sizeof(double), "counts", err) < 0)) {
        return -1;
    }
    memset(counts->right + old, 0, (room - old) * sizeof(double));
    memset(counts->actual + old, 0, (room - old) * sizeof(double));
    if (counts->cell) {
        memset(counts->cell + old * k, 0, (room - old) * k * sizeof(double));
    }
    counts->room = room;
    return 0;
}

int mc_counts_names(struct mc_counts *counts, const struct data *data, struct error *err) {
    const struct names *names = &data->names;
    if (names->n <= counts->n_numbers) {
        return 0;
    }
    uint32_t *number = memory_resize(counts->number, names->n, sizeof *number, "labels", err);
    if (!number) {
        return -1;
    }
    counts->number = number;
    labels_map(&counts->labels, names, number);
    for (size_t l = 0; l < names->n; l++) {
        uint32_t other;
        if (number[l] != LABELS_UNKNOWN) {
            continue;
        }
        if (names_add(&counts->others, names->name[l], strlen(names->name[l]), &other, err) < 0 ||
            make_room(counts, err) < 0) {
            return -1;
        }
        number[l] = (uint32_t)counts->labels.names.n + other;
    }
    counts->n_numbers = names->n;
    return 0;
}

void mc_counts_add(struct mc_counts *counts, uint32_t label, size_t predicted) {
    if (label == UINT32_MAX) {
        return;
    }
    size_t actual = counts->number[label], k = counts->labels.names.n;
    counts->actual[actual]++;
    counts->predicted[predicted]++;
    counts->right[actual] += actual == predicted ? 1 : 0;
    if (counts->cell) {
        counts->cell[actual * k + predicted]++;
    }
}

/* ---- measures ---- */

enum { ACCURACY, BALANCED, MACRO_F1, LOG_LOSS, MEASURES };

static const char *const names_of_measures[MEASURES] = {"accuracy", "balanced-accuracy", "macro-f1",
                                                        "log-loss"};

struct state {
    struct mc_counts counts;
    size_t n_measures;
    bool calibrated;
    double scale;        /* of scores, if calibrated */
    double log_loss;     /* summed */
    double *probability; /* (k) */
};

/* The trainer's folds have no probabilities. */
static size_t count_measures(const struct options *options) {
    for (size_t i = 0; i < options->n; i++) {
        if (strcmp(options->option[i].spec.name, "folds") == 0) {
            return LOG_LOSS;
        }
    }
    return MEASURES;
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

static void close_state(void *opened) {
    struct state *state = opened;
    mc_counts_close(&state->counts);
    free(state->probability);
    free(state);
}

static int open_state(void **opened, const struct options *options, const struct model *model,
                      struct error *err) {
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
    state->n_measures = count_measures(options);
    state->probability = memory_array(model->n_outputs, sizeof(double), "measures", err);
    if (!state->probability || mc_counts_open(&state->counts, model, false, err) < 0 ||
        mc_probability_read(model, &state->calibrated, &state->scale, err) < 0) {
        close_state(state);
        return -1;
    }
    *opened = state;
    return 0;
}

static int add(void *opened, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err) {
    struct state *state = opened;
    if (mc_counts_names(&state->counts, data, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t label = data->label[rows ? rows[i] : i];
        const double *score = scores + i * n_scores;
        mc_counts_add(&state->counts, label, mc_predict(score, n_scores));
        if (state->calibrated && label != UINT32_MAX) {
            size_t c = state->counts.number[label];
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
    const struct mc_counts *counts = &state->counts;
    size_t k = counts->labels.names.n, n_labels = mc_counts_labels(counts);
    double rows = 0, right = 0, recalls = 0, n_recalls = 0, f1 = 0, n_f1 = 0;
    for (size_t l = 0; l < n_labels; l++) {
        double both = counts->actual[l] + (l < k ? counts->predicted[l] : 0);
        rows += counts->actual[l];
        right += counts->right[l];
        recalls += counts->actual[l] > 0 ? counts->right[l] / counts->actual[l] : 0;
        n_recalls += counts->actual[l] > 0;
        f1 += both > 0 ? 2 * counts->right[l] / both : 0;
        n_f1 += both > 0;
    }
    value[ACCURACY] = rows > 0 ? right / rows : (double)NAN;
    value[BALANCED] = n_recalls > 0 ? recalls / n_recalls : (double)NAN;
    value[MACRO_F1] = n_f1 > 0 ? f1 / n_f1 : (double)NAN;
    for (size_t m = 0; m < LOG_LOSS; m++) {
        weight[m] = rows;
    }
    if (state->n_measures > LOG_LOSS) {
        value[LOG_LOSS] = state->calibrated && rows > 0 ? state->log_loss / rows : (double)NAN;
        weight[LOG_LOSS] = rows;
    }
    return 0;
}

const struct measures mc_measures = {
    .list = list, .open = open_state, .add = add, .values = values, .close = close_state};
