#include "driver/sweep.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "driver/checkpoint.h"
#include "driver/text.h"
#include "driver/timed_task.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the folds of a point have given so far. */
struct point_result {
    bool mine;      /* it is of the shard */
    char *line;     /* its row, if that is known */
    double seconds; /* of all folds */
    double gap;     /* the largest relative gap of the folds; NaN: one has none */
    bool fitted;    /* in a fold at least there was time for the solver */
    size_t n_folds; /* that are done */
};

struct results {
    struct sweep *sweep;
    struct crossval own;             /* the caller's, with what is set here */
    const struct crossval *crossval; /* it */
    const struct sweep_table *table; /* NULL: none */
    size_t n_unconverged;            /* as fits are counted */
    char *header;
    char run[16]; /* the last cell of each row, with the tab before it */
    struct journal *journal;
    struct point_result *point; /* (grid.n) */
    bool *wanted;               /* (grid.n) points of the shard that are not known yet */
    pthread_mutex_t mutex;
    bool left;              /* guarded by the mutex, as what follows: no more fits are taken */
    size_t n_short;         /* of those that were taken: not converged */
    double *value, *weight; /* (grid.n, n_folds, n_measures) */
    size_t n_shown;         /* points whose rows are written */
};

void sweep_free(struct sweep *sweep) {
    grid_free(&sweep->grid);
    free(sweep->measure);
    free(sweep->value);
    *sweep = (struct sweep){0};
}

/* Marks the points of the shard: consecutive ones, whole runs of them if there are enough. */
static void mark_shard(struct results *results) {
    const struct sweep *sweep = results->sweep;
    const struct grid *grid = &sweep->grid;
    size_t n_runs = 0, run = 0;
    for (size_t i = 0; i < grid->n; n_runs++) {
        i = crossval_run_end(grid->options, grid->point, grid->n, i);
    }
    bool by_runs = n_runs >= sweep->n_shards;
    size_t n_parts = by_runs ? n_runs : grid->n;
    for (size_t i = 0, end = 0; i < grid->n; i++) {
        if (i == end) {
            end = crossval_run_end(grid->options, grid->point, grid->n, i);
            run++;
        }
        size_t part = by_runs ? run - 1 : i;
        results->point[i].mine = part * sweep->n_shards / n_parts == sweep->shard;
    }
}

/* ---- rows ---- */

/* The header, without a line end; the caller frees. */
static char *make_header(const struct sweep *sweep, struct error *err) {
    struct text line = {0};
    text_format(&line, "point");
    for (size_t c = 0; c < sweep->grid.n_columns; c++) {
        text_format(&line, "\t%s", sweep->grid.column[c]->spec.name);
    }
    for (size_t k = 0; k < sweep->n_measures; k++) {
        const char *name = sweep->measure[k].name;
        text_format(&line, "\t%s\t%s-sd", name, name);
    }
    text_format(&line, "\tgap\tseconds\trun");
    return text_end(&line, "a header", err);
}

/* Begins a row of the point with its number and its columns. */
static void begin_row(const struct results *results, size_t index, struct text *line) {
    const struct grid *grid = &results->sweep->grid;
    char text[NUMBER_LENGTH];
    text_format(line, "%zu", index + 1);
    for (size_t c = 0; c < grid->n_columns; c++) {
        text_format(line, "\t%s", grid_text(grid, index, c, results->crossval->n_features, text));
    }
}

/* Adds a tab and a number of so many digits; nothing but the tab for NaN. */
static void add_cell(struct text *line, int digits, double value) {
    char cell[NUMBER_LENGTH] = "";
    if (!isnan(value)) {
        snprintf(cell, sizeof cell, "%.*g", digits, value);
        number_point(cell);
    }
    text_format(line, "\t%s", cell);
}

static double epsilon_of(const struct sweep *sweep, size_t index) {
    return point_number((struct point){sweep->grid.options, sweep->grid.point[index]}, "epsilon");
}

/* Adds the gap with as many digits as tell it from epsilon: converged or not is read from it. */
static void add_gap(const struct results *results, size_t index, struct text *line) {
    double gap = results->point[index].gap, epsilon = epsilon_of(results->sweep, index),
           rounded = gap;
    char text[NUMBER_LENGTH];
    snprintf(text, sizeof text, "%.3g", gap);
    number_parse(text, text + number_point(text), &rounded);
    add_cell(line, (rounded > epsilon) == (gap > epsilon) ? 3 : 17, gap);
}

/* The end of n cells, each with the tab before it. */
static const char *skip_cells(const char *cell, size_t n) {
    for (; n > 0 && *cell; n--) {
        cell += 1 + strcspn(cell + 1, "\t");
    }
    return cell;
}

/* Takes the measures and the gap of a row, whose cells behind those of begin_row begin at `cell`:
 * as they stand there. NULL, or what is wrong. */
static const char *take_values(const struct results *results, size_t index, const char *cell) {
    const struct sweep *sweep = results->sweep;
    double *value = sweep->value + index * sweep->n_measures;
    for (size_t k = 0; k < 2 * sweep->n_measures; k++) {
        const char *end = *cell == '\t' ? cell + 1 + strcspn(cell + 1, "\t") : cell;
        double number = NAN;
        if (end == cell || (end > cell + 1 && number_parse(cell + 1, end, &number) != end)) {
            return "not a row of this sweep: a measure is not a number";
        }
        if (k % 2 == 0) {
            value[k / 2] = number;
        }
        cell = end;
    }
    const char *end = skip_cells(cell, 1);
    results->point[index].gap = NAN;
    if (end > cell + 1 && number_parse(cell + 1, end, &results->point[index].gap) != end) {
        return "not a row of this sweep: its gap is not a number";
    }
    size_t length = strlen(cell), last = strlen(results->run);
    return length > last && strcmp(cell + length - last, results->run) == 0
               ? NULL
               : "a row of other data, folds or options than this sweep's";
}

/* A row of the journal. */
static const char *take_row(void *context, const char *line) {
    static const char other[] = "not a row of this sweep", torn[] = "out of memory";
    struct results *results = context;
    struct error unheard;
    uint64_t number;
    const char *end = number_parse_unsigned(line, line + strcspn(line, "\t"), &number);
    if (strncmp(line, "point\t", 6) == 0) {
        return "other columns than this sweep's";
    }
    if (!end || *end != '\t' || number < 1 || number > results->sweep->grid.n) {
        return other;
    }
    size_t index = (size_t)number - 1, n_tabs = 0, header_tabs = 0;
    size_t cells = 2 * results->sweep->n_measures;
    for (const char *at = line; *at; at++) {
        n_tabs += *at == '\t';
    }
    for (const char *at = results->header; *at; at++) {
        header_tabs += *at == '\t';
    }
    struct text row = {0};
    begin_row(results, index, &row);
    size_t used = row.n;
    bool failed = row.failed, same = !failed && strncmp(row.bytes, line, used) == 0;
    free(row.bytes);
    if (failed) {
        return torn;
    }
    if (!same || n_tabs != header_tabs) {
        return same && n_tabs < header_tabs ? "a row with cells missing: torn off?" : other;
    }
    const char *wrong = take_values(results, index, line + used),
               *twin = results->point[index].line;
    if (!wrong && twin) { /* joined tables may have a row twice */
        size_t length = (size_t)(skip_cells(line + used, cells) - line);
        wrong = strncmp(twin, line, length) == 0 ? NULL
                                                 : "another row of this point has other measures";
    } else if (!wrong) {
        results->point[index].line = memory_text(line, strlen(line), "a row", &unheard);
        wrong = results->point[index].line ? NULL : torn;
    }
    return wrong;
}

/* The mean and the standard deviation over the folds of measure k, by what each fold counts, in
 * their order: sums do not depend on who was first. One value has no deviation. */
static void average(const struct results *results, size_t index, size_t k, double *mean,
                    double *deviation) {
    size_t n_folds = results->crossval->folds->n, n = results->sweep->n_measures, step = n;
    const double *value = results->value + index * n_folds * n + k;
    const double *weight = results->weight + index * n_folds * n + k;
    double sum = 0, weights = 0, squares = 0, spread = 0;
    size_t counted = 0;
    for (size_t fold = 0; fold < n_folds; fold++) {
        if (!isnan(value[fold * step])) {
            sum += weight[fold * step] * value[fold * step];
            weights += weight[fold * step];
            squares += weight[fold * step] * weight[fold * step];
            counted++;
        }
    }
    *mean = weights > 0 ? sum / weights : (double)NAN;
    for (size_t fold = 0; fold < n_folds; fold++) {
        double far = isnan(value[fold * step]) ? 0 : value[fold * step] - *mean;
        spread += isnan(value[fold * step]) ? 0 : weight[fold * step] * far * far;
    }
    double freedom = weights - squares / weights;
    *deviation = counted > 1 && freedom > 0 ? sqrt(spread / freedom) : (double)NAN;
}

/* The row of a point whose folds are all done: to the lines, and to the journal. */
static int make_row(struct results *results, size_t index, struct error *err) {
    struct sweep *sweep = results->sweep;
    size_t n_folds = results->crossval->folds->n;
    struct text text = {0};
    begin_row(results, index, &text);
    size_t cells = text.n;
    for (size_t k = 0; k < sweep->n_measures; k++) {
        double mean, deviation;
        average(results, index, k, &mean, &deviation);
        add_cell(&text, 6, mean);
        add_cell(&text, 4, deviation);
    }
    add_gap(results, index, &text);
    char cell[NUMBER_LENGTH];
    snprintf(cell, sizeof cell, "%.3f", results->point[index].seconds);
    number_point(cell);
    text_format(&text, "\t%s%s", cell, results->run);
    char *line = text_end(&text, "a row", err);
    if (!line) {
        return -1;
    }
    take_values(results, index, line + cells);
    results->point[index].line = line;
    /* without a fit it is not known what the point is worth: the next run measures it */
    bool known = results->point[index].fitted && results->point[index].n_folds == n_folds;
    return results->journal && known ? journal_add(results->journal, line, err) : 0;
}

/* Writes the rows that can be written now. */
static int show_finished(struct results *results, struct error *err) {
    const struct grid *grid = &results->sweep->grid;
    struct output *output = results->table->output;
    bool cleared = !results->crossval->progress;
    for (; results->n_shown < grid->n; results->n_shown++) {
        size_t index = results->n_shown;
        if (!results->point[index].mine) {
            continue;
        }
        if (!results->point[index].line) {
            break;
        }
        if (!cleared) {
            progress_clear(results->crossval->progress);
            cleared = true;
        }
        output_format(output, "%s\n", results->point[index].line);
    }
    return output_flush(output, err);
}

static int measure_rows(const struct sweep *sweep, const struct crossval *crossval,
                        const struct crossval_fit *fit, double *value, double *weight,
                        struct error *err) {
    const struct measures *measures = crossval->family->measures;
    void *state = NULL;
    if (measures->create(&state, crossval->options, fit->model, err) < 0) {
        return -1;
    }
    int status =
        measures->add(state, crossval->data, fit->rows, fit->n, fit->scores, fit->n_scores, err);
    status = status < 0 ? -1
                        : measures_values(measures, state, sweep->measure, sweep->n_measures, value,
                                          weight, err);
    measures->free(state);
    return status;
}

/* The row of a point, if rows are wanted, or its values, from the folds that are done. */
static int take_point(struct results *results, size_t index, struct error *err) {
    struct sweep *sweep = results->sweep;
    if (results->table) {
        return make_row(results, index, err) < 0 ? -1 : show_finished(results, err);
    }
    for (size_t k = 0; k < sweep->n_measures; k++) {
        double deviation;
        average(results, index, k, &sweep->value[index * sweep->n_measures + k], &deviation);
    }
    return 0;
}

/* What a fit has given, but for its cells of value and weight. */
struct outcome {
    double gap, seconds;
    bool fitted, converged;
};

/* Under the mutex. With its last fold the point is known. */
static int take_fit(struct results *results, size_t index, size_t fold,
                    const struct outcome *outcome, const char *values, struct error *err) {
    size_t n_folds = results->crossval->folds->n, n = results->sweep->n_measures;
    size_t cell = (index * n_folds + fold) * n;
    struct point_result *point = &results->point[index];
    memcpy(results->value + cell, values, n * sizeof(double));
    memcpy(results->weight + cell, values + n * sizeof(double), n * sizeof(double));
    results->n_short += !outcome->converged;
    double *gap = &point->gap; /* none, if a fold has none */
    *gap = outcome->gap <= *gap || isnan(*gap) ? *gap : outcome->gap;
    point->fitted |= outcome->fitted;
    point->seconds += outcome->seconds;
    return ++point->n_folds == n_folds ? take_point(results, index, err) : 0;
}

/* Takes the outcome of a fit, its values (n_measures) and their weights. A run that is left to
 * itself ends by the first. */
static int told(void *context, size_t index, size_t fold, const char *bytes, size_t n,
                struct error *err) {
    struct results *results = context;
    struct outcome outcome;
    (void)n;
    memcpy(&outcome, bytes, sizeof outcome);
    pthread_mutex_lock(&results->mutex);
    int status = results->left
                     ? error_set(err, ERROR_STOPPED, "the limit of time is reached")
                     : take_fit(results, index, fold, &outcome, bytes + sizeof outcome, err);
    pthread_mutex_unlock(&results->mutex);
    return status;
}

static int scored(void *context, const struct crossval_fit *fit, struct text *bytes,
                  struct error *err) {
    struct results *results = context;
    size_t n = results->sweep->n_measures;
    const struct outcome outcome = {fit->model->gap, fit->seconds, fit->fitted, fit->converged};
    double *values = memory_array(2 * n, sizeof *values, "measures", err);
    int status =
        values ? measure_rows(results->sweep, results->crossval, fit, values, values + n, err) : -1;
    if (status == 0) {
        text_take(bytes, (const char *)&outcome, sizeof outcome);
        text_take(bytes, (const char *)values, 2 * n * sizeof *values);
    }
    free(values);
    return status;
}

/* The best of the points that there was time for, or of all where it was enough for none. */
static int choose(const struct results *results, struct error *err) {
    struct sweep *sweep = results->sweep;
    const struct measure *measure = &sweep->measure[sweep->selected];
    double best = NAN;
    bool best_fitted = false;
    for (size_t i = 0; i < sweep->grid.n; i++) {
        double value = sweep->value[i * sweep->n_measures + sweep->selected];
        bool better = measure->row->lower_is_better ? value < best : value > best;
        bool fitted = results->point[i].fitted;
        if (!isnan(value) && fitted >= best_fitted &&
            (isnan(best) || better || fitted > best_fitted)) {
            best = value;
            best_fitted = fitted;
            sweep->best = i;
        }
    }
    const char *left_out = results->crossval->family->measures->left_out;
    return isnan(best) && !results->left
               ? error_set(err, ERROR_RUNTIME,
                           "the held-out rows have nothing to measure %s by%s%s%s", measure->name,
                           left_out ? " (" : "", left_out ? left_out : "",
                           left_out ? " are left out)" : "")
               : 0;
}

/* ---- the run ---- */

static int allocate(struct results *results, struct error *err) {
    struct sweep *sweep = results->sweep;
    size_t n = sweep->grid.n, n_folds = results->crossval->folds->n;
    size_t fold_cells = n_folds * sweep->n_measures;
    sweep->value = memory_array(n, sweep->n_measures * sizeof(double), "measures", err);
    results->value = memory_array(n, fold_cells * sizeof(double), "measures", err);
    results->weight = memory_array(n, fold_cells * sizeof(double), "measures", err);
    results->point = memory_zeros(n, sizeof *results->point, "points", err);
    results->wanted = memory_array(n, sizeof(bool), "points", err);
    if (!sweep->value || !results->value || !results->weight || !results->point ||
        !results->wanted) {
        return -1;
    }
    for (size_t i = 0; i < n * sweep->n_measures; i++) {
        sweep->value[i] = NAN;
    }
    for (size_t i = 0; i < n * fold_cells; i++) {
        results->value[i] = NAN;
    }
    return 0;
}

static void release(struct results *results) {
    for (size_t i = 0; results->point && i < results->sweep->grid.n; i++) {
        free(results->point[i].line);
    }
    journal_close(results->journal);
    free(results->header);
    free(results->value);
    free(results->weight);
    free(results->point);
    free(results->wanted);
}

/* The header, what the journal has, and the rows that can be written at once. */
static int open_table(struct results *results, struct error *err) {
    const struct sweep_table *table = results->table;
    uint32_t checksum = grid_checksum(&results->sweep->grid) ^ table->data;
    snprintf(results->run, sizeof results->run, "\t%08" PRIx32, checksum);
    results->header = make_header(results->sweep, err);
    if (!results->header ||
        (table->resume && journal_open(&results->journal, table->resume, results->header, take_row,
                                       results, err) < 0)) {
        return -1;
    }
    output_format(table->output, "%s\n", results->header);
    return show_finished(results, err);
}

/* True if a fit of the formulation converges by its gap. */
static bool is_certified(const struct sweep *sweep, size_t index) {
    const struct grid *grid = &sweep->grid;
    struct point point = {grid->options, grid->point[index]};
    const char *formulation = grid->family->formulations[point_choice(point, "formulation")];
    const char *const *other = grid->family->uncertified;
    while (other && *other && strcmp(*other, formulation) != 0) {
        other++;
    }
    return !other || !*other;
}

/* What the journal has: which points are left to do, and which were taken over without their folds
 * having converged. */
static void take_over(struct results *results) {
    struct sweep *sweep = results->sweep;
    for (size_t i = 0; i < sweep->grid.n; i++) {
        bool taken = results->point[i].line != NULL;
        results->wanted[i] = results->point[i].mine && !taken;
        results->point[i].fitted = taken;
        if (results->point[i].mine && taken) {
            sweep->n_taken++;
            sweep->n_taken_short +=
                is_certified(sweep, i) && !(results->point[i].gap <= epsilon_of(sweep, i));
        }
    }
}

/* What is left to the fits that follow: each counts as a point, or as a ninth of all fits where
 * that is more, which is a tenth of the time for one. It has more rows than the fit to a fold, and
 * is what the others are for. */
static size_t fits_that_follow(size_t n_after, size_t n_folds, size_t n_fits) {
    size_t ninth = n_fits / 9;
    return n_after * (ninth > n_folds ? ninth : n_folds);
}

/* What is to be done, and with it what has been: what rank 0 has read all ranks know. */
static int begin(struct results *results, struct error *err) {
    struct cluster *cluster = results->crossval->cluster;
    size_t n = results->sweep->grid.n;
    mark_shard(results);
    if (results->table && cluster_leads(cluster) && open_table(results, err) < 0) {
        return -1;
    }
    take_over(results);
    cluster_broadcast(cluster, results->wanted, n * sizeof results->wanted[0], 0);
    return 0;
}

/* What has come out, which rank 0 alone knows. */
static int end(struct results *results, struct error *err) {
    struct sweep *sweep = results->sweep;
    struct cluster *cluster = results->crossval->cluster;
    for (size_t i = 0; i < sweep->grid.n; i++) {
        sweep->n_unfitted += results->point[i].mine && !results->point[i].fitted;
    }
    int status = sweep->n_shards == 1 && cluster_leads(cluster) ? choose(results, err) : 0;
    if (status == 0) {
        cluster_broadcast(cluster, &sweep->best, sizeof sweep->best, 0);
    }
    return status;
}

static int run_fits(void *context, struct error *err) {
    const struct results *results = context;
    return crossval_run(results->crossval, err);
}

/* The fits are left to themselves: what is known of a point is that of the folds that are done. */
static int leave_fits(struct results *results, struct error *err) {
    struct sweep *sweep = results->sweep;
    int status = 0;
    pthread_mutex_lock(&results->mutex);
    results->left = true;
    pthread_mutex_unlock(&results->mutex);
    size_t n_folds = results->crossval->folds->n;
    for (size_t i = 0; i < sweep->grid.n && status == 0; i++) {
        if (results->wanted[i] && results->point[i].n_folds < n_folds) {
            sweep->n_left += n_folds - results->point[i].n_folds;
            results->point[i].gap = NAN;
            status = take_point(results, i, err);
        }
    }
    return status;
}

/* Runs the fits, as long as there is time: then those at work are left to themselves, or waited
 * for, and others do not begin. */
static int run_in_time(struct results *results, bool waits, bool *running, struct error *err) {
    struct crossval *own = &results->own;
    double now = progress_clock(), n_fits = (double)crossval_count(own);
    double part = n_fits > 0 ? n_fits / (n_fits + (double)own->n_after) : 1;
    own->end = isfinite(own->end) ? now + part * (own->end - now) : own->end;
    bool ended;
    int status = in_time(run_fits, results, waits ? (double)INFINITY : own->end, &ended, err);
    *running = !ended;
    bool late = status < 0 && err->kind == ERROR_STOPPED && !progress_stopped(own->progress);
    return *running || late ? leave_fits(results, err) : status;
}

int sweep_run(struct sweep *sweep, const struct crossval *crossval, const struct sweep_table *table,
              size_t *n_fits, bool waits, bool *running, struct error *err) {
    struct results *results = memory_zeros(1, sizeof *results, "measures", err);
    *n_fits = 0;
    *running = false;
    if (!results) {
        return -1;
    }
    *results = (struct results){.sweep = sweep, .own = *crossval, .table = table};
    struct crossval *own = &results->own;
    results->crossval = own;
    int status = allocate(results, err);
    status = status < 0 ? -1 : begin(results, err);
    if (status == 0) {
        own->points = sweep->grid.point;
        own->n_points = sweep->grid.n;
        own->wanted = results->wanted;
        own->scored = scored;
        own->told = told;
        own->context = results;
        own->n_unconverged = &results->n_unconverged;
        *n_fits = crossval_count(own);
        own->n_after = fits_that_follow(crossval->n_after, own->folds->n, *n_fits);
        pthread_mutex_init(&results->mutex, NULL);
        status = run_in_time(results, waits, running, err);
        *crossval->n_unconverged +=
            results->left ? sweep->n_left + results->n_short : results->n_unconverged;
    }
    status = status < 0 ? -1 : end(results, err);
    if (*running) {
        return status;
    }
    if (own->context) {
        pthread_mutex_destroy(&results->mutex);
    }
    release(results);
    free(results);
    return status;
}
