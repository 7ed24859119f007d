/* A run of the trainer: it makes a plan, opens the outputs, reads the rows, then runs
 * cross-validation or a sweep (-v, --fold-file, --validate), calibration (-b 1) and the fit of a
 * model. Each step is a module of its own. */
#include "driver/train.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/threads.h"
#include "common/data/distribute.h"
#include "driver/calibration.h"
#include "driver/crossval.h"
#include "driver/fit.h"
#include "driver/json.h"
#include "driver/outputs.h"
#include "driver/plan.h"
#include "driver/report.h"
#include "driver/sweep.h"
#include "driver/timed_task.h"
#include "driver/training_data.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The state of a run. */
struct training {
    const struct family *family;
    const struct options *options;
    const struct application *application; /* NULL: input and output are files */
    struct cluster *cluster;
    struct plan plan;
    struct outputs outputs;
    struct fit_log log; /* output is NULL without --log */
    struct json json;   /* output is NULL without --json */
    struct progress progress;
    struct threads *threads;
    size_t cache_bytes;
    double deadline;        /* of clock_seconds(), for the whole run; INFINITY: none */
    void (*has_rows)(void); /* called when the rows have been read; may be NULL */
    bool abandoned;         /* an abandoned solver still uses all of this except the outputs */
    struct training_data input;
    enum family_distribution share; /* how processes share the fit of the model */
    uint32_t table_data;            /* checksum of the rows, for the table */
    struct sweep sweep;
    struct calibration calibration;
    size_t n_unconverged; /* including fits to folds */
};

/* ---- memory ---- */

/* The size in -m, or half of the machine's memory divided among its processes. */
static size_t cache_bytes(const struct family *family, const struct options *options,
                          const struct cluster *cluster) {
    const double mebibyte = 1048576;
    double bytes = (double)memory_physical() / 2 / (double)cluster_local_processes(cluster);
    if (family->has & FAMILY_KERNEL) {
        struct point point = {options, 0};
        bytes = point_number_or(point, "cache", bytes / mebibyte) * mebibyte;
    }
    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX / 2;
}

/* ---- cross-validation, sweep, calibration ---- */

/* The number of scores of a row, as an estimate before a fit. */
static double scores_of_row(const struct training *training) {
    return training->family->scores_labels ? (double)training->input.data.names.n : 1;
}

/* An estimate of the seconds that scoring and measuring all rows take after the fits to folds;
 * matters for many labels with the linear kernel. */
static double scoring_seconds(const struct training *training) {
    const double speed = 5e8;
    const struct data *data = &training->input.data;
    double n = (double)data->n_rows, values = data->row_start
                                                  ? (double)data->row_start[data->n_rows]
                                                  : n * (double)data->n_features;
    return (values + 8 * n) * scores_of_row(training) / speed;
}

/* Fails before the fits if there is no memory for the scores of this number of rows. */
static int expect_scores(const struct training *training, size_t rows, struct error *err) {
    return memory_require((double)rows * scores_of_row(training) * sizeof(double),
                          "scores of held-out rows", err);
}

static struct crossval make_crossval(struct training *training) {
    const struct options *options = training->options;
    bool scale_folds = training_data_scale_depends_on_rows(options);
    /* validation rows have kernel values with the training rows only */
    bool rows_only =
        options_given(options, "validate") && fit_precomputed(training->family, options);
    return (struct crossval){.family = training->family,
                             .options = options,
                             .data = &training->input.data,
                             .scale_folds = scale_folds,
                             .copy_folds = scale_folds || rows_only,
                             .n_features = training->input.n_features,
                             .folds = &training->input.folds,
                             .threads = training->threads,
                             .cache_bytes = training->cache_bytes,
                             .deadline = training->deadline - scoring_seconds(training),
                             .progress = &training->progress,
                             .cluster = training->cluster,
                             .log = training->log.output ? &training->log : NULL,
                             .n_unconverged = &training->n_unconverged};
}

/* Warns about the last n_fits; `before`: the number of unconverged fits before them. */
static void warn_of_folds(struct training *training, size_t before, size_t n_fits) {
    progress_clear(&training->progress);
    if (training->n_unconverged > before) {
        progress_warn(&training->progress, "not converged: %zu of %zu fits to folds",
                      training->n_unconverged - before, n_fits);
    }
}

/* Warns about the points of a sweep. Points from the checkpoint file count like fits of this
 * run. */
static void warn_of_points(struct training *training) {
    const struct sweep *sweep = &training->sweep;
    if (sweep->n_resumed_unconverged > 0) {
        training->n_unconverged++;
        progress_warn(&training->progress, "not converged: %zu of %zu points taken over from %s",
                      sweep->n_resumed_unconverged, sweep->n_resumed,
                      options_text(training->options, "resume"));
    }
    if (sweep->n_left > 0) {
        progress_warn(&training->progress,
                      "no time for %zu fits to folds, which measures leave out", sweep->n_left);
    }
    if (training->plan.table && sweep->n_unfitted > 0) {
        progress_warn(&training->progress, "no time for an iteration at %zu of %zu points",
                      sweep->n_unfitted, sweep->grid.n);
    }
    size_t n_folds = training->input.folds.n;
    if (training->plan.table && sweep->n_left > 0 && sweep->n_shards == 1 &&
        sweep->best_folds < n_folds) {
        progress_warn(
            &training->progress,
            "no point was measured on all folds: the best one, %zu, is that of %zu of %zu",
            sweep->best + 1, sweep->best_folds, n_folds);
    }
}

/* The number of fits after those of a sweep. */
static size_t fits_after(const struct training *training) {
    bool calibrated = calibration_wanted(training->family, training->options);
    return !training->plan.fitting ? 0 : calibrated ? CALIBRATION_FOLDS + 1 : 1;
}

/* Notes options that have no effect at some of the points. */
static void note_unused(struct training *training) {
    const struct option *option;
    char what[200];
    for (size_t at = 0;
         (option = grid_unused(&training->sweep.grid, &at, what, sizeof what)) != NULL;) {
        progress_note(&training->progress, "--%s is not for %s: it is ignored there",
                      option->spec.name, what);
    }
}

/* Makes a new thread pool: abandoned fits keep the old one. */
static int replace_threads(struct training *training, struct error *err) {
    training->abandoned = true;
    training->threads = NULL;
    progress_clear(&training->progress);
    return threads_create_for_blas(&training->threads,
                                   (size_t)options_number(training->options, "threads"), err);
}

/* Whether late fits to folds are awaited rather than abandoned: if the model's fit will change the
 * data (scaling, validation rows), if several processes must make the same calls, or if the fits
 * write to a log. */
static bool waits_for_folds(const struct training *training) {
    return training->application || training->cluster || training->log.output ||
           options_given(training->options, "validate") ||
           training_data_scale_depends_on_rows(training->options);
}

/* Ends the points or the measures in the JSON object. */
static void add_measures(struct training *training) {
    struct json *json = &training->json;
    const struct sweep *sweep = &training->sweep;
    if (training->plan.table) {
        json_close(json, ']');
        json_number(json, "best",
                    options_given(training->options, "shard") ? (double)NAN
                                                              : (double)(sweep->best + 1));
        return;
    }
    for (size_t k = 0; json->output && k < sweep->n_measures; k++) {
        json_number(json, sweep->measure[k].name, sweep->value[k]);
    }
    json_close(json, '}');
}

static int cross_validate(struct training *training, struct error *err) {
    const struct options *options = training->options;
    struct output *results = training->outputs.file[OUTPUTS_RESULTS];
    const struct sweep_table table = {.output = training->outputs.file[OUTPUTS_TABLE],
                                      .resume = options_text(options, "resume"),
                                      .data = training->table_data,
                                      .json = &training->json};
    struct crossval crossval = make_crossval(training);
    const struct folds *folds = &training->input.folds;
    size_t held = 0; /* rows that the first fold holds out */
    for (size_t i = 0; i < folds->n_rows; i++) {
        held += folds->fold[i] == 0;
    }
    crossval.n_after = fits_after(training);
    crossval.end = training->cluster ? (double)INFINITY : training->deadline;
    note_unused(training);
    size_t n_fits;
    bool abandoned;
    json_open(&training->json, training->plan.table ? "points" : "measures",
              training->plan.table ? '[' : '{');
    if (expect_scores(training, held, err) < 0 ||
        sweep_run(&training->sweep, &crossval, training->plan.table ? &table : NULL, &n_fits,
                  waits_for_folds(training), &abandoned, err) < 0 ||
        (abandoned && replace_threads(training, err) < 0)) {
        return -1;
    }
    warn_of_folds(training, 0, n_fits);
    warn_of_points(training);
    add_measures(training);
    if (!results || !cluster_is_root(training->cluster)) {
        return 0;
    }
    if (!training->plan.table) {
        report_measures(&training->sweep, options, results);
    } else if (!options_given(options, "shard") &&
               report_best(&training->sweep, &training->input, results, err) < 0) {
        return -1;
    }
    return output_flush(results, err);
}

/* A calibration in a thread of its own. */
struct calibrating {
    struct calibration calibration;
    struct crossval crossval;
    struct point point;
    size_t n_unconverged;
};

static int run_calibrating(void *context, struct error *err) {
    struct calibrating *calibrating = context;
    return calibration_score(&calibrating->calibration, &calibrating->crossval, calibrating->point,
                             err);
}

static void warn_of_no_calibration(struct training *training) {
    training->n_unconverged++;
    progress_clear(&training->progress);
    progress_warn(&training->progress, "no calibration: there was no time for its fits to folds");
}

/* Fits to folds are awaited if the model's fit will change the data by scaling, and on a
 * cluster. */
static int calibrate(struct training *training, struct point point, struct error *err) {
    struct calibrating *calibrating = memory_zeros(1, sizeof *calibrating, "a calibration", err);
    if (!calibrating || expect_scores(training, training->input.data.n_rows, err) < 0) {
        free(calibrating);
        return -1;
    }
    bool waiting = training->application || training->cluster ||
                   training_data_scale_depends_on_rows(training->options),
         ended;
    double now = clock_seconds(), left = training->deadline - now;
    double part = (double)CALIBRATION_FOLDS / (CALIBRATION_FOLDS + 1);
    calibrating->crossval = make_crossval(training);
    calibrating->crossval.n_after = 1;
    calibrating->crossval.end = waiting ? (double)INFINITY : now + part * left;
    calibrating->crossval.n_unconverged = &calibrating->n_unconverged;
    calibrating->point = point;
    int status = timed_task_run(run_calibrating, calibrating,
                                waiting ? (double)INFINITY : now + part * left, &ended, err);
    if (!ended) {
        warn_of_no_calibration(training);
        return replace_threads(training, err);
    }
    if (status < 0 && err->kind == ERROR_STOPPED && !waiting) { /* some fits were not started */
        warn_of_no_calibration(training);
        free(calibrating);
        return 0;
    }
    size_t before = training->n_unconverged;
    training->calibration = calibrating->calibration;
    training->n_unconverged += calibrating->n_unconverged;
    free(calibrating);
    warn_of_folds(training, before, CALIBRATION_FOLDS);
    return status;
}

/* ---- the fit of a model ---- */

/* With a kernel, more rows are not scored for warnings only. */
enum { MAX_WARNED_ROWS = 10000 };

/* Writes the proof. If the gap is not certified, warns and writes no file. */
static int write_proof(struct training *training, const struct plain_fit *fit, uint32_t checksum,
                       struct error *err) {
    if (!fit->solution.certified || fit->solution.zero_only) {
        progress_warn(&training->progress, "no proof is written: %s",
                      fit->solution.zero_only ? "there was no time for a fit"
                                              : "the model's gap is not certified");
        output_discard(training->outputs.file[OUTPUTS_PROOF]);
        training->outputs.file[OUTPUTS_PROOF] = NULL;
        return 0;
    }
    return report_proof(fit, training->input.fingerprint, checksum,
                        training->outputs.file[OUTPUTS_PROOF], err);
}

/* The scores of the training rows by their model. The caller frees them. NULL: an error. */
static double *score_rows(struct plain_fit *fit, struct error *err) {
    const struct data *rows = fit->problem.data;
    struct model *model = &fit->model;
    double *scores = memory_array(rows->n_rows * model->n_outputs, sizeof *scores, "scores", err);
    if (scores && (model_prepare(model, err) < 0 ||
                   model_scores(model, rows, scores, fit->problem.threads, err) < 0)) {
        free(scores);
        return NULL;
    }
    return scores;
}

/* Whether the scores of the training rows cost little for warnings about the rows. */
static bool warns_of_rows(const struct training *training, const struct plain_fit *fit) {
    const struct solution *solution = &fit->solution;
    bool trivial = !solution->weights || solution->zero || solution->zero_only;
    return training->family->warn_of_rows && !training->cluster && !trivial &&
           (fit->model.kernel.type == KERNEL_LINEAR || fit->problem.n <= MAX_WARNED_ROWS);
}

/* Fits probabilities or thresholds to the out-of-fold scores, if there are any, and warns of rows
 * by the scores that the model gives them. */
static int add_calibration(struct training *training, struct plain_fit *fit, struct error *err) {
    const struct family *family = training->family;
    struct held_out *folds = training->calibration.fold;
    bool calibrates = folds[0].rows && !fit->solution.zero_only;
    bool by_row = calibrates && calibration_by_row(family, training->options);
    bool warns = warns_of_rows(training, fit);
    double *fitted = by_row || warns ? score_rows(fit, err) : NULL;
    if ((by_row || warns) && !fitted) {
        return -1;
    }
    for (size_t f = 0; f < CALIBRATION_FOLDS; f++) {
        folds[f].fitted = by_row ? fitted : NULL;
    }
    if (folds[0].rows && !calibrates) {
        progress_warn(&training->progress, "no calibration: there was no time for the model's fit");
    }
    int status =
        calibrates ? family->calibrate(folds, CALIBRATION_FOLDS, fit->point, &fit->model, err) : 0;
    if (status == 0 && warns) {
        family->warn_of_rows(fit->problem.data, fitted, &training->progress);
    }
    free(fitted);
    return status;
}

/* Writes the report of the fit as text, and its lines to the JSON object. */
static int write_report(struct training *training, const struct plain_fit *fit, struct error *err) {
    struct output *results = training->outputs.file[OUTPUTS_RESULTS], *output;
    struct text lines = {0};
    if (output_open_function(&output, "the report", text_take, &lines, err) < 0) {
        return -1;
    }
    report_fit(fit, output);
    report_notes(fit, &training->input.data, output);
    if (!options_given(training->options, "quiet")) {
        report_seconds(fit, training->input.seconds, output);
    }
    if (output_end(output, 0, err) < 0) {
        free(lines.bytes);
        return -1;
    }
    if (results) {
        output_write(results, lines.bytes, lines.n);
    }
    json_report(&training->json, lines.bytes);
    free(lines.bytes);
    return 0;
}

static int write_fit(struct training *training, struct plain_fit *fit, struct error *err) {
    const struct family *family = training->family;
    struct outputs *outputs = &training->outputs;
    if (add_calibration(training, fit, err) < 0) {
        return -1;
    }
    if (training->application) {
        return training->application->fitted(training->application->context, fit, err);
    }
    if (write_report(training, fit, err) < 0) {
        return -1;
    }
    if (outputs->file[OUTPUTS_EXTRA]) {
        family->write_extra(fit->state, outputs->file[OUTPUTS_EXTRA]);
    }
    uint32_t checksum = 0;
    int status =
        outputs_write_model(outputs, family, &fit->model, fit->problem.threads, &checksum, err);
    if (status == 0 && outputs->file[OUTPUTS_PROOF]) {
        status = write_proof(training, fit, checksum, err);
    }
    return status;
}

/* asked: a process of this fit has received a request to end. */
static void warn_of_fit(struct training *training, const struct plain_fit *fit, bool asked) {
    const struct solution *solution = &fit->solution;
    char gap[40] = "";
    if (solution->certified) {
        snprintf(gap, sizeof gap, ": gap %.3g", solution->gap);
    }
    progress_warn(&training->progress, "not converged: %s%s",
                  asked && solution->reason == STOP_TIME ? "ended by a signal"
                                                         : stop_message(solution->reason),
                  gap);
}

static int fit_model(struct training *training, struct point point, struct error *err) {
    struct cluster *cluster = training->cluster;
    if (training->plan.replicated && cluster &&
        training_data_share(&training->input, training->family, point, training->cache_bytes,
                            cluster, &training->share, err) < 0) {
        return -1;
    }
    bool distributed = training->share == FAMILY_DISTRIBUTED_ROWS,
         restarts = training->share == FAMILY_DISTRIBUTED_STARTS;
    if (!distributed && !restarts && !cluster_is_root(cluster)) {
        return 0;
    }
    const struct plain_fit_setup setup = {.family = training->family,
                                          .point = point,
                                          .data = &training->input.data,
                                          .n_features = training->input.n_features,
                                          .cluster = distributed ? cluster : NULL,
                                          .peers = distributed ? NULL : cluster,
                                          .restarts = restarts,
                                          .threads = training->threads,
                                          .cache_bytes = training->cache_bytes,
                                          .deadline = training->deadline,
                                          .waits_for_solver = training->application != NULL,
                                          .progress = &training->progress,
                                          .log = training->log.output ? &training->log : NULL,
                                          .position = training->sweep.best + 1};
    struct plain_fit *fit;
    if (plain_fit_create(&fit, &setup, &training->abandoned, err) < 0) {
        return -1;
    }
    bool asked = cluster_any(setup.cluster, cluster_stop_requested(cluster));
    int status = write_fit(training, fit, err);
    if (training->plan.distributed && training->share == FAMILY_SINGLE_PROCESS && status == 0) {
        progress_note(&training->progress,
                      "process 0 made the fit: several processes would take longer");
    }
    if (!fit->solution.converged) {
        training->n_unconverged++;
        if (status == 0) {
            warn_of_fit(training, fit, asked);
        }
    }
    if (status == 0 && fit->threshold_late && !fit->solution.zero_only) {
        progress_warn(&training->progress, "no time was left to fit the threshold to the end");
    }
    plain_fit_free(fit);
    return status;
}

/* ---- the run ---- */

/* Reads the rows, or takes the application's. */
static int take_rows(struct training *training, struct error *err) {
    const struct application *application = training->application;
    return application ? training_data_take(&training->input, application->rows, application->folds,
                                            training->family, training->options,
                                            training->plan.cross_validating, training->threads, err)
                       : training_data_read(&training->input, training->family, training->options,
                                            training->plan.cross_validating,
                                            training->plan.distributed ? training->cluster : NULL,
                                            training->threads, err);
}

/* Decides how processes share the fit to distributed rows. */
static int share_rows(struct training *training, struct error *err) {
    struct cluster *cluster = training->cluster;
    const struct point point = {training->options, 0};
    return training->input.distributed
               ? training_data_share(&training->input, training->family, point,
                                     training->cache_bytes, cluster, &training->share, err)
               : 0;
}

/* Computes a checksum of the rows, for a table, and to compare processes that have each read all
 * rows: files of the same name may differ between machines, and processes with different rows would
 * make different collective calls. */
static int identify_rows(struct training *training, struct error *err) {
    struct cluster *replicated = training->input.distributed ? NULL : training->cluster;
    if (training->plan.table || replicated) {
        training->table_data = training_data_checksum(&training->input);
    }
    return cluster_same(replicated, training->table_data)
               ? 0
               : error_set(err, ERROR_RUNTIME,
                           "%s: processes have read different rows, folds or weights of rows",
                           training->options->operand[0]);
}

static int train_rows(struct training *training, struct error *err) {
    const struct options *options = training->options;
    /* the minimum over all processes, so that they make the same decisions */
    double bytes = (double)cache_bytes(training->family, options, training->cluster);
    size_t n_threads = (size_t)options_number(options, "threads");
    training->cache_bytes = (size_t)-cluster_largest(training->cluster, -bytes);
    if (threads_create_for_blas(&training->threads,
                                n_threads ? n_threads : cluster_threads(training->cluster),
                                err) < 0 ||
        take_rows(training, err) < 0 || share_rows(training, err) < 0 ||
        identify_rows(training, err) < 0 ||
        (options_given(options, "liblinear") &&
         model_export_check_width(training->input.n_features, err) < 0)) {
        return -1;
    }
    if (training->has_rows) {
        training->has_rows();
    }
    if (cluster_any(training->cluster, cluster_stop_requested(training->cluster))) {
        return error_set(err, ERROR_RUNTIME, "ended by a signal, before a fit");
    }
    if (training_data_scale_rows(&training->input, options, err) < 0 ||
        (training->plan.cross_validating && cross_validate(training, err) < 0)) {
        return -1;
    }
    if (training->application && training->plan.cross_validating && training->application->chosen) {
        training->application->chosen(training->application->context, training->sweep.best);
    }
    if (!training->plan.fitting) {
        if (options->n_operands > 1) {
            progress_warn(&training->progress,
                          "no model is written: cross-validation of a single point");
        }
        return 0;
    }
    struct point point = {options, training->sweep.grid.point[training->sweep.best]};
    if (training_data_end_validation(&training->input, err) < 0 ||
        (calibration_wanted(training->family, options) && calibrate(training, point, err) < 0)) {
        return -1;
    }
    return fit_model(training, point, err);
}

static int run(struct training *training, struct error *err) {
    if (plan_make(&training->plan, training->family, training->options, training->application,
                  training->cluster, err) < 0 ||
        sweep_create(&training->sweep, training->family, training->options, err) < 0 ||
        outputs_open(&training->outputs, training->family, training->options,
                     training->plan.fitting, training->plan.table, err) < 0) {
        return -1;
    }
    if (training->outputs.file[OUTPUTS_LOG]) {
        fit_log_open(&training->log, training->outputs.file[OUTPUTS_LOG],
                     training->plan.cross_validating);
    }
    const struct options *options = training->options;
    training->json.output = training->outputs.file[OUTPUTS_JSON];
    json_begin_run(&training->json, training->progress.program, options, options->operand,
                   options->n_operands);
    if (train_rows(training, err) < 0) {
        return -1;
    }
    if (training->family->folds_by_query && !training->input.data.query) {
        progress_note(&training->progress, "no row has a qid: all rows are one query");
    }
    json_lines(&training->json, "warnings", training->progress.warnings.bytes);
    json_end_run(&training->json);
    return outputs_commit(&training->outputs, err);
}

static double deadline(const struct options *options) {
    double seconds = point_number((struct point){options, 0}, "max-time");
    return seconds > 0 ? clock_seconds() + seconds : (double)INFINITY;
}

static void training_free(struct training *training) {
    calibration_free(&training->calibration);
    sweep_free(&training->sweep);
    training_data_free(&training->input);
    if (training->log.output) {
        fit_log_close(&training->log);
    }
    threads_free(training->threads);
    progress_close(&training->progress);
    free(training);
}

/* Creates a run; NULL if out of memory. */
static struct training *begin(const struct family *family, const struct options *options,
                              const char *program, const struct output_sink *sink,
                              struct error *err) {
    struct training *training = memory_zeros(1, sizeof *training, "a run", err);
    if (training) {
        training->family = family;
        training->options = options;
        training->deadline = deadline(options);
        progress_open(&training->progress, sink, program, options_given(options, "quiet"));
    }
    return training;
}

int train_run(const struct family *family, const struct options *options, const char *program,
              const struct output_sink *sink, const struct output_hold *hold,
              void (*has_rows)(void), struct cluster *cluster, struct train_end *end,
              struct error *err) {
    *end = (struct train_end){0};
    struct training *training = begin(family, options, program, sink, err);
    if (!training) {
        return -1;
    }
    training->cluster = cluster;
    training->has_rows = has_rows;
    training->outputs.discards = !cluster_is_root(cluster);
    training->outputs.hold = hold;
    training->outputs.n_parts =
        cluster && options->n_operands > 0 && distribute_has_parts(options->operand[0])
            ? cluster_size(cluster)
            : 0;
    int status = run(training, err);
    *end = (struct train_end){.unconverged = training->n_unconverged > 0,
                              .abandoned = training->abandoned};
    outputs_close(&training->outputs);
    if (end->abandoned) {
        progress_clear(&training->progress);
    } else {
        training_free(training);
    }
    return status;
}

int train_for_application(const struct family *family, const struct options *options,
                          const struct output_sink *sink, const struct application *application,
                          struct error *err) {
    struct training *training = begin(family, options, "dualsvm", sink, err);
    if (!training) {
        return -1;
    }
    training->application = application;
    training->progress.listener = application->listener;
    training->outputs.file[OUTPUTS_TABLE] = application->table;
    int status = plan_make(&training->plan, family, options, application, NULL, err);
    status = status < 0 ? -1 : sweep_create(&training->sweep, family, options, err);
    status = status < 0 ? -1 : train_rows(training, err);
    training_free(training);
    return status;
}
