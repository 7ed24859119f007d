/* Reading of models. The text is not trusted: memory grows with the lines that are read, and the
 * last line must have the number of body lines and the CRC of all text before. */
#include "common/model/read_private.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/model/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the body ---- */

static int append_whole(uint64_t **array, size_t n, uint64_t value, struct error *err) {
    if (model_read_grow(array, n, sizeof value, err) < 0) {
        return -1;
    }
    (*array)[n] = value;
    return 0;
}

static int append_value(struct data *data, size_t n, uint32_t column, float value,
                        struct error *err) {
    if (model_read_grow(&data->column, n, sizeof column, err) < 0 ||
        model_read_grow(&data->value, n, sizeof value, err) < 0) {
        return -1;
    }
    data->column[n] = column;
    data->value[n] = value;
    return 0;
}

static int append_pair(struct model *model, struct pair_coefficient pair, struct error *err) {
    if (model_read_grow(&model->pairs, model->n_pairs, sizeof pair, err) < 0) {
        return -1;
    }
    model->pairs[model->n_pairs++] = pair;
    return 0;
}

/* Skips one blank, which must be at `at`; NULL if it is not there. */
static const char *blank(const char *at) {
    return at && *at == ' ' ? at + 1 : NULL;
}

int model_read_numbers(const struct model_lines *in, size_t n, double **array, size_t *used,
                       const char **rest, struct error *err) {
    const char *at = *rest, *end = in->line + in->length;
    for (size_t i = 0; n > 0 ? i < n : i == 0 || at < end; i++) {
        double value = 0;
        const char *next = i > 0 ? blank(at) : at;
        next = next ? number_parse(next, end, &value) : NULL;
        if (!next || !isfinite(value)) {
            return model_lines_fail(in, "a number is missing or wrong", at, err);
        }
        if (model_read_number(array, (*used)++, value, err) < 0) {
            return -1;
        }
        at = next;
    }
    *rest = at;
    return 0;
}

/* True if the line begins with a letter, which ends a table: numbers do not. */
static bool at_word(const struct model_lines *in) {
    return in->line[0] >= 'A' && in->line[0] <= 'z';
}

static bool at_end(const struct model_lines *in) {
    return strncmp(in->line, "end ", 4) == 0;
}

/* Parses INDEX: at *rest, which must be above all earlier indices and not above n_features of the
 * model; stores it as number `line` of the indices. */
static int parse_index(const struct model_lines *in, const struct model *model, uint32_t **indices,
                       uint64_t line, const char **rest, struct error *err) {
    uint64_t index = 0, before = line > 0 ? (*indices)[line - 1] + (uint64_t)1 : 0;
    const char *end = in->line + in->length, *at = number_parse_unsigned(*rest, end, &index);
    if (!at || *at != ':' || index <= before || index > model->n_features) {
        return model_lines_fail(in, "not an index, or out of order", *rest, err);
    }
    if (model_read_grow(indices, (size_t)line, sizeof **indices, err) < 0) {
        return -1;
    }
    (*indices)[line] = (uint32_t)(index - 1);
    *rest = at + 1;
    return 0;
}

/* A table of numbers. */
struct table {
    size_t n;        /* numbers of a line; 0: any number */
    uint64_t *end;   /* (lines) if n is 0: how many numbers there are up to the end of each line */
    double *number;  /* (used) */
    uint32_t *index; /* (lines) the index of each line, if lines begin with it */
    size_t used;
    uint64_t lines;
};

static void table_free(struct table *table) {
    free(table->end);
    free(table->number);
    free(table->index);
}

/* Reads lines up to the next word; `indices`: each begins with its index. */
static int read_table(struct model_lines *in, const struct model *model, struct table *table,
                      bool indices, struct error *err) {
    if (model_read_grow(&table->number, 0, sizeof(double), err) <
            0 || /* not NULL even without a line */
        (indices && model_read_grow(&table->index, 0, sizeof(uint32_t), err) < 0)) {
        return -1;
    }
    for (;;) {
        if (model_lines_next(in, err) < 0) {
            return -1;
        }
        if (at_word(in)) {
            return 0;
        }
        const char *rest = in->line;
        if ((indices && parse_index(in, model, &table->index, table->lines, &rest, err) < 0) ||
            model_read_numbers(in, table->n, &table->number, &table->used, &rest, err) < 0) {
            return -1;
        }
        if (*rest) {
            return model_lines_fail(in, "more on the line than its numbers", rest, err);
        }
        if (table->n == 0 &&
            append_whole(&table->end, (size_t)table->lines, table->used, err) < 0) {
            return -1;
        }
        table->lines++;
    }
}

/* Reads a table; `sparse`: with indices, which become the columns of the model. */
static int read_columns(struct model_lines *in, struct model *model, bool sparse,
                        struct table *table, struct error *err) {
    if (read_table(in, model, table, sparse, err) < 0) {
        return -1;
    }
    uint32_t *at = table->index;
    table->index = NULL;
    model->n_columns = sparse ? (uint32_t)table->lines : model->n_features;
    return sparse ? indices_take(&model->columns, at, (size_t)table->lines, err) : 0;
}

static int store_factors(struct scale *scale, const struct table *table, struct error *err) {
    scale->shift = memory_array(scale->n, sizeof(double), "scaling", err);
    scale->factor = memory_array(scale->n, sizeof(double), "scaling", err);
    if (!scale->shift || !scale->factor) {
        return -1;
    }
    for (size_t j = 0; j < scale->n; j++) {
        scale->shift[j] = table->number[2 * j];
        scale->factor[j] = table->number[2 * j + 1];
    }
    return 0;
}

/* True if these are valid breakpoints of a feature, see quantiles.h. */
static bool are_breakpoints(const struct breakpoint *breakpoint, size_t n) {
    bool good = n > 0 && breakpoint[0].quantile == 0 && breakpoint[n - 1].quantile == (n > 1);
    for (size_t k = 0; k < n; k++) {
        good = good && isfinite(breakpoint[k].value) &&
               (k == 0 || (breakpoint[k].value > breakpoint[k - 1].value &&
                           breakpoint[k].quantile >= breakpoint[k - 1].quantile));
    }
    return good;
}

static int store_breakpoints(const struct model_lines *in, struct quantiles *quantiles,
                             const struct table *table, uint32_t n, struct error *err) {
    quantiles->n = n;
    quantiles->start = memory_array((size_t)n + 1, sizeof *quantiles->start, "scaling", err);
    quantiles->breakpoint =
        memory_array(table->used / 2, sizeof *quantiles->breakpoint, "scaling", err);
    if (!quantiles->start || !quantiles->breakpoint) {
        return -1;
    }
    for (size_t k = 0; k < table->used / 2; k++) {
        quantiles->breakpoint[k] =
            (struct breakpoint){(float)table->number[2 * k], (float)table->number[2 * k + 1]};
    }
    quantiles->start[0] = 0;
    for (size_t j = 0; j < n; j++) {
        size_t first = (size_t)quantiles->start[j], end = (size_t)(table->end[j] / 2);
        quantiles->start[j + 1] = end;
        if (table->end[j] % 2 != 0 ||
            !are_breakpoints(quantiles->breakpoint + first, end - first)) {
            char what[64];
            snprintf(what, sizeof what, "line %zu of the scaling: not values with their ranks",
                     j + 1);
            return model_lines_fail(in, what, NULL, err);
        }
    }
    return 0;
}

/* Reads the lines of a scaling that was fitted to training rows: `shift factor`, or breakpoints. */
static int read_scaling(struct model_lines *in, struct model *model, uint64_t *lines,
                        struct error *err) {
    struct scale *scale = &model->scale;
    bool breakpoints = scale->kind == SCALE_QUANTILE;
    bool expected = breakpoints || scale_kind_affine(scale->kind);
    bool sparse = strcmp(in->line, "scaling sparse") == 0;
    if (expected != (sparse || strcmp(in->line, "scaling") == 0)) {
        return model_lines_fail(in, "the body does not fit the scaling", in->line, err);
    }
    if (!expected) {
        return 0;
    }
    struct table table = {.n = breakpoints ? 0 : 2};
    int status = read_columns(in, model, sparse, &table, err);
    *lines += table.lines;
    if (status == 0 && table.lines > UINT32_MAX) {
        status = model_lines_fail(in, "too many features", NULL, err);
    }
    if (status == 0) {
        scale->n = (uint32_t)table.lines;
        status = breakpoints ? store_breakpoints(in, &scale->quantiles, &table, scale->n, err)
                             : store_factors(scale, &table, err);
    }
    if (status == 0 && scale->query_means > 0 && (sparse || scale->n != scale->query_means)) {
        status =
            model_lines_fail(in, "the scaling does not fit the features of queries", NULL, err);
    }
    if (status == 0 && !sparse && scale->n + scale->query_means != model->n_features) {
        status = model_lines_fail(in, "not a scaling of each feature", NULL, err);
    }
    table_free(&table);
    return status;
}

/* If all weights take at most this many doubles, no list of columns is used. */
static const double MAX_EXPANDED_WEIGHTS = 1 << 22;

static int read_weights(struct model_lines *in, struct model *model, uint64_t *lines,
                        struct error *err) {
    struct table table = {.n = model->n_outputs};
    bool sparse = strcmp(in->line, "w sparse") == 0, scaled = model->columns.at != NULL;
    struct indices scaled_columns = model->columns;
    model->columns = (struct indices){0};
    int status = scaled && !sparse
                     ? model_lines_fail(in, "the weights do not fit the scaling", in->line, err)
                     : read_columns(in, model, sparse, &table, err);
    model->weights = table.number;
    table.number = NULL;
    *lines += table.lines;
    uint64_t n = table.lines;
    table_free(&table);
    if (status == 0 && !sparse && n != model->n_features) {
        status = model_lines_fail(in, "not a weight for each feature", NULL, err);
    }
    if (scaled) {
        status = status < 0 ? -1 : model_align(model, &scaled_columns, err);
        indices_free(&scaled_columns);
        return status > 0 ? model_lines_fail(in, "a weight of a feature without scaling", NULL, err)
                          : status;
    }
    bool few = (double)model->n_features * (double)model->n_outputs <= MAX_EXPANDED_WEIGHTS;
    return status == 0 && (few || scale_by_column(&model->scale)) ? model_expand(model, err)
                                                                  : status;
}

/* Parses `index:value` ... from `at` to the end of the line as the next support vector. */
static int parse_vector(const struct model_lines *in, struct data *data, const char *at,
                        bool precomputed, bool first, struct error *err) {
    const char *end = in->line + in->length;
    uint64_t n = data->row_start[data->n_rows], before = 0;
    if (precomputed) {
        uint64_t serial;
        const char *item = first ? at : blank(at);
        if (!item || strncmp(item, "0:", 2) != 0 ||
            number_parse_unsigned(item + 2, end, &serial) != end) {
            return model_lines_fail(in, "not 0:serial", at, err);
        }
        if (append_whole(&data->serial, data->n_rows, serial, err) < 0) {
            return -1;
        }
        at = end;
    }
    while (at < end) {
        uint64_t index = 0;
        double value = 0;
        const char *item = first ? at : blank(at);
        const char *next = item ? number_parse_unsigned(item, end, &index) : NULL;
        next = next && *next == ':' ? number_parse(next + 1, end, &value) : NULL;
        if (!next || index <= before || index > data->n_features || !isfinite((float)value)) {
            return model_lines_fail(in, "not index:value", at, err);
        }
        if (append_value(data, (size_t)n++, (uint32_t)(index - 1), (float)value, err) < 0) {
            return -1;
        }
        before = index;
        first = false;
        at = next;
    }
    return append_whole(&data->row_start, ++data->n_rows, n, err);
}

static int parse_pair(const struct model_lines *in, struct model *model, struct error *err) {
    const char *end = in->line + in->length;
    uint64_t u = 0, v = 0, n = model->vectors.n_rows;
    double value = 0;
    const char *at = blank(number_parse_unsigned(in->line, end, &u));
    at = at ? blank(number_parse_unsigned(at, end, &v)) : NULL;
    at = at ? number_parse(at, end, &value) : NULL;
    if (at != end || u < 1 || u >= v || v > n || !isfinite(value)) {
        return model_lines_fail(in, "not a pair of support vectors", in->line, err);
    }
    return append_pair(model,
                       (struct pair_coefficient){(uint32_t)(u - 1), (uint32_t)(v - 1), value}, err);
}

static int read_vectors(struct model_lines *in, struct model *model, bool pairs, uint64_t *lines,
                        struct error *err) {
    struct data *data = &model->vectors;
    bool precomputed = model->kernel.type == KERNEL_PRECOMPUTED;
    size_t used = 0;
    data->n_features = model->n_features;
    if (model_read_grow(&data->column, 0, sizeof *data->column, err) <
            0 || /* not NULL even without a value */
        model_read_grow(&data->value, 0, sizeof *data->value, err) < 0 ||
        append_whole(&data->row_start, 0, 0, err) < 0) {
        return -1;
    }
    for (;;) {
        if (model_lines_next(in, err) < 0) {
            return -1;
        }
        if (at_word(in)) {
            break;
        }
        if (data->n_rows == UINT32_MAX) {
            return model_lines_fail(in, "too many support vectors", NULL, err);
        }
        const char *rest = in->line;
        if (!pairs &&
            model_read_numbers(in, model->n_outputs, &model->coefficients, &used, &rest, err) < 0) {
            return -1;
        }
        if (parse_vector(in, data, rest, precomputed, pairs, err) < 0) {
            return -1;
        }
        ++*lines;
    }
    return 0;
}

/* Maps the support vectors to the columns of the scaling. */
static int align_vectors(const struct model_lines *in, struct model *model, struct error *err) {
    size_t n = data_values(&model->vectors);
    if (data_select(&model->vectors, &model->columns, err) < 0) {
        return -1;
    }
    return data_values(&model->vectors) == n
               ? data_make_dense(&model->vectors, 0, false, err)
               : model_lines_fail(in, "a support vector has a feature without scaling", NULL, err);
}

static int read_kernel_body(struct model_lines *in, struct model *model, bool pairs,
                            uint64_t *lines, struct error *err) {
    if (read_vectors(in, model, pairs, lines, err) < 0) {
        return -1;
    }
    if (pairs ? strcmp(in->line, "pairs") != 0 : !at_end(in)) {
        return model_lines_fail(in, "not what follows the support vectors", in->line, err);
    }
    if (pairs) {
        model->n_outputs = 0;
        if (model_read_grow(&model->pairs, 0, sizeof *model->pairs, err) <
            0) { /* not NULL even without one */
            return -1;
        }
    }
    while (!at_end(in)) {
        if (model_lines_next(in, err) < 0) {
            return -1;
        }
        if (!at_end(in)) {
            if (parse_pair(in, model, err) < 0) {
                return -1;
            }
            ++*lines;
        }
    }
    if (model->vectors.serial) {
        return 0;
    }
    return model->columns.at ? align_vectors(in, model, err)
                             : data_make_dense(&model->vectors, model->n_features, false, err);
}

/* Reads the body that begins with the current line. Models of pairs have support vectors with every
 * kernel. */
static int read_body(struct model_lines *in, struct model *model, uint64_t *lines,
                     struct error *err) {
    bool linear = model->kernel.type == KERNEL_LINEAR, pairs = strcmp(in->line, "SV pairs") == 0;
    bool weights = strcmp(in->line, "w") == 0 || strcmp(in->line, "w sparse") == 0;
    if (!pairs && (linear ? !weights : strcmp(in->line, "SV") != 0)) {
        return model_lines_fail(
            in, linear ? "a linear model has weights" : "a kernel model has support vectors",
            in->line, err);
    }
    return linear && !pairs ? read_weights(in, model, lines, err)
                            : read_kernel_body(in, model, pairs, lines, err);
}

static int read_all(struct model_lines *in, struct model *model, const char *family,
                    const char *const *own_keys, struct error *err) {
    uint64_t lines = 0;
    if (model_read_header(in, model, family, own_keys, err) < 0 ||
        read_scaling(in, model, &lines, err) < 0) {
        return -1;
    }
    int status = read_body(in, model, &lines, err);
    model->checksum = in->checksum;
    return status < 0 ? -1 : model_lines_end(in, lines, err);
}

int model_read_bytes(struct model *model, const char *family, const char *const *own_keys,
                     bool classes, const char *name, const void *bytes, size_t size,
                     struct error *err) {
    struct model_lines in;
    *model = (struct model){0};
    int status = model_lines_open(&in, name, bytes, size, err);
    status = status < 0 ? -1 : model_lines_next(&in, err);
    if (status == 0) {
        status = classes && model_import_is(&in) ? model_import(&in, model, err)
                                                 : read_all(&in, model, family, own_keys, err);
    }
    model_lines_close(&in);
    status = status < 0 ? -1 : model_prepare(model, err);
    if (status < 0) {
        model_free(model);
    }
    return status;
}

int model_read(struct model *model, const char *family, const char *const *own_keys, bool classes,
               const char *path, struct error *err) {
    return model_read_bytes(model, family, own_keys, classes, path, NULL, 0, err);
}
