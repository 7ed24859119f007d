/* --batch: many test files, one load of the model.
 *
 * The files of each test file are written whole or not at all. With --skip-existing, running the
 * same command again predicts only the test files whose predictions are missing. So that the tables
 * are complete nevertheless, NAME.measures and NAME.queries are stored beside the predictions with
 * the rows of that file; they are put in place just before the predictions. */
#include "driver/predict_private.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/data/source.h"
#include "driver/by_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- operands ---- */

static bool is_model(const char *path) {
    return run_files_begins(path, run_files_models);
}

size_t batch_model(const struct options *options) {
    size_t last = options->n_operands - 1;
    return !is_model(options->operand[0]) && is_model(options->operand[last]) ? last : 0;
}

/* The test files: the (*n) operands other than the model. */
static const char *const *batch_tests(const struct options *options, size_t *n) {
    *n = options->n_operands - 1;
    return (const char *const *)options->operand + (batch_model(options) == 0 ? 1 : 0);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(run_files_base_name(*(const char *const *)a),
                  run_files_base_name(*(const char *const *)b));
}

int batch_check(const struct options *options, struct error *err) {
    if (options->n_operands < 2) {
        return error_set(err, ERROR_USAGE, "--batch wants a model file and test files");
    }
    size_t n;
    const char *const *tests = batch_tests(options, &n);
    const char **sorted = memory_array(n, sizeof *sorted, "file names", err);
    if (!sorted) {
        return -1;
    }
    memcpy(sorted, tests, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_names);
    int status = 0;
    for (size_t i = 1; i < n && status == 0; i++) {
        if (compare_names(&sorted[i - 1], &sorted[i]) == 0) {
            status = error_set(err, ERROR_USAGE,
                               "--batch: '%.200s' and '%.200s' would be predicted to one file",
                               sorted[i - 1], sorted[i]);
        }
    }
    free(sorted);
    return status;
}

int batch_check_model(const struct options *options, struct error *err) {
    const char *first = options->operand[0], *last = options->operand[options->n_operands - 1];
    struct stat status;
    if (stat(first, &status) != 0 || !S_ISREG(status.st_mode) || is_model(first) ||
        is_model(last)) {
        return 0; /* the first is a pipe or a device, and may be a model */
    }
    bool there = strcmp(last, "-") == 0 || stat(last, &status) == 0;
    const char *reason = there ? "" : strerror(errno);
    return error_set(err, ERROR_RUNTIME,
                     "--batch: neither the first file, '%.200s', nor the last, '%.200s', is a "
                     "model%s%s",
                     first, last, *reason ? ": " : "", reason);
}

/* ---- output files ---- */

enum { PREDICTIONS, MEASURES, QUERIES, FILES };

/* DIR/NAME.predict, .measures or .queries; the caller frees it. */
static char *file_path(const struct options *options, const char *test, size_t file,
                       struct error *err) {
    static const char *const suffix[FILES] = {"predict", "measures", "queries"};
    const char *name = run_files_base_name(test);
    const char *folder = options_text(options, "output-dir");
    folder = folder ? folder : "";
    const char *slash = *folder && folder[strlen(folder) - 1] != '/' ? "/" : "";
    struct text path = {0};
    text_format(&path, "%s%s%s.%s", folder, slash, name, suffix[file]);
    return text_end(&path, "a file name", err);
}

int batch_list_files(const struct options *options, struct run_files *files, struct error *err) {
    bool stores = options_given(options, "skip-existing");
    const bool wanted[FILES] = {true, stores && options_given(options, "metrics"),
                                stores && options_given(options, "by-query")};
    size_t n;
    const char *const *tests = batch_tests(options, &n);
    int status = 0;
    for (size_t i = 0; i < n * FILES && status == 0; i++) {
        if (wanted[i % FILES]) {
            char *path = file_path(options, tests[i / FILES], i % FILES, err);
            status = path ? run_files_write(files, path, err) : -1;
            free(path);
        }
    }
    return status;
}

struct batch {
    struct prediction *prediction;
    char *header[FILES]; /* of the tables stored beside the predictions; NULL: not stored */
    size_t n_skipped, n_failed;
    bool *failed; /* (test files) */
};

static void free_paths(char *path[FILES]) {
    for (size_t i = 0; i < FILES; i++) {
        free(path[i]);
    }
}

/* Sets the paths of the wanted files; the others are NULL. */
static int make_paths(const struct batch *batch, const char *test, char *path[FILES],
                      struct error *err) {
    for (size_t i = 0; i < FILES; i++) {
        if (i != PREDICTIONS && !batch->header[i]) {
            continue;
        }
        path[i] = file_path(batch->prediction->options, test, i, err);
        if (!path[i]) {
            free_paths(path);
            return -1;
        }
    }
    return 0;
}

/* Reads a stored table; the caller frees the text. NULL: it is missing, has another header, or with
 * `single` not exactly one row. */
static char *read_stored(const char *path, const char *header, bool single) {
    struct source *source;
    struct error ignored;
    struct stat status;
    size_t length = 0, start = strlen(header);
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        source_open(&source, path, &ignored) < 0) {
        return NULL;
    }
    size_t size = (size_t)status.st_size;
    char *text = memory_array(size + 1, 1, "a table", &ignored);
    bool good = text && source_read(source, text, size, &length, &ignored) == 0 && length == size &&
                length >= start && text[length - 1] == '\n' && strncmp(text, header, start) == 0 &&
                !memchr(text, '\0', length);
    source_close(source);
    if (good) {
        text[length] = '\0';
        good = !single || strchr(text + start, '\n') == text + length - 1;
    }
    if (!good) {
        free(text);
        return NULL;
    }
    return text;
}

/* Writes the rows of a stored table, with the current name of the test file. */
static int write_stored(const char *text, const char *test, struct output *output,
                        struct error *err) {
    const char *row = strchr(text, '\n') + 1;
    while (*row) {
        const char *cells = strchr(row, '\t'), *end = strchr(row, '\n') + 1;
        if (cells && cells < end) {
            table_name(output, test);
            output_write(output, cells, (size_t)(end - cells));
        }
        row = end;
    }
    return output_flush(output, err);
}

/* Sets *skipped to whether predictions and stored tables exist, and writes the rows of these
 * tables. */
static int skip(struct batch *batch, const char *test, char *path[FILES], bool *skipped,
                struct error *err) {
    struct prediction *prediction = batch->prediction;
    struct output *table[FILES] = {NULL, prediction->standard, prediction->queries};
    char *stored[FILES] = {NULL};
    struct stat status;
    *skipped = stat(path[PREDICTIONS], &status) == 0 && S_ISREG(status.st_mode);
    for (size_t i = MEASURES; i < FILES; i++) {
        if (*skipped && batch->header[i]) {
            stored[i] = read_stored(path[i], batch->header[i], i == MEASURES);
            *skipped = stored[i] != NULL;
        }
    }
    int result = 0;
    for (size_t i = MEASURES; i < FILES && *skipped && result == 0; i++) {
        result = stored[i] ? write_stored(stored[i], test, table[i], err) : 0;
    }
    free_paths(stored);
    return result;
}

/* ---- one test file ---- */

static void write_row(const struct prediction *prediction, const char *test, size_t n_rows,
                      struct output *output) {
    table_name(output, test);
    output_format(output, "\t%zu", n_rows);
    for (size_t k = 0; k < prediction->n_measures; k++) {
        table_number(output, prediction->value[k]);
    }
    output_format(output, "\n");
}

/* Opens the outputs of a test file; those that were opened before an error remain in `file`. */
static int open_files(struct output *file[FILES], char *const path[FILES],
                      char *const header[FILES], struct error *err) {
    for (size_t i = 0; i < FILES; i++) {
        if (path[i] && output_open(&file[i], path[i], err) < 0) {
            return -1;
        }
        if (path[i] && i != PREDICTIONS) {
            output_format(file[i], "%s", header[i]);
        }
    }
    return 0;
}

/* Predicts a test file and puts its files in place, the predictions last. */
static int make_files(const struct batch *batch, const char *test, char *const path[FILES],
                      struct test_rows *rows, struct error *err) {
    struct prediction *prediction = batch->prediction;
    struct output *file[FILES] = {NULL};
    *rows = (struct test_rows){.n = 0};
    int status = open_files(file, path, batch->header, err);
    if (status == 0) {
        struct output *queries = file[QUERIES] ? file[QUERIES] : prediction->queries;
        status = predict_file(prediction, test, file[PREDICTIONS], queries, rows, err);
    }
    if (status == 0 && file[MEASURES]) {
        write_row(prediction, test, rows->n, file[MEASURES]);
    }
    struct output *ordered[FILES] = {file[QUERIES], file[MEASURES], file[PREDICTIONS]};
    return output_end_all(ordered, FILES, status, prediction->hold, err);
}

/* Writes the table rows, or prints the measures, of a file that was just predicted. */
static int show_file(const struct batch *batch, const char *test, char *const path[FILES],
                     const struct test_rows *rows, struct error *err) {
    struct prediction *prediction = batch->prediction;
    predict_write_json(prediction, test, rows, NULL);
    if (options_given(prediction->options, "metrics")) {
        write_row(prediction, test, rows->n, prediction->standard);
        if (output_flush(prediction->standard, err) < 0) {
            return -1;
        }
    } else if (!options_given(prediction->options, "quiet")) {
        output_sink_line(prediction->sink, "%s:", test);
        predict_print_measures(prediction, rows);
    }
    if (!batch->header[QUERIES]) {
        return 0;
    }
    char *stored = read_stored(path[QUERIES], batch->header[QUERIES], false);
    int status = stored ? write_stored(stored, test, prediction->queries, err)
                        : error_set(err, ERROR_RUNTIME, "%s: is gone", path[QUERIES]);
    free(stored);
    return status;
}

/* Records and prints a failure; returns -1 if the run must end. */
static int record_failure(struct batch *batch, size_t number, const char *test, struct error *err) {
    struct prediction *prediction = batch->prediction;
    if (!options_given(prediction->options, "keep-going")) {
        return -1;
    }
    batch->failed[number] = true;
    batch->n_failed++;
    predict_write_json(prediction, test, NULL, err);
    output_sink_write(prediction->sink, "%s: %s\n", prediction->program, err->text);
    return 0;
}

static int take_test(struct batch *batch, size_t number, const char *test, struct error *err) {
    struct prediction *prediction = batch->prediction;
    char *path[FILES] = {NULL};
    bool skipped = false;
    struct test_rows rows;
    if (make_paths(batch, test, path, err) < 0) {
        return -1;
    }
    int status = 0;
    if (options_given(prediction->options, "skip-existing")) {
        status = skip(batch, test, path, &skipped, err);
        batch->n_skipped += skipped;
    }
    if (status == 0 && !skipped) {
        status = make_files(batch, test, path, &rows, err) < 0
                     ? record_failure(batch, number, test, err)
                     : show_file(batch, test, path, &rows, err);
    }
    free_paths(path);
    return status;
}

/* ---- all test files ---- */

static int make_folder(const struct options *options, struct error *err) {
    const char *folder = options_text(options, "output-dir");
    struct stat status;
    if (folder && mkdir(folder, 0777) != 0 &&
        (errno != EEXIST || stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))) {
        return error_set(err, ERROR_RUNTIME, "%s: cannot make the folder: %s", folder,
                         strerror(errno));
    }
    return 0;
}

/* Writes the header of the table on standard output, and makes those of the stored tables. */
static int open_tables(struct batch *batch, struct error *err) {
    const struct prediction *prediction = batch->prediction;
    const struct options *options = prediction->options;
    bool stores = options_given(options, "skip-existing");
    if (options_given(options, "metrics")) {
        char *header = table_header("file\trows", prediction->measure, prediction->n_measures, err);
        if (!header) {
            return -1;
        }
        output_format(prediction->standard, "%s", header);
        batch->header[MEASURES] = header;
    }
    if (stores && prediction->queries) {
        batch->header[QUERIES] = by_query_header(prediction->predictor->labels, prediction->measure,
                                                 prediction->n_measures, err);
        if (!batch->header[QUERIES]) {
            return -1;
        }
    }
    if (!stores) {
        free(batch->header[MEASURES]);
        batch->header[MEASURES] = NULL;
    }
    return output_flush(prediction->standard, err);
}

/* Prints how many files were skipped, and which have failed. */
static int report(const struct batch *batch, const char *const *tests, size_t n,
                  struct error *err) {
    const struct prediction *prediction = batch->prediction;
    if (batch->n_skipped > 0 && !options_given(prediction->options, "quiet")) {
        output_sink_write(prediction->sink, "%s: %zu of %zu test files were predicted before\n",
                          prediction->program, batch->n_skipped, n);
    }
    if (batch->n_failed == 0) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (batch->failed[i]) {
            output_sink_line(prediction->sink, "%s: failed: %s", prediction->program, tests[i]);
        }
    }
    return error_set(err, ERROR_RUNTIME, "%zu of %zu test files failed", batch->n_failed, n);
}

int batch_run(struct prediction *prediction, bool *whole, struct error *err) {
    size_t n;
    const char *const *tests = batch_tests(prediction->options, &n);
    struct batch batch = {.prediction = prediction};
    batch.failed = memory_zeros(n, sizeof *batch.failed, "test files", err);
    int status =
        batch.failed && make_folder(prediction->options, err) == 0 && open_tables(&batch, err) == 0
            ? 0
            : -1;
    for (size_t i = 0; i < n && status == 0; i++) {
        status = take_test(&batch, i, tests[i], err);
    }
    *whole = status == 0;
    if (status == 0) {
        status = report(&batch, tests, n, err);
    }
    free_paths(batch.header);
    free(batch.failed);
    return status;
}
