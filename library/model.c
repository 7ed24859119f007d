/* Models: the text of the model file, and the model read from it. A new model is also read back
 * from its text, so that predictions do not depend on where a model came from. */
#include "library/private.h"

#include "common/base/memory.h"
#include "common/data/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the text ---- */

/* Copies the header, the lines `key value` after the first. The end of each line becomes a NUL, and
 * an empty line follows. The copy includes all lines before the first that begins with a digit; the
 * last one may begin the next section, and is then a word without a blank, or "scaling sparse", or
 * "w sparse". */
static int take_header(struct dualsvm_model *model, struct error *err) {
    const char *first = memchr(model->text.bytes, '\n', model->text.n);
    const char *end = first, *past = model->text.bytes + model->text.n;
    while (end && end + 1 < past && end[1] >= 'a' && end[1] <= 'z') {
        end = memchr(end + 1, '\n', (size_t)(past - end - 1));
    }
    model->header = memory_text(first ? first + 1 : "", first && end ? (size_t)(end - first) : 0,
                                "a header", err);
    for (char *at = model->header; at && (at = strchr(at, '\n')) != NULL;) {
        *at++ = '\0';
    }
    return model->header ? 0 : -1;
}

const char *dualsvm_model_value(const dualsvm_model *model, const char *key) {
    size_t length = key ? strlen(key) : 0;
    for (const char *line = model && key ? model->header : ""; *line; line += strlen(line) + 1) {
        if (strncmp(line, key, length) == 0 && line[length] == ' ' &&
            strcmp(line, "scaling sparse") != 0 && strcmp(line, "w sparse") != 0) {
            return line + length + 1;
        }
    }
    return NULL;
}

/* Splits the line `labels` of the model. */
static int take_labels(struct dualsvm_model *model, struct error *err) {
    const char *line = model_value(&model->model, "labels");
    if (!line || model->family->train->labels == DATA_NUMBER) {
        return 0;
    }
    model->label_text = memory_text(line, strlen(line), "labels", err);
    if (!model->label_text) {
        return -1;
    }
    size_t n = *line != '\0';
    for (const char *at = line; *at; at++) {
        n += *at == ' ';
    }
    model->label = memory_array(n, sizeof *model->label, "labels", err);
    if (!model->label) {
        return -1;
    }
    for (char *word = model->label_text; model->n_labels < n; word += strlen(word) + 1) {
        word[strcspn(word, " ")] = '\0';
        model->label[model->n_labels++] = word;
    }
    return 0;
}

static void begin_report(struct dualsvm_model *model) {
    const struct model *read = &model->model;
    bool bounded = !isnan(read->gap);
    model->report = (dualsvm_report){.primal = read->primal,
                                     .dual = bounded ? read->dual : (double)NAN,
                                     .gap = read->gap,
                                     .certified = read->certified,
                                     .converged = -1,
                                     .iterations = read->iterations,
                                     .reason = "",
                                     .lines = ""};
}

int library_model_create(struct dualsvm_model **model, const struct family_tables *family,
                         const char *name, struct text *text, struct error *err) {
    struct dualsvm_model *made = memory_zeros(1, sizeof *made, "a model", err);
    if (!made) {
        free(text->bytes);
        *text = (struct text){0};
        return -1;
    }
    made->family = family;
    made->text = *text;
    *text = (struct text){0};
    const struct predictor *predictor = family->predict;
    if (model_read_bytes(&made->model, predictor->name, predictor->model_keys, predictor->imports,
                         name, made->text.bytes ? made->text.bytes : "", made->text.n, err) < 0) {
        made->model = (struct model){0};
        dualsvm_model_free(made);
        return -1;
    }
    if (take_header(made, err) < 0 || take_labels(made, err) < 0) {
        dualsvm_model_free(made);
        return -1;
    }
    begin_report(made);
    *model = made;
    return 0;
}

void dualsvm_model_free(dualsvm_model *model) {
    if (!model) {
        return;
    }
    model_free(&model->model);
    free(model->text.bytes);
    free(model->header);
    free(model->label_text);
    free((void *)model->label);
    free(model->lines.bytes);
    free(model);
}

/* ---- files and bytes ---- */

int dualsvm_model_save(const dualsvm_model *model, const char *path, dualsvm_error *error) {
    if (!model || !path) {
        return library_refuse(error, "no model, or no path");
    }
    struct error err = {0};
    struct output *output;
    if (output_open(&output, path, &err) < 0) {
        return library_fail(error, &err);
    }
    int status = model_write_text(model->text.bytes, model->text.n, output, &err);
    return output_end(output, status, &err) < 0 ? library_fail(error, &err) : 0;
}

const void *dualsvm_model_bytes(const dualsvm_model *model, size_t *size) {
    if (size) {
        *size = model ? model->text.n : 0;
    }
    return model ? model->text.bytes : NULL;
}

/* Reads all text of a source. */
static int read_all(struct source *source, struct text *text, struct error *err) {
    enum { BLOCK = 1 << 16 };
    size_t got = BLOCK;
    while (got == BLOCK) {
        if (memory_grow(&text->bytes, text->room, text->n + BLOCK, 1, "a model", err) < 0) {
            return -1;
        }
        text->room = memory_room(text->room, text->n + BLOCK);
        if (source_read(source, text->bytes + text->n, BLOCK, &got, err) < 0) {
            return -1;
        }
        text->n += got;
    }
    return 0;
}

static bool begins(const struct text *text, const char *with) {
    size_t length = strlen(with);
    return text->n >= length && memcmp(text->bytes, with, length) == 0;
}

/* The family named in the first line, `dualsvm FAMILY 1`, or for a LIBLINEAR model the family that
 * imports it; NULL: neither. */
static const struct family_tables *family_of_text(const struct text *text) {
    for (const struct family_tables *tables = library_families; tables->train; tables++) {
        char line[64];
        snprintf(line, sizeof line, "dualsvm %s ", tables->train->name);
        if (begins(text, line) || (tables->predict->imports && begins(text, "solver_type "))) {
            return tables;
        }
    }
    return NULL;
}

/* Reads a model from a source; family NULL: any. */
static int load(dualsvm_model **model, const struct family_tables *family, struct source *source,
                struct error *err) {
    struct text text = {0};
    if (read_all(source, &text, err) < 0) {
        free(text.bytes);
        return -1;
    }
    family = family ? family : family_of_text(&text);
    if (!family) {
        free(text.bytes);
        return error_set(err, ERROR_RUNTIME, "%s: not a model", source_name(source));
    }
    return library_model_create(model, family, source_name(source), &text, err);
}

/* Loads a model from a file or from bytes; of the named family, NULL: any. */
static int open_and_load(dualsvm_model **model, const char *family, const char *path,
                         const void *bytes, size_t size, dualsvm_error *error) {
    struct error err = {0};
    struct source *source;
    if (model) {
        *model = NULL;
    }
    if (!model || (!path && !bytes)) {
        return library_refuse(error, "no path, no bytes, or no place for a model");
    }
    const struct family_tables *tables = family ? library_family(family, error) : NULL;
    if (family && !tables) {
        return -1;
    }
    int status = source_open_bytes(&source, bytes ? "<bytes>" : path, bytes, size, &err);
    if (status == 0) {
        status = load(model, tables, source, &err);
        source_close(source);
    }
    return status < 0 ? library_fail(error, &err) : 0;
}

int dualsvm_model_load(dualsvm_model **model, const char *family, const char *path,
                       dualsvm_error *error) {
    return open_and_load(model, family, path, NULL, 0, error);
}

int dualsvm_model_from_bytes(dualsvm_model **model, const char *family, const void *bytes,
                             size_t size, dualsvm_error *error) {
    return open_and_load(model, family, NULL, bytes, size, error);
}

/* ---- accessors ---- */

const char *dualsvm_model_family(const dualsvm_model *model) {
    return model ? model->family->train->name : NULL;
}

size_t dualsvm_model_scores(const dualsvm_model *model) {
    return model ? model->model.n_outputs : 0;
}

size_t dualsvm_model_features(const dualsvm_model *model) {
    return model ? model->model.n_features : 0;
}

size_t dualsvm_model_support_vectors(const dualsvm_model *model) {
    return model && !model->model.weights ? model->model.vectors.n_rows : 0;
}

size_t dualsvm_model_labels(const dualsvm_model *model) {
    return model ? model->n_labels : 0;
}

const char *dualsvm_model_label(const dualsvm_model *model, size_t i) {
    return model && i < model->n_labels ? model->label[i] : NULL;
}

int dualsvm_model_weights(const dualsvm_model *model, double *weights, double *bias,
                          dualsvm_error *error) {
    if (!model || !model->model.weights) {
        return library_refuse(error, "not a model with weights");
    }
    const struct model *read = &model->model;
    size_t n = read->n_outputs;
    for (uint32_t j = 0; weights && j < read->n_features; j++) {
        const double *of_feature = model_weights_of(read, j);
        for (size_t k = 0; k < n; k++) {
            weights[j * n + k] = of_feature ? of_feature[k] : 0;
        }
    }
    for (size_t k = 0; bias && k < n; k++) {
        bias[k] = read->bias ? read->bias[k] : 0;
    }
    return 0;
}

void dualsvm_model_report(const dualsvm_model *model, dualsvm_report *report, size_t size) {
    if (model && report) {
        memcpy(report, &model->report, size < sizeof *report ? size : sizeof *report);
    }
}
