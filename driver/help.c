#include "driver/help.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 28 };

static void write_option(const struct option *option, struct output *output) {
    const struct option_spec *spec = &option->spec;
    char left[80];
    char letter[8] = "    ";
    if (spec->letter) {
        snprintf(letter, sizeof letter, "-%c, ", spec->letter);
    }
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, spec->name, spec->value ? " " : "",
             spec->value ? spec->value : "");
    output_format(output, "%-*s", HELP_COLUMN, left);
    if (strlen(left) + 1 >= HELP_COLUMN) {
        output_format(output, "\n%*s", HELP_COLUMN, "");
    }
    for (const char *line = spec->help; *line;) {
        size_t length = strcspn(line, "\n");
        output_write(output, line, length);
        line += length;
        if (*line) {
            output_format(output, "\n%*s", HELP_COLUMN, "");
            line++;
        }
    }
    if (spec->kind == OPTION_CHOICE) {
        size_t column = 80; /* each choice where it fits */
        for (size_t i = 0; spec->choices[i]; i++) {
            size_t length = strlen(spec->choices[i]) + 6;
            if (column + length > 80) {
                output_format(output, "\n%*s", HELP_COLUMN, "");
                column = HELP_COLUMN;
            }
            output_format(output, "%s%zu %s%s", column > HELP_COLUMN ? " " : "", i,
                          spec->choices[i], spec->choices[i + 1] ? "," : "");
            column += length;
        }
    }
    if (spec->initial) {
        output_format(output, " (default %s)", spec->initial);
    }
    output_format(output, "\n");
}

void help_write(const struct options *options, const char *program, const char *operands,
                const char *summary, struct output *output) {
    bool sweeps = false;
    output_format(output, "usage: %s [options] %s\n%s\n\noptions:\n", program, operands, summary);
    for (size_t i = 0; i < options->n; i++) {
        write_option(&options->option[i], output);
        sweeps |= options->option[i].spec.level >= OPTION_SOLVE;
    }
    if (!sweeps) {
        return;
    }
    output_format(output, "\nSeveral values, a sweep: 1,2,4 or 1:4:x2 or 1:4:+1 or 2^-4:2^4:x4, "
                          "for\n ");
    for (size_t i = 0; i < options->n; i++) {
        if (options->option[i].spec.level >= OPTION_SOLVE) {
            output_format(output, " --%s", options->option[i].spec.name);
        }
    }
    output_format(output, "\n");
}
