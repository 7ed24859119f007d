/* A run of the predictor: it reads the model once, then predicts and measures each test file. */
#include "driver/predict.h"

#include "common/base/memory.h"
#include "driver/by_query.h"
#include "driver/predict_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_spec common_options[] = {
    OPTION(FLAG, 0, "metrics", NULL,
           "write the measures to standard output, as lines `name value`; predictions are then "
           "written only to a named output_file (or with --batch to NAME.predict)",
           SINGLE),
    OPTION(TEXT, 0, "json", "FILE",
           "also write the measures as an object of JSON in a line for each test file; with - "
           "predictions are written only to a named output_file",
           SINGLE),
    OPTION(
        TEXT, 0, "by-query", "FILE",
        "write a table of measures with a header and a row for each query: the rows with the same "
        "qid",
        SINGLE),
    OPTION(FLAG, 0, "batch", NULL,
           "predict several test files, loading the model once: the arguments are test_file... "
           "model_file or model_file test_file..., and NAME.predict is written for each NAME; with "
           "--metrics standard output gets a table with a header and a row for each file",
           SINGLE),
    OPTION(TEXT, 0, "output-dir", "DIR",
           "with --batch: the output folder, which is created if it does not exist", SINGLE,
           .absent = "the current folder"),
    OPTION(FLAG, 0, "keep-going", NULL,
           "with --batch: continue after a file that fails; failed files are listed at the end, "
           "and the exit code is 1",
           SINGLE),
    OPTION(FLAG, 0, "skip-existing", NULL,
           "with --batch: skip files whose predictions exist, to complete an interrupted run; "
           "NAME.measures and NAME.queries store the rows of each file, so that the tables are "
           "complete",
           SINGLE),
    OPTION(FLAG, 0, "force", NULL, "write over an existing file that is a model", SINGLE),
    OPTION_THREADS,
    OPTION(FLAG, 'q', "quiet", NULL, "print no measures on standard error", SINGLE),
    OPTION(FLAG, 0, "help", NULL, "show this", SINGLE),
    OPTION(FLAG, 0, "version", NULL, "show the version", SINGLE)};

enum { N_COMMON = sizeof common_options / sizeof common_options[0] };

int predict_options(struct options *options, const struct predictor *predictor, struct error *err) {
    const struct measures *measures = predictor->measures;
    return options_add(options, predictor->options, predictor->n_options, 0, err) < 0 ||
                   options_add(options, measures->options, measures->n_options, 0, err) < 0
               ? -1
               : options_add(options, common_options, N_COMMON, 0, err);
}

/* ---- the model ---- */

/* Reads the model, the second operand or that of a batch. */
static int read_model(struct prediction *prediction, struct error *err) {
    const struct predictor *predictor = prediction->predictor;
    const struct options *options = prediction->options;
    bool batch = options_given(options, "batch");
    const char *path = options->operand[batch ? batch_model(options) : 1];
    int status = model_read(&prediction->model, predictor->name, predictor->model_keys,
                            predictor->imports, path, err);
    if (status < 0 && !batch && run_files_begins(options->operand[0], run_files_models)) {
        const struct error reason = *err;
        error_set(err, reason.kind, "%s (are the two files swapped?)", reason.text);
    }
    return status;
}

/* ---- one test file ---- */

void predict_print_measures(const struct prediction *prediction, const struct test_rows *rows) {
    double labelled = (double)rows->measured.labelled;
    for (size_t k = 0; k < prediction->n_measures; k++) {
        double value = prediction->value[k];
        if (isnan(value)) {
            continue;
        }
        if (prediction->measure[k].row->accuracy && labelled > 0) { /* in LIBSVM's format */
            double right = round(value * labelled);
            output_sink_write(prediction->sink, "Accuracy = %g%% (%.0f/%.0f) (classification)\n",
                              right / labelled * 100, right, labelled);
        } else {
            const char *counts = prediction->measure[k].row->counts;
            output_sink_write(prediction->sink, "%s = %g%s%s%s\n", prediction->measure[k].name,
                              value, counts ? " (" : "", counts ? counts : "", counts ? ")" : "");
        }
    }
}

/* With --metrics it is an error if no measure is defined. */
static int write_measures(const struct prediction *prediction, const char *path,
                          struct error *err) {
    size_t shown = 0;
    for (size_t k = 0; k < prediction->n_measures; k++) {
        if (!isnan(prediction->value[k])) {
            output_format(prediction->standard, "%s ", prediction->measure[k].name);
            output_number(prediction->standard, prediction->value[k]);
            output_format(prediction->standard, "\n");
            shown++;
        }
    }
    return shown == 0
               ? error_set(err, ERROR_RUNTIME, "%s: its rows have nothing to measure by", path)
               : 0;
}

void predict_warn(const struct output_sink *sink, const char *program, const struct model *model,
                  const char *path, const struct test_rows *rows) {
    const struct measured_rows *measured = &rows->measured;
    if (measured->unknown > 0) {
        output_sink_line(sink, "%s: warning: %s: %zu of %zu rows have labels unknown to the model",
                         program, path, measured->unknown, measured->labelled);
    }
    if (rows->n_unknown_values > 0) {
        char which[64] = "no training row has their indices";
        if (!model_lists_features(model)) {
            snprintf(which, sizeof which, "indices above %" PRIu32, model_largest_index(model));
        }
        output_sink_write(sink,
                          "%s: warning: %s: %" PRIu64 " of %" PRIu64
                          " values are of features that the model has never seen (%s)\n",
                          program, path, rows->n_unknown_values, rows->n_values, which);
    }
    if (rows->warning[0]) {
        output_sink_line(sink, "%s: warning: %s: %s", program, path, rows->warning);
    }
    if (rows->constant_scores) {
        output_sink_line(
            sink,
            "%s: warning: %s: all %zu rows have the same score%s: the model tells nothing "
            "apart",
            program, path, rows->n, model->n_outputs > 1 ? "s" : "");
    } else if (measured->note) {
        output_sink_line(sink, "%s: warning: %s: %s", program, path, measured->note);
    }
}

void predict_write_json(struct prediction *prediction, const char *path,
                        const struct test_rows *rows, const struct error *err) {
    struct json *json = &prediction->json;
    const struct options *options = prediction->options;
    bool batch = options_given(options, "batch");
    const char *const files[] = {path, options->operand[batch ? batch_model(options) : 1],
                                 options->n_operands > 2 ? options->operand[2] : NULL};
    if (!json->output) {
        return;
    }
    json_begin_run(json, prediction->program, options, files, batch || !files[2] ? 2 : 3);
    if (rows) {
        json_number(json, "rows", (double)rows->n);
        json_open(json, "measures", '{');
        for (size_t k = 0; k < prediction->n_measures; k++) {
            json_number(json, prediction->measure[k].name, prediction->value[k]);
        }
        json_close(json, '}');
    } else {
        json_text(json, "error", err->text);
    }
    json_end_run(json);
}

static int write_query_header(const struct prediction *prediction, const struct measure *list,
                              size_t n, struct error *err) {
    char *header = by_query_header(prediction->predictor->labels, list, n, err);
    if (!header) {
        return -1;
    }
    output_text(prediction->queries, header);
    free(header);
    return 0;
}

/* Writes the table of a single file: the columns are the measures that the file has. */
static int write_query_table(const struct prediction *prediction, const struct by_query *queries,
                             const char *path, struct error *err) {
    size_t n = 0, n_all = prediction->n_measures;
    struct measure *list = memory_array(n_all, sizeof *list, "measures", err);
    double *value = memory_array(n_all, sizeof *value, "measures", err);
    int status = list && value ? 0 : -1;
    for (size_t k = 0; k < n_all && status == 0; k++) {
        if (!isnan(prediction->value[k])) {
            list[n] = prediction->measure[k];
            value[n++] = prediction->value[k];
        }
    }
    status = status < 0 ? -1 : write_query_header(prediction, list, n, err);
    status =
        status < 0 ? -1 : by_query_write(queries, path, list, n, value, prediction->queries, err);
    free(list);
    free(value);
    return status;
}

int predict_file(const struct prediction *prediction, const char *path, struct output *output,
                 struct output *queries, struct test_rows *rows, struct error *err) {
    const struct options *options = prediction->options;
    const struct measures *measures = prediction->predictor->measures;
    bool measured = options_given(options, "metrics") || !options_given(options, "quiet") ||
                    queries != NULL || prediction->json.output;
    struct test_file test = {.predictor = prediction->predictor,
                             .options = options,
                             .model = &prediction->model,
                             .threads = prediction->threads,
                             .path = path,
                             .output = output,
                             .extra = prediction->extra,
                             .measure = measured ? prediction->measure : NULL,
                             .n_measures = prediction->n_measures};
    if (queries && by_query_create(&test.queries, measures, options, &prediction->model, err) < 0) {
        return -1;
    }
    int status = test_file_predict(&test, prediction->value, rows, err);
    if (status == 0) {
        predict_warn(prediction->sink, prediction->program, &prediction->model, path, rows);
    }
    if (status == 0 && queries) {
        status = options_given(options, "batch")
                     ? by_query_write(test.queries, path, prediction->measure,
                                      prediction->n_measures, prediction->value, queries, err)
                     : write_query_table(prediction, test.queries, path, err);
    }
    by_query_free(test.queries);
    return status;
}

/* Returns whether --metrics or --json writes to standard output. */
static bool takes_standard(const struct options *options) {
    const char *json = options_text(options, "json");
    return options_given(options, "metrics") || (json && output_descriptor(json) == 1);
}

/* test_file model_file [output_file] */
static int predict_one(struct prediction *prediction, struct error *err) {
    const struct options *options = prediction->options;
    const char *path = options->n_operands > 2 ? options->operand[2] : "-";
    bool named = strcmp(path, "-") != 0, metrics = options_given(options, "metrics");
    bool taken = takes_standard(options);
    if (named && output_open(&prediction->file, path, err) < 0) {
        return -1;
    }
    struct test_rows rows;
    if (predict_file(prediction, options->operand[0],
                     named || taken ? prediction->file : prediction->standard, prediction->queries,
                     &rows, err) < 0) {
        return -1;
    }
    predict_write_json(prediction, options->operand[0], &rows, NULL);
    if (metrics) {
        return write_measures(prediction, options->operand[0], err);
    }
    if (!options_given(options, "quiet")) {
        predict_print_measures(prediction, &rows);
    }
    return 0;
}

/* ---- checks before any file is opened ---- */

static int check_operands(const struct options *options, struct error *err) {
    if (options->n_operands < 2 || options->n_operands > 3) {
        return error_set(err, ERROR_USAGE, "%s",
                         options->n_operands > 3 ? "too many file names"
                                                 : "no test file and model file");
    }
    return 0;
}

/* Refuses options that require --batch. */
static int check_batch_options(const struct options *options, struct error *err) {
    static const char *const of_batch[] = {"output-dir", "keep-going", "skip-existing"};
    for (size_t i = 0; i < sizeof of_batch / sizeof of_batch[0]; i++) {
        if (options_given(options, of_batch[i])) {
            return error_set(err, ERROR_USAGE, "--%s wants --batch", of_batch[i]);
        }
    }
    return 0;
}

/* Lists all files of the run: inputs, predictions, extra files, the table of --by-query and, with
 * --metrics, standard output. */
static int list_files(const struct prediction *prediction, struct run_files *files,
                      struct error *err) {
    const struct options *options = prediction->options;
    const struct predictor *predictor = prediction->predictor;
    const char *const *extra = predictor->extra_options;
    bool batch = options_given(options, "batch"), metrics = options_given(options, "metrics");
    const char *predictions = options->n_operands > 2   ? options->operand[2]
                              : takes_standard(options) ? NULL
                                                        : "-";
    size_t n_read = batch ? options->n_operands : 2;
    for (size_t i = 0; i < n_read; i++) {
        if (run_files_read(files, options->operand[i], err) < 0) {
            return -1;
        }
    }
    if ((predictor->input_option &&
         run_files_read(files, options_text(options, predictor->input_option), err) < 0) ||
        run_files_write(files, metrics ? "-" : NULL, err) < 0 ||
        (batch ? batch_list_files(options, files, err) : run_files_write(files, predictions, err)) <
            0 ||
        run_files_write(files, options_text(options, "by-query"), err) < 0 ||
        run_files_write(files, options_text(options, "json"), err) < 0) {
        return -1;
    }
    for (size_t k = 0; extra && extra[k]; k++) {
        if (run_files_write(files, options_text(options, extra[k]), err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int check_files(const struct prediction *prediction, struct error *err) {
    const struct options *options = prediction->options;
    const char *const *extra = prediction->predictor->extra_options;
    bool several = options_given(options, "batch") && options->n_operands > 2;
    for (size_t k = 0; several && extra && extra[k]; k++) {
        if (options_given(options, extra[k])) {
            return error_set(err, ERROR_USAGE, "--%s is for a single test file", extra[k]);
        }
    }
    struct run_files files = {.keeps_models = !options_given(options, "force")};
    int status = list_files(prediction, &files, err);
    status = status < 0 ? -1 : run_files_check(&files, err);
    run_files_free(&files);
    return status;
}

static int check(const struct prediction *prediction, struct error *err) {
    const struct options *options = prediction->options;
    bool batch = options_given(options, "batch");
    if (options_given(options, "json") && options_given(options, "skip-existing")) {
        return error_set(err, ERROR_USAGE,
                         "--json and --skip-existing exclude each other: skipped files are not "
                         "measured");
    }
    if ((batch ? batch_check : check_operands)(options, err) < 0 ||
        (!batch && check_batch_options(options, err) < 0) || check_files(prediction, err) < 0) {
        return -1;
    }
    return batch ? batch_check_model(options, err) : 0;
}

/* ---- the run ---- */

static int open_outputs(struct prediction *prediction, struct error *err) {
    const struct options *options = prediction->options;
    const char *const *extra = prediction->predictor->extra_options;
    for (size_t k = 0; extra && extra[k]; k++) {
        if (options_given(options, extra[k]) &&
            output_open(&prediction->extra[k], options_text(options, extra[k]), err) < 0) {
            return -1;
        }
    }
    if (options_given(options, "json") &&
        output_open(&prediction->json.output, options_text(options, "json"), err) < 0) {
        return -1;
    }
    if (!options_given(options, "by-query")) {
        return 0;
    }
    if (output_open(&prediction->queries, options_text(options, "by-query"), err) < 0) {
        return -1;
    }
    return options_given(options, "batch")
               ? write_query_header(prediction, prediction->measure, prediction->n_measures, err)
               : 0;
}

static int run(struct prediction *prediction, bool *whole, struct error *err) {
    const struct predictor *predictor = prediction->predictor;
    const struct options *options = prediction->options;
    if (check(prediction, err) < 0 ||
        measures_list(predictor->measures, options, &prediction->measure, &prediction->n_measures,
                      err) < 0) {
        return -1;
    }
    bool batch = options_given(options, "batch");
    prediction->value =
        memory_array(prediction->n_measures, sizeof *prediction->value, "measures", err);
    if (!prediction->value || read_model(prediction, err) < 0) {
        return -1;
    }
    measures_restrict(predictor->measures, options, &prediction->model, NULL, prediction->measure,
                      &prediction->n_measures, NULL);
    if ((model_scores_by_blas(&prediction->model) ? threads_create_for_blas : threads_create)(
            &prediction->threads, (size_t)options_number(options, "threads"), err) < 0 ||
        (predictor->check && predictor->check(options, &prediction->model, err) < 0) ||
        open_outputs(prediction, err) < 0) {
        return -1;
    }
    return batch ? batch_run(prediction, whole, err) : predict_one(prediction, err);
}

int predict_run(const struct predictor *predictor, const struct options *options,
                const char *program, const struct output_sink *sink, const struct output_hold *hold,
                struct error *err) {
    struct prediction prediction = {
        .predictor = predictor, .options = options, .program = program, .sink = sink, .hold = hold};
    if (output_open(&prediction.standard, "-", err) < 0) {
        return -1;
    }
    bool whole = false;
    int status = run(&prediction, &whole, err);
    struct output *files[] = {prediction.extra[0],    prediction.extra[1], prediction.extra[2],
                              prediction.json.output, prediction.queries,  prediction.file,
                              prediction.standard};
    if (output_end_all(files, sizeof files / sizeof files[0], whole ? 0 : status, hold, err) < 0) {
        status = -1;
    }
    model_free(&prediction.model);
    threads_free(prediction.threads);
    free(prediction.measure);
    free(prediction.value);
    return status;
}
