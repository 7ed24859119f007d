/* Text to models. Everything is checked, nothing is believed: memory grows with the lines that are
 * really there, and the last line must hold the number of body lines and the CRC of all before. */
#include "common/model/read_private.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/model/checksum.h"
#include "common/model/import.h"

#include <math.h>
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

/* Skips the one blank that must stand at `at`. */
static const char *blank(const char *at) {
    return at && *at == ' ' ? at + 1 : NULL;
}

/* Reads n numbers with blanks between from the front of the line into the array; returns what
 * follows them. */
static int parse_numbers(const struct model_lines *in, size_t n, double **array, size_t *used,
                         const char **rest, struct error *err) {
    const char *at = in->line, *end = in->line + in->length;
    for (size_t i = 0; i < n; i++) {
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

/* Numbers never begin with a letter: a line that does ends a table. */
static bool at_word(const struct model_lines *in) {
    return in->line[0] >= 'A' && in->line[0] <= 'z';
}

static bool at_end(const struct model_lines *in) {
    return strncmp(in->line, "end ", 4) == 0;
}

/* Reads lines of n numbers each up to the next word; adds to *lines how many there are. */
static int read_table(struct model_lines *in, size_t n, double **table, uint64_t *lines,
                      struct error *err) {
    size_t used = 0;
    if (model_read_grow(table, 0, sizeof **table, err) < 0) { /* not NULL even without a line */
        return -1;
    }
    for (;;) {
        const char *rest = NULL;
        if (model_lines_next(in, err) < 0) {
            return -1;
        }
        if (at_word(in)) {
            return 0;
        }
        if (parse_numbers(in, n, table, &used, &rest, err) < 0) {
            return -1;
        }
        if (*rest) {
            return model_lines_fail(in, "more on the line than its numbers", rest, err);
        }
        ++*lines;
    }
}

/* The lines `shift factor` of a scaling that was fitted to training rows. */
static int read_scaling(struct model_lines *in, struct scale *scale, uint64_t *lines,
                        struct error *err) {
    enum scale_kind kind = scale->kind;
    bool expected = kind == SCALE_STD || kind == SCALE_STD_CENTER || kind == SCALE_MINMAX;
    if (expected != (strcmp(in->line, "scaling") == 0)) {
        return model_lines_fail(in, "the body does not fit the scaling", in->line, err);
    }
    if (!expected) {
        return 0;
    }
    double *table = NULL;
    int status = read_table(in, 2, &table, lines, err);
    if (status == 0 && *lines > UINT32_MAX) {
        status = model_lines_fail(in, "too many features", NULL, err);
    }
    if (status == 0) {
        scale->n = (uint32_t)*lines;
        scale->shift = memory_array(scale->n, sizeof(double), "scaling", err);
        scale->factor = memory_array(scale->n, sizeof(double), "scaling", err);
        status = scale->shift && scale->factor ? 0 : -1;
    }
    for (size_t j = 0; status == 0 && j < scale->n; j++) {
        scale->shift[j] = table[2 * j];
        scale->factor[j] = table[2 * j + 1];
    }
    free(table);
    return status;
}

static int read_weights(struct model_lines *in, struct model *model, uint64_t *lines,
                        struct error *err) {
    uint64_t n = 0;
    if (read_table(in, model->n_outputs, &model->weights, &n, err) < 0) {
        return -1;
    }
    *lines += n;
    return n == model->n_features
               ? 0
               : model_lines_fail(in, "not a weight for each feature", NULL, err);
}

/* Reads `index:value` ... from `at` to the end of the line as the next row of the vectors. */
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
        if (append_value(data, n++, (uint32_t)(index - 1), (float)value, err) < 0) {
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
            parse_numbers(in, model->n_outputs, &model->coefficients, &used, &rest, err) < 0) {
            return -1;
        }
        if (parse_vector(in, data, rest, precomputed, pairs, err) < 0) {
            return -1;
        }
        ++*lines;
    }
    return 0;
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
    return data_make_dense(&model->vectors, model->n_features, false, err);
}

/* The body that the line announces. Pairs of rows have support vectors with every kernel. */
static int read_body(struct model_lines *in, struct model *model, uint64_t *lines,
                     struct error *err) {
    bool linear = model->kernel.type == KERNEL_LINEAR, pairs = strcmp(in->line, "SV pairs") == 0;
    if (!pairs && strcmp(in->line, linear ? "w" : "SV") != 0) {
        return model_lines_fail(
            in, linear ? "a linear model has weights" : "a kernel model has support vectors",
            in->line, err);
    }
    return linear && !pairs ? read_weights(in, model, lines, err)
                            : read_kernel_body(in, model, pairs, lines, err);
}

/* Checks the last line, and that nothing follows it. */
static int check_end(struct model_lines *in, uint64_t lines, struct error *err) {
    char end[MODEL_CHECKSUM_LINE];
    model_checksum_line(lines, in->checksum, end);
    if (strcmp(in->line, end) != 0) {
        return model_lines_fail(in, "the model is damaged: its checksum does not fit", NULL, err);
    }
    int more = model_lines_more(in, err);
    return more > 0 ? model_lines_fail(in, "something follows the last line", NULL, err) : more;
}

static int read_all(struct model_lines *in, struct model *model, const char *family,
                    const char *const *own_keys, struct error *err) {
    uint64_t lines = 0;
    if (model_read_header(in, model, family, own_keys, err) < 0 ||
        read_scaling(in, &model->scale, &lines, err) < 0) {
        return -1;
    }
    int status = read_body(in, model, &lines, err);
    model->checksum = in->checksum;
    return status < 0 ? -1 : check_end(in, lines, err);
}

static int read_file(struct model *model, const char *family, const char *const *own_keys,
                     bool classes, const char *path, struct error *err) {
    *model = (struct model){0};
    struct model_lines in;
    int status = model_lines_open(&in, path, err);
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

int model_read(struct model *model, const char *family, const char *const *own_keys,
               const char *path, struct error *err) {
    return read_file(model, family, own_keys, false, path, err);
}

int model_read_classes(struct model *model, const char *family, const char *const *own_keys,
                       const char *path, struct error *err) {
    return read_file(model, family, own_keys, true, path, err);
}
