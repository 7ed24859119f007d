#include "driver/outputs.h"

#include "common/base/memory.h"
#include "common/data/spread.h"
#include "driver/run_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The training file's name and .model, in the current folder. */
static int default_model_path(struct outputs *outputs, const char *path, struct error *err) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strcmp(path, "-") == 0) {
        name = "stdin";
    }
    size_t size = strlen(name) + sizeof ".model";
    outputs->default_model = memory_array(size, 1, "a file name", err);
    if (!outputs->default_model) {
        return -1;
    }
    snprintf(outputs->default_model, size, "%s.model", name);
    return 0;
}

static int open_file(const struct outputs *outputs, struct output **output, const char *path,
                     struct error *err) {
    return output_open(output, outputs->nowhere ? "/dev/null" : path, err);
}

static int open_wanted(const struct outputs *outputs, struct output **output,
                       const struct options *options, const char *name, struct error *err) {
    return options_given(options, name)
               ? open_file(outputs, output, options_text(options, name), err)
               : 0;
}

static int list_parts(struct run_files *files, const char *path, size_t n, struct error *err) {
    int status = 0;
    for (size_t r = 0; status == 0 && r < n; r++) {
        char *part = spread_part_path(path, r, err);
        status = part ? run_files_read(files, part, err) : -1;
        free(part);
    }
    return status;
}

/* The names by which a model has standard output for itself. */
static bool takes_standard(const char *model) {
    return strcmp(model, "-") == 0 || strcmp(model, "/dev/stdout") == 0;
}

/* `model` is NULL if none is written. Standard output has the report or the table. */
static int list_files(const struct outputs *outputs, struct run_files *files,
                      const struct family *family, const struct options *options, const char *model,
                      struct error *err) {
    static const char *const reads[] = {"fold-file", "validate", "row-weights"};
    const char *const writes[] = {"log",       "resume", "libsvm",
                                  "liblinear", "proof",  family->extra_option};
    bool taken = model && takes_standard(model); /* then all else goes to standard error */
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
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        if (writes[i] && run_files_write(files, options_text(options, writes[i]), err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int check_files(const struct outputs *outputs, const struct family *family,
                       const struct options *options, const char *model, struct error *err) {
    struct run_files files = {0};
    int status = list_files(outputs, &files, family, options, model, err);
    status = status < 0 ? -1 : run_files_check(&files, err);
    run_files_free(&files);
    return status;
}

static int open_model(struct outputs *outputs, const struct family *family,
                      const struct options *options, const char *path, struct error *err) {
    if (open_file(outputs, &outputs->model, path, err) < 0 ||
        open_wanted(outputs, &outputs->proof, options, "proof", err) < 0 ||
        (family->extra_option &&
         open_wanted(outputs, &outputs->extra, options, family->extra_option, err) < 0)) {
        return -1;
    }
    return open_wanted(outputs, &outputs->libsvm, options, "libsvm", err) < 0
               ? -1
               : open_wanted(outputs, &outputs->liblinear, options, "liblinear", err);
}

/* The model or the table has standard output for itself, the model first. What then remains to say
 * is for standard error, but beside a table not if that is to be quiet. */
static int open_standard(struct outputs *outputs, bool table, bool quiet, struct error *err) {
    bool taken = outputs->model && output_is_stdout(outputs->model);
    if (table && open_file(outputs, &outputs->table, taken ? OUTPUT_STDERR : "-", err) < 0) {
        return -1;
    }
    return table && quiet
               ? 0
               : open_file(outputs, &outputs->results, taken || table ? OUTPUT_STDERR : "-", err);
}

int outputs_open(struct outputs *outputs, const struct family *family,
                 const struct options *options, bool fitting, bool table, struct error *err) {
    *outputs = (struct outputs){
        .hold = outputs->hold, .nowhere = outputs->nowhere, .n_parts = outputs->n_parts};
    if (default_model_path(outputs, options->operand[0], err) < 0) {
        return -1;
    }
    const char *model = !fitting                  ? NULL
                        : options->n_operands > 1 ? options->operand[1]
                                                  : outputs->default_model;
    if (check_files(outputs, family, options, model, err) < 0 ||
        (fitting && open_model(outputs, family, options, model, err) < 0) ||
        open_wanted(outputs, &outputs->log, options, "log", err) < 0 ||
        open_standard(outputs, table, options_given(options, "quiet"), err) < 0) {
        outputs_close(outputs);
        return -1;
    }
    return 0;
}

int outputs_write_model(struct outputs *outputs, const struct family *family,
                        const struct model *model, uint32_t *checksum, struct error *err) {
    if (model_write(model, family->name, outputs->model, checksum, err) < 0 ||
        (outputs->libsvm && model_write_libsvm(model, outputs->libsvm, err) < 0) ||
        (outputs->liblinear && model_write_liblinear(model, outputs->liblinear, err) < 0)) {
        return -1;
    }
    return 0;
}

int outputs_commit(struct outputs *outputs, struct error *err) {
    struct output *all[] = {outputs->libsvm, outputs->liblinear, outputs->log,   outputs->extra,
                            outputs->proof,  outputs->model,     outputs->table, outputs->results};
    outputs->table = NULL;
    outputs->libsvm = outputs->liblinear = outputs->log = outputs->proof = NULL;
    outputs->extra = outputs->model = outputs->results = NULL;
    return output_commit_all(all, sizeof all / sizeof all[0], outputs->hold, err);
}

void outputs_close(struct outputs *outputs) {
    output_discard(outputs->model);
    output_discard(outputs->log);
    output_discard(outputs->extra);
    output_discard(outputs->proof);
    output_discard(outputs->libsvm);
    output_discard(outputs->liblinear);
    output_discard(outputs->table);
    output_discard(outputs->results);
    free(outputs->default_model);
    *outputs = (struct outputs){0};
}
