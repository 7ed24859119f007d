/* A run of the predictor: a model, read once, and the test files that it predicts and measures. */
#include "driver/predict.h"

#include "common/base/memory.h"
#include "common/base/output.h"
#include "common/base/threads.h"
#include "driver/test_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_spec common_options[] = {
    {.name = "metrics",
     .kind = OPTION_FLAG,
     .help = "write the measures to standard output, as lines `name value`; predictions go only to "
             "an output_file that is named"},
    {.name = "batch",
     .kind = OPTION_FLAG,
     .help = "several test files with one load of the model: the arguments are model_file "
             "test_file..., and NAME.predict is written into the current folder for each NAME"},
    OPTION_THREADS,
    {.letter = 'q', .name = "quiet", .kind = OPTION_FLAG, .help = "no measures on standard error"},
    {.name = "help", .kind = OPTION_FLAG, .help = "show this"},
    {.name = "version", .kind = OPTION_FLAG, .help = "show the version"}};

enum { N_COMMON = sizeof common_options / sizeof common_options[0] };

int predict_options(struct options *options, const struct predictor *predictor, struct error *err) {
    const struct measures *measures = predictor->measures;
    return options_add(options, predictor->options, predictor->n_options, 0, err) < 0 ||
                   options_add(options, measures->options, measures->n_options, 0, err) < 0
               ? -1
               : options_add(options, common_options, N_COMMON, 0, err);
}

struct prediction {
    const struct predictor *predictor;
    const struct options *options;
    const char *program;
    const struct voice *voice;
    struct model model;
    struct threads *threads;
    struct measure *measure; /* (n_measures) */
    size_t n_measures;
    const struct output_hold *hold;
    struct output *standard; /* standard output */
    struct output *file;     /* of predictions; NULL, as the following: not wanted */
    struct output *extra;    /* of the predictor's option */
};

/* ---- one test file ---- */

/* Writes the measures that there are: to standard output if they were asked for, which it is then
 * an error not to have; else it says them. */
static int show_measures(const struct prediction *prediction, const char *path, const double *value,
                         bool wanted, struct error *err) {
    size_t shown = 0;
    for (size_t k = 0; k < prediction->n_measures; k++) {
        const char *name = prediction->measure[k].name;
        if (isnan(value[k])) {
            continue;
        }
        shown++;
        if (wanted) {
            output_format(prediction->standard, "%s ", name);
            output_number(prediction->standard, value[k]);
            output_format(prediction->standard, "\n");
        } else {
            voice_say(prediction->voice, "%s = %g\n", name, value[k]);
        }
    }
    return wanted && shown == 0
               ? error_set(err, ERROR_RUNTIME, "%s: its rows have nothing to measure by", path)
               : 0;
}

static void warn_of_rows(const struct prediction *prediction, const char *path,
                         const struct test_rows *rows) {
    const struct measured_rows *measured = &rows->measured;
    if (measured->unknown > 0) {
        voice_say(prediction->voice,
                  "%s: warning: %s: %zu of %zu rows have labels unknown to the model\n",
                  prediction->program, path, measured->unknown, measured->labelled);
    }
    if (rows->flat) {
        voice_say(prediction->voice,
                  "%s: warning: %s: all %zu rows have the same score%s: the model tells nothing "
                  "apart\n",
                  prediction->program, path, rows->n, prediction->model.n_outputs > 1 ? "s" : "");
    }
}

/* Predicts one file into output (NULL: measures only). */
static int predict_file(const struct prediction *prediction, const char *path,
                        struct output *output, struct error *err) {
    bool wanted = options_given(prediction->options, "metrics");
    bool measured = wanted || !options_given(prediction->options, "quiet");
    const struct test_file test = {.predictor = prediction->predictor,
                                   .options = prediction->options,
                                   .model = &prediction->model,
                                   .threads = prediction->threads,
                                   .path = path,
                                   .output = output,
                                   .extra = prediction->extra,
                                   .measure = measured ? prediction->measure : NULL,
                                   .n_measures = prediction->n_measures};
    double *value = memory_array(prediction->n_measures, sizeof *value, "measures", err);
    struct test_rows rows;
    int status = value ? test_file_predict(&test, value, &rows, err) : -1;
    if (status == 0) {
        warn_of_rows(prediction, path, &rows);
    }
    if (status == 0 && measured) {
        status = show_measures(prediction, path, value, wanted, err);
    }
    free(value);
    return status;
}

/* ---- one file or several ---- */

/* Puts the outputs in place, or after an error (status -1, which it returns) drops them. */
static int end_files(struct output **output, size_t n, int status, const struct output_hold *hold,
                     struct error *err) {
    if (status == 0) {
        return output_commit_all(output, n, hold, err);
    }
    for (size_t i = 0; i < n; i++) {
        output_discard(output[i]);
        output[i] = NULL;
    }
    return -1;
}

/* test_file model_file [output_file] */
static int predict_one(struct prediction *prediction, struct error *err) {
    const struct options *options = prediction->options;
    const char *path = options->n_operands > 2 ? options->operand[2] : "-";
    bool named = strcmp(path, "-") != 0;
    if (named && output_open(&prediction->file, path, err) < 0) {
        return -1;
    }
    bool streamed = !named && !options_given(options, "metrics");
    return predict_file(prediction, options->operand[0],
                        streamed ? prediction->standard : prediction->file, err);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* model_file test_file... */
static int predict_batch(struct prediction *prediction, struct error *err) {
    const struct options *options = prediction->options;
    for (size_t i = 1; i < options->n_operands; i++) {
        const char *path = options->operand[i];
        const char *name = base_name(path);
        size_t size = strlen(name) + sizeof ".predict";
        char *target = memory_array(size, 1, "a file name", err);
        if (!target) {
            return -1;
        }
        snprintf(target, size, "%s.predict", name);
        int status = output_open(&prediction->file, target, err);
        if (status == 0) {
            if (options_given(options, "metrics")) {
                output_format(prediction->standard, "file %s\n", path);
            } else if (!options_given(options, "quiet")) {
                voice_say(prediction->voice, "%s:\n", path);
            }
            status = predict_file(prediction, path, prediction->file, err);
        }
        status = end_files(&prediction->file, 1, status, prediction->hold, err);
        free(target);
        if (status < 0) {
            return -1;
        }
    }
    return 0;
}

static int check_operands(const struct options *options, bool batch, struct error *err) {
    if (batch && options->n_operands < 2) {
        return error_set(err, ERROR_USAGE, "--batch wants a model file and test files");
    }
    for (size_t i = 2; batch && i < options->n_operands; i++) {
        for (size_t j = 1; j < i; j++) {
            if (strcmp(base_name(options->operand[i]), base_name(options->operand[j])) == 0) {
                return error_set(err, ERROR_USAGE,
                                 "--batch: '%.200s' and '%.200s' would be predicted to one file",
                                 options->operand[j], options->operand[i]);
            }
        }
    }
    if (batch) {
        return 0;
    }
    if (options->n_operands < 2 || options->n_operands > 3) {
        return error_set(err, ERROR_USAGE, "%s",
                         options->n_operands > 3 ? "too many file names"
                                                 : "no test file and model file");
    }
    return strcmp(options->operand[0], "-") == 0 && strcmp(options->operand[1], "-") == 0
               ? error_set(err, ERROR_USAGE, "only one file can be standard input")
               : 0;
}

/* The file of the predictor's extra option is one of its own, and of one test file. */
static int check_extra(const struct prediction *prediction, struct error *err) {
    const struct options *options = prediction->options;
    const char *name = prediction->predictor->extra_option;
    if (!name || !options_given(options, name)) {
        return 0;
    }
    bool batch = options_given(options, "batch"), metrics = options_given(options, "metrics");
    if (batch && options->n_operands > 2) {
        return error_set(err, ERROR_USAGE, "--%s is for a single test file", name);
    }
    const char *path = options_text(options, name);
    const char *predictions = batch                     ? NULL
                              : options->n_operands > 2 ? options->operand[2]
                              : metrics                 ? NULL
                                                        : "-";
    bool taken =
        (predictions && strcmp(path, predictions) == 0) || (metrics && strcmp(path, "-") == 0);
    return taken ? error_set(err, ERROR_USAGE, "two outputs to one file: '%.200s'", path) : 0;
}

static int run(struct prediction *prediction, struct error *err) {
    const struct predictor *predictor = prediction->predictor;
    const struct options *options = prediction->options;
    bool batch = options_given(options, "batch");
    if (check_operands(options, batch, err) < 0 || check_extra(prediction, err) < 0 ||
        measures_list(predictor->measures, options, &prediction->measure, &prediction->n_measures,
                      err) < 0 ||
        threads_create(&prediction->threads, (size_t)options_number(options, "threads"), err) < 0 ||
        (predictor->imports ? model_read_classes : model_read)(
            &prediction->model, predictor->name, predictor->model_keys,
            options->operand[batch ? 0 : 1], err) < 0) {
        return -1;
    }
    if (predictor->check && predictor->check(options, &prediction->model, err) < 0) {
        return -1;
    }
    const char *extra = predictor->extra_option;
    if (extra && options_given(options, extra) &&
        output_open(&prediction->extra, options_text(options, extra), err) < 0) {
        return -1;
    }
    return batch ? predict_batch(prediction, err) : predict_one(prediction, err);
}

int predict_run(const struct predictor *predictor, const struct options *options,
                const char *program, const struct voice *voice, const struct output_hold *hold,
                struct error *err) {
    struct prediction prediction = {.predictor = predictor,
                                    .options = options,
                                    .program = program,
                                    .voice = voice,
                                    .hold = hold};
    if (output_open(&prediction.standard, "-", err) < 0) {
        return -1;
    }
    int status = run(&prediction, err);
    struct output *files[] = {prediction.extra, prediction.file, prediction.standard};
    status = end_files(files, sizeof files / sizeof files[0], status, hold, err);
    model_free(&prediction.model);
    threads_free(prediction.threads);
    free(prediction.measure);
    return status;
}
