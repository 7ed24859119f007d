/* Models for other programs: LIBSVM's epsilon_svr and LIBLINEAR's L2R_L2LOSS_SVR print the score
 * itself as their prediction. Numbers are written so that they read back to the same bits. */
#include "common/model/model.h"

#include "common/base/number.h"

#include <stdbool.h>
#include <string.h>

int model_export_check(const struct kernel *kernel, bool scaled, bool libsvm, struct error *err) {
    const char *option = libsvm ? "--libsvm" : "--liblinear";
    if (scaled) {
        return error_set(err, ERROR_USAGE, "%s: that format has no place for --scale", option);
    }
    bool known = libsvm ? kernel_in_libsvm(kernel->type) : kernel->type == KERNEL_LINEAR;
    return known ? 0
                 : error_set(err, ERROR_USAGE, "%s: that format does not have the %s kernel",
                             option, kernel_names[kernel->type]);
}

static void put_pair(struct output *output, uint64_t index, double value) {
    output_format(output, " %llu:", (unsigned long long)index);
    output_number(output, value);
}

static void put_vector(struct output *output, const struct data *data, size_t row) {
    if (data->serial) {
        output_format(output, " 0:%llu", (unsigned long long)data->serial[row]);
        return;
    }
    size_t first = data->row_start ? data->row_start[row] : row * data->n_features;
    size_t last = data->row_start ? data->row_start[row + 1] : first + data->n_features;
    for (size_t i = first; i < last; i++) {
        if (data->value[i] != 0) {
            put_pair(output, (data->row_start ? data->column[i] : i - first) + (uint64_t)1,
                     (double)data->value[i]);
        }
    }
}

int model_write_libsvm(const struct model *model, struct output *output, struct error *err) {
    const struct kernel *kernel = &model->kernel;
    size_t n = model->weights ? 1 : model->vectors.n_rows;
    unsigned parameters = kernel_parameters(kernel->type);
    output_format(output, "svm_type epsilon_svr\nkernel_type %s\n", kernel_names[kernel->type]);
    if (parameters & KERNEL_DEGREE) {
        output_format(output, "degree %d\n", kernel->degree);
    }
    if (parameters & KERNEL_GAMMA) {
        output_format(output, "gamma ");
        output_number(output, kernel->gamma);
        output_format(output, "\n");
    }
    if (parameters & KERNEL_COEF0) {
        output_format(output, "coef0 ");
        output_number(output, kernel->coef0);
        output_format(output, "\n");
    }
    output_format(output, "nr_class 2\ntotal_sv %zu\nrho ", n);
    output_number(output, model->bias ? -model->bias[0] : 0);
    output_format(output, "\nSV\n");
    if (model->weights) { /* one support vector, w itself */
        output_format(output, "1");
        for (size_t j = 0; j < model->n_features; j++) {
            if (model->weights[j * model->n_outputs] != 0) {
                put_pair(output, j + 1, model->weights[j * model->n_outputs]);
            }
        }
        output_format(output, " \n");
    }
    for (size_t i = 0; !model->weights && i < n; i++) {
        output_number(output, model->coefficients[i * model->n_outputs]);
        put_vector(output, &model->vectors, i);
        output_format(output, " \n"); /* svm-predict wants a blank before the end of a line */
    }
    return output_flush(output, err);
}

/* A line of weights of all classes. */
static void put_classes(struct output *output, const double *weight, size_t n) {
    for (size_t c = 0; c < n; c++) {
        output_number(output, weight[c]);
        output_write(output, " ", 1);
    }
    output_write(output, "\n", 1);
}

static int write_classes(const struct model *model, struct output *output, struct error *err) {
    size_t n = model->n_outputs;
    output_format(output, "solver_type MCSVM_CS\nnr_class %zu\nlabel %s \n", n,
                  model_value(model, "labels"));
    output_format(output, "nr_feature %u\nbias %d\nw\n", model->n_features, model->bias ? 1 : -1);
    for (size_t j = 0; j < model->n_features; j++) {
        put_classes(output, model->weights + j * n, n);
    }
    if (model->bias) { /* the weights of a last feature of value 1 */
        put_classes(output, model->bias, n);
    }
    return output_flush(output, err);
}

int model_write_liblinear(const struct model *model, struct output *output, struct error *err) {
    if (model->n_outputs > 1 && model_value(model, "labels")) {
        return write_classes(model, output, err);
    }
    output_format(output, "solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature %u\nbias %d\nw\n",
                  model->n_features, model->bias ? 1 : -1);
    for (size_t j = 0; j < model->n_features; j++) {
        output_number(output, model->weights[j * model->n_outputs]);
        output_format(output, " \n");
    }
    if (model->bias) { /* the weight of a last feature of value 1 */
        output_number(output, model->bias[0]);
        output_format(output, " \n");
    }
    return output_flush(output, err);
}
