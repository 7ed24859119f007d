/* Reading of the header of a model: its first line, and the keys up to the body. */
#include "common/model/read_private.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = 1 << 20, MAX_OUTPUTS = 1 << 24 };

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

enum key {
    KEY_FORMULATION,
    KEY_LOSS,
    KEY_COST,
    KEY_KERNEL,
    KEY_DEGREE,
    KEY_GAMMA,
    KEY_COEF0,
    KEY_BIAS,
    KEY_ROWS,
    KEY_FEATURES,
    KEY_PRIMAL,
    KEY_DUAL,
    KEY_GAP,
    KEY_CERTIFIED,
    KEY_ITERATIONS,
    KEY_SOLVER,
    KEY_OUTPUTS,
    KEY_SCALE,
    KEY_QUERY_FEATURES,
    N_KEYS
};

static const char *const keys[N_KEYS] = {
    "formulation", "loss",   "cost",     "kernel", "degree",        "gamma", "coef0",
    "bias",        "rows",   "features", "primal", "dual",          "gap",   "certified",
    "iterations",  "solver", "outputs",  "scale",  "query-features"};

static const unsigned required = 1U << KEY_FORMULATION | 1U << KEY_COST | 1U << KEY_KERNEL |
                                 1U << KEY_ROWS | 1U << KEY_FEATURES | 1U << KEY_PRIMAL |
                                 1U << KEY_DUAL | 1U << KEY_GAP | 1U << KEY_ITERATIONS;

/* What was read so far. */
struct header {
    unsigned seen; /* keys */
    size_t n_bias; /* number of values of the bias */
};

/* Doubles hold every integer up to this. */
static const double MAX_WHOLE = 0x1p53;

/* The maximum of a key whose value is an integer; 0 for other keys. */
static double largest_whole(enum key key) {
    switch (key) {
    case KEY_DEGREE:
        return MAX_DEGREE;
    case KEY_FEATURES:
        return UINT32_MAX;
    case KEY_OUTPUTS:
        return MAX_OUTPUTS;
    default:
        return key == KEY_ROWS || key == KEY_ITERATIONS ? MAX_WHOLE : 0;
    }
}

static void set_whole(struct model *model, enum key key, uint64_t value) {
    if (key == KEY_DEGREE) {
        model->kernel.degree = (int)value;
    } else if (key == KEY_FEATURES) {
        model->n_features = (uint32_t)value;
    } else if (key == KEY_OUTPUTS) {
        model->n_outputs = (size_t)value;
    } else if (key == KEY_ROWS) {
        model->n_rows = value;
    } else {
        model->iterations = value;
    }
}

static int parse_common(const struct model_lines *in, struct model *model, struct header *header,
                        enum key key, const char *text, struct error *err) {
    uint64_t value = 0;
    double largest = largest_whole(key);
    size_t place = 0;
    int status = 0;
    if (largest > 0) {
        status = parse_whole(in, text, largest, &value, err);
        set_whole(model, key, value);
        return status;
    }
    switch (key) {
    case KEY_FORMULATION:
        return copy_value(&model->formulation, text, err);
    case KEY_LOSS:
        return copy_value(&model->loss, text, err);
    case KEY_KERNEL:
        status = parse_name(in, text, kernel_names, "an unknown kernel", &place, err);
        model->kernel.type = (enum kernel_type)place;
        return status;
    case KEY_COST:
        return parse_double(in, text, &model->cost, err);
    case KEY_GAMMA:
        return parse_double(in, text, &model->kernel.gamma, err);
    case KEY_COEF0:
        return parse_double(in, text, &model->kernel.coef0, err);
    case KEY_PRIMAL:
        return parse_double(in, text, &model->primal, err);
    case KEY_DUAL:
        return parse_double(in, text, &model->dual, err);
    case KEY_GAP:
        model->gap = NAN;
        return strcmp(text, "none") == 0 ? 0 : parse_double(in, text, &model->gap, err);
    case KEY_CERTIFIED:
        model->certified = strcmp(text, "yes") == 0;
        return model->certified || strcmp(text, "no") == 0
                   ? 0
                   : model_lines_fail(in, "not yes or no", text, err);
    case KEY_BIAS:
        return parse_list(in, text, &model->bias, &header->n_bias, err);
    case KEY_SOLVER:
        return copy_value(&model->solver, text, err);
    case KEY_SCALE:
        status = parse_name(in, text, scale_names, "an unknown scaling", &place, err);
        model->scale.kind = (enum scale_kind)place;
        return status;
    case KEY_QUERY_FEATURES:
        return strcmp(text, "mean") == 0
                   ? 0
                   : model_lines_fail(in, "not features of queries", text, err);
    default:
        break;
    }
    return model_lines_fail(in, "an unknown key", text, err);
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
        if (strcmp(keys[i], in->line) == 0) {
            found = true;
            status = header->seen >> i & 1
                         ? model_lines_fail(in, "given twice", in->line, err)
                         : parse_common(in, model, header, (enum key)i, value + 1, err);
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
        bool wanted = required >> i & 1;
        if (wanted && !(header.seen >> i & 1)) {
            return model_lines_fail(in, "the header lacks the key", keys[i], err);
        }
    }
    if (model->n_outputs == 0) {
        return model_lines_fail(in, "a model without outputs", NULL, err);
    }
    if (header.seen >> KEY_QUERY_FEATURES & 1) {
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
