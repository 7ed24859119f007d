/* Models to text: ours, with its closing checksum, and the exports for other programs. */
#include "common/model/model.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/model/checksum.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { TEXT_BYTES = 1 << 15 };

/* A sink of text that counts its checksum on the way to the file, perhaps through gzip. */
struct writer {
    struct output *output;
    bool gzip, failed;
    z_stream stream;
    uint32_t checksum;
    size_t used;
    char text[TEXT_BYTES];
};

static void deflate_text(struct writer *writer, int flush) {
    unsigned char packed[TEXT_BYTES];
    writer->stream.next_in = (unsigned char *)writer->text;
    writer->stream.avail_in = (uInt)writer->used;
    int status;
    do {
        writer->stream.next_out = packed;
        writer->stream.avail_out = sizeof packed;
        status = deflate(&writer->stream, flush);
        output_write(writer->output, packed, sizeof packed - writer->stream.avail_out);
    } while (status == Z_OK && writer->stream.avail_out == 0);
    writer->failed |=
        flush == Z_FINISH ? status != Z_STREAM_END : status != Z_OK && status != Z_BUF_ERROR;
}

static void drain(struct writer *writer, bool last) {
    writer->checksum = model_checksum_add(writer->checksum, writer->text, writer->used);
    if (writer->gzip) {
        deflate_text(writer, last ? Z_FINISH : Z_NO_FLUSH);
    } else {
        output_write(writer->output, writer->text, writer->used);
    }
    writer->used = 0;
}

static void put(struct writer *writer, const char *text, size_t length) {
    while (length > 0) {
        size_t room = TEXT_BYTES - writer->used;
        size_t part = length < room ? length : room;
        memcpy(writer->text + writer->used, text, part);
        writer->used += part;
        text += part;
        length -= part;
        if (writer->used == TEXT_BYTES) {
            drain(writer, false);
        }
    }
}

static void put_text(struct writer *writer, const char *text) {
    put(writer, text, strlen(text));
}

static void put_number(struct writer *writer, double value) {
    char text[NUMBER_LENGTH];
    put(writer, text, number_format(value, text));
}

static void put_float(struct writer *writer, float value) {
    char text[NUMBER_LENGTH];
    put(writer, text, number_format_float(value, text));
}

static void put_unsigned(struct writer *writer, uint64_t value) {
    char text[32];
    put(writer, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
}

static void put_line(struct writer *writer, const char *key, const char *value) {
    put_text(writer, key);
    put(writer, " ", 1);
    put_text(writer, value);
    put(writer, "\n", 1);
}

static void put_number_line(struct writer *writer, const char *key, double value) {
    char text[NUMBER_LENGTH];
    number_format(value, text);
    put_line(writer, key, text);
}

/* The stored values of a row, each after a blank unless the line is empty so far. */
static void put_row(struct writer *writer, const struct data *data, size_t row, bool empty) {
    if (data->serial) {
        put_text(writer, empty ? "0:" : " 0:");
        put_unsigned(writer, data->serial[row]);
        return; /* all that a precomputed kernel needs of it */
    }
    size_t first = data->row_start ? data->row_start[row] : row * data->n_features;
    size_t last = data->row_start ? data->row_start[row + 1] : first + data->n_features;
    for (size_t i = first; i < last; i++) {
        if (data->value[i] == 0) {
            continue;
        }
        if (!empty) {
            put(writer, " ", 1);
        }
        empty = false;
        put_unsigned(writer, (data->row_start ? data->column[i] : i - first) + (uint64_t)1);
        put(writer, ":", 1);
        put_float(writer, data->value[i]);
    }
}

/* One line of n numbers. */
static void put_numbers(struct writer *writer, const double *number, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            put(writer, " ", 1);
        }
        put_number(writer, number[i]);
    }
}

static void put_bias(struct writer *writer, const struct model *model) {
    const double none = 0;
    put_text(writer, "bias ");
    put_numbers(writer, model->bias ? model->bias : &none, model->bias ? model->n_outputs : 1);
    put(writer, "\n", 1);
}

static void put_header(struct writer *writer, const struct model *model, const char *family) {
    const struct kernel *kernel = &model->kernel;
    put_text(writer, "dualsvm ");
    put_text(writer, family);
    put_text(writer, " 1\n");
    put_line(writer, "formulation", model->formulation);
    if (model->loss) {
        put_line(writer, "loss", model->loss);
    }
    put_number_line(writer, "cost", model->cost);
    put_line(writer, "kernel", kernel_names[kernel->type]);
    unsigned parameters = kernel_parameters(kernel->type);
    if (parameters & KERNEL_DEGREE) {
        put_number_line(writer, "degree", kernel->degree);
    }
    if (parameters & KERNEL_GAMMA) {
        put_number_line(writer, "gamma", kernel->gamma);
    }
    if (parameters & KERNEL_COEF0) {
        put_number_line(writer, "coef0", kernel->coef0);
    }
    put_bias(writer, model);
    put_number_line(writer, "rows", (double)model->n_rows);
    put_number_line(writer, "features", (double)model->n_features);
    put_number_line(writer, "primal", model->primal);
    put_number_line(writer, "dual", model->dual);
    if (isnan(model->gap)) {
        put_line(writer, "gap", "none");
    } else {
        put_number_line(writer, "gap", model->gap);
    }
    put_line(writer, "certified", model->certified ? "yes" : "no");
    put_number_line(writer, "iterations", (double)model->iterations);
    if (!model->pairs && model->n_outputs != 1) {
        put_number_line(writer, "outputs", (double)model->n_outputs);
    }
    if (model->scale.kind != SCALE_NONE) {
        put_line(writer, "scale", scale_names[model->scale.kind]);
    }
    for (size_t i = 0; i < model->n_entries; i++) {
        put_line(writer, model->entry[i].key, model->entry[i].value);
    }
}

/* Returns the number of lines, here and below. */
static uint64_t put_scaling(struct writer *writer, const struct scale *scale) {
    if (!scale->factor) {
        return 0;
    }
    put_text(writer, "scaling\n");
    for (size_t j = 0; j < scale->n; j++) {
        double line[2] = {scale->shift ? scale->shift[j] : 0, scale->factor[j]};
        put_numbers(writer, line, 2);
        put(writer, "\n", 1);
    }
    return scale->n;
}

static uint64_t put_body(struct writer *writer, const struct model *model) {
    size_t n = model->n_outputs;
    if (model->weights) {
        put_text(writer, "w\n");
        for (size_t j = 0; j < model->n_features; j++) {
            put_numbers(writer, model->weights + j * n, n);
            put(writer, "\n", 1);
        }
        return model->n_features;
    }
    put_text(writer, model->pairs ? "SV pairs\n" : "SV\n");
    for (size_t i = 0; i < model->vectors.n_rows; i++) {
        if (model->coefficients) {
            put_numbers(writer, model->coefficients + i * n, n);
        }
        put_row(writer, &model->vectors, i, !model->coefficients);
        put(writer, "\n", 1);
    }
    if (!model->pairs) {
        return model->vectors.n_rows;
    }
    put_text(writer, "pairs\n");
    for (size_t p = 0; p < model->n_pairs; p++) {
        put_unsigned(writer, model->pairs[p].u + (uint64_t)1);
        put(writer, " ", 1);
        put_unsigned(writer, model->pairs[p].v + (uint64_t)1);
        put(writer, " ", 1);
        put_number(writer, model->pairs[p].value);
        put(writer, "\n", 1);
    }
    return model->vectors.n_rows + model->n_pairs;
}

static int open_writer(struct writer **writer, struct output *output, struct error *err) {
    struct writer *opened = memory_zeros(1, sizeof *opened, "a model buffer", err);
    if (!opened) {
        return -1;
    }
    const char *path = output_path(output);
    size_t length = strlen(path);
    opened->output = output;
    opened->gzip = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    enum { GZIP = 16 + MAX_WBITS, MEMORY_LEVEL = 8 };
    if (opened->gzip && deflateInit2(&opened->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP,
                                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(opened);
        return error_set(err, ERROR_RUNTIME, "%s: cannot compress: out of memory", path);
    }
    *writer = opened;
    return 0;
}

static int close_writer(struct writer *writer, struct error *err) {
    drain(writer, true);
    if (writer->gzip) {
        deflateEnd(&writer->stream);
    }
    int status = writer->failed ? error_set(err, ERROR_RUNTIME, "%s: cannot compress",
                                            output_path(writer->output))
                                : output_flush(writer->output, err);
    free(writer);
    return status;
}

int model_write(const struct model *model, const char *family, struct output *output,
                struct error *err) {
    struct writer *writer = NULL;
    if (open_writer(&writer, output, err) < 0) {
        return -1;
    }
    put_header(writer, model, family);
    uint64_t rows = put_scaling(writer, &model->scale);
    rows += put_body(writer, model);
    drain(writer, false);
    char end[MODEL_CHECKSUM_LINE];
    put(writer, end, model_checksum_line(rows, writer->checksum, end));
    put(writer, "\n", 1);
    return close_writer(writer, err);
}
