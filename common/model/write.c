/* Models to text: ours, with its closing checksum, and the exports for other programs. */
#include "common/model/model.h"

#include "common/base/number.h"
#include "common/model/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct model_sink *sink, const char *text, size_t length) {
    model_sink_put(sink, text, length);
}

static void put_text(struct model_sink *sink, const char *text) {
    put(sink, text, strlen(text));
}

static void put_number(struct model_sink *sink, double value) {
    char text[NUMBER_LENGTH];
    put(sink, text, number_format(value, text));
}

static void put_float(struct model_sink *sink, float value) {
    char text[NUMBER_LENGTH];
    put(sink, text, number_format_float(value, text));
}

static void put_unsigned(struct model_sink *sink, uint64_t value) {
    char text[32];
    put(sink, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
}

static void put_line(struct model_sink *sink, const char *key, const char *value) {
    put_text(sink, key);
    put(sink, " ", 1);
    put_text(sink, value);
    put(sink, "\n", 1);
}

static void put_number_line(struct model_sink *sink, const char *key, double value) {
    char text[NUMBER_LENGTH];
    number_format(value, text);
    put_line(sink, key, text);
}

/* The stored values of a row, each after a blank unless the line is empty so far. */
static void put_row(struct model_sink *sink, const struct data *data, size_t row, bool empty) {
    if (data->serial) {
        put_text(sink, empty ? "0:" : " 0:");
        put_unsigned(sink, data->serial[row]);
        return; /* all that a precomputed kernel needs of it */
    }
    size_t first = data->row_start ? (size_t)data->row_start[row] : row * data->n_features;
    size_t last = data->row_start ? (size_t)data->row_start[row + 1] : first + data->n_features;
    for (size_t i = first; i < last; i++) {
        if (data->value[i] == 0) {
            continue;
        }
        if (!empty) {
            put(sink, " ", 1);
        }
        empty = false;
        put_unsigned(sink,
                     data_index(data, data->row_start ? data->column[i] : i - first) + (uint64_t)1);
        put(sink, ":", 1);
        put_float(sink, data->value[i]);
    }
}

/* One line of n numbers. */
static void put_numbers(struct model_sink *sink, const double *number, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            put(sink, " ", 1);
        }
        put_number(sink, number[i]);
    }
}

static void put_bias(struct model_sink *sink, const struct model *model) {
    const double none = 0;
    put_text(sink, "bias ");
    put_numbers(sink, model->bias ? model->bias : &none, model->bias ? model->n_outputs : 1);
    put(sink, "\n", 1);
}

static void put_header(struct model_sink *sink, const struct model *model, const char *family) {
    const struct kernel *kernel = &model->kernel;
    put_text(sink, "dualsvm ");
    put_text(sink, family);
    put_text(sink, " 1\n");
    put_line(sink, "formulation", model->formulation);
    if (model->loss) {
        put_line(sink, "loss", model->loss);
    }
    put_number_line(sink, "cost", model->cost);
    put_line(sink, "kernel", kernel_names[kernel->type]);
    unsigned parameters = kernel_parameters(kernel->type);
    if (parameters & KERNEL_DEGREE) {
        put_number_line(sink, "degree", kernel->degree);
    }
    if (parameters & KERNEL_GAMMA) {
        put_number_line(sink, "gamma", kernel->gamma);
    }
    if (parameters & KERNEL_COEF0) {
        put_number_line(sink, "coef0", kernel->coef0);
    }
    put_bias(sink, model);
    put_number_line(sink, "rows", (double)model->n_rows);
    put_number_line(sink, "features", (double)model->n_features);
    put_number_line(sink, "primal", model->primal);
    put_number_line(sink, "dual", model->dual);
    if (isnan(model->gap)) {
        put_line(sink, "gap", "none");
    } else {
        put_number_line(sink, "gap", model->gap);
    }
    put_line(sink, "certified", model->certified ? "yes" : "no");
    put_number_line(sink, "iterations", (double)model->iterations);
    if (model->solver) {
        put_line(sink, "solver", model->solver);
    }
    if (!model->pairs && model->n_outputs != 1) {
        put_number_line(sink, "outputs", (double)model->n_outputs);
    }
    if (model->scale.kind != SCALE_NONE) {
        put_line(sink, "scale", scale_names[model->scale.kind]);
    }
    if (model->scale.query_means > 0) {
        put_line(sink, "query-features", "mean");
    }
    for (size_t i = 0; i < model->n_entries; i++) {
        put_line(sink, model->entry[i].key, model->entry[i].value);
    }
}

static void put_index(struct model_sink *sink, uint32_t index) {
    put_unsigned(sink, index + (uint64_t)1);
    put(sink, ":", 1);
}

/* The knots of a feature: its values with their ranks. */
static void put_knots(struct model_sink *sink, const struct ranks *ranks, size_t c) {
    for (uint64_t k = ranks->start[c]; k < ranks->start[c + 1]; k++) {
        if (k > ranks->start[c]) {
            put(sink, " ", 1);
        }
        put_float(sink, ranks->knot[k].value);
        put(sink, " ", 1);
        put_float(sink, ranks->knot[k].rank);
    }
}

/* Returns the number of lines, here and below. */
static uint64_t put_scaling(struct model_sink *sink, const struct model *model) {
    const struct scale *scale = &model->scale;
    if (!scale_by_column(scale)) {
        return 0;
    }
    put_text(sink, model->columns.at ? "scaling sparse\n" : "scaling\n");
    for (size_t j = 0; j < scale->n; j++) {
        if (model->columns.at) {
            put_index(sink, model->columns.at[j]);
        }
        if (scale->factor) {
            double line[2] = {scale->shift ? scale->shift[j] : 0, scale->factor[j]};
            put_numbers(sink, line, 2);
        } else {
            put_knots(sink, &scale->ranks, j);
        }
        put(sink, "\n", 1);
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

/* Bytes of "INDEX:". */
static size_t index_length(uint32_t index) {
    size_t length = 2;
    for (uint64_t most = 9; index + (uint64_t)1 > most; most = 10 * most + 9) {
        length++;
    }
    return length;
}

/* Whether only rows that are not 0 are written, with their indices: where most are 0, and it makes
 * the file smaller. Scaling by column with a list wants the list. */
static bool is_sparse(const struct model *model) {
    size_t n = model->n_outputs, rows = 0, more = strlen(" sparse");
    if (model->columns.at && scale_by_column(&model->scale)) {
        return true;
    }
    for (size_t c = 0; c < model->n_columns; c++) {
        if (!is_zero(model->weights + c * n, n)) {
            more += index_length(model->columns.at ? model->columns.at[c] : (uint32_t)c);
            rows++;
        }
    }
    double zeros = (double)(model->n_features - rows);
    return zeros > (double)rows && 2 * zeros * (double)n > (double)more;
}

static uint64_t put_weights(struct model_sink *sink, const struct model *model) {
    const double zero = 0;
    bool sparse = is_sparse(model);
    uint64_t lines = 0;
    size_t n = model->n_outputs, place = 0;
    put_text(sink, sparse ? "w sparse\n" : "w\n");
    size_t end = sparse ? model->n_columns : model->n_features;
    for (size_t i = 0; i < end; i++) {
        uint32_t index = sparse && model->columns.at ? model->columns.at[i] : (uint32_t)i;
        const double *row = model_weights_of(model, index, &place);
        if (sparse && is_zero(row, n)) {
            continue;
        }
        if (sparse) {
            put_index(sink, index);
        }
        for (size_t k = 0; k < n; k++) {
            if (k > 0) {
                put(sink, " ", 1);
            }
            put_number(sink, row ? row[k] : zero);
        }
        put(sink, "\n", 1);
        lines++;
    }
    return lines;
}

static uint64_t put_body(struct model_sink *sink, const struct model *model) {
    size_t n = model->n_outputs;
    if (model->weights) {
        return put_weights(sink, model);
    }
    put_text(sink, model->pairs ? "SV pairs\n" : "SV\n");
    for (size_t i = 0; i < model->vectors.n_rows; i++) {
        if (model->coefficients) {
            put_numbers(sink, model->coefficients + i * n, n);
        }
        put_row(sink, &model->vectors, i, !model->coefficients);
        put(sink, "\n", 1);
    }
    if (!model->pairs) {
        return model->vectors.n_rows;
    }
    put_text(sink, "pairs\n");
    for (size_t p = 0; p < model->n_pairs; p++) {
        put_unsigned(sink, model->pairs[p].u + (uint64_t)1);
        put(sink, " ", 1);
        put_unsigned(sink, model->pairs[p].v + (uint64_t)1);
        put(sink, " ", 1);
        put_number(sink, model->pairs[p].value);
        put(sink, "\n", 1);
    }
    return model->vectors.n_rows + model->n_pairs;
}

int model_write_text(const char *text, size_t n, struct output *output, struct error *err) {
    struct model_sink *sink;
    if (model_sink_open(&sink, output, err) < 0) {
        return -1;
    }
    put(sink, text, n);
    return model_sink_close(sink, err);
}

int model_write(const struct model *model, const char *family, struct output *output,
                uint32_t *checksum, struct error *err) {
    struct model_sink *sink;
    if (model_sink_open(&sink, output, err) < 0) {
        return -1;
    }
    put_header(sink, model, family);
    uint64_t rows = put_scaling(sink, model);
    rows += put_body(sink, model);
    return model_sink_end(sink, rows, checksum, err);
}
