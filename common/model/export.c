/* Export to the model formats of LIBSVM (epsilon_svr) and LIBLINEAR (L2R_L2LOSS_SVR), whose
 * programs print the score itself as their prediction. Numbers are written so that they read back
 * to the same bits. */
#include "common/data/decimal.h"
#include "common/model/label_line.h"
#include "common/model/model.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* LIBLINEAR counts features in an int; larger models would be gigabytes of zeros. */
static const uint32_t MAX_FEATURES = 1 << 28;

int model_export_check(const struct kernel *kernel, enum scale_kind scale, bool libsvm,
                       struct error *err) {
    const char *option = libsvm ? "--libsvm" : "--liblinear";
    bool linear = kernel->type == KERNEL_LINEAR;
    if (!(libsvm ? kernel_in_libsvm(kernel->type) : linear)) {
        return error_set(err, ERROR_USAGE, "%s: that format does not have the %s kernel", option,
                         kernel_names[kernel->type]);
    }
    if (scale != SCALE_NONE && !(linear && scale_kind_affine(scale))) {
        return error_set(err, ERROR_USAGE, "%s: that format has no place for --scale %s%s", option,
                         scale_names[scale], linear ? "" : " of a kernel model");
    }
    return 0;
}

int model_export_check_width(uint32_t n_features, struct error *err) {
    return n_features <= MAX_FEATURES
               ? 0
               : error_set(err, ERROR_RUNTIME,
                           "--liblinear: that format lists the weights of all features up to the "
                           "largest index, and %u are too many: over %u",
                           n_features, MAX_FEATURES);
}

/* *folded = a linear model for unscaled rows with the same scores: the sum of w_j (x_j - shift_j)
 * factor_j. It owns only weights and bias. */
static int fold_scale(const struct model *model, struct model *folded, struct error *err) {
    const struct scale *scale = &model->scale;
    size_t n = model->n_outputs, columns = model->n_columns;
    *folded = *model;
    folded->scale = (struct scale){0};
    folded->weights = memory_array(columns, n * sizeof(double), "weights", err);
    folded->bias = memory_zeros(n, sizeof(double), "weights", err);
    if (!folded->weights || !folded->bias) {
        free(folded->weights);
        free(folded->bias);
        return -1;
    }
    bool any = model->bias != NULL;
    for (size_t k = 0; model->bias && k < n; k++) {
        folded->bias[k] = model->bias[k];
    }
    for (size_t j = 0; j < columns * n; j++) {
        size_t c = j / n;
        double weight = model->weights[j] * (c < scale->n ? scale->factor[c] : 0);
        double shift = c < scale->n && scale->shift ? scale->shift[c] : 0;
        folded->weights[j] = weight;
        folded->bias[j % n] -= weight * shift;
        any = any || shift != 0;
    }
    if (!any) {
        free(folded->bias);
        folded->bias = NULL;
    }
    return 0;
}

static void put_pair(struct output *output, uint64_t index, double value) {
    output_format(output, " %llu:", (unsigned long long)index);
    output_number(output, value);
}

/* Writes a line `key number`. */
static void put_line(struct output *output, const char *key, double value) {
    output_format(output, "%s ", key);
    output_number(output, value);
    output_format(output, "\n");
}

static void put_vector(struct output *output, const struct data *data, size_t row) {
    if (data->serial) {
        output_format(output, " 0:%llu", (unsigned long long)data->serial[row]);
        return;
    }
    struct stored_row stored = data_stored(data, row);
    for (size_t k = 0; k < stored.n; k++) {
        if (stored.value[k] != 0) {
            uint32_t index = data_index(data, stored_column(stored, k));
            put_pair(output, index + (uint64_t)1, (double)stored.value[k]);
        }
    }
}

static int write_libsvm(const struct model *model, struct output *output, struct error *err) {
    const struct kernel *kernel = &model->kernel;
    size_t n = model->weights ? 1 : model->vectors.n_rows;
    unsigned parameters = kernel_parameters(kernel->type);
    output_format(output, "svm_type epsilon_svr\nkernel_type %s\n", kernel_names[kernel->type]);
    if (parameters & KERNEL_DEGREE) {
        output_format(output, "degree %d\n", kernel->degree);
    }
    if (parameters & KERNEL_GAMMA) {
        put_line(output, "gamma", kernel->gamma);
    }
    if (parameters & KERNEL_COEF0) {
        put_line(output, "coef0", kernel->coef0);
    }
    output_format(output, "nr_class 2\ntotal_sv %zu\n", n);
    put_line(output, "rho", model->bias ? -model->bias[0] : 0);
    output_format(output, "SV\n");
    if (model->weights) { /* one support vector: w */
        output_format(output, "1");
        for (size_t c = 0; c < model->n_columns; c++) {
            size_t index = model->columns.at ? model->columns.at[c] : c;
            if (model->weights[c * model->n_outputs] != 0) {
                put_pair(output, index + (uint64_t)1, model->weights[c * model->n_outputs]);
            }
        }
        output_format(output, " \n");
    }
    for (size_t i = 0; !model->weights && i < n; i++) {
        output_number(output, model->coefficients[i * model->n_outputs]);
        put_vector(output, &model->vectors, i);
        output_format(output, " \n"); /* svm-predict needs a blank before the end of a line */
    }
    return output_flush(output, err);
}

/* Writes a line with the weights of n classes; weight NULL: zeros. */
static void put_classes(struct output *output, const double *weight, size_t n) {
    for (size_t c = 0; c < n; c++) {
        output_number(output, weight ? weight[c] : 0);
        output_write(output, " ", 1);
    }
    output_write(output, "\n", 1);
}

/* Writes the labels as integers, as LIBLINEAR reads them: 1, not +1 or 1.0. */
static int put_labels(struct output *output, const struct model *model, struct error *err) {
    struct labels labels;
    if (label_line_read(&labels, model, false, err) < 0) {
        return -1;
    }
    int status = 0;
    output_format(output, "label ");
    for (size_t c = 0; status == 0 && c < labels.names.n; c++) {
        const char *name = labels.names.name[c];
        struct decimal number;
        int value = 0;
        if (!decimal_read(&number, name, strlen(name)) || !decimal_to_int(&number, &value)) {
            status = error_set(err, ERROR_RUNTIME, "no whole number for LIBLINEAR: '%s'", name);
        }
        output_format(output, "%d ", value);
    }
    output_format(output, "\n");
    labels_free(&labels);
    return status;
}

static int write_classes(const struct model *model, struct output *output, struct error *err) {
    size_t n = model->n_outputs;
    output_format(output, "solver_type MCSVM_CS\nnr_class %zu\n", n);
    if (put_labels(output, model, err) < 0) {
        return -1;
    }
    output_format(output, "nr_feature %u\nbias %d\nw\n", model->n_features, model->bias ? 1 : -1);
    for (uint32_t j = 0; j < model->n_features; j++) {
        put_classes(output, model_weights_of(model, j), n);
    }
    if (model->bias) { /* the weights of an additional last feature of value 1 */
        put_classes(output, model->bias, n);
    }
    return output_flush(output, err);
}

static int write_liblinear(const struct model *model, struct output *output, struct error *err) {
    if (model->n_outputs > 1 && model_value(model, "labels")) {
        return write_classes(model, output, err);
    }
    output_format(output, "solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature %u\nbias %d\nw\n",
                  model->n_features, model->bias ? 1 : -1);
    for (uint32_t j = 0; j < model->n_features; j++) {
        put_classes(output, model_weights_of(model, j), 1);
    }
    if (model->bias) { /* the weight of an additional last feature of value 1 */
        put_classes(output, model->bias, 1);
    }
    return output_flush(output, err);
}

int model_export(const struct model *model, bool libsvm, struct output *output, struct error *err) {
    struct model folded;
    bool folds = model->weights && model->scale.factor;
    if (folds && fold_scale(model, &folded, err) < 0) {
        return -1;
    }
    int status = (libsvm ? write_libsvm : write_liblinear)(folds ? &folded : model, output, err);
    if (folds) {
        free(folded.weights);
        free(folded.bias);
    }
    return status;
}
