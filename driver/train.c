/* A run of the trainer: outputs, reading, then cross-validation or a sweep (-v, --fold-file,
 * --validate), then calibration (-b 1) and the fit of a model. Each is a module of its own. */
#include "driver/train.h"

#include "common/base/memory.h"
#include "common/base/threads.h"
#include "common/data/spread.h"
#include "driver/calibration.h"
#include "driver/crossval.h"
#include "driver/fit.h"
#include "driver/in_time.h"
#include "driver/notes.h"
#include "driver/outputs.h"
#include "driver/plain_fit.h"
#include "driver/progress.h"
#include "driver/proof.h"
#include "driver/report.h"
#include "driver/sweep.h"
#include "driver/training_data.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct training {
    const struct family *family;
    const struct options *options;
    const struct train_host *host; /* NULL: files are */
    struct cluster *cluster;
    bool crossing; /* cross-validation or validation rows */
    bool table;    /* a sweep: a list was given, or an option that is for a table */
    bool fitting;  /* a model is wanted */
    struct outputs outputs;
    struct fit_log log; /* has an output if there is one */
    struct progress progress;
    struct threads *threads;
    size_t cache_bytes;
    double deadline; /* of progress_clock(), for all; INFINITY: none */
    bool running;    /* a solver goes on: it has all of this but the outputs */
    struct training_data read;
    uint32_t table_data; /* checksum of the rows for the table */
    struct sweep sweep;
    struct calibration calibration;
    size_t n_unconverged; /* fits, with those of folds */
};

/* ---- before reading ---- */

static bool wants_gram(const struct training *training) {
    struct kernel kernel = fit_kernel(training->family, (struct point){training->options, 0}, 1);
    return fit_wants_gram(training->family, training->options, &kernel);
}

/* Refuses what the family does not spread. */
static int check_family_spreads(const struct training *training, struct error *err) {
    const struct family *family = training->family;
    if (!family->check_spread) {
        return error_set(err, ERROR_USAGE, "fits of %s are not spread over ranks", family->name);
    }
    if (wants_gram(training) && !(family->has & FAMILY_SPREAD_GRAM)) {
        return error_set(err, ERROR_USAGE, "fits of %s to kernels are not spread over ranks",
                         family->name);
    }
    return family->check_spread(training->options, err);
}

/* What one process does alone. */
static int check_spread(const struct training *training, struct error *err) {
    static const char *const alone[] = {"proof"};
    const struct options *options = training->options;
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        if (options_given(options, alone[i])) {
            return error_set(err, ERROR_USAGE, "--%s is not for a fit that is spread over ranks",
                             alone[i]);
        }
    }
    return check_family_spreads(training, err);
}

/* True if rank 0 fits the model alone, since all ranks have all rows: behind fits to folds, unless it is
 * to a kernel whose matrix can be spread. */
static bool fits_alone(const struct training *training) {
    struct error unheard;
    return training->crossing ||
           (calibration_wanted(training->family, training->options) &&
            !(wants_gram(training) && check_family_spreads(training, &unheard) == 0));
}

/* The cluster, if each of its ranks is to have rows of its own: of a fit to features, once. */
static struct cluster *rows_spread(const struct training *training) {
    return fits_alone(training) || wants_gram(training) ? NULL : training->cluster;
}

/* Files that ranks cannot read. */
static int check_files(const struct training *training, struct error *err) {
    static const char *const reads[] = {"fold-file", "validate", "row-weights"};
    const struct options *options = training->options;
    bool standard = strcmp(options->operand[0], "-") == 0;
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        const char *path = options_text(options, reads[i]);
        standard |= path && strcmp(path, "-") == 0;
    }
    if (standard) {
        return error_set(err, ERROR_USAGE, "standard input is not for ranks: name a file");
    }
    if (spread_has_parts(options->operand[0]) && !rows_spread(training)) {
        return error_set(err, ERROR_USAGE,
                         "a training file in parts (%%d) is for a fit whose rows are spread over "
                         "ranks: of the linear kernel, without cross-validation");
    }
    return 0;
}

/* What cannot be asked for together. */
static int check_options(const struct training *training, struct error *err) {
    const struct family *family = training->family;
    const struct options *options = training->options;
    if (options_given(options, "validate") &&
        (options_given(options, "folds") || options_given(options, "fold-file"))) {
        return error_set(err, ERROR_USAGE, "--validate excludes --folds and --fold-file");
    }
    if (options->n_points > 1 && !training->crossing) {
        return error_set(err, ERROR_USAGE,
                         "%zu points want --folds, --fold-file or --validate to choose by",
                         options->n_points);
    }
    static const char *const crossed[] = {"select", "resume", "shard"};
    for (size_t i = 0; i < sizeof crossed / sizeof crossed[0]; i++) {
        if (options_given(options, crossed[i]) && !training->crossing) {
            return error_set(err, ERROR_USAGE, "--%s wants --folds, --fold-file or --validate",
                             crossed[i]);
        }
    }
    if (options_given(options, "resume") && strcmp(options_text(options, "resume"), "-") == 0) {
        return error_set(err, ERROR_USAGE, "--resume wants a file that can be read and added to");
    }
    if (options_given(options, "shard") && training->fitting) {
        return error_set(err, ERROR_USAGE,
                         "--shard writes no model: the best of all parts is known when their "
                         "tables are joined, then --resume fits it");
    }
    if (options_given(options, "proof") &&
        proof_check(family, options, training->fitting, err) < 0) {
        return -1;
    }
    struct kernel kernel = fit_kernel(family, (struct point){options, 0}, 1);
    enum scale_kind scale = (enum scale_kind)options_choice(options, "scale");
    if (kernel.type == KERNEL_PRECOMPUTED && scale != SCALE_NONE) {
        return error_set(err, ERROR_USAGE, "a precomputed kernel has no features to --scale");
    }
    if ((options_given(options, "libsvm") && model_export_check(&kernel, scale, true, err) < 0) ||
        (options_given(options, "liblinear") &&
         model_export_check(&kernel, scale, false, err) < 0)) {
        return -1;
    }
    if (family->check && family->check(options, err) < 0) {
        return -1;
    }
    if (!training->cluster) {
        return 0;
    }
    return !fits_alone(training) && check_spread(training, err) < 0 ? -1
                                                                    : check_files(training, err);
}

static int plan_for_host(struct training *training, struct error *err) {
    const struct train_host *host = training->host;
    const struct options *options = training->options;
    bool folds = options_given(options, "folds") || options_given(options, "fold-file") ||
                 options_given(options, "validate");
    training->crossing = training->table = host->crossing;
    training->fitting = host->fitting;
    if (host->crossing && !folds && !host->folds) {
        return error_set(err, ERROR_USAGE,
                         "cross-validation wants --folds, --fold-file, --validate or folds of the "
                         "data");
    }
    if (!host->crossing && folds) {
        return error_set(err, ERROR_USAGE,
                         "--folds, --fold-file and --validate are for cross-validation");
    }
    if (host->folds && folds) {
        return error_set(err, ERROR_USAGE,
                         "folds of the data exclude --folds, --fold-file and --validate");
    }
    return check_options(training, err);
}

static int plan(struct training *training, struct error *err) {
    const struct options *options = training->options;
    if (training->host) {
        return plan_for_host(training, err);
    }
    if (options->n_operands < 1 || options->n_operands > 2) {
        return error_set(err, ERROR_USAGE, "%s",
                         options->n_operands ? "too many file names" : "no training file");
    }
    training->crossing = options_given(options, "folds") || options_given(options, "fold-file") ||
                         options_given(options, "validate");
    training->table =
        training->crossing && (grid_wanted(options) || options_given(options, "resume") ||
                               options_given(options, "shard"));
    training->fitting = !training->crossing || (training->table && options->n_operands > 1);
    return check_options(training, err);
}

/* What -m says, or half of the machine's memory, which the ranks of the machine share. */
static size_t cache_bytes(const struct family *family, const struct options *options,
                          const struct cluster *cluster) {
    const double mebibyte = 1048576;
    double bytes = (double)memory_physical() / 2 / (double)cluster_neighbours(cluster);
    if (family->has & FAMILY_KERNEL) {
        struct point point = {options, 0};
        bytes = point_number_or(point, "cache", bytes / mebibyte) * mebibyte;
    }
    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX / 2;
}

/* ---- cross-validation, sweep, calibration ---- */

/* Scores of a row, as far as that is known before a fit. */
static double scores_of_row(const struct training *training) {
    return training->family->scores_labels ? (double)training->read.data.names.n : 1;
}

/* Seconds that the scores of all rows take, and to look through them, behind the fits to folds: by
 * many labels, with the linear kernel. */
static double scoring_seconds(const struct training *training) {
    const double speed = 5e8;
    const struct data *data = &training->read.data;
    double n = (double)data->n_rows, values = data->row_start
                                                  ? (double)data->row_start[data->n_rows]
                                                  : n * (double)data->n_features;
    return (values + 8 * n) * scores_of_row(training) / speed;
}

/* Refuses what there is no room for before the work is done: the scores of so many rows. */
static int expect_scores(const struct training *training, size_t rows, struct error *err) {
    return memory_expect((double)rows * scores_of_row(training) * sizeof(double),
                         "scores of held-out rows", err);
}

static struct crossval make_crossval(struct training *training) {
    const struct options *options = training->options;
    bool scale_folds = training_data_scale_looks(options);
    /* validation rows have the kernel with training rows only */
    bool rows_only =
        options_given(options, "validate") && fit_precomputed(training->family, options);
    return (struct crossval){.family = training->family,
                             .options = options,
                             .data = &training->read.data,
                             .scale_folds = scale_folds,
                             .copy_folds = scale_folds || rows_only,
                             .n_features = training->read.n_features,
                             .folds = &training->read.folds,
                             .threads = training->threads,
                             .cache_bytes = training->cache_bytes,
                             .deadline = training->deadline - scoring_seconds(training),
                             .progress = &training->progress,
                             .cluster = training->cluster,
                             .log = training->log.output ? &training->log : NULL,
                             .n_unconverged = &training->n_unconverged};
}

/* Of the last n_fits, before which `before` had not converged. */
static void warn_of_folds(struct training *training, size_t before, size_t n_fits) {
    progress_clear(&training->progress);
    if (training->n_unconverged > before) {
        progress_warn(&training->progress, "not converged: %zu of %zu fits to folds",
                      training->n_unconverged - before, n_fits);
    }
}

/* Of the points of a sweep: those taken over count as fits of this run do. */
static void warn_of_points(struct training *training) {
    const struct sweep *sweep = &training->sweep;
    if (sweep->n_taken_short > 0) {
        training->n_unconverged++;
        progress_warn(&training->progress, "not converged: %zu of %zu points taken over from %s",
                      sweep->n_taken_short, sweep->n_taken,
                      options_text(training->options, "resume"));
    }
    if (training->table && sweep->n_unfitted > 0) {
        progress_warn(&training->progress, "no time for an iteration at %zu of %zu points",
                      sweep->n_unfitted, sweep->grid.n);
    }
}

/* After those of a sweep. */
static size_t fits_after(const struct training *training) {
    bool calibrated = calibration_wanted(training->family, training->options);
    return !training->fitting ? 0 : calibrated ? CALIBRATION_FOLDS + 1 : 1;
}

/* Options that mean nothing at some of the points. */
static void note_unused(struct training *training) {
    const struct option *option;
    char what[200];
    for (size_t at = 0;
         (option = grid_unused(&training->sweep.grid, &at, what, sizeof what)) != NULL;) {
        progress_note(&training->progress, "--%s is not for %s: it is ignored there",
                      option->spec.name, what);
    }
}

static int cross(struct training *training, struct error *err) {
    const struct options *options = training->options;
    struct output *results = training->outputs.results;
    const struct sweep_table table = {.output = training->outputs.table,
                                      .resume = options_text(options, "resume"),
                                      .data = training->table_data};
    struct crossval crossval = make_crossval(training);
    const struct folds *folds = &training->read.folds;
    size_t held = 0; /* by the first */
    for (size_t i = 0; i < folds->n_rows; i++) {
        held += folds->fold[i] == 0;
    }
    crossval.n_after = fits_after(training);
    note_unused(training);
    size_t n_fits;
    if (expect_scores(training, held, err) < 0 ||
        sweep_run(&training->sweep, &crossval, training->table ? &table : NULL, &n_fits, err) < 0) {
        return -1;
    }
    warn_of_folds(training, 0, n_fits);
    warn_of_points(training);
    if (!results || !cluster_leads(training->cluster)) {
        return 0;
    }
    if (!training->table) {
        report_measures(&training->sweep, options, results);
    } else if (!options_given(options, "shard")) {
        report_best(&training->sweep, training->read.n_features, results);
    }
    return output_flush(results, err);
}

/* A calibration on a thread of its own. */
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

/* The fits to folds go on, with the threads there were: others take their place. */
static int leave_calibrating(struct training *training, struct error *err) {
    training->running = true;
    training->n_unconverged++;
    training->threads = NULL;
    progress_clear(&training->progress);
    progress_warn(&training->progress, "no calibration: there was no time for its fits to folds");
    return threads_create(&training->threads, (size_t)options_number(training->options, "threads"),
                          err);
}

/* Where the model's fit will change the data, which is where it scales them, the fits to folds are
 * waited for; and by ranks, which stay in step. */
static int calibrate(struct training *training, struct point point, struct error *err) {
    struct calibrating *calibrating = memory_zeros(1, sizeof *calibrating, "a calibration", err);
    if (!calibrating || expect_scores(training, training->read.data.n_rows, err) < 0) {
        free(calibrating);
        return -1;
    }
    bool waiting =
             training->host || training->cluster || training_data_scale_looks(training->options),
         ended;
    double now = progress_clock(), left = training->deadline - now;
    double part = (double)CALIBRATION_FOLDS / (CALIBRATION_FOLDS + 1);
    calibrating->crossval = make_crossval(training);
    calibrating->crossval.n_after = 1;
    calibrating->crossval.n_unconverged = &calibrating->n_unconverged;
    calibrating->point = point;
    int status = in_time(run_calibrating, calibrating,
                         waiting ? (double)INFINITY : now + part * left, &ended, err);
    if (!ended) {
        return leave_calibrating(training, err);
    }
    size_t before = training->n_unconverged;
    training->calibration = calibrating->calibration;
    training->n_unconverged += calibrating->n_unconverged;
    free(calibrating);
    warn_of_folds(training, before, CALIBRATION_FOLDS);
    return status;
}

/* ---- the fit of a model ---- */

/* Where nothing is claimed there is nothing to prove: no file then, and a warning. */
static int write_proof(struct training *training, const struct plain_fit *fit, uint32_t checksum,
                       struct error *err) {
    if (!fit->solution.certified || fit->solution.unsolved) {
        progress_warn(&training->progress, "no proof is written: %s",
                      fit->solution.unsolved ? "there was no time for a fit"
                                             : "the model's gap is not certified");
        output_discard(training->outputs.proof);
        training->outputs.proof = NULL;
        return 0;
    }
    return proof_write(fit, training->read.fingerprint, checksum, training->outputs.proof, err);
}

/* Fits what out-of-fold scores, if there are some, are wanted for. */
static int add_calibration(struct training *training, struct plain_fit *fit, struct error *err) {
    const struct family *family = training->family;
    struct held_out *folds = training->calibration.fold;
    struct model *model = &fit->model;
    double *fitted = NULL;
    int status = 0;
    if (!folds[0].rows) {
        return 0;
    }
    if (family->calibrate_by_row && family->calibrate_by_row(training->options)) {
        const struct data *rows = fit->problem.data;
        fitted = memory_array(rows->n_rows * model->n_outputs, sizeof *fitted, "scores", err);
        status = !fitted || model_prepare(model, err) < 0
                     ? -1
                     : model_scores(model, rows, fitted, fit->problem.threads, err);
    }
    for (size_t f = 0; f < CALIBRATION_FOLDS; f++) {
        folds[f].fitted = fitted;
    }
    status = status < 0 ? -1 : family->calibrate(folds, CALIBRATION_FOLDS, fit->point, model, err);
    free(fitted);
    return status;
}

static int write_fit(struct training *training, struct plain_fit *fit, struct error *err) {
    const struct family *family = training->family;
    struct outputs *outputs = &training->outputs;
    if (add_calibration(training, fit, err) < 0) {
        return -1;
    }
    if (training->host) {
        return training->host->fitted(training->host->context, fit, err);
    }
    if (outputs->results) {
        report_fit(fit, outputs->results);
        notes_write(fit, &training->read.data, outputs->results);
        if (!options_given(training->options, "quiet")) {
            report_seconds(fit, training->read.seconds, outputs->results);
        }
    }
    if (outputs->extra &&
        family->write_extra(fit->state, &fit->solution, outputs->extra, err) < 0) {
        return -1;
    }
    uint32_t checksum = 0;
    int status = outputs_write_model(outputs, family, &fit->model, &checksum, err);
    if (status == 0 && outputs->proof) {
        status = write_proof(training, fit, checksum, err);
    }
    return status;
}

static void warn_of_fit(struct training *training, const struct plain_fit *fit) {
    const struct solution *solution = &fit->solution;
    char gap[40] = "";
    bool asked = solution->reason == STOP_TIME && progress_clock() < training->deadline;
    if (solution->certified) {
        snprintf(gap, sizeof gap, ": gap %.3g", solution->gap);
    }
    progress_warn(&training->progress, "not converged: %s%s",
                  asked ? "ended by a signal" : stop_message(solution->reason), gap);
}

static int fit_model(struct training *training, struct point point, struct error *err) {
    bool alone = fits_alone(training);
    if (alone && !cluster_leads(training->cluster)) {
        return 0;
    }
    const struct plain_fit_setup setup = {.family = training->family,
                                          .point = point,
                                          .data = &training->read.data,
                                          .n_features = training->read.n_features,
                                          .cluster = alone ? NULL : training->cluster,
                                          .alone = alone ? training->cluster : NULL,
                                          .threads = training->threads,
                                          .cache_bytes = training->cache_bytes,
                                          .deadline = training->deadline,
                                          .patient = training->host != NULL,
                                          .progress = &training->progress,
                                          .log = training->log.output ? &training->log : NULL,
                                          .place = training->sweep.best + 1};
    struct plain_fit *fit;
    if (plain_fit_create(&fit, &setup, &training->running, err) < 0) {
        return -1;
    }
    int status = write_fit(training, fit, err);
    if (!fit->solution.converged) {
        training->n_unconverged++;
        if (status == 0) {
            warn_of_fit(training, fit);
        }
    }
    plain_fit_free(fit);
    return status;
}

/* ---- the run ---- */

/* Reads the rows, or takes the host's. */
static int take_rows(struct training *training, struct error *err) {
    const struct train_host *host = training->host;
    return host ? training_data_take(&training->read, host->rows, host->folds, training->family,
                                     training->options, training->crossing, training->threads, err)
                : training_data_read(&training->read, training->family, training->options,
                                     training->crossing, rows_spread(training), training->threads,
                                     err);
}

static int work(struct training *training, struct error *err) {
    const struct options *options = training->options;
    /* the least of any rank: the same decisions come of it */
    double bytes = (double)cache_bytes(training->family, options, training->cluster);
    size_t n_threads = (size_t)options_number(options, "threads");
    training->cache_bytes = (size_t)-cluster_largest(training->cluster, -bytes);
    if (threads_create(&training->threads,
                       n_threads ? n_threads : cluster_threads(training->cluster), err) < 0 ||
        take_rows(training, err) < 0 ||
        (options_given(options, "liblinear") &&
         model_export_check_width(training->read.n_features, err) < 0)) {
        return -1;
    }
    if (cluster_any(training->cluster, cluster_asked(training->cluster))) {
        return error_set(err, ERROR_RUNTIME, "ended by a signal, before a fit");
    }
    if (training->table) {
        training->table_data = training_data_checksum(&training->read);
    }
    if (training_data_scale_rows(&training->read, options, err) < 0 ||
        (training->crossing && cross(training, err) < 0)) {
        return -1;
    }
    if (training->host && training->crossing && training->host->chosen) {
        training->host->chosen(training->host->context, training->sweep.best);
    }
    if (!training->fitting) {
        if (options->n_operands > 1) {
            progress_warn(&training->progress,
                          "no model is written: cross-validation of a single point");
        }
        return 0;
    }
    struct point point = {options, training->sweep.grid.point[training->sweep.best]};
    if (training_data_end_validation(&training->read, err) < 0 ||
        (calibration_wanted(training->family, options) && calibrate(training, point, err) < 0)) {
        return -1;
    }
    return fit_model(training, point, err);
}

static int run(struct training *training, struct error *err) {
    if (plan(training, err) < 0 ||
        sweep_create(&training->sweep, training->family, training->options, err) < 0 ||
        outputs_open(&training->outputs, training->family, training->options, training->fitting,
                     training->table, err) < 0) {
        return -1;
    }
    if (training->outputs.log) {
        fit_log_open(&training->log, training->outputs.log, training->crossing);
    }
    return work(training, err) < 0 ? -1 : outputs_commit(&training->outputs, err);
}

static double deadline(const struct options *options) {
    double seconds = point_number((struct point){options, 0}, "max-time");
    return seconds > 0 ? progress_clock() + seconds : (double)INFINITY;
}

static void training_free(struct training *training) {
    calibration_free(&training->calibration);
    sweep_free(&training->sweep);
    training_data_free(&training->read);
    if (training->log.output) {
        fit_log_close(&training->log);
    }
    threads_free(training->threads);
    progress_close(&training->progress);
    free(training);
}

/* Begins a run; NULL without memory. */
static struct training *begin(const struct family *family, const struct options *options,
                              const char *program, const struct voice *voice, struct error *err) {
    struct training *training = memory_zeros(1, sizeof *training, "a run", err);
    if (training) {
        training->family = family;
        training->options = options;
        training->deadline = deadline(options);
        progress_open(&training->progress, voice, program, options_given(options, "quiet"));
    }
    return training;
}

int train_run(const struct family *family, const struct options *options, const char *program,
              const struct voice *voice, const struct output_hold *hold, struct cluster *cluster,
              struct train_end *end, struct error *err) {
    *end = (struct train_end){0};
    struct training *training = begin(family, options, program, voice, err);
    if (!training) {
        return -1;
    }
    training->cluster = cluster;
    training->outputs.nowhere = !cluster_leads(cluster);
    training->outputs.hold = hold;
    training->outputs.n_parts =
        cluster && options->n_operands > 0 && spread_has_parts(options->operand[0])
            ? cluster_size(cluster)
            : 0;
    int status = run(training, err);
    *end = (struct train_end){.short_of_gap = training->n_unconverged > 0,
                              .running = training->running};
    outputs_close(&training->outputs);
    if (end->running) {
        progress_clear(&training->progress);
    } else {
        training_free(training);
    }
    return status;
}

int train_for_host(const struct family *family, const struct options *options,
                   const struct voice *voice, const struct train_host *host, struct error *err) {
    struct training *training = begin(family, options, "dualsvm", voice, err);
    if (!training) {
        return -1;
    }
    training->host = host;
    training->progress.listener = host->listener;
    training->outputs.table = host->table;
    int status = plan(training, err);
    status = status < 0 ? -1 : sweep_create(&training->sweep, family, options, err);
    status = status < 0 ? -1 : work(training, err);
    training_free(training);
    return status;
}
