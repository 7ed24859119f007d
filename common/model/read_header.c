/* Reading of the header of a model: its first line, and the keys up to the body. */
#include "common/model/read_private.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = 1 << 20, MAX_OUTPUTS = 1 << 24 };

/* Doubles hold every integer up to this. */
static const double MAX_WHOLE = 0x1p53;

static int parse_double(const struct model_lines *in, const char *text, double *value,
                        struct error *err) {
    return number_parse_whole(text, value) ? 0 : model_lines_fail(in, "not a number", text, err);
}

/* Parses an integer up to max; 0 on failure. */
static int parse_whole(const struct model_lines *in, const char *text, double max, uint64_t *value,
                       struct error *err) {
    double number = 0;
    *value = 0;
    if (parse_double(in, text, &number, err) < 0) {
        return -1;
    }
    if (!(number >= 0 && number <= max && number == floor(number))) {
        return model_lines_fail(in, "not a whole number in range", text, err);
    }
    *value = (uint64_t)number;
    return 0;
}

static int copy_value(char **copy, const char *text, struct error *err) {
    *copy = memory_text(text, strlen(text), "a model line", err);
    return *copy ? 0 : -1;
}

int model_read_grow(void *array, size_t n, size_t size, struct error *err) {
    return memory_grow(array, memory_room(0, n), n + 1, size, "the model", err);
}

int model_read_number(double **array, size_t n, double value, struct error *err) {
    if (model_read_grow(array, n, sizeof value, err) < 0) {
        return -1;
    }
    (*array)[n] = value;
    return 0;
}

/* Parses the numbers of a value, separated by single blanks. */
static int parse_list(const struct model_lines *in, const char *text, double **list, size_t *n,
                      struct error *err) {
    const char *at = text, *end = in->line + in->length;
    for (*n = 0;; at++) {
        double value = 0;
        at = number_parse(at, end, &value);
        if (!at || !isfinite(value)) {
            return model_lines_fail(in, "not a list of numbers", text, err);
        }
        if (model_read_number(list, (*n)++, value, err) < 0) {
            return -1;
        }
        if (*at != ' ') {
            return at == end ? 0 : model_lines_fail(in, "not a list of numbers", at, err);
        }
    }
}

/* *place = the position of the word in the list; `what`: the error if it is not there. */
static int parse_name(const struct model_lines *in, const char *text, const char *const *names,
                      const char *what, size_t *place, struct error *err) {
    for (*place = 0; names[*place]; ++*place) {
        if (strcmp(names[*place], text) == 0) {
            return 0;
        }
    }
    *place = 0;
    return model_lines_fail(in, what, text, err);
}

/* How a value is parsed. */
enum kind { TEXT, NUMBER, WHOLE, GAP, FLAG, BIAS, KERNEL, SCALE, MEANS, DEGREE, WIDTH, OUTPUTS };

/* The keys of every family; missing ones are reported in this order. */
static const struct {
    const char *name;
    bool required;
    enum kind kind;
    size_t offset; /* in struct model, of a char * (TEXT), double or uint64_t (WHOLE); else 0 */
} keys[] = {
    {"formulation", true, TEXT, offsetof(struct model, formulation)},
    {"loss", false, TEXT, offsetof(struct model, loss)},
    {"cost", true, NUMBER, offsetof(struct model, cost)},
    {"kernel", true, KERNEL, 0},
    {"degree", false, DEGREE, 0},
    {"gamma", false, NUMBER, offsetof(struct model, kernel.gamma)},
    {"coef0", false, NUMBER, offsetof(struct model, kernel.coef0)},
    {"bias", false, BIAS, 0},
    {"rows", true, WHOLE, offsetof(struct model, n_rows)},
    {"features", true, WIDTH, 0},
    {"primal", true, NUMBER, offsetof(struct model, primal)},
    {"dual", true, NUMBER, offsetof(struct model, dual)},
    {"gap", true, GAP, 0},
    {"certified", false, FLAG, 0},
    {"iterations", true, WHOLE, offsetof(struct model, iterations)},
    {"solver", false, TEXT, offsetof(struct model, solver)},
    {"outputs", false, OUTPUTS, 0},
    {"scale", false, SCALE, 0},
    {"query-features", false, MEANS, 0},
};

enum { N_KEYS = sizeof keys / sizeof *keys };

/* What was read so far. */
struct header {
    unsigned seen;    /* bit i: keys[i] */
    size_t n_bias;    /* number of values of the bias */
    bool query_means; /* the model has features of queries */
};

static int parse_common(const struct model_lines *in, struct model *model, struct header *header,
                        size_t key, const char *text, struct error *err) {
    void *field = (char *)model + keys[key].offset;
    uint64_t whole = 0;
    size_t place = 0;
    int status = 0;
    switch (keys[key].kind) {
    case TEXT:
        return copy_value(field, text, err);
    case NUMBER:
        return parse_double(in, text, field, err);
    case WHOLE:
        return parse_whole(in, text, MAX_WHOLE, field, err);
    case DEGREE:
        status = parse_whole(in, text, MAX_DEGREE, &whole, err);
        model->kernel.degree = (int)whole;
        return status;
    case WIDTH:
        status = parse_whole(in, text, UINT32_MAX, &whole, err);
        model->n_features = (uint32_t)whole;
        return status;
    case OUTPUTS:
        status = parse_whole(in, text, MAX_OUTPUTS, &whole, err);
        model->n_outputs = (size_t)whole;
        return status;
    case KERNEL:
        status = parse_name(in, text, kernel_names, "an unknown kernel", &place, err);
        model->kernel.type = (enum kernel_type)place;
        return status;
    case SCALE:
        status = parse_name(in, text, scale_names, "an unknown scaling", &place, err);
        model->scale.kind = (enum scale_kind)place;
        return status;
    case GAP:
        model->gap = NAN;
        return strcmp(text, "none") == 0 ? 0 : parse_double(in, text, &model->gap, err);
    case FLAG:
        model->certified = strcmp(text, "yes") == 0;
        return model->certified || strcmp(text, "no") == 0
                   ? 0
                   : model_lines_fail(in, "not yes or no", text, err);
    case BIAS:
        return parse_list(in, text, &model->bias, &header->n_bias, err);
    case MEANS:
        header->query_means = strcmp(text, "mean") == 0;
        break;
    }
    return header->query_means ? 0 : model_lines_fail(in, "not features of queries", text, err);
}

/* Parses one `key value` line, in place. */
static int parse_header_line(struct model_lines *in, struct model *model, const char *const *own,
                             struct header *header, struct error *err) {
    char *value = strchr(in->line, ' ');
    if (!value) {
        return model_lines_fail(in, "not a line 'key value'", in->line, err);
    }
    *value = '\0';
    int status = 0;
    bool found = false;
    for (size_t i = 0; i < N_KEYS && !found; i++) {
        if (strcmp(keys[i].name, in->line) == 0) {
            found = true;
            status = header->seen >> i & 1 ? model_lines_fail(in, "given twice", in->line, err)
                                           : parse_common(in, model, header, i, value + 1, err);
            header->seen |= 1U << i;
        }
    }
    for (size_t i = 0; own && own[i] && !found; i++) {
        if (strcmp(own[i], in->line) == 0) {
            found = true;
            status = model_value(model, own[i]) ? model_lines_fail(in, "given twice", in->line, err)
                                                : model_add(model, err, own[i], "%s", value + 1);
        }
    }
    if (!found) {
        return model_lines_fail(in, "an unknown key", in->line, err);
    }
    *value = ' ';
    return status;
}

/* Checks the bias: a single 0 means that there is none. */
static int check_bias(const struct model_lines *in, struct model *model,
                      const struct header *header, struct error *err) {
    bool none = header->n_bias == 0 || (header->n_bias == 1 && model->bias[0] == 0);
    if (none || strcmp(in->line, "SV pairs") == 0) {
        free(model->bias);
        model->bias = NULL;
    }
    return none || (model->bias && header->n_bias == model->n_outputs)
               ? 0
               : model_lines_fail(in, "the bias does not fit the number of outputs", NULL, err);
}

/* True for the lines with which a body may begin. */
static bool is_body(const char *line) {
    static const char *const words[] = {"scaling", "scaling sparse", "w", "w sparse",
                                        "SV",      "SV pairs",       NULL};
    size_t i = 0;
    while (words[i] && strcmp(line, words[i]) != 0) {
        i++;
    }
    return words[i] != NULL;
}

int model_read_header(struct model_lines *in, struct model *model, const char *family,
                      const char *const *own, struct error *err) {
    char first[64];
    snprintf(first, sizeof first, "dualsvm %s 1", family);
    if (strcmp(in->line, first) != 0) {
        char what[128];
        snprintf(what, sizeof what, "not a model for this program: no first line '%s'", first);
        return model_lines_fail(in, what, in->line, err);
    }
    model->n_outputs = 1;
    struct header header = {0};
    for (;;) {
        if (model_lines_next(in, err) < 0) {
            return -1;
        }
        if (is_body(in->line)) {
            break;
        }
        if (parse_header_line(in, model, own, &header, err) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < N_KEYS; i++) {
        if (keys[i].required && !(header.seen >> i & 1)) {
            return model_lines_fail(in, "the header lacks the key", keys[i].name, err);
        }
    }
    if (model->n_outputs == 0) {
        return model_lines_fail(in, "a model without outputs", NULL, err);
    }
    if (header.query_means) {
        model->scale.query_means = model->n_features / 2;
        if (model->n_features % 2 != 0 || model->n_features == 0) {
            return model_lines_fail(in, "features of queries are half of all features", NULL, err);
        }
    }
    if (scale_kind_by_query(model->scale.kind)) {
        model->scale.n = model->n_features - model->scale.query_means;
    }
    return check_bias(in, model, &header, err);
}
