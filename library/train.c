/* Fits, cross-validation and sweeps: runs of the trainer for an application. */
#include "library/private.h"
#include "library/table.h"

#include "common/base/gap.h"
#include "driver/fit.h"
#include "driver/report.h"
#include "driver/train.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A call of the library. */
struct fitting {
    const struct family_tables *family;
    dualsvm_watch watch;         /* the fields that the caller's struct has */
    pthread_mutex_t mutex;       /* held while a callback of watch runs */
    struct dualsvm_table *table; /* NULL: none */
    struct dualsvm_model *model; /* NULL: not fitted yet */
};

/* ---- callbacks: fits run on several threads, but callbacks run one at a time ---- */

static bool on_check(void *context, uint64_t iteration, double primal, double dual,
                     double seconds) {
    struct fitting *fitting = context;
    const dualsvm_watch *watch = &fitting->watch;
    dualsvm_progress progress = {.size = sizeof progress,
                                 .iteration = iteration,
                                 .primal = primal,
                                 .dual = dual,
                                 .gap = gap_relative(primal, dual),
                                 .seconds = seconds};
    pthread_mutex_lock(&fitting->mutex);
    bool goes_on = watch->progress(watch->context, &progress) == 0;
    pthread_mutex_unlock(&fitting->mutex);
    return goes_on;
}

static int on_row(void *context, const struct dualsvm_table *table, size_t row) {
    struct fitting *fitting = context;
    pthread_mutex_lock(&fitting->mutex);
    int status = fitting->watch.row(fitting->watch.context, table, row);
    pthread_mutex_unlock(&fitting->mutex);
    return status;
}

/* Passes on a warning or a note, without the name of the program and without the line end. */
static void pass_message(void *context, const char *text, size_t length) {
    static const char program[] = "dualsvm: ";
    const size_t n = sizeof program - 1;
    struct fitting *fitting = context;
    char line[ERROR_TEXT];
    if (length >= n && memcmp(text, program, n) == 0) {
        text += n;
        length -= n;
    }
    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    length = length < sizeof line ? length : sizeof line - 1;
    memcpy(line, text, length);
    line[length] = '\0';
    if (length > 0) {
        pthread_mutex_lock(&fitting->mutex);
        fitting->watch.message(fitting->watch.context, line);
        pthread_mutex_unlock(&fitting->mutex);
    }
}

/* Passes on each line of a text. */
static void pass_lines(struct fitting *fitting, const char *text, size_t n) {
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end ? (size_t)(end - text) - at : n - at;
        pass_message(fitting, text + at, length);
        at += length + 1;
    }
}

/* ---- a fit ---- */

/* Collects what a function writes to an output. */
static int collect(struct text *bytes, const struct plain_fit *fit,
                   int (*write)(const struct plain_fit *fit, struct output *output,
                                struct error *err),
                   struct error *err) {
    struct output *output;
    if (output_open_function(&output, "a model in memory", text_take, bytes, err) < 0) {
        return -1;
    }
    return output_end(output, write(fit, output, err), err);
}

static int write_model(const struct plain_fit *fit, struct output *output, struct error *err) {
    return model_write(&fit->model, fit->family->name, output, fit->problem.threads, NULL, err);
}

static int write_report(const struct plain_fit *fit, struct output *output, struct error *err) {
    (void)err;
    report_fit(fit, output);
    return 0;
}

static int write_notes(const struct plain_fit *fit, struct output *output, struct error *err) {
    (void)err;
    report_notes(fit, fit->problem.data, output);
    return 0;
}

static int send_notes(struct fitting *fitting, const struct plain_fit *fit, struct error *err) {
    struct text notes = {0};
    int status = collect(&notes, fit, write_notes, err);
    if (status == 0) {
        pass_lines(fitting, notes.bytes, notes.n);
    }
    free(notes.bytes);
    return status;
}

static int fitted(void *context, const struct plain_fit *fit, struct error *err) {
    struct fitting *fitting = context;
    const struct solution *solution = &fit->solution;
    struct text text = {0};
    if (collect(&text, fit, write_model, err) < 0) {
        free(text.bytes);
        return -1;
    }
    struct dualsvm_model *model;
    if (library_model_create(&model, fitting->family, "a model in memory", &text, err) < 0) {
        return -1;
    }
    fitting->model = model;
    model->report.converged = solution->converged;
    model->report.seconds = fit->kernel_seconds + fit->solve_seconds;
    model->report.reason = solution->converged ? "" : stop_message(solution->reason);
    if (collect(&model->lines, fit, write_report, err) < 0) {
        return -1;
    }
    model->report.lines = model->lines.bytes;
    return fitting->watch.message ? send_notes(fitting, fit, err) : 0;
}

static void chosen(void *context, size_t best) {
    struct fitting *fitting = context;
    fitting->table->best = best;
}

/* ---- the run ---- */

/* Refuses rows that cannot be trained on. */
static int check_rows(const struct dualsvm_data *data, const struct dualsvm_options *options,
                      struct error *err) {
    const struct data *rows = &data->data;
    const struct family *family = data->family->train;
    bool precomputed = fit_precomputed(family, &options->options);
    if (library_check_labels(data, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < rows->n_rows; i++) {
        if (rows->labels == DATA_NUMBER
                ? isnan(rows->target[i])
                : rows->labels == DATA_NAME && rows->label[i] == UINT32_MAX) {
            return error_set(err, ERROR_RUNTIME, "row %zu has no label", i + 1);
        }
    }
    if (rows->weight && !(family->has & FAMILY_ROW_WEIGHTS)) {
        return error_set(err, ERROR_USAGE, "%s has no weights of rows", family->name);
    }
    if (precomputed != (rows->serial != NULL)) {
        return error_set(err, ERROR_USAGE,
                         precomputed
                             ? "the data are not values of a kernel "
                               "(dualsvm_data_set_precomputed), as --kernel precomputed wants"
                             : "the data are values of a kernel, and --kernel is not "
                               "precomputed");
    }
    return 0;
}

static int run(struct fitting *fitting, const struct dualsvm_options *options,
               const struct dualsvm_data *data, bool with_model, struct error *err) {
    const dualsvm_watch *watch = &fitting->watch;
    const struct listener listener = {on_check, fitting};
    const struct output_sink sink = {.write = watch->message ? pass_message : NULL,
                                     .context = fitting};
    struct application application = {.rows = &data->data,
                                      .folds =
                                          fitting->table && data->folds.n > 0 ? &data->folds : NULL,
                                      .cross_validating = fitting->table != NULL,
                                      .fitting = with_model,
                                      .listener = watch->progress ? &listener : NULL,
                                      .fitted = fitted,
                                      .chosen = chosen,
                                      .context = fitting};
    if (check_rows(data, options, err) < 0 ||
        (fitting->table && output_open_function(&application.table, "a table in memory",
                                                library_table_take, fitting->table, err) < 0)) {
        return -1;
    }
    int status =
        train_for_application(fitting->family->train, &options->options, &sink, &application, err);
    output_discard(application.table);
    if (fitting->table && fitting->table->stopped) {
        status = error_set(err, ERROR_STOPPED, "stopped");
    }
    return status;
}

/* table or model may be NULL: not wanted. */
static int train(dualsvm_table **table, dualsvm_model **model, const dualsvm_options *options,
                 const dualsvm_data *data, const dualsvm_watch *watch, dualsvm_error *error) {
    if (!options || !data) {
        return library_refuse(error, "no options, or no data");
    }
    if (options->role != DUALSVM_TRAIN) {
        return library_refuse(error, options->role == DUALSVM_PREDICT
                                         ? "the options are a predictor's"
                                         : "the options are those of candidates");
    }
    if (library_check_data(data, options->family, error) < 0) {
        return -1;
    }
    struct error err = {0};
    struct fitting fitting = {.family = options->family};
    if (watch) {
        memcpy(&fitting.watch, watch,
               watch->size < sizeof fitting.watch ? watch->size : sizeof fitting.watch);
    }
    if (table) {
        fitting.table = library_table_create(&err);
        if (!fitting.table) {
            return library_fail(error, &err);
        }
        fitting.table->row = fitting.watch.row ? on_row : NULL;
        fitting.table->context = &fitting;
    }
    pthread_mutex_init(&fitting.mutex, NULL);
    int status = run(&fitting, options, data, model != NULL, &err);
    pthread_mutex_destroy(&fitting.mutex);
    if (status < 0) {
        dualsvm_table_free(fitting.table);
        dualsvm_model_free(fitting.model);
        return library_fail(error, &err);
    }
    if (table) {
        *table = fitting.table;
    }
    if (model) {
        *model = fitting.model;
    }
    return 0;
}

int dualsvm_train(dualsvm_model **model, const dualsvm_options *options, const dualsvm_data *data,
                  const dualsvm_watch *watch, dualsvm_error *error) {
    if (!model) {
        return library_refuse(error, "no place for a model");
    }
    *model = NULL;
    return train(NULL, model, options, data, watch, error);
}

int dualsvm_cross_validate(dualsvm_table **table, const dualsvm_options *options,
                           const dualsvm_data *data, const dualsvm_watch *watch,
                           dualsvm_error *error) {
    if (!table) {
        return library_refuse(error, "no place for a table");
    }
    *table = NULL;
    return train(table, NULL, options, data, watch, error);
}

int dualsvm_sweep(dualsvm_table **table, dualsvm_model **model, const dualsvm_options *options,
                  const dualsvm_data *data, const dualsvm_watch *watch, dualsvm_error *error) {
    if (!table || !model) {
        return library_refuse(error, "no place for a table, or for a model");
    }
    *table = NULL;
    *model = NULL;
    return train(table, model, options, data, watch, error);
}
