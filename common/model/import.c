/* Import of LIBLINEAR's models of several classes by Crammer and Singer (-s 4):
 *
 *   solver_type MCSVM_CS / nr_class K / label L1 .. LK / nr_feature D / bias B / w
 *
 * and a line of K weights for each feature, with one more, of a feature of value B, if B >= 0. As
 * for our own models the header is not trusted: memory grows with the lines that are read. */
#include "common/model/import.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/model/read_private.h"

#include <math.h>
#include <string.h>

bool model_import_is(const struct model_lines *in) {
    return strncmp(in->line, "solver_type ", strlen("solver_type ")) == 0;
}

/* Removes the CR of a line that ends in CR LF. */
static void drop_cr(struct model_lines *in) {
    if (in->length > 0 && in->line[in->length - 1] == '\r') {
        in->line[--in->length] = '\0';
    }
}

static int next_line(struct model_lines *in, struct error *err) {
    if (model_lines_next(in, err) < 0) {
        return -1;
    }
    drop_cr(in);
    return 0;
}

/* The value of the current line, which must have the key. */
static const char *value_of(const struct model_lines *in, const char *key, struct error *err) {
    size_t length = strlen(key);
    if (strncmp(in->line, key, length) != 0 || in->line[length] != ' ') {
        char what[64] = "not LIBLINEAR's line ";
        strncat(what, key, sizeof what - strlen(what) - 1);
        model_lines_fail(in, what, in->line, err);
        return NULL;
    }
    return in->line + length + 1;
}

static int read_number(struct model_lines *in, const char *key, double low, double high,
                       double *value, struct error *err) {
    if (next_line(in, err) < 0) {
        return -1;
    }
    const char *text = value_of(in, key, err);
    if (!text) {
        return -1;
    }
    return number_parse_whole(text, value) && *value >= low && *value <= high
               ? 0
               : model_lines_fail(in, "not a number in range", text, err);
}

/* Reads the line of labels, a blank after each, and adds it as a line of our format. */
static int read_labels(struct model_lines *in, struct model *model, struct error *err) {
    if (next_line(in, err) < 0) {
        return -1;
    }
    const char *text = value_of(in, "label", err);
    if (!text) {
        return -1;
    }
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    return model_add(model, err, "labels", "%.*s", (int)length, text);
}

static int read_weights(struct model_lines *in, struct model *model, double bias,
                        struct error *err) {
    size_t used = 0, lines = model->n_features + (size_t)(bias >= 0 ? 1 : 0);
    for (size_t line = 0; line < lines; line++) {
        if (next_line(in, err) < 0) {
            return -1;
        }
        const char *at = in->line;
        if (model_read_numbers(in, model->n_outputs, &model->weights, &used, &at, err) < 0) {
            return -1;
        }
        at += *at == ' ';
        if (*at) {
            return model_lines_fail(in, "more on the line than its numbers", at, err);
        }
    }
    int status = model_lines_last(in, err);
    if (status < 0 || bias < 0) {
        return status;
    }
    model->bias = memory_array(model->n_outputs, sizeof(double), "the model", err);
    if (!model->bias) {
        return -1;
    }
    for (size_t c = 0; c < model->n_outputs; c++) {
        model->bias[c] = bias * model->weights[used - model->n_outputs + c];
    }
    return 0;
}

int model_import(struct model_lines *in, struct model *model, struct error *err) {
    static const char formulation[] = "cs";
    drop_cr(in); /* of the first line, which was read by the caller */
    const char *type = value_of(in, "solver_type", err);
    if (!type) {
        return -1;
    }
    if (strcmp(type, "MCSVM_CS") != 0) {
        return model_lines_fail(in, "a LIBLINEAR model, but not of MCSVM_CS (-s 4)", type, err);
    }
    double n_classes, n_features, bias;
    if (read_number(in, "nr_class", 2, 1 << 24, &n_classes, err) < 0 ||
        read_labels(in, model, err) < 0 ||
        read_number(in, "nr_feature", 1, UINT32_MAX - 1.0, &n_features, err) < 0 ||
        read_number(in, "bias", -HUGE_VAL, HUGE_VAL, &bias, err) < 0 || next_line(in, err) < 0) {
        return -1;
    }
    if (strcmp(in->line, "w") != 0) {
        return model_lines_fail(in, "not LIBLINEAR's line w", in->line, err);
    }
    model->primal = model->dual = model->gap = NAN; /* the file has none */
    model->kernel.type = KERNEL_LINEAR;
    model->n_outputs = (size_t)n_classes;
    model->n_features = model->n_columns = (uint32_t)n_features;
    model->formulation = memory_array(sizeof formulation, 1, "the model", err);
    if (!model->formulation) {
        return -1;
    }
    memcpy(model->formulation, formulation, sizeof formulation);
    return n_classes == floor(n_classes) && n_features == floor(n_features)
               ? read_weights(in, model, bias, err)
               : model_lines_fail(in, "not a whole number of classes and features", NULL, err);
}
