#include "driver/sweep.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the folds of a point have given so far. */
struct results {
    struct sweep *sweep;
    const struct crossval *crossval;
    struct output *table;
    pthread_mutex_t mutex;
    double *value, *weight; /* (n_points, n_folds, n_measures) */
    size_t *n_folds;        /* (n_points) folds that are done */
    size_t n_shown;         /* points whose rows are written */
};

int sweep_create(struct sweep *sweep, const struct family *family, const struct options *options,
                 struct error *err) {
    *sweep = (struct sweep){.n_points = options->n_points};
    if (measures_list(family->measures, options, &sweep->measure, &sweep->n_measures, err) < 0) {
        return -1;
    }
    const char *name = options_text(options, "select");
    for (size_t k = 0; name && k < sweep->n_measures; k++) {
        if (strcmp(sweep->measure[k].name, name) == 0) {
            sweep->selected = k;
            return 0;
        }
    }
    if (!name) {
        return 0;
    }
    char list[512] = "";
    for (size_t k = 0; k < sweep->n_measures; k++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "", sweep->measure[k].name);
    }
    return error_set(err, ERROR_USAGE, "option --select: must be one of %s: '%s'", list, name);
}

void sweep_free(struct sweep *sweep) {
    free(sweep->measure);
    free(sweep->value);
    free(sweep->gap);
    *sweep = (struct sweep){0};
}

static void write_header(struct results *results) {
    const struct options *options = results->crossval->options;
    for (size_t i = 0; i < options->n; i++) {
        if (options->option[i].spec.level >= OPTION_SOLVE && options->option[i].n > 1) {
            output_format(results->table, "%s\t", options->option[i].spec.name);
        }
    }
    for (size_t k = 0; k < results->sweep->n_measures; k++) {
        output_format(results->table, "%s\t", results->sweep->measure[k].name);
    }
    output_format(results->table, "gap\n");
}

static void write_row(struct results *results, size_t number) {
    const struct options *options = results->crossval->options;
    const struct sweep *sweep = results->sweep;
    char text[NUMBER_LENGTH];
    for (size_t i = 0; i < options->n; i++) {
        if (options->option[i].spec.level >= OPTION_SOLVE && options->option[i].n > 1) {
            output_format(results->table, "%s\t",
                          point_text((struct point){options, number}, &options->option[i], text));
        }
    }
    for (size_t k = 0; k < sweep->n_measures; k++) {
        output_format(results->table, "%.6g\t", sweep->value[number * sweep->n_measures + k]);
    }
    if (isnan(sweep->gap[number])) {
        output_format(results->table, "none\n");
    } else {
        output_format(results->table, "%.3g\n", sweep->gap[number]);
    }
}

/* Averages over the folds, in their order: the sum does not depend on who was first. */
static void average(struct results *results, size_t point) {
    size_t n_folds = results->crossval->folds->n, n = results->sweep->n_measures;
    for (size_t k = 0; k < n; k++) {
        double sum = 0, weights = 0;
        for (size_t fold = 0; fold < n_folds; fold++) {
            size_t cell = (point * n_folds + fold) * n + k;
            if (!isnan(results->value[cell])) {
                sum += results->weight[cell] * results->value[cell];
                weights += results->weight[cell];
            }
        }
        results->sweep->value[point * n + k] = weights > 0 ? sum / weights : (double)NAN;
    }
}

/* Writes the rows that can be written now. */
static int show_finished(struct results *results, struct error *err) {
    size_t n_points = results->sweep->n_points, n_folds = results->crossval->folds->n;
    while (results->n_shown < n_points && results->n_folds[results->n_shown] == n_folds) {
        average(results, results->n_shown);
        if (results->table) {
            if (results->crossval->progress) {
                progress_clear(results->crossval->progress);
            }
            write_row(results, results->n_shown);
            if (output_flush(results->table, err) < 0) {
                return -1;
            }
        }
        results->n_shown++;
    }
    return 0;
}

static int measure_rows(const struct sweep *sweep, const struct crossval *crossval,
                        const struct model *model, const uint32_t *rows, size_t n,
                        const double *scores, size_t n_scores, double *value, double *weight,
                        struct error *err) {
    const struct measures *measures = crossval->family->measures;
    void *state = NULL;
    if (measures->create(&state, crossval->options, model, err) < 0) {
        return -1;
    }
    int status = measures->add(state, crossval->data, rows, n, scores, n_scores, err);
    status = status < 0 ? -1
                        : measures_values(measures, state, sweep->measure, sweep->n_measures, value,
                                          weight, err);
    measures->free(state);
    return status;
}

static int scored(void *context, struct point point, size_t fold, const struct model *model,
                  const uint32_t *rows, size_t n, const double *scores, size_t n_scores,
                  struct error *err) {
    struct results *results = context;
    struct sweep *sweep = results->sweep;
    size_t cell = (point.number * results->crossval->folds->n + fold) * sweep->n_measures;
    if (measure_rows(sweep, results->crossval, model, rows, n, scores, n_scores,
                     results->value + cell, results->weight + cell, err) < 0) {
        return -1;
    }
    pthread_mutex_lock(&results->mutex);
    double *gap = &sweep->gap[point.number]; /* none, if a fold has none */
    *gap = model->gap <= *gap || isnan(*gap) ? *gap : model->gap;
    results->n_folds[point.number]++;
    int status = show_finished(results, err);
    pthread_mutex_unlock(&results->mutex);
    return status;
}

static int choose(struct sweep *sweep, struct error *err) {
    const struct measure *measure = &sweep->measure[sweep->selected];
    double best = NAN;
    for (size_t i = 0; i < sweep->n_points; i++) {
        double value = sweep->value[i * sweep->n_measures + sweep->selected];
        bool better = measure->row->lower_is_better ? value < best : value > best;
        if (!isnan(value) && (isnan(best) || better)) {
            best = value;
            sweep->best = i;
        }
    }
    return isnan(best) ? error_set(err, ERROR_RUNTIME,
                                   "the held-out rows have nothing to measure %s by", measure->name)
                       : 0;
}

static int allocate(struct results *results, struct error *err) {
    struct sweep *sweep = results->sweep;
    size_t fold_cells = results->crossval->folds->n * sweep->n_measures;
    sweep->value =
        memory_array(sweep->n_points, sweep->n_measures * sizeof(double), "measures", err);
    sweep->gap = memory_zeros(sweep->n_points, sizeof(double), "gaps", err);
    results->value = memory_array(sweep->n_points, fold_cells * sizeof(double), "measures", err);
    results->weight = memory_array(sweep->n_points, fold_cells * sizeof(double), "measures", err);
    results->n_folds = memory_zeros(sweep->n_points, sizeof(size_t), "measures", err);
    return sweep->value && sweep->gap && results->value && results->weight && results->n_folds ? 0
                                                                                               : -1;
}

int sweep_run(struct sweep *sweep, const struct crossval *crossval, struct output *table,
              struct error *err) {
    struct crossval own = *crossval;
    struct results results = {.sweep = sweep, .crossval = &own, .table = table};
    own.first_point = 0;
    own.n_points = sweep->n_points;
    own.scored = scored;
    own.context = &results;
    if (table) {
        write_header(&results);
    }
    int status = allocate(&results, err);
    if (status == 0) {
        pthread_mutex_init(&results.mutex, NULL);
        status = crossval_run(&own, err);
        pthread_mutex_destroy(&results.mutex);
    }
    if (status == 0) {
        status = choose(sweep, err);
    }
    free(results.value);
    free(results.weight);
    free(results.n_folds);
    return status;
}
