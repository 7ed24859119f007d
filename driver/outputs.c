/* The output files of a trainer, opened early and renamed together (outputs.h). */
#include "driver/outputs.h"

#include "common/base/text.h"
#include "common/data/distribute.h"
#include "driver/run_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path of the model if none was given: the training file's name and .model, in the current
 * folder. */
static int default_model_path(struct outputs *outputs, const char *path, struct error *err) {
    struct text name = {0};
    text_format(&name, "%s.model", run_files_base_name(path));
    outputs->default_model = text_end(&name, "a file name", err);
    return outputs->default_model ? 0 : -1;
}

static int open_file(struct outputs *outputs, size_t file, const char *path, struct error *err) {
    return output_open(&outputs->file[file], outputs->discards ? "/dev/null" : path, err);
}

/* Refuses to write over a file of another kind than the output's. */
static int check_replaced(const struct family *family, size_t file, const char *path,
                          struct error *err) {
    char begin[32], model[64], extra[64];
    snprintf(begin, sizeof begin, "dualsvm %s ", family->name);
    snprintf(model, sizeof model, "a model of svm-%s-train", family->name);
    snprintf(extra, sizeof extra, "a file of --%s",
             family->extra_option ? family->extra_option : "");
    const struct {
        const char *what, *words[3];
    } kinds[] = {[OUTPUTS_LIBSVM] = {"a model of LIBSVM", {"svm_type "}},
                 [OUTPUTS_LIBLINEAR] = {"a model of LIBLINEAR", {"solver_type "}},
                 [OUTPUTS_LOG] = {"a log", {"iteration\t", "point\t"}},
                 [OUTPUTS_JSON] = {"a file of --json", {"{"}},
                 [OUTPUTS_EXTRA] = {extra, {family->extra_begins}},
                 [OUTPUTS_PROOF] = {"a proof", {"dualsvm proof "}},
                 [OUTPUTS_MODEL] = {model, {begin}}};
    return run_files_check_replaced(path, kinds[file].words, kinds[file].what, err);
}

/* Opens an output that is named on the command line, or the default model. */
static int open_named(struct outputs *outputs, const struct family *family,
                      const struct options *options, size_t file, const char *path,
                      struct error *err) {
    bool checks = !outputs->discards && !options_given(options, "force");
    return checks && check_replaced(family, file, path, err) < 0
               ? -1
               : open_file(outputs, file, path, err);
}

/* The option that names the output; NULL: none. */
static const char *option_of(size_t file, const struct family *family) {
    static const char *const writes[] = {"libsvm", "liblinear", "log", "json", NULL, "proof"};
    return file == OUTPUTS_EXTRA ? family->extra_option : writes[file];
}

/* Opens the outputs that options name; if no model is wanted (not `fitting`), --log and --json
 * only. */
static int open_wanted(struct outputs *outputs, const struct family *family,
                       const struct options *options, bool fitting, struct error *err) {
    for (size_t i = 0; i < OUTPUTS_MODEL; i++) {
        const char *name = option_of(i, family);
        if (name && (fitting || i == OUTPUTS_LOG || i == OUTPUTS_JSON) &&
            options_given(options, name) &&
            open_named(outputs, family, options, i, options_text(options, name), err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int list_parts(struct run_files *files, const char *path, size_t n, struct error *err) {
    int status = 0;
    for (size_t r = 0; status == 0 && r < n; r++) {
        char *part = distribute_part_path(path, r, err);
        status = part ? run_files_read(files, part, err) : -1;
        free(part);
    }
    return status;
}

/* Returns whether the output, NULL: none, is standard output. */
static bool takes_standard(const char *path) {
    return path && (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0);
}

/* Lists all files of the run. model: NULL if none is written. Standard output receives the report
 * or the table. */
static int list_files(const struct outputs *outputs, struct run_files *files,
                      const struct family *family, const struct options *options, const char *model,
                      struct error *err) {
    static const char *const reads[] = {"fold-file", "validate", "row-weights"};
    /* then the other results go to standard error */
    bool taken = takes_standard(model) || takes_standard(options_text(options, "json"));
    if (run_files_read(files, options->operand[0], err) < 0 ||
        list_parts(files, options->operand[0], outputs->n_parts, err) < 0 ||
        run_files_write(files, model, err) < 0 ||
        run_files_write(files, taken ? NULL : "-", err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        if (run_files_read(files, options_text(options, reads[i]), err) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < OUTPUTS_MODEL; i++) {
        const char *name = option_of(i, family);
        if (name && run_files_write(files, options_text(options, name), err) < 0) {
            return -1;
        }
    }
    return run_files_write(files, options_text(options, "resume"), err);
}

static int check_files(const struct outputs *outputs, const struct family *family,
                       const struct options *options, const char *model, struct error *err) {
    struct run_files files = {0};
    int status = list_files(outputs, &files, family, options, model, err);
    status = status < 0 ? -1 : run_files_check(&files, err);
    run_files_free(&files);
    return status;
}

/* Standard output is reserved for the model or --json, or else for the table. Other results then go
 * to standard error, or nowhere beside a table with --quiet. */
static int open_standard(struct outputs *outputs, bool table, bool quiet, struct error *err) {
    const struct output *model = outputs->file[OUTPUTS_MODEL], *json = outputs->file[OUTPUTS_JSON];
    bool taken = (model && output_is_stdout(model)) || (json && output_is_stdout(json));
    if (table && open_file(outputs, OUTPUTS_TABLE, taken ? OUTPUT_STDERR : "-", err) < 0) {
        return -1;
    }
    return table && quiet
               ? 0
               : open_file(outputs, OUTPUTS_RESULTS, taken || table ? OUTPUT_STDERR : "-", err);
}

int outputs_open(struct outputs *outputs, const struct family *family,
                 const struct options *options, bool fitting, bool table, struct error *err) {
    *outputs = (struct outputs){
        .hold = outputs->hold, .discards = outputs->discards, .n_parts = outputs->n_parts};
    if (default_model_path(outputs, options->operand[0], err) < 0) {
        return -1;
    }
    const char *model = !fitting                  ? NULL
                        : options->n_operands > 1 ? options->operand[1]
                                                  : outputs->default_model;
    if (check_files(outputs, family, options, model, err) < 0 ||
        (fitting && open_named(outputs, family, options, OUTPUTS_MODEL, model, err) < 0) ||
        open_wanted(outputs, family, options, fitting, err) < 0 ||
        open_standard(outputs, table, options_given(options, "quiet"), err) < 0) {
        outputs_close(outputs);
        return -1;
    }
    return 0;
}

int outputs_write_model(struct outputs *outputs, const struct family *family,
                        const struct model *model, struct threads *threads, uint32_t *checksum,
                        struct error *err) {
    struct output **file = outputs->file;
    if (model_write(model, family->name, file[OUTPUTS_MODEL], threads, checksum, err) < 0 ||
        (file[OUTPUTS_LIBSVM] && model_export(model, true, file[OUTPUTS_LIBSVM], err) < 0)) {
        return -1;
    }
    return file[OUTPUTS_LIBLINEAR] ? model_export(model, false, file[OUTPUTS_LIBLINEAR], err) : 0;
}

int outputs_commit(struct outputs *outputs, struct error *err) {
    struct output *all[OUTPUTS_FILES];
    memcpy(all, outputs->file, sizeof all);
    memset(outputs->file, 0, sizeof outputs->file);
    return output_end_all(all, OUTPUTS_FILES, 0, outputs->hold, err);
}

void outputs_close(struct outputs *outputs) {
    for (size_t i = 0; i < OUTPUTS_FILES; i++) {
        output_discard(outputs->file[i]);
    }
    free(outputs->default_model);
    *outputs = (struct outputs){0};
}
