/* Access to parsed options, and to their values at a point of a sweep. */
#include "driver/options.h"

#include "common/base/memory.h"
#include "common/base/number.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int options_add(struct options *options, const struct option_spec *specs, size_t n, unsigned has,
                struct error *err) {
    struct option *grown = memory_resize(options->option, options->n_rows + n,
                                         sizeof options->option[0], "options", err);
    if (!grown) {
        return -1;
    }
    options->option = grown;
    for (size_t i = 0; i < n; i++) {
        size_t at = options->n_rows++;
        if ((specs[i].needs & ~has) == 0) {
            options->option[at] = options->option[options->n];
            at = options->n++;
        }
        options->option[at] = (struct option){.spec = specs[i], .stride = 1};
    }
    return 0;
}

void options_free(struct options *options) {
    for (size_t i = 0; i < options->n; i++) {
        free(options->option[i].number);
        free(options->option[i].weights);
    }
    free(options->option);
    free(options->operand);
    *options = (struct options){0};
}

/* The index of the row with that name; n_rows: there is none. */
static size_t find_row(const struct options *options, const char *name) {
    size_t i = 0;
    while (i < options->n_rows && strcmp(options->option[i].spec.name, name) != 0) {
        i++;
    }
    return i;
}

const struct option *options_find(const struct options *options, const char *name) {
    static const struct option none = {.stride = 1};
    size_t i = find_row(options, name);
    assert(i < options->n_rows && "an option that is asked for stands in the table");
    return i < options->n ? &options->option[i] : &none;
}

bool options_has(const struct options *options, const char *name) {
    return find_row(options, name) < options->n;
}

bool options_given(const struct options *options, const char *name) {
    return options_find(options, name)->given;
}

double point_number_or(struct point point, const char *name, double missing) {
    const struct option *option = options_find(point.options, name);
    return option->n == 0 ? missing : option->number[point.number / option->stride % option->n];
}

double point_number(struct point point, const char *name) {
    return point_number_or(point, name, 0);
}

size_t point_choice(struct point point, const char *name) {
    return (size_t)point_number(point, name);
}

const char *point_text(struct point point, const struct option *option, char text[32]) {
    double value = point_number(point, option->spec.name);
    if (option->spec.kind == OPTION_CHOICE) {
        return option->spec.choices[(size_t)value];
    }
    number_format(value, text);
    return text;
}

bool options_lists(const struct options *options, const char *name, double number) {
    const struct option *option = options_find(options, name);
    bool found = false;
    for (size_t i = 0; i < option->n; i++) {
        found |= option->number[i] == number;
    }
    return found;
}

int options_refuse(const struct refusal *refusal, struct error *err) {
    while (refusal->why && !refusal->holds) {
        refusal++;
    }
    return refusal->why ? error_set(err, ERROR_USAGE, "%s", refusal->why) : 0;
}

double options_number(const struct options *options, const char *name) {
    return point_number((struct point){options, 0}, name);
}

size_t options_choice(const struct options *options, const char *name) {
    return point_choice((struct point){options, 0}, name);
}

const char *options_text(const struct options *options, const char *name) {
    return options_find(options, name)->text;
}

size_t options_block(const struct options *options, enum option_level level) {
    size_t block = 1;
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->option[i];
        if (option->spec.level >= OPTION_SOLVE && option->spec.level < level && option->n > 0) {
            block *= option->n;
        }
    }
    return block;
}
