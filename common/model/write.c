/* Writing of models in our format. */
#include "common/model/model.h"

#include "common/base/number.h"
#include "common/base/output_lines.h"
#include "common/model/sink.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_float(struct output *out, float value) {
    char text[NUMBER_LENGTH];
    output_write(out, text, number_format_float(value, text));
}

static void put_index(struct output *out, uint32_t index) {
    output_number(out, (double)index + 1);
    output_write(out, ":", 1);
}

static void put_line(struct output *out, const char *key, const char *value) {
    output_text(out, key);
    output_write(out, " ", 1);
    output_text(out, value);
    output_write(out, "\n", 1);
}

static void put_number_line(struct output *out, const char *key, double value) {
    output_format(out, "%s ", key);
    output_number(out, value);
    output_write(out, "\n", 1);
}

/* Writes the non-zero values of a row, each after a blank, but the first if the line is empty. */
static void put_row(struct output *out, const struct data *data, size_t row, bool empty) {
    if (data->serial) {
        output_format(out, "%s0:%" PRIu64, empty ? "" : " ", data->serial[row]);
        return; /* a precomputed kernel needs nothing else */
    }
    struct stored_row stored = data_stored(data, row);
    for (size_t k = 0; k < stored.n; k++) {
        if (stored.value[k] == 0) {
            continue;
        }
        if (!empty) {
            output_write(out, " ", 1);
        }
        empty = false;
        put_index(out, data_index(data, stored_column(stored, k)));
        put_float(out, stored.value[k]);
    }
}

/* Writes n numbers, separated by blanks. */
static void put_numbers(struct output *out, const double *number, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            output_write(out, " ", 1);
        }
        output_number(out, number[i]);
    }
}

static void put_bias(struct output *out, const struct model *model) {
    const double none = 0;
    output_text(out, "bias ");
    put_numbers(out, model->bias ? model->bias : &none, model->bias ? model->n_outputs : 1);
    output_write(out, "\n", 1);
}

static void put_header(struct output *out, const struct model *model, const char *family) {
    const struct kernel *kernel = &model->kernel;
    output_format(out, "dualsvm %s 1\n", family);
    put_line(out, "formulation", model->formulation);
    if (model->loss) {
        put_line(out, "loss", model->loss);
    }
    put_number_line(out, "cost", model->cost);
    put_line(out, "kernel", kernel_names[kernel->type]);
    unsigned parameters = kernel_parameters(kernel->type);
    if (parameters & KERNEL_DEGREE) {
        put_number_line(out, "degree", kernel->degree);
    }
    if (parameters & KERNEL_GAMMA) {
        put_number_line(out, "gamma", kernel->gamma);
    }
    if (parameters & KERNEL_COEF0) {
        put_number_line(out, "coef0", kernel->coef0);
    }
    put_bias(out, model);
    put_number_line(out, "rows", (double)model->n_rows);
    put_number_line(out, "features", (double)model->n_features);
    put_number_line(out, "primal", model->primal);
    put_number_line(out, "dual", model->dual);
    if (isnan(model->gap)) {
        put_line(out, "gap", "none");
    } else {
        put_number_line(out, "gap", model->gap);
    }
    put_line(out, "certified", model->certified ? "yes" : "no");
    put_number_line(out, "iterations", (double)model->iterations);
    if (model->solver) {
        put_line(out, "solver", model->solver);
    }
    if (!model->pairs && model->n_outputs != 1) {
        put_number_line(out, "outputs", (double)model->n_outputs);
    }
    if (model->scale.kind != SCALE_NONE) {
        put_line(out, "scale", scale_names[model->scale.kind]);
    }
    if (model->scale.query_means > 0) {
        put_line(out, "query-features", "mean");
    }
    for (size_t i = 0; i < model->n_entries; i++) {
        put_line(out, model->entry[i].key, model->entry[i].value);
    }
}

/* Writes the breakpoints of a feature: values with their quantiles. */
static void put_breakpoints(struct output *out, const struct quantiles *quantiles, size_t c) {
    for (uint64_t k = quantiles->start[c]; k < quantiles->start[c + 1]; k++) {
        if (k > quantiles->start[c]) {
            output_write(out, " ", 1);
        }
        put_float(out, quantiles->breakpoint[k].value);
        output_write(out, " ", 1);
        put_float(out, quantiles->breakpoint[k].quantile);
    }
}

/* Writes the scaling. Returns the number of lines. */
static uint64_t put_scaling(struct output *out, const struct model *model) {
    const struct scale *scale = &model->scale;
    if (!scale_by_column(scale)) {
        return 0;
    }
    output_text(out, model->columns.at ? "scaling sparse\n" : "scaling\n");
    for (size_t j = 0; j < scale->n; j++) {
        if (model->columns.at) {
            put_index(out, model->columns.at[j]);
        }
        if (scale->factor) {
            double line[2] = {scale->shift ? scale->shift[j] : 0, scale->factor[j]};
            put_numbers(out, line, 2);
        } else {
            put_breakpoints(out, &scale->quantiles, j);
        }
        output_write(out, "\n", 1);
    }
    return scale->n;
}

static bool is_zero(const double *row, size_t n) {
    for (size_t k = 0; row && k < n; k++) {
        if (row[k] != 0) {
            return false;
        }
    }
    return true;
}

/* The length of "INDEX:". */
static size_t index_length(uint32_t index) {
    size_t length = 2;
    for (uint64_t largest = 9; index + (uint64_t)1 > largest; largest = 10 * largest + 9) {
        length++;
    }
    return length;
}

/* True if only non-zero rows are written, with their indices: if most rows are 0 and the file
 * becomes smaller, or if a scaling by column has a list of columns. *lines: the number of rows that
 * are written. */
static bool is_sparse(const struct model *model, uint64_t *lines) {
    size_t n = model->n_outputs, rows = 0, more = strlen(" sparse");
    for (size_t c = 0; c < model->n_columns; c++) {
        if (!is_zero(model->weights + c * n, n)) {
            more += index_length(model->columns.at ? model->columns.at[c] : (uint32_t)c);
            rows++;
        }
    }
    double zeros = (double)(model->n_features - rows);
    bool smaller = zeros > (double)rows && 2 * zeros * (double)n > (double)more;
    bool sparse = smaller || (model->columns.at && scale_by_column(&model->scale));
    *lines = sparse ? rows : model->n_features;
    return sparse;
}

/* Lines of weights: of all features, or `sparse`. */
struct weight_lines {
    const struct model *model;
    bool sparse;
};

static void put_weights_line(const void *context, size_t line, struct output *out) {
    const struct weight_lines *lines = context;
    const struct model *model = lines->model;
    const double zero = 0;
    size_t n = model->n_outputs;
    uint32_t index = lines->sparse && model->columns.at ? model->columns.at[line] : (uint32_t)line;
    const double *row = model_weights_of(model, index);
    if (lines->sparse && is_zero(row, n)) {
        return;
    }
    if (lines->sparse) {
        put_index(out, index);
    }
    for (size_t k = 0; k < n; k++) {
        if (k > 0) {
            output_write(out, " ", 1);
        }
        output_number(out, row ? row[k] : zero);
    }
    output_write(out, "\n", 1);
}

static int put_weights(struct output *out, const struct model *model, struct threads *threads,
                       uint64_t *lines, struct error *err) {
    const struct weight_lines weights = {model, is_sparse(model, lines)};
    size_t n = weights.sparse ? model->n_columns : model->n_features;
    output_text(out, weights.sparse ? "w sparse\n" : "w\n");
    return output_lines(out, n, model->n_outputs, threads, put_weights_line, &weights, err);
}

static void put_vector_line(const void *context, size_t line, struct output *out) {
    const struct model *model = context;
    size_t n = model->n_outputs;
    if (model->coefficients) {
        put_numbers(out, model->coefficients + line * n, n);
    }
    put_row(out, &model->vectors, line, !model->coefficients);
    output_write(out, "\n", 1);
}

static int put_body(struct output *out, const struct model *model, struct threads *threads,
                    uint64_t *lines, struct error *err) {
    if (model->weights) {
        return put_weights(out, model, threads, lines, err);
    }
    *lines = model->vectors.n_rows;
    output_text(out, model->pairs ? "SV pairs\n" : "SV\n");
    size_t width = model->n_outputs + data_values(&model->vectors) / (model->vectors.n_rows + 1);
    if (output_lines(out, model->vectors.n_rows, width, threads, put_vector_line, model, err) < 0) {
        return -1;
    }
    if (!model->pairs) {
        return 0;
    }
    *lines += model->n_pairs;
    output_text(out, "pairs\n");
    for (size_t p = 0; p < model->n_pairs; p++) {
        output_format(out, "%" PRIu64 " %" PRIu64 " ", model->pairs[p].u + (uint64_t)1,
                      model->pairs[p].v + (uint64_t)1);
        output_number(out, model->pairs[p].value);
        output_write(out, "\n", 1);
    }
    return 0;
}

int model_write_text(const char *text, size_t n, struct output *output, struct error *err) {
    struct model_sink *sink;
    struct output *out;
    if (model_sink_open(&sink, output, &out, err) < 0) {
        return -1;
    }
    output_write(out, text, n);
    return model_sink_close(sink, err);
}

int model_write(const struct model *model, const char *family, struct output *output,
                struct threads *threads, uint32_t *checksum, struct error *err) {
    struct model_sink *sink;
    struct output *out;
    if (model_sink_open(&sink, output, &out, err) < 0) {
        return -1;
    }
    put_header(out, model, family);
    uint64_t lines, scaled = put_scaling(out, model);
    if (put_body(out, model, threads, &lines, err) < 0) {
        struct error ignored;
        model_sink_close(sink, &ignored);
        return -1;
    }
    return model_sink_end(sink, scaled + lines, checksum, err);
}
