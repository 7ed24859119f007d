/* The main functions: options, output sink, signals, errors and exit codes (program.h). */
#define _GNU_SOURCE /* fcntl */
#include "driver/program.h"

#include "common/base/text.h"
#include "common/model/checksum.h"
#include "driver/blas_start.h"
#include "driver/help.h"
#include "driver/json.h"
#include "driver/output_sink.h"
#include "driver/predict.h"
#include "driver/run_files.h"
#include "driver/signals.h"
#include "driver/train.h"
#include "include/dualsvm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double WRITING_SECONDS = 1.5, MAX_SECONDS = 1e9;

enum { EXIT_DONE = 0, EXIT_NOT_CONVERGED = 3, NAME_BYTES = 64 };

/* Opens closed standard streams so that reading or writing them fails; otherwise the next file that
 * is opened would get their number. Installs the signal handlers. Limits BLAS to one thread,
 * because results must not depend on the number of threads. */
static void start(const char *program) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            /* deliberately the opposite mode: reading standard input fails, writing the others
             * fails */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
    signals_start(program);
    blas_start();
}

static void write_error(void *context, const char *text, size_t length) {
    (void)context;
    fwrite(text, 1, length, stderr);
}

static struct output_sink standard_error(void) {
    return (struct output_sink){.write = write_error, .terminal = isatty(STDERR_FILENO)};
}

/* The time limit also holds while input is awaited: the program ends at most two seconds after it.
 * Once all rows are read there is a model, at least w = 0, and the program waits until it is
 * written. */
static void start_limit(const struct options *options) {
    double seconds = point_number((struct point){options, 0}, "max-time");
    if (seconds > 0 && seconds < MAX_SECONDS) {
        signals_limit(seconds + WRITING_SECONDS);
    }
}

/* Prints the error as one line and returns the exit code. */
static int failed(const char *program, const struct error *err) {
    fprintf(stderr, "%s: %s%s\n", program, err->text,
            err->kind == ERROR_USAGE ? ": try --help" : "");
    return (int)err->kind;
}

/* Process 0 prints the error of a process that fails. The signal that then ends all processes is
 * not reported. */
static void print_failure(void *program, const struct error *err) {
    failed(program, err);
    signals_silence();
}

static void ask_end(void *cluster) {
    cluster_request_stop(cluster);
}

/* Connects to the other MPI processes, if there are any. */
static int join(struct cluster **cluster, char *program, struct error *err) {
    if (cluster_open(cluster, print_failure, program, err) < 0) {
        return -1;
    }
    if (*cluster) {
        signals_defer(ask_end, *cluster);
    }
    if (!cluster_is_root(*cluster)) {
        signals_silence();
    }
    cluster_any(*cluster, false); /* no process may fail before the others are silenced */
    return 0;
}

/* Standard error on process 0; no output on the others. */
static struct output_sink process_sink(const struct cluster *cluster) {
    return cluster_is_root(cluster) ? standard_error() : (struct output_sink){0};
}

/* The checksum of the command that started a trainer: its family, all options but threads and
 * memory, which may differ between machines, and the file names. */
static uint32_t command_checksum(const char *family, const struct options *options) {
    uint32_t checksum = model_checksum_add(0, family, strlen(family) + 1);
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->option[i];
        const char *name = option->spec.name;
        if (!option->given || strcmp(name, "threads") == 0 || strcmp(name, "cache") == 0) {
            continue;
        }
        checksum = model_checksum_add(checksum, name, strlen(name) + 1);
        if (option->text) {
            checksum = model_checksum_add(checksum, option->text, strlen(option->text) + 1);
        }
        for (size_t k = 0; k < option->n_weights; k++) {
            const struct option_weight *weight = &option->weights[k];
            checksum = model_checksum_add(checksum, weight->key, weight->key_length);
            checksum =
                model_checksum_add(checksum, (const char *)&weight->weight, sizeof weight->weight);
        }
    }
    for (size_t i = 0; i < options->n_operands; i++) {
        checksum =
            model_checksum_add(checksum, options->operand[i], strlen(options->operand[i]) + 1);
    }
    return checksum;
}

/* Checks that all processes were started by the same command, so that they make the same collective
 * calls. */
static int check_same_command(struct cluster *cluster, const char *family,
                              const struct options *options, struct error *err) {
    return cluster_same(cluster, command_checksum(family, options))
               ? 0
               : error_set(err, ERROR_USAGE,
                           "processes were started with different options or file names: all but "
                           "--threads and --cache must be the same");
}

/* Prints the error and returns the exit code. On a cluster, process 0 does both. */
static int failed_together(struct cluster *cluster, const char *program, const struct error *err) {
    cluster_fail(cluster, err);
    return failed(program, err);
}

static bool wants_text(const struct options *options) {
    return options_given(options, "help") || options_given(options, "version");
}

/* Writes the text of --help or --version to standard output. */
static int show_text(const struct help *help, struct error *err) {
    struct output *output;
    int status = 0;
    if (output_open(&output, "-", err) < 0) {
        return -1;
    }
    if (options_given(help->options, "help")) {
        status = help_write(help, output, err);
    } else {
        output_format(output, "%s (dualsvm) %s\n", help->program, DUALSVM_VERSION);
    }
    return output_end(output, status, err);
}

/* Prints the usage to standard error if a program was started without arguments; the error that
 * files are missing follows. */
static void show_usage(const struct help *help, int argc) {
    struct output *output;
    struct error ignored;
    if (argc < 2 && output_open(&output, OUTPUT_STDERR, &ignored) == 0) {
        help_write_usage(help, output);
        output_end(output, 0, &ignored);
    }
}

int program_train(int argc, char **argv, const struct family *family) {
    char program[NAME_BYTES];
    snprintf(program, sizeof program, "svm-%s-train", family->name);
    start(program);
    struct cluster *cluster;
    struct options options = {0};
    struct error err = {0};
    struct train_end end = {0};
    if (join(&cluster, program, &err) < 0) {
        return failed(program, &err);
    }
    struct output_sink sink = process_sink(cluster);
    int status = train_options(&options, family, &err);
    status = status < 0 ? -1 : options_parse(&options, argc, argv, &err);
    status = status < 0 ? -1 : check_same_command(cluster, family->name, &options, &err);
    if (status == 0) {
        struct help help = {.program = program,
                            .operands = "training_file [model_file]",
                            .summary = family->summary,
                            .example = "-v 5 -c 2^-4:2^4:x4 train.svm model",
                            .options = &options,
                            .measures = family->measures};
        if (cluster_is_root(cluster)) {
            show_usage(&help, argc);
            start_limit(&options);
        }
        status = !wants_text(&options) ? train_run(family, &options, program, &sink, &signals_hold,
                                                   signals_unlimit, cluster, &end, &err)
                 : cluster_is_root(cluster) ? show_text(&help, &err)
                                            : 0;
    }
    bool strict = status == 0 && options_given(&options, "strict");
    int code = status < 0                  ? failed_together(cluster, program, &err)
               : strict && end.unconverged ? EXIT_NOT_CONVERGED
                                           : EXIT_DONE;
    if (end.abandoned) {
        _exit(code);
    }
    options_free(&options);
    cluster_close(cluster);
    return code;
}

/* Starts a program that runs as one process. Fails if it was started as several. */
static int start_single(char *program, struct error *err) {
    struct cluster *cluster;
    start(program);
    if (join(&cluster, program, err) < 0) {
        return -1;
    }
    if (cluster) {
        error_set(err, ERROR_USAGE,
                  "this program runs as one process: start it once, without mpirun");
        cluster_fail(cluster, err);
        return -1;
    }
    return 0;
}

int program_predict(int argc, char **argv, const struct predictor *predictor) {
    char program[NAME_BYTES];
    snprintf(program, sizeof program, "svm-%s-predict", predictor->name);
    struct output_sink sink = standard_error();
    struct options options = {0};
    struct error err = {0};
    int status = start_single(program, &err);
    status = status < 0 ? -1 : predict_options(&options, predictor, &err);
    status = status < 0 ? -1 : options_parse(&options, argc, argv, &err);
    if (status == 0) {
        struct help help = {.program = program,
                            .operands = "test_file model_file [output_file]",
                            .summary = predictor->summary,
                            .example = "test.svm model predictions",
                            .options = &options,
                            .measures = predictor->measures};
        show_usage(&help, argc);
        status = wants_text(&options)
                     ? show_text(&help, &err)
                     : predict_run(predictor, &options, program, &sink, &signals_hold, &err);
    }
    options_free(&options);
    return status < 0 ? failed(program, &err) : EXIT_DONE;
}

int program_run(int argc, char **argv, const struct program *program) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s", program->name);
    struct output_sink sink = standard_error();
    struct options options = {0};
    struct error err = {0};
    int code = EXIT_DONE;
    int status = start_single(name, &err);
    status = status < 0 ? -1 : options_add(&options, program->options, program->n_options, 0, &err);
    status = status < 0 ? -1 : options_parse(&options, argc, argv, &err);
    if (status == 0) {
        struct help help = {.program = program->name,
                            .operands = program->operands,
                            .summary = program->summary,
                            .example = program->example,
                            .options = &options};
        show_usage(&help, argc);
        status = wants_text(&options)
                     ? show_text(&help, &err)
                     : program->run(program, &options, &sink, &signals_hold, &code, &err);
    }
    options_free(&options);
    return status < 0 ? failed(name, &err) : code;
}

/* ---- svm-check ---- */

static const struct option_spec check_options[] = {
    OPTION(TEXT, 0, "json", "FILE",
           "also write the result as an object of JSON in a line; with - it replaces the lines on "
           "standard output",
           SINGLE),
    OPTION_THREADS, OPTION(FLAG, 0, "help", NULL, "show this", SINGLE),
    OPTION(FLAG, 0, "version", NULL, "show the version", SINGLE)};

/* Whether the lines of the result are written: not if --json takes standard output. */
static bool shows_lines(const struct options *options) {
    const char *json = options_text(options, "json");
    return !json || output_descriptor(json) != 1;
}

static int check_names(const struct options *options, struct error *err) {
    struct run_files files = {0};
    int status = 0;
    for (size_t i = 0; i < 3 && status == 0; i++) {
        status = run_files_read(&files, options->operand[i], err);
    }
    if (status == 0 && shows_lines(options)) {
        status = run_files_write(&files, "-", err);
    }
    status = status < 0 ? -1 : run_files_write(&files, options_text(options, "json"), err);
    status = status < 0 ? -1 : run_files_check(&files, err);
    run_files_free(&files);
    return status;
}

/* Verifies, and returns the lines of the result, which the caller frees; NULL: it failed. */
static char *verify_to_text(const struct program *program, const struct options *options, int *code,
                            struct error *err) {
    const char *const paths[3] = {options->operand[0], options->operand[1], options->operand[2]};
    struct text lines = {0};
    struct output *output;
    if (output_open_function(&output, "the result", text_take, &lines, err) < 0) {
        return NULL;
    }
    int status =
        program->verify(paths, (size_t)options_number(options, "threads"), output, code, err);
    if (output_end(output, status, err) < 0) {
        free(lines.bytes);
        return NULL;
    }
    return lines.bytes;
}

/* Writes the lines of the result, which are modified, to the outputs that are open. */
static int write_result(const struct options *options, const char *program, char *lines,
                        struct output *output[2], const struct output_hold *hold,
                        struct error *err) {
    struct json json = {.output = output[1]};
    if (output[0]) {
        output_text(output[0], lines);
    }
    json_begin_run(&json, program, options, options->operand, options->n_operands);
    json_report(&json, lines);
    json_end_run(&json);
    return output_end_all(output, 2, 0, hold, err);
}

static int verify_files(const struct program *program, const struct options *options,
                        const struct output_sink *sink, const struct output_hold *hold, int *code,
                        struct error *err) {
    struct output *output[2] = {NULL, NULL}; /* of the lines, and of --json */
    const char *json = options_text(options, "json");
    (void)sink;
    if (options->n_operands != 3) {
        return error_set(err, ERROR_USAGE, "%s",
                         options->n_operands > 3
                             ? "too many file names"
                             : "a training file, a model and a proof are wanted");
    }
    if (check_names(options, err) < 0 ||
        (shows_lines(options) && output_open(&output[0], "-", err) < 0)) {
        return -1;
    }
    char *lines = json && output_open(&output[1], json, err) < 0
                      ? NULL
                      : verify_to_text(program, options, code, err);
    if (!lines) {
        return output_end_all(output, 2, -1, hold, err);
    }
    int status = write_result(options, program->name, lines, output, hold, err);
    free(lines);
    return status;
}

int program_check(int argc, char **argv, program_verifier *verify) {
    const struct program program = {
        .name = "svm-check",
        .operands = "training_file model_file proof_file",
        .summary = "Verifies the bounds that a model claims of its fit, from the training file "
                   "and a trainer's --proof. Exits with 0 for VERIFIED, 1 for REFUTED, 3 for "
                   "CANNOT TELL.",
        .example = "train.svm model proof",
        TABLE(options, check_options),
        .run = verify_files,
        .verify = verify};
    return program_run(argc, argv, &program);
}
