/* The trainer: options, reading, scaling, cross-validation, sweep, fit, report, model. */
#include "driver/train.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/data/input.h"
#include "common/data/scale.h"
#include "common/data/weights.h"
#include "common/kernel/gram.h"
#include "driver/crossval.h"
#include "driver/fit.h"
#include "driver/help.h"
#include "driver/program.h"
#include "driver/progress.h"
#include "driver/sweep.h"
#include "solvers/methods/monitor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_NOT_CONVERGED = 3, CALIBRATION_FOLDS = 5 };

/* One run of the program. */
struct training {
    const struct family *family;
    char program[64];
    struct options options;
    char *default_model; /* its path; owned */
    bool crossing;       /* cross-validation or validation rows */
    bool fitting;        /* a model is wanted */

    struct output *results, *model_file, *log, *libsvm, *liblinear; /* NULL: not wanted */
    struct output *extra;
    struct progress progress;
    struct threads *threads;
    size_t cache_bytes;
    struct data data;
    size_t n_rows;       /* of the training file; data may hold validation rows behind them */
    uint32_t n_features; /* of the training file, for gamma's default */
    struct folds folds;
    struct sweep sweep;
    struct held_out held_out[CALIBRATION_FOLDS];
    double read_seconds, kernel_seconds, solve_seconds;
    size_t n_unconverged; /* fits, with those of folds */
};

/* ---- before reading ---- */

static int default_model_path(struct training *training, struct error *err) {
    const char *path = training->options.operand[0];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strcmp(path, "-") == 0) {
        name = "stdin";
    }
    size_t size = strlen(name) + sizeof ".model";
    training->default_model = memory_array(size, 1, "a file name", err);
    if (!training->default_model) {
        return -1;
    }
    snprintf(training->default_model, size, "%s.model", name);
    return 0;
}

static int check_options(struct training *training, struct error *err) {
    const struct options *options = &training->options;
    if (options->n_operands < 1 || options->n_operands > 2) {
        return error_set(err, ERROR_USAGE, "%s",
                         options->n_operands ? "too many file names" : "no training file");
    }
    bool folds = options_given(options, "folds") || options_given(options, "fold-file");
    bool validation = options_given(options, "validate");
    training->crossing = folds || validation;
    training->fitting = !training->crossing || (options->n_points > 1 && options->n_operands > 1);
    if (validation + options_given(options, "folds") + options_given(options, "fold-file") > 1) {
        return error_set(err, ERROR_USAGE,
                         "--folds, --fold-file and --validate exclude one another");
    }
    if (options->n_points > 1 && !training->crossing) {
        return error_set(err, ERROR_USAGE,
                         "%zu points want --folds, --fold-file or --validate to choose by",
                         options->n_points);
    }
    if (options_given(options, "select") && !training->crossing) {
        return error_set(err, ERROR_USAGE, "--select wants --folds, --fold-file or --validate");
    }
    if (options_given(options, "log") && !training->fitting) {
        return error_set(err, ERROR_USAGE, "--log wants a fit of a model");
    }
    struct kernel kernel = fit_kernel(training->family, (struct point){options, 0}, 1);
    bool scaled = options_choice(options, "scale") != SCALE_NONE;
    if (kernel.type == KERNEL_PRECOMPUTED && scaled) {
        return error_set(err, ERROR_USAGE, "a precomputed kernel has no features to --scale");
    }
    if ((training->family->has & FAMILY_EXPORT) != 0 &&
        ((options_given(options, "libsvm") && model_export_check(&kernel, scaled, true, err) < 0) ||
         (options_given(options, "liblinear") &&
          model_export_check(&kernel, scaled, false, err) < 0))) {
        return -1;
    }
    return training->family->check ? training->family->check(options, err) : 0;
}

static int open_wanted(struct output **output, const struct options *options, const char *name,
                       struct error *err) {
    return options_given(options, name) ? output_open(output, options_text(options, name), err) : 0;
}

/* Two outputs to one file would leave only the last of them, or a mixture. */
static int check_distinct(const struct options *options, const char *model_path,
                          const char *extra_option, struct error *err) {
    const char *const names[] = {"log", "libsvm", "liblinear", extra_option};
    const char *path[1 + sizeof names / sizeof names[0]] = {model_path};
    size_t n = 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i] && options_given(options, names[i])) {
            path[n++] = options_text(options, names[i]);
        }
    }
    for (size_t i = 1; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(path[i], path[j]) == 0) {
                return error_set(err, ERROR_USAGE, "two outputs to one file: '%.200s'", path[i]);
            }
        }
    }
    return 0;
}

/* Opens all outputs, so that what cannot be written is known before hours of work. */
static int open_outputs(struct training *training, struct error *err) {
    const struct options *options = &training->options;
    if (training->fitting) {
        if (default_model_path(training, err) < 0) {
            return -1;
        }
        const char *path = options->n_operands > 1 ? options->operand[1] : training->default_model;
        if (check_distinct(options, path, training->family->extra_option, err) < 0 ||
            output_open(&training->model_file, path, err) < 0 ||
            open_wanted(&training->log, options, "log", err) < 0) {
            return -1;
        }
        if (training->family->extra_option &&
            open_wanted(&training->extra, options, training->family->extra_option, err) < 0) {
            return -1;
        }
        if ((training->family->has & FAMILY_EXPORT) != 0 &&
            (open_wanted(&training->libsvm, options, "libsvm", err) < 0 ||
             open_wanted(&training->liblinear, options, "liblinear", err) < 0)) {
            return -1;
        }
    }
    /* a model on standard output has it for itself */
    bool taken = training->model_file && output_is_stdout(training->model_file);
    return output_open(&training->results, taken ? OUTPUT_STDERR : "-", err);
}

static size_t cache_bytes(const struct training *training) {
    const double mebibyte = 1048576;
    double bytes = (double)memory_physical() / 2;
    if (training->family->has & FAMILY_KERNEL) {
        struct point point = {&training->options, 0};
        bytes = point_number_or(point, "cache", bytes / mebibyte) * mebibyte;
    }
    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX / 2;
}

/* ---- reading ---- */

static bool precomputed(const struct training *training) {
    struct point point = {&training->options, 0};
    return fit_kernel(training->family, point, 1).type == KERNEL_PRECOMPUTED;
}

static int read_data(struct training *training, const char *path, struct data *data,
                     struct error *err) {
    const struct input_format format = {.labels = training->family->labels,
                                        .precomputed = precomputed(training)};
    return input_read(data, path, &format, training->threads, err);
}

static int make_folds(struct training *training, struct error *err) {
    const struct options *options = &training->options;
    struct folds *folds = &training->folds;
    size_t n = (size_t)options_number(options, "folds");
    uint64_t seed = (uint64_t)options_number(options, "seed");
    const char *path = options_text(options, "fold-file");
    if (path) {
        return folds_read(folds, path, training->data.n_rows, err);
    }
    if (options_given(options, "validate")) {
        struct data held = {0};
        int status = read_data(training, options_text(options, "validate"), &held, err);
        status = status < 0 ? -1 : folds_join(folds, &training->data, &held, err);
        data_free(&held);
        return status;
    }
    return training->family->folds_by_query ? folds_by_query(folds, &training->data, n, seed, err)
                                            : folds_by_row(folds, &training->data, n, seed, err);
}

/* Scaling that looks at the training rows is fitted anew for each fold. */
static bool scale_looks(const struct options *options) {
    size_t kind = options_choice(options, "scale");
    return kind != SCALE_NONE && kind != SCALE_L2;
}

static int scale_data(struct training *training, struct scale *scale, struct error *err) {
    enum scale_kind kind = (enum scale_kind)options_choice(&training->options, "scale");
    return scale_fit(scale, kind, &training->data, err) < 0
               ? -1
               : scale_apply(scale, &training->data, err);
}

/* Weights of the training rows, a number a line; validation rows weigh 1. */
static int read_row_weights(struct training *training, const char *path, struct error *err) {
    size_t n = training->data.n_rows;
    double *weight = memory_array(n, sizeof *weight, "weights of rows", err);
    if (!weight || weights_read(path, weight, training->n_rows, err) < 0) {
        free(weight);
        return -1;
    }
    for (size_t i = training->n_rows; i < n; i++) {
        weight[i] = 1;
    }
    training->data.weight = weight;
    return 0;
}

static int read_all(struct training *training, struct error *err) {
    double start = progress_clock();
    if (threads_create(&training->threads, (size_t)options_number(&training->options, "threads"),
                       err) < 0 ||
        read_data(training, training->options.operand[0], &training->data, err) < 0) {
        return -1;
    }
    if (training->data.n_rows > UINT32_MAX - 1) {
        return error_set(err, ERROR_RUNTIME, "%zu rows: more than %" PRIu32, training->data.n_rows,
                         UINT32_MAX - 1);
    }
    training->n_rows = training->data.n_rows;
    training->n_features = training->data.n_features;
    if (training->crossing && make_folds(training, err) < 0) {
        return -1;
    }
    if ((training->family->has & FAMILY_ROW_WEIGHTS) != 0 &&
        options_given(&training->options, "row-weights") &&
        read_row_weights(training, options_text(&training->options, "row-weights"), err) < 0) {
        return -1;
    }
    uint32_t width = 0;
    if ((training->family->width &&
         training->family->width(&training->options, &training->data, &width, err) < 0) ||
        data_make_dense(&training->data, width, false, err) < 0) {
        return -1;
    }
    training->n_features = width > training->n_features ? width : training->n_features;
    training->read_seconds = progress_clock() - start;
    return 0;
}

/* ---- cross-validation, sweep, calibration ---- */

static struct crossval make_crossval(struct training *training) {
    const struct options *options = &training->options;
    bool scale_folds = scale_looks(options);
    /* validation rows have the kernel with training rows only */
    bool rows_only = options_given(options, "validate") && precomputed(training);
    return (struct crossval){.family = training->family,
                             .options = options,
                             .data = &training->data,
                             .scale_folds = scale_folds,
                             .copy_folds = scale_folds || rows_only,
                             .n_features = training->n_features,
                             .folds = &training->folds,
                             .n_points = 1,
                             .threads = training->threads,
                             .cache_bytes = training->cache_bytes,
                             .progress = &training->progress,
                             .n_unconverged = &training->n_unconverged};
}

/* Of the last n_fits, before which `before` had not converged. */
static void warn_of_folds(struct training *training, size_t before, size_t n_fits) {
    progress_clear(&training->progress);
    if (training->n_unconverged > before) {
        fprintf(stderr, "%s: warning: not converged: %zu of %zu fits to folds\n", training->program,
                training->n_unconverged - before, n_fits);
    }
}

/* A single point's measures in LIBSVM's words. */
static void report_measures(const struct training *training) {
    const struct sweep *sweep = &training->sweep;
    const char *how =
        options_given(&training->options, "validate") ? "Validation" : "Cross Validation";
    for (size_t k = 0; k < sweep->n_measures; k++) {
        if (isnan(sweep->value[k])) {
            continue; /* nothing to measure */
        }
        if (sweep->measure[k].accuracy) {
            output_format(training->results, "%s Accuracy = %g%%\n", how, 100 * sweep->value[k]);
        } else {
            output_format(training->results, "%s %s = %g\n", how, sweep->measure[k].name,
                          sweep->value[k]);
        }
    }
}

static void report_best(const struct training *training) {
    const struct options *options = &training->options;
    const struct sweep *sweep = &training->sweep;
    struct point best = {options, sweep->best};
    char text[NUMBER_LENGTH];
    output_format(training->results, "# best:");
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->option[i];
        if (option->spec.level >= OPTION_SOLVE && option->n > 1) {
            output_format(training->results, " %s=%s", option->spec.name,
                          point_text(best, option, text));
        }
    }
    output_format(training->results, " %s=%.6g\n", sweep->measure[sweep->selected].name,
                  sweep->value[sweep->best * sweep->n_measures + sweep->selected]);
}

static int cross(struct training *training, struct error *err) {
    bool table = training->options.n_points > 1;
    struct crossval crossval = make_crossval(training);
    if (sweep_run(&training->sweep, &crossval, table ? training->results : NULL, err) < 0) {
        return -1;
    }
    warn_of_folds(training, 0, training->sweep.n_points * training->folds.n);
    if (table) {
        report_best(training);
    } else {
        report_measures(training);
    }
    return output_flush(training->results, err);
}

/* Keeps the scores of one fold. */
static int keep_scores(void *context, struct point point, size_t fold, const struct model *model,
                       const uint32_t *rows, size_t n, const double *scores, size_t n_scores,
                       struct error *err) {
    (void)point;
    (void)model;
    struct training *training = context;
    struct held_out *held_out = &training->held_out[fold];
    uint32_t *row_copy = memory_array(n, sizeof rows[0], "out-of-fold rows", err);
    double *score_copy = memory_array(n * n_scores, sizeof scores[0], "out-of-fold scores", err);
    if (!row_copy || !score_copy) {
        free(row_copy);
        free(score_copy);
        return -1;
    }
    memcpy(row_copy, rows, n * sizeof rows[0]);
    memcpy(score_copy, scores, n * n_scores * sizeof scores[0]);
    *held_out = (struct held_out){&training->data, row_copy, n, score_copy, n_scores};
    return 0;
}

static bool wants_calibration(const struct training *training) {
    const struct family *family = training->family;
    bool probability = (family->has & FAMILY_PROBABILITY) != 0 &&
                       options_number(&training->options, "probability") != 0;
    return probability || (family->calibrate_option &&
                           options_given(&training->options, family->calibrate_option));
}

/* Out-of-fold scores for calibration, at the point that is going to be fitted. */
static int score_out_of_fold(struct training *training, struct point point, struct error *err) {
    size_t n_queries = folds_count_queries(&training->data, err);
    if (n_queries == 0) {
        return -1;
    }
    uint64_t seed = (uint64_t)options_number(&training->options, "seed");
    bool by_query = training->family->folds_by_query && n_queries >= CALIBRATION_FOLDS;
    struct folds folds = {0};
    int status = by_query ? folds_by_query(&folds, &training->data, CALIBRATION_FOLDS, seed, err)
                          : folds_by_row(&folds, &training->data, CALIBRATION_FOLDS, seed, err);
    if (status == 0) {
        size_t before = training->n_unconverged;
        struct crossval crossval = make_crossval(training);
        crossval.folds = &folds;
        crossval.first_point = point.number;
        crossval.scored = keep_scores;
        crossval.context = training;
        status = crossval_run(&crossval, err);
        warn_of_folds(training, before, CALIBRATION_FOLDS);
    }
    folds_free(&folds);
    return status;
}

/* ---- the fit ---- */

static void report_fit(const struct training *training, const void *state, struct point point,
                       const struct solution *solution, const struct model *model) {
    struct output *results = training->results;
    if (training->family->report) {
        training->family->report(state, point, solution, results);
    }
    output_format(results, "iterations = %" PRIu64 "\nprimal = ", solution->iterations);
    output_number(results, solution->primal);
    if (solution->uncertified && solution->dual == 0) {
        output_format(results, "\ngap = none (not a convex problem: nothing bounds its optimum)\n");
    } else {
        output_format(results, "\ndual = ");
        output_number(results, solution->dual);
        output_format(results, "\ngap = ");
        output_number(results, gap_relative(solution->primal, solution->dual));
        output_format(results, "%s\n",
                      solution->uncertified ? " (no certificate: not a convex problem)" : "");
    }
    if (!model->weights) {
        output_format(results, "support-vectors = %zu\n", model->vectors.n_rows);
    }
    if (!options_given(&training->options, "quiet")) {
        output_format(results, "read-seconds = %.3f\nkernel-seconds = %.3f\nsolve-seconds = %.3f\n",
                      training->read_seconds, training->kernel_seconds, training->solve_seconds);
    }
}

static int commit(struct output **output, int status, struct error *err) {
    if (!*output) {
        return status;
    }
    int committed = status;
    if (status == 0) {
        committed = output_commit(*output, err);
    } else {
        output_discard(*output);
    }
    *output = NULL;
    return committed;
}

static int write_model(struct training *training, const struct model *model, struct error *err) {
    int status = model_write(model, training->family->name, training->model_file, err);
    if (status == 0 && training->libsvm) {
        status = model_write_libsvm(model, training->libsvm, err);
    }
    if (status == 0 && training->liblinear) {
        status = model_write_liblinear(model, training->liblinear, err);
    }
    status = commit(&training->libsvm, status, err);
    status = commit(&training->liblinear, status, err);
    status = commit(&training->log, status, err);
    status = commit(&training->extra, status, err);
    return commit(&training->model_file, status, err);
}

/* The model of a solution, reported and written. */
static int finish(struct training *training, const void *state, struct point point,
                  const struct problem *problem, const struct kernel *kernel,
                  const struct solution *solution, struct scale *scale, struct error *err) {
    const struct family *family = training->family;
    struct model model;
    if (fit_header(family, state, point, kernel, problem, solution, &model, err) < 0) {
        return -1;
    }
    model.scale = *scale;
    *scale = (struct scale){0};
    int status = fit_body(&model, problem, solution, err);
    if (status == 0 && training->held_out[0].rows) {
        status = family->calibrate(training->held_out, CALIBRATION_FOLDS, point, &model, err);
    }
    if (status == 0) {
        report_fit(training, state, point, solution, &model);
        if (training->extra) {
            status = training->family->write_extra(state, solution, training->extra, err);
        }
        status = status < 0 ? -1 : write_model(training, &model, err);
    }
    model_free(&model);
    return status;
}

/* The same with the problem open: solves it. */
static int solve(struct training *training, void *state, struct point point,
                 const struct problem *problem, const struct kernel *kernel, struct scale *scale,
                 struct error *err) {
    struct watch watch = fit_watch(&training->options);
    watch.progress = &training->progress;
    watch.log = training->log;
    struct monitor monitor = watch_monitor(&watch);
    struct solution solution = {0};
    double start = progress_clock();
    if (training->family->solve(state, point, &monitor, &solution, err) < 0) {
        return -1;
    }
    training->solve_seconds += progress_clock() - start;
    progress_clear(&training->progress);
    int status = finish(training, state, point, problem, kernel, &solution, scale, err);
    training->n_unconverged += !solution.converged;
    if (status == 0 && !solution.converged) {
        const char *reason = watch.stopped ? watch.stopped : solution.reason;
        fprintf(stderr, "%s: warning: not converged: %s", training->program,
                reason ? reason : "the solver stopped");
        if (!solution.uncertified) {
            fprintf(stderr, ": gap %.3g", gap_relative(solution.primal, solution.dual));
        }
        fprintf(stderr, "\n");
    }
    solution_free(&solution);
    return status;
}

/* Scales the rows, makes the kernel matrix, opens the problem and goes on. */
static int fit(struct training *training, struct point point, struct error *err) {
    struct data *data = &training->data;
    struct scale scale = {0};
    struct gram *gram = NULL;
    struct kernel kernel = fit_kernel(training->family, point, training->n_features);
    int status = 0;
    if (scale_looks(&training->options)) {
        status = scale_data(training, &scale, err);
    } else { /* rows by themselves are scaled already */
        status = scale_fit(&scale, (enum scale_kind)options_choice(&training->options, "scale"),
                           data, err);
    }
    double start = progress_clock();
    if (status == 0 && fit_wants_gram(training->family, &training->options, &kernel)) {
        status = fit_gram(&gram, training->family, point, &kernel, data, false,
                          training->cache_bytes, training->threads, err);
        training->kernel_seconds = progress_clock() - start;
    }
    if (status == 0) {
        struct problem problem = {.data = data,
                                  .gram = gram,
                                  .n = data->n_rows,
                                  .threads = training->threads,
                                  .cache_bytes =
                                      training->cache_bytes - (gram ? gram_kept_bytes(gram) : 0)};
        void *state = NULL;
        start = progress_clock();
        status = training->family->open(&state, &problem, point, err);
        training->solve_seconds = progress_clock() - start;
        if (status == 0) {
            status = solve(training, state, point, &problem, &kernel, &scale, err);
            training->family->close(state);
        }
    }
    gram_free(gram);
    scale_free(&scale);
    return status;
}

/* ---- the run ---- */

static int run(struct training *training, struct error *err) {
    const struct options *options = &training->options;
    if (check_options(training, err) < 0 ||
        sweep_open(&training->sweep, training->family, options, err) < 0 ||
        open_outputs(training, err) < 0) {
        return -1;
    }
    training->cache_bytes = cache_bytes(training);
    if (read_all(training, err) < 0) {
        return -1;
    }
    if (options_choice(options, "scale") == SCALE_L2) {
        struct scale scale = {0};
        int status = scale_data(training, &scale, err);
        scale_free(&scale);
        if (status < 0) {
            return -1;
        }
    }
    if (training->crossing && cross(training, err) < 0) {
        return -1;
    }
    if (training->crossing && !training->fitting && options->n_operands > 1) {
        fprintf(stderr, "%s: warning: no model is written: cross-validation of a single point\n",
                training->program);
    }
    if (!training->fitting) {
        return 0;
    }
    /* validation rows have served */
    data_cut(&training->data, training->n_rows, training->n_features);
    if (data_make_dense(&training->data, 0, false, err) < 0) {
        return -1;
    }
    struct point point = {options, training->sweep.best};
    if (wants_calibration(training) && score_out_of_fold(training, point, err) < 0) {
        return -1;
    }
    return fit(training, point, err);
}

static void release(struct training *training) {
    output_discard(training->model_file);
    output_discard(training->log);
    output_discard(training->extra);
    output_discard(training->libsvm);
    output_discard(training->liblinear);
    output_discard(training->results);
    for (size_t i = 0; i < CALIBRATION_FOLDS; i++) {
        free(training->held_out[i].scores);
        free(training->held_out[i].rows);
    }
    sweep_close(&training->sweep);
    folds_free(&training->folds);
    data_free(&training->data);
    threads_free(training->threads);
    free(training->default_model);
    options_free(&training->options);
    progress_end(&training->progress);
}

/* --help or --version, on standard output. */
static int show_text(struct training *training, struct error *err) {
    if (output_open(&training->results, "-", err) < 0) {
        return -1;
    }
    if (options_given(&training->options, "help")) {
        help_write(&training->options, training->program, "training_file [model_file]",
                   training->family->summary, training->results);
    } else {
        output_format(training->results, "%s (dualsvm) %s\n", training->program, PROGRAM_VERSION);
    }
    return 0;
}

int train_main(int argc, char **argv, const struct family *family) {
    program_start();
    struct training training = {.family = family};
    struct error err = {0};
    snprintf(training.program, sizeof training.program, "svm-%s-train", family->name);
    progress_start(&training.progress, training.program, false);
    int status = train_options(&training.options, family, &err);
    status = status < 0 ? -1 : options_parse(&training.options, argc, argv, &err);
    if (status == 0) {
        training.progress.quiet = options_given(&training.options, "quiet");
        bool text =
            options_given(&training.options, "help") || options_given(&training.options, "version");
        status = text ? show_text(&training, &err) : run(&training, &err);
    }
    status = commit(&training.results, status, &err);
    progress_clear(&training.progress);
    bool strict = status == 0 && options_given(&training.options, "strict");
    release(&training);
    if (status < 0) {
        return program_failed(training.program, &err);
    }
    return strict && training.n_unconverged > 0 ? EXIT_NOT_CONVERGED : EXIT_DONE;
}
