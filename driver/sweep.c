/* Collects the measures of the folds at each point, prints the rows of the table in order, saves
 * them to the checkpoint file of --resume, and chooses the best point. */
#include "driver/sweep.h"

#include "common/base/arrays.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/base/text.h"
#include "driver/checkpoint.h"
#include "driver/timed_task.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The results of the folds of a point so far. */
struct point_result {
    bool mine;      /* it belongs to the shard */
    char *line;     /* its row of the table, once known; owned */
    double seconds; /* sum over the folds */
    double gap;     /* the largest relative gap of the folds; NaN: a fold has none */
    bool fitted;    /* in at least one fold the solver had time for an iteration */
    size_t n_folds; /* finished folds */
};

/* The state of a sweep. */
struct results {
    struct sweep *sweep;
    struct crossval own;             /* a copy of the caller's, with the fields set here */
    const struct crossval *crossval; /* &own */
    const struct sweep_table *table; /* NULL: none */
    size_t n_unconverged;            /* of the fits to folds */
    char *header;
    char run[16]; /* the last cell of each row, with the tab before it */
    struct checkpoint *checkpoint;
    struct point_result *point; /* (grid.n) */
    /* (grid.n) points of the shard that are not in the checkpoint file */
    bool *wanted;
    pthread_mutex_t mutex;
    /* guarded by the mutex, as are the fields below: no more results are accepted */
    bool abandoned;
    size_t n_finished_unconverged; /* of the accepted fits */
    double *value, *weight;        /* (grid.n, n_folds, n_measures) */
    size_t n_shown;                /* points whose rows are written */
    void *block;                   /* all arrays */
};

void sweep_free(struct sweep *sweep) {
    grid_free(&sweep->grid);
    free(sweep->measure);
    free(sweep->value);
    *sweep = (struct sweep){0};
}

/* Marks the points of the shard: consecutive points, and whole runs of them if there are at least
 * as many runs as shards. */
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

/* The header line without a line end; the caller frees. */
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

/* Adds the point's number and its option columns. */
static void begin_row(const struct results *results, size_t index, struct text *line) {
    const struct grid *grid = &results->sweep->grid;
    char text[NUMBER_LENGTH];
    text_format(line, "%zu", index + 1);
    for (size_t c = 0; c < grid->n_columns; c++) {
        text_format(line, "\t%s", grid_text(grid, index, c, results->crossval->n_features, text));
    }
}

/* Adds a tab and a number with this number of digits, or only the tab for NaN. */
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

/* Adds the gap with as many digits as distinguish it from epsilon, because --resume compares the
 * two. */
static void add_gap(const struct results *results, size_t index, struct text *line) {
    double gap = results->point[index].gap, epsilon = epsilon_of(results->sweep, index),
           rounded = gap;
    char text[NUMBER_LENGTH];
    snprintf(text, sizeof text, "%.3g", gap);
    number_parse(text, text + number_point(text), &rounded);
    add_cell(line, (rounded > epsilon) == (gap > epsilon) ? 3 : 17, gap);
}

/* Skips n cells, each with the tab in front of it. */
static const char *skip_cells(const char *cell, size_t n) {
    for (; n > 0 && *cell; n--) {
        cell += 1 + strcspn(cell + 1, "\t");
    }
    return cell;
}

/* Reads the measures and the gap of a row from its cells behind the option columns, so that values
 * are those of the text. Returns NULL, or the reason why the row is invalid. */
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

/* Takes a row of the checkpoint file. */
static const char *take_row(void *context, const char *line) {
    static const char other[] = "not a row of this sweep", torn[] = "out of memory";
    struct results *results = context;
    struct error ignored;
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
               *previous = results->point[index].line;
    if (!wrong && previous) { /* joined tables may contain a row twice */
        size_t length = (size_t)(skip_cells(line + used, cells) - line);
        wrong = strncmp(previous, line, length) == 0
                    ? NULL
                    : "another row of this point has other measures";
    } else if (!wrong) {
        results->point[index].line = memory_text(line, strlen(line), "a row", &ignored);
        wrong = results->point[index].line ? NULL : torn;
    }
    return wrong;
}

/* The weighted mean and standard deviation of measure k over the folds, in the order of the folds,
 * so that sums do not depend on which finished first. A single value has no deviation. */
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
        double difference = isnan(value[fold * step]) ? 0 : value[fold * step] - *mean;
        spread += isnan(value[fold * step]) ? 0 : weight[fold * step] * difference * difference;
    }
    double freedom = weights - squares / weights;
    *deviation = counted > 1 && freedom > 0 ? sqrt(spread / freedom) : (double)NAN;
}

/* Makes the row of a point whose folds are done, and adds it to the checkpoint file. */
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
    /* a point without results of all folds is not saved: the next run measures it */
    bool known = results->point[index].fitted && results->point[index].n_folds == n_folds;
    return results->checkpoint && known ? checkpoint_add(results->checkpoint, line, err) : 0;
}

/* Writes the rows that are known, in the order of the points. */
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
        const char *line = results->point[index].line;
        output_format(output, "%s\n", line);
        json_row(results->table->json, results->header, line, strlen(line) - strlen(results->run));
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

/* Makes the row of a point from its finished folds, or without a table its mean values. */
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

/* The result of a fit, apart from its measures and their weights. */
struct outcome {
    double gap, seconds;
    bool fitted, converged;
};

/* Adds the result of a fit. The last fold completes the point. Called with the mutex held. */
static int take_fit(struct results *results, size_t index, size_t fold,
                    const struct outcome *outcome, const char *values, struct error *err) {
    size_t n_folds = results->crossval->folds->n, n = results->sweep->n_measures;
    size_t cell = (index * n_folds + fold) * n;
    struct point_result *point = &results->point[index];
    memcpy(results->value + cell, values, n * sizeof(double));
    memcpy(results->weight + cell, values + n * sizeof(double), n * sizeof(double));
    results->n_finished_unconverged += !outcome->converged;
    double *gap = &point->gap; /* NaN if a fold has none */
    *gap = outcome->gap <= *gap || isnan(*gap) ? *gap : outcome->gap;
    point->fitted |= outcome->fitted;
    point->seconds += outcome->seconds;
    return ++point->n_folds == n_folds ? take_point(results, index, err) : 0;
}

/* Takes the bytes of `serialize`: the outcome, the values (n_measures) and their weights. After the
 * run was abandoned, each fit ends here with an error. */
static int receive(void *context, size_t index, size_t fold, const char *bytes, size_t n,
                   struct error *err) {
    struct results *results = context;
    struct outcome outcome;
    (void)n;
    memcpy(&outcome, bytes, sizeof outcome);
    pthread_mutex_lock(&results->mutex);
    int status = results->abandoned
                     ? error_set(err, ERROR_STOPPED, "the limit of time is reached")
                     : take_fit(results, index, fold, &outcome, bytes + sizeof outcome, err);
    pthread_mutex_unlock(&results->mutex);
    return status;
}

static int serialize(void *context, const struct crossval_fit *fit, struct text *bytes,
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

/* How far the measures of a point count: 2 if all of its folds finished, 1 if some did, and 0 if
 * the solver had no time for an iteration. */
static int standing(const struct results *results, size_t index) {
    const struct point_result *point = &results->point[index];
    return !point->fitted ? 0 : point->n_folds < results->crossval->folds->n ? 1 : 2;
}

/* Chooses the best point among those of the highest standing. */
static int choose(const struct results *results, struct error *err) {
    struct sweep *sweep = results->sweep;
    const struct measure *measure = &sweep->measure[sweep->selected];
    double best = NAN;
    int highest = 0;
    for (size_t i = 0; i < sweep->grid.n; i++) {
        double value = sweep->value[i * sweep->n_measures + sweep->selected];
        bool better = measure->row->lower_is_better ? value < best : value > best;
        int own = standing(results, i);
        if (!isnan(value) && own >= highest && (isnan(best) || better || own > highest)) {
            best = value;
            highest = own;
            sweep->best = i;
        }
    }
    sweep->best_folds = results->point[sweep->best].n_folds;
    const char *left_out = results->crossval->family->measures->left_out;
    return isnan(best) && !results->abandoned
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
    results->block = ARRAYS_CREATE(
        "measures", err, ARRAYS(n * fold_cells, double, &results->value, &results->weight),
        ARRAYS(n, struct point_result, &results->point), ARRAYS(n, bool, &results->wanted));
    if (!sweep->value || !results->block) {
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
    checkpoint_close(results->checkpoint);
    free(results->header);
    free(results->block);
}

/* Writes the header, reads the checkpoint file, and writes the rows that are known. */
static int open_table(struct results *results, struct error *err) {
    const struct sweep_table *table = results->table;
    uint32_t checksum = grid_checksum(&results->sweep->grid) ^ table->data;
    snprintf(results->run, sizeof results->run, "\t%08" PRIx32, checksum);
    results->header = make_header(results->sweep, err);
    if (!results->header ||
        (table->resume && checkpoint_open(&results->checkpoint, table->resume, results->header,
                                          take_row, results, err) < 0)) {
        return -1;
    }
    output_format(table->output, "%s\n", results->header);
    return show_finished(results, err);
}

/* Returns whether the gap of a point tells that its fits converged: it does not in formulations
 * that are not convex, nor under --max-sv, whose gap is that of the full problem. */
static bool gap_tells_convergence(const struct sweep *sweep, size_t index) {
    const struct grid *grid = &sweep->grid;
    if (options_given(grid->options, "max-sv")) {
        return false;
    }
    struct point point = {grid->options, grid->point[index]};
    const char *formulation = grid->family->formulations[point_choice(point, "formulation")];
    const char *const *other = grid->family->uncertified;
    while (other && *other && strcmp(*other, formulation) != 0) {
        other++;
    }
    return !other || !*other;
}

/* Sets which points remain to be done, and counts points of the checkpoint file that had not
 * converged. */
static void apply_checkpoint(struct results *results) {
    struct sweep *sweep = results->sweep;
    for (size_t i = 0; i < sweep->grid.n; i++) {
        bool taken = results->point[i].line != NULL;
        results->wanted[i] = results->point[i].mine && !taken;
        results->point[i].fitted = taken;
        results->point[i].n_folds = taken ? results->crossval->folds->n : 0;
        if (results->point[i].mine && taken) {
            sweep->n_resumed++;
            sweep->n_resumed_unconverged +=
                gap_tells_convergence(sweep, i) && !(results->point[i].gap <= epsilon_of(sweep, i));
        }
    }
}

/* The number of fits whose time is reserved for the fits that follow: for each of these one per
 * fold, or a ninth of all fits if that is more, so that a single one gets a tenth of the time. It
 * has more rows than the fit to a fold, and its model is the purpose of the run. */
static size_t fits_that_follow(size_t n_after, size_t n_folds, size_t n_fits) {
    size_t ninth = n_fits / 9;
    return n_after * (ninth > n_folds ? ninth : n_folds);
}

/* Determines what remains to be done. Process 0 reads the checkpoint file and tells the others. */
static int begin(struct results *results, struct error *err) {
    struct cluster *cluster = results->crossval->cluster;
    size_t n = results->sweep->grid.n;
    mark_shard(results);
    if (results->table && cluster_is_root(cluster) && open_table(results, err) < 0) {
        return -1;
    }
    apply_checkpoint(results);
    cluster_broadcast(cluster, results->wanted, n * sizeof results->wanted[0], 0);
    return 0;
}

/* Chooses the best point on process 0, and tells the others. */
static int end(struct results *results, struct error *err) {
    struct sweep *sweep = results->sweep;
    struct cluster *cluster = results->crossval->cluster;
    for (size_t i = 0; i < sweep->grid.n; i++) {
        sweep->n_unfitted += results->point[i].mine && !results->point[i].fitted;
    }
    int status = sweep->n_shards == 1 && cluster_is_root(cluster) ? choose(results, err) : 0;
    if (status == 0) {
        cluster_broadcast(cluster, &sweep->best, sizeof sweep->best, 0);
    }
    return status;
}

static int run_fits(void *context, struct error *err) {
    const struct results *results = context;
    return crossval_run(results->crossval, err);
}

/* Abandons the unfinished fits: the result of a point is that of its finished folds. */
static int abandon_fits(struct results *results, struct error *err) {
    struct sweep *sweep = results->sweep;
    int status = 0;
    pthread_mutex_lock(&results->mutex);
    results->abandoned = true;
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

/* Runs the fits until their share of the time has passed. Then no more are started, and those in
 * progress are abandoned, or awaited if `waits`. */
static int run_in_time(struct results *results, bool waits, bool *abandoned, struct error *err) {
    struct crossval *own = &results->own;
    double now = clock_seconds(), n_fits = (double)crossval_count(own);
    double part = n_fits > 0 ? n_fits / (n_fits + (double)own->n_after) : 1;
    own->end = isfinite(own->end) ? now + part * (own->end - now) : own->end;
    bool ended;
    int status =
        timed_task_run(run_fits, results, waits ? (double)INFINITY : own->end, &ended, err);
    *abandoned = !ended;
    bool late = status < 0 && err->kind == ERROR_STOPPED && !progress_stopped(own->progress);
    return *abandoned || late ? abandon_fits(results, err) : status;
}

int sweep_run(struct sweep *sweep, const struct crossval *crossval, const struct sweep_table *table,
              size_t *n_fits, bool waits, bool *abandoned, struct error *err) {
    struct results *results = memory_zeros(1, sizeof *results, "measures", err);
    *n_fits = 0;
    *abandoned = false;
    if (!results) {
        return -1;
    }
    *results = (struct results){.sweep = sweep, .own = *crossval, .table = table};
    struct crossval *own = &results->own;
    results->crossval = own;
    if (table) { /* without empty columns */
        const struct options *options = crossval->options;
        const struct data *held_out = options_given(options, "validate") ? NULL : crossval->data;
        measures_restrict(crossval->family->measures, options, NULL, held_out, sweep->measure,
                          &sweep->n_measures, &sweep->selected);
    }
    int status = allocate(results, err);
    status = status < 0 ? -1 : begin(results, err);
    if (status == 0) {
        own->points = sweep->grid.point;
        own->n_points = sweep->grid.n;
        own->wanted = results->wanted;
        own->serialize = serialize;
        own->receive = receive;
        own->context = results;
        own->n_unconverged = &results->n_unconverged;
        *n_fits = crossval_count(own);
        own->n_after = fits_that_follow(crossval->n_after, own->folds->n, *n_fits);
        pthread_mutex_init(&results->mutex, NULL);
        status = run_in_time(results, waits, abandoned, err);
        *crossval->n_unconverged += results->abandoned
                                        ? sweep->n_left + results->n_finished_unconverged
                                        : results->n_unconverged;
    }
    status = status < 0 ? -1 : end(results, err);
    if (*abandoned) {
        return status;
    }
    if (own->context) {
        pthread_mutex_destroy(&results->mutex);
    }
    release(results);
    free(results);
    return status;
}
