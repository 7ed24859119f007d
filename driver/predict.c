/* The predictor: reads a model once, and then test files block by block. Memory grows with a block
 * of rows, not with the file, except for what measures and the family itself have to keep. */
#include "driver/family.h"

#include "common/base/memory.h"
#include "common/base/output.h"
#include "common/base/threads.h"
#include "common/data/input.h"
#include "common/data/scale.h"
#include "driver/help.h"
#include "driver/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_spec common_options[] = {
    {.name = "metrics",
     .kind = OPTION_FLAG,
     .help = "write the measures to stdout, as lines `name value`"},
    {.name = "batch",
     .kind = OPTION_FLAG,
     .help = "arguments are model_file test_file...; writes NAME.predict into\n"
             "the current folder for each test file NAME"},
    {.letter = 'j',
     .name = "threads",
     .kind = OPTION_COUNT,
     .value = "N",
     .low = 1,
     .high = 1024,
     .help = "threads (default one per processor)"},
    {.letter = 'q', .name = "quiet", .kind = OPTION_FLAG, .help = "no measures on stderr"},
    {.name = "help", .kind = OPTION_FLAG, .help = "show this"},
    {.name = "version", .kind = OPTION_FLAG, .help = "show the version"}};

enum { N_COMMON = sizeof common_options / sizeof common_options[0] };

enum { SCORES = 1 << 19 }; /* most that are held at once, when a row has fewer */

/* One run of the program. */
struct prediction {
    const struct predictor *predictor;
    char program[64];
    struct options options;
    struct model model;
    struct threads *threads;
    struct measure *measure; /* (n_measures) */
    size_t n_measures;
    struct output *standard; /* standard output, where it is used */
};

/* ---- one test file ---- */

struct test {
    const struct prediction *prediction;
    const char *path;
    struct output *output; /* of predictions; NULL: not wanted */
    struct input *input;
    struct data block;
    double *scores; /* (rows of the block, n_scores), room for n_room numbers */
    size_t n_room;
    void *lines;    /* the predictor's state; NULL without output */
    void *measures; /* NULL: not wanted */
};

static void test_free(struct test *test) {
    const struct prediction *prediction = test->prediction;
    if (test->lines) {
        prediction->predictor->close(test->lines);
    }
    if (test->measures) {
        prediction->predictor->measures->close(test->measures);
    }
    input_close(test->input);
    data_free(&test->block);
    free(test->scores);
}

/* Scores some rows and hands them on. */
static int take_rows(struct test *test, const struct data *rows, struct error *err) {
    const struct prediction *prediction = test->prediction;
    size_t n_scores = model_n_scores(&prediction->model), n = rows->n_rows * n_scores;
    if (n > test->n_room) {
        free(test->scores);
        test->scores = memory_array(n, sizeof(double), "scores", err);
        test->n_room = test->scores ? n : 0;
        if (!test->scores) {
            return -1;
        }
    }
    if (model_scores(&prediction->model, rows, test->scores, prediction->threads, err) < 0) {
        return -1;
    }
    if (test->measures &&
        prediction->predictor->measures->add(test->measures, rows, NULL, rows->n_rows, test->scores,
                                             n_scores, err) < 0) {
        return -1;
    }
    return test->lines
               ? prediction->predictor->add(test->lines, rows, test->scores, test->output, err)
               : 0;
}

/* A block in parts of so many rows that their scores stay small, however many a row has. */
static int take_block(struct test *test, struct error *err) {
    const struct prediction *prediction = test->prediction;
    size_t n = test->block.n_rows, step = 1 + SCORES / (model_n_scores(&prediction->model) + 1);
    if (scale_apply(&prediction->model.scale, &test->block, err) < 0) {
        return -1;
    }
    for (size_t first = 0; first < n; first += step) {
        struct data rows = data_part(&test->block, first, step < n - first ? step : n - first);
        if (take_rows(test, &rows, err) < 0) {
            return -1;
        }
    }
    return test->output ? output_flush(test->output, err) : 0;
}

static int open_test(struct test *test, bool measured, struct error *err) {
    const struct prediction *prediction = test->prediction;
    const struct predictor *predictor = prediction->predictor;
    const struct input_format format = {.labels = predictor->labels,
                                        .label_optional = true,
                                        .precomputed =
                                            prediction->model.kernel.type == KERNEL_PRECOMPUTED};
    if ((test->output || predictor->no_output) &&
        predictor->open(&test->lines, &prediction->options, &prediction->model, err) < 0) {
        return -1;
    }
    if (measured && predictor->measures->open(&test->measures, &prediction->options,
                                              &prediction->model, err) < 0) {
        return -1;
    }
    return input_open(&test->input, test->path, &format, prediction->threads, err);
}

static int run_test(struct test *test, struct error *err) {
    for (;;) {
        if (input_next(test->input, &test->block, err) < 0) {
            return -1;
        }
        if (test->block.n_rows == 0) {
            break;
        }
        if (take_block(test, err) < 0) {
            return -1;
        }
    }
    const struct predictor *predictor = test->prediction->predictor;
    return test->lines && predictor->finish ? predictor->finish(test->lines, test->output, err) : 0;
}

/* Writes the measures that there are: to standard output if they were asked for, which it is then
 * an error not to have; else to standard error. */
static int show_measures(const struct test *test, bool wanted, struct error *err) {
    const struct prediction *prediction = test->prediction;
    size_t n = prediction->n_measures, shown = 0;
    double *value = memory_array(n, 2 * sizeof *value, "measures", err);
    if (!value ||
        prediction->predictor->measures->values(test->measures, value, value + n, err) < 0) {
        free(value);
        return -1;
    }
    for (size_t k = 0; k < n; k++) {
        if (isnan(value[k])) {
            continue;
        }
        shown++;
        if (wanted) {
            output_format(prediction->standard, "%s ", prediction->measure[k].name);
            output_number(prediction->standard, value[k]);
            output_format(prediction->standard, "\n");
        } else {
            fprintf(stderr, "%s = %g\n", prediction->measure[k].name, value[k]);
        }
    }
    free(value);
    return wanted && shown == 0 ? error_set(err, ERROR_RUNTIME,
                                            "%s: its rows have nothing to measure by", test->path)
                                : 0;
}

/* Predicts one file into output (NULL: measures only). */
static int predict_file(const struct prediction *prediction, const char *path,
                        struct output *output, struct error *err) {
    bool wanted = options_given(&prediction->options, "metrics");
    bool measured = wanted || !options_given(&prediction->options, "quiet");
    struct test test = {.prediction = prediction, .path = path, .output = output};
    int status = open_test(&test, measured, err);
    status = status < 0 ? -1 : run_test(&test, err);
    if (status == 0 && output) {
        status = output_flush(output, err);
    }
    if (status == 0 && measured) {
        status = show_measures(&test, wanted, err);
    }
    test_free(&test);
    return status;
}

/* ---- the command line ---- */

static int commit(struct output *output, int status, struct error *err) {
    if (status == 0) {
        return output_commit(output, err);
    }
    output_discard(output);
    return -1;
}

/* test_file model_file [output_file] */
static int predict_one(struct prediction *prediction, struct error *err) {
    const struct options *options = &prediction->options;
    const char *path = options->n_operands > 2 ? options->operand[2] : "-";
    bool metrics = options_given(options, "metrics");
    struct output *output = NULL;
    if (options->n_operands > 2 && strcmp(path, "-") != 0) {
        if (output_open(&output, path, err) < 0) {
            return -1;
        }
    } else if (!metrics) {
        return predict_file(prediction, options->operand[0], prediction->standard, err);
    }
    int status = predict_file(prediction, options->operand[0], output, err);
    return output ? commit(output, status, err) : status;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* model_file test_file... */
static int predict_batch(struct prediction *prediction, struct error *err) {
    const struct options *options = &prediction->options;
    for (size_t i = 1; i < options->n_operands; i++) {
        const char *path = options->operand[i];
        const char *name = base_name(path);
        size_t size = strlen(name) + sizeof ".predict";
        char *target = memory_array(size, 1, "a file name", err);
        if (!target) {
            return -1;
        }
        snprintf(target, size, "%s.predict", name);
        struct output *output = NULL;
        int status = output_open(&output, target, err);
        if (status == 0) {
            if (options_given(options, "metrics")) {
                output_format(prediction->standard, "file %s\n", path);
            } else if (!options_given(options, "quiet")) {
                fprintf(stderr, "%s:\n", path);
            }
            status = commit(output, predict_file(prediction, path, output, err), err);
        }
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

static int run(struct prediction *prediction, struct error *err) {
    const struct predictor *predictor = prediction->predictor;
    const struct options *options = &prediction->options;
    bool batch = options_given(options, "batch");
    if (check_operands(options, batch, err) < 0 ||
        predictor->measures->list(options, &prediction->measure, &prediction->n_measures, err) <
            0 ||
        threads_create(&prediction->threads, (size_t)options_number(options, "threads"), err) < 0 ||
        (predictor->imports ? model_read_classes : model_read)(
            &prediction->model, predictor->name, predictor->model_keys,
            options->operand[batch ? 0 : 1], err) < 0) {
        return -1;
    }
    if (predictor->check && predictor->check(options, &prediction->model, err) < 0) {
        return -1;
    }
    return batch ? predict_batch(prediction, err) : predict_one(prediction, err);
}

static void show_text(const struct prediction *prediction) {
    if (options_given(&prediction->options, "help")) {
        help_write(&prediction->options, prediction->program, "test_file model_file [output_file]",
                   prediction->predictor->summary, prediction->standard);
    } else {
        output_format(prediction->standard, "%s (dualsvm) %s\n", prediction->program,
                      PROGRAM_VERSION);
    }
}

static int start(struct prediction *prediction, int argc, char **argv, struct error *err) {
    const struct predictor *predictor = prediction->predictor;
    struct options *options = &prediction->options;
    if (output_open(&prediction->standard, "-", err) < 0 ||
        options_add(options, predictor->options, predictor->n_options, 0, err) < 0 ||
        options_add(options, predictor->measures->options, predictor->measures->n_options, 0, err) <
            0 ||
        options_add(options, common_options, N_COMMON, 0, err) < 0 ||
        options_parse(options, argc, argv, err) < 0) {
        return -1;
    }
    if (options_given(options, "help") || options_given(options, "version")) {
        show_text(prediction);
        return 0;
    }
    return run(prediction, err);
}

int predict_main(int argc, char **argv, const struct predictor *predictor) {
    program_start();
    struct prediction prediction = {.predictor = predictor};
    struct error err = {0};
    snprintf(prediction.program, sizeof prediction.program, "svm-%s-predict", predictor->name);
    int status = start(&prediction, argc, argv, &err);
    if (prediction.standard) {
        status = commit(prediction.standard, status, &err);
    }
    model_free(&prediction.model);
    threads_free(prediction.threads);
    free(prediction.measure);
    options_free(&prediction.options);
    if (status < 0) {
        return program_failed(prediction.program, &err);
    }
    return 0;
}
