/* Merges points that differ only in options without effect, and selects the columns. */
#include "driver/grid.h"

#include "common/base/memory.h"
#include "common/base/number.h"
#include "common/kernel/kernel.h"
#include "common/model/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool grid_wanted(const struct options *options) {
    for (size_t i = 0; i < options->n; i++) {
        if (options->option[i].spec.level >= OPTION_SOLVE && options->option[i].listed) {
            return true;
        }
    }
    return false;
}

/* ---- effects of options ---- */

/* The parameter of kernels with that name; 0: none. */
static unsigned kernel_parameter(const char *name) {
    return strcmp(name, "degree") == 0  ? KERNEL_DEGREE
           : strcmp(name, "gamma") == 0 ? KERNEL_GAMMA
           : strcmp(name, "coef0") == 0 ? KERNEL_COEF0
                                        : 0;
}

static bool applies(const struct grid *grid, struct point point, const struct option *option) {
    const char *name = option->spec.name;
    unsigned parameter = kernel_parameter(name);
    if (parameter) {
        enum kernel_type type = (enum kernel_type)point_choice(point, "kernel");
        return (kernel_parameters(type) & parameter) != 0;
    }
    return !grid->family->applies || grid->family->applies(point, name);
}

/* Returns whether the option is a column: it can vary, or is the kernel, and it has a value. */
static bool is_parameter(const struct option *option) {
    const char *name = option->spec.name;
    return (option->spec.level >= OPTION_SOLVE || strcmp(name, "kernel") == 0) &&
           (option->n > 0 || kernel_parameter(name));
}

/* Returns whether the point is the first of those that differ only in options without effect. */
static bool is_representative(const struct grid *grid, size_t number) {
    const struct options *options = grid->options;
    struct point point = {options, number};
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->option[i];
        if (option->spec.level >= OPTION_SOLVE && option->n > 1 &&
            number / option->stride % option->n > 0 && !applies(grid, point, option)) {
            return false;
        }
    }
    return true;
}

static bool applies_somewhere(const struct grid *grid, const struct option *option) {
    for (size_t i = 0; i < grid->n; i++) {
        if (applies(grid, (struct point){grid->options, grid->point[i]}, option)) {
            return true;
        }
    }
    return false;
}

int grid_create(struct grid *grid, const struct family *family, const struct options *options,
                struct error *err) {
    *grid = (struct grid){.family = family, .options = options};
    grid->point = memory_array(options->n_points, sizeof grid->point[0], "points", err);
    grid->column = memory_array(options->n, sizeof(void *), "columns", err);
    if (!grid->point || !grid->column) {
        grid_free(grid);
        return -1;
    }
    for (size_t p = 0; p < options->n_points; p++) {
        if (is_representative(grid, p)) {
            grid->point[grid->n++] = p;
        }
    }
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->option[i];
        if (is_parameter(option) && applies_somewhere(grid, option)) {
            grid->column[grid->n_columns++] = option;
        }
    }
    return 0;
}

void grid_free(struct grid *grid) {
    free(grid->point);
    free(grid->column);
    *grid = (struct grid){0};
}

const char *grid_text(const struct grid *grid, size_t index, size_t column, uint32_t n_features,
                      char text[32]) {
    const struct option *option = grid->column[column];
    struct point point = {grid->options, grid->point[index]};
    if (!applies(grid, point, option)) {
        return "";
    }
    if (option->n == 0) { /* gamma's default */
        number_format(n_features ? 1 / (double)n_features : 1, text);
        return text;
    }
    return point_text(point, option, text);
}

/* ---- options without effect ---- */

/* Writes the formulations at which the option has no effect; false if it has one at all of them. */
static bool list_formulations(const struct grid *grid, const struct option *option, char *what,
                              size_t size) {
    const struct option *formulation = options_find(grid->options, "formulation");
    size_t used = 0;
    for (size_t i = 0; i < formulation->n; i++) {
        struct point point = {grid->options, i * formulation->stride};
        if (!applies(grid, point, option) && used < size) {
            used += (size_t)snprintf(what + used, size - used, "%s%s", used ? ", " : "formulation ",
                                     formulation->spec.choices[point_choice(point, "formulation")]);
        }
    }
    return used > 0 && formulation->n > 1;
}

const struct option *grid_unused(const struct grid *grid, size_t *at, char *what, size_t size) {
    const struct options *options = grid->options;
    while (*at < options->n) {
        const struct option *option = &options->option[(*at)++];
        if (!option->given) {
            continue;
        }
        if (kernel_parameter(option->spec.name)) {
            struct point point = {options, 0};
            if (option->listed && !applies(grid, point, option)) {
                snprintf(what, size, "kernel %s", kernel_names[point_choice(point, "kernel")]);
                return option;
            }
        } else if (list_formulations(grid, option, what, size)) {
            return option;
        }
    }
    return NULL;
}

/* ---- comparison of sweeps ---- */

static uint32_t add_text(uint32_t checksum, const char *text) {
    return model_checksum_add(checksum, text, strlen(text) + 1);
}

static uint32_t add_number(uint32_t checksum, double number) {
    char text[NUMBER_LENGTH];
    snprintf(text, sizeof text, "%.17g", number);
    number_point(text);
    return add_text(checksum, text);
}

uint32_t grid_checksum(const struct grid *grid) {
    const struct options *options = grid->options;
    uint32_t checksum = add_text(0, grid->family->name);
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->option[i];
        if (option->spec.aside) {
            continue;
        }
        checksum = add_text(checksum, option->spec.name);
        if (option->spec.kind == OPTION_TEXT && option->text) {
            checksum = add_text(checksum, option->text);
        }
        for (size_t k = 0; k < option->n; k++) {
            checksum = add_number(checksum, option->number[k]);
        }
        for (size_t k = 0; k < option->n_weights; k++) {
            const struct option_weight *weight = &option->weights[k];
            checksum = model_checksum_add(checksum, weight->key, weight->key_length);
            checksum = add_number(checksum, weight->weight);
        }
    }
    return checksum;
}
