/* The list of the measures that the options ask for, their values, and helpers for tables. */
#include "driver/measures.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct measure *measure;
    size_t n;
};

static int append(struct list *list, const struct measure_row *row, double at, const char *name,
                  struct error *err) {
    if (memory_grow(&list->measure, memory_room(0, list->n), list->n + 1, sizeof *list->measure,
                    "measures", err) < 0) {
        return -1;
    }
    struct measure *measure = &list->measure[list->n++];
    *measure = (struct measure){.row = row, .at = at};
    snprintf(measure->name, MEASURE_NAME, "%s", name);
    return 0;
}

static const struct option_spec *find_spec(const struct options *options,
                                           const struct measure_row *row) {
    return &options_find(options, row->option)->spec;
}

/* The table row and the parameter of a name NAME@NUMBER; NULL: there is no such measure. */
static const struct measure_row *parse_name(const struct measures *measures,
                                            const struct options *options, const char *name,
                                            double *at) {
    for (size_t r = 0; r < measures->n_table; r++) {
        const struct measure_row *row = &measures->table[r];
        size_t length = strlen(row->name);
        if (row->option && !row->predictor_only && strncmp(name, row->name, length) == 0 &&
            name[length] == '@' && number_parse_whole(name + length + 1, at) &&
            option_takes(find_spec(options, row), *at) && !(row->refuse && row->refuse(*at))) {
            return row;
        }
    }
    return NULL;
}

/* A name with @ in --select keeps its spelling in the list. */
struct selected {
    const struct measure_row *row; /* NULL: --select has no name with @ */
    double at;
    const char *name;
};

static int append_number(struct list *list, const struct measure_row *row, double at,
                         const struct selected *selected, struct error *err) {
    char name[MEASURE_NAME], number[NUMBER_LENGTH];
    const char *wrong = row->refuse ? row->refuse(at) : NULL;
    if (wrong) {
        return error_set(err, ERROR_USAGE, "option --%s: %g %s", row->option, at, wrong);
    }
    number_format(at, number);
    snprintf(name, sizeof name, "%s@%.*s", row->name, MEASURE_NAME - 12, number);
    bool is_selected = row == selected->row && at == selected->at;
    return append(list, row, at, is_selected ? selected->name : name, err);
}

/* Whether the program, a trainer or a predictor, has the measure. */
static bool is_listed(const struct measure_row *row, bool trains) {
    return trains ? !row->predictor_only : !row->trainer_only;
}

/* Adds the measures of rows first..end, which share an option. */
static int append_numbers(struct list *list, const struct measure_row *first,
                          const struct measure_row *end, const struct options *options,
                          const struct selected *selected, struct error *err) {
    const struct option *option = options_find(options, first->option);
    bool trains = options_has(options, "folds");
    for (size_t i = 0; i < option->n; i++) {
        for (const struct measure_row *row = first; row < end; row++) {
            if (is_listed(row, trains) &&
                append_number(list, row, option->number[i], selected, err) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int append_all(struct list *list, const struct measures *measures,
                      const struct options *options, struct error *err) {
    const struct measure_row *row = measures->table, *end = row + measures->n_table;
    bool trains = options_has(options, "folds");
    struct selected selected = {0};
    if (trains && options_given(options, "select")) {
        selected.name = options_text(options, "select");
        selected.row = parse_name(measures, options, selected.name, &selected.at);
    }
    bool there = selected.row == NULL;
    while (row < end) {
        const struct measure_row *next = row + 1;
        int status = 0;
        if (row->option) {
            while (next < end && next->option && strcmp(next->option, row->option) == 0) {
                next++;
            }
            status = append_numbers(list, row, next, options, &selected, err);
        } else if (is_listed(row, trains)) {
            status = append(list, row, 0, row->name, err);
        }
        if (status < 0) {
            return -1;
        }
        row = next;
    }
    for (size_t k = 0; k < list->n; k++) {
        there |= list->measure[k].row == selected.row && list->measure[k].at == selected.at;
    }
    return there ? 0 : append_number(list, selected.row, selected.at, &selected, err);
}

int measures_list(const struct measures *measures, const struct options *options,
                  struct measure **list, size_t *n, struct error *err) {
    struct list made = {0};
    if (append_all(&made, measures, options, err) < 0) {
        free(made.measure);
        return -1;
    }
    *list = made.measure;
    *n = made.n;
    return 0;
}

void measures_restrict(const struct measures *measures, const struct options *options,
                       const struct model *model, const struct data *data, struct measure *list,
                       size_t *n, size_t *kept) {
    size_t n_left = 0, number = kept ? *kept : *n;
    for (size_t k = 0; k < *n; k++) {
        if (k == number) {
            *kept = n_left;
        } else if (measures->defined && !measures->defined(&list[k], options, model, data)) {
            continue;
        }
        list[n_left++] = list[k];
    }
    *n = n_left;
}

int measures_values(const struct measures *measures, void *state, const struct measure *list,
                    size_t n, double *value, double *weight, struct error *err) {
    if (measures->finish && measures->finish(state, list, n, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < n; k++) {
        double own_weight = 1;
        value[k] = measures->value(state, &list[k], &own_weight);
        if (weight) {
            weight[k] = own_weight;
        }
    }
    return 0;
}

int measures_of_test(const struct measures *measures, void *state, const struct measure *list,
                     size_t n, double *value, struct measured_rows *rows, struct error *err) {
    int status = measures_values(measures, state, list, n, value, NULL, err);
    *rows = measures->rows ? measures->rows(state) : (struct measured_rows){0};
    for (size_t k = 0; rows->labelled > 0 && rows->known == 0 && k < n; k++) {
        value[k] = NAN;
    }
    return status;
}

/* ---- tables ---- */

void table_name(struct output *output, const char *name) {
    static const char special[] = "\t\n\r\\", letter[] = "tnr\\";
    for (; *name; name++) {
        unsigned char byte = (unsigned char)*name;
        const char *found = strchr(special, *name);
        if (found) {
            output_format(output, "\\%c", letter[found - special]);
        } else if (byte < 0x20 || byte == 0x7f) { /* a terminal would interpret it */
            output_format(output, "\\x%02x", byte);
        } else {
            output_write(output, name, 1);
        }
    }
}

void table_number(struct output *output, double value) {
    output_write(output, "\t", 1);
    if (isfinite(value)) {
        output_number(output, value);
    }
}

char *table_header(const char *first, const struct measure *list, size_t n, struct error *err) {
    struct text line = {0};
    text_format(&line, "%s", first);
    for (size_t k = 0; k < n; k++) {
        text_format(&line, "\t%s", list[k].name);
    }
    text_format(&line, "\n");
    return text_end(&line, "a header", err);
}
