/* --help from the table of options (help.h). */
#include "driver/help.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 26, HELP_WIDTH = 80 };

/* A larger upper bound only catches typing errors, and is not printed. */
static const double ANY = 1e6;

/* The position of the next word: lines are broken before HELP_WIDTH and continue at `indent`. */
struct page {
    struct output *output;
    size_t column, indent;
};

static void write_words(struct page *page, const char *text) {
    for (;;) {
        text += strspn(text, " ");
        size_t length = strcspn(text, " ");
        if (length == 0) {
            return;
        }
        if (page->column > page->indent && page->column + 1 + length > HELP_WIDTH) {
            output_format(page->output, "\n%*s", (int)page->indent, "");
            page->column = page->indent;
        } else if (page->column > page->indent) {
            output_write(page->output, " ", 1);
            page->column++;
        }
        output_write(page->output, text, length);
        page->column += length;
        text += length;
    }
}

/* Writes `left`, and moves to `column`, on the next line if left is too long. */
static void start_entry(struct page *page, const char *left, size_t column) {
    size_t length = strlen(left);
    page->column = page->indent = column;
    output_write(page->output, left, length);
    if (length + 2 > column) {
        output_write(page->output, "\n", 1);
        length = 0;
    }
    output_format(page->output, "%*s", (int)(column - length), "");
}

/* Writes the bounds to text (`size` bytes), for example "above 0" or "1 to 1024"; "" without
 * bounds, or if the value's name shows them, such as 0|1. */
static void describe_range(const struct option_spec *spec, char *text, size_t size) {
    *text = '\0';
    if (!(spec->low < spec->high) || isdigit((unsigned char)*spec->value)) {
        return;
    }
    const char *above = spec->low_excluded ? "above " : "";
    if (spec->high < ANY) {
        snprintf(text, size, "%s%g to %g", above, spec->low, spec->high);
    } else {
        snprintf(text, size, "%s%g%s", above, spec->low, spec->low_excluded ? "" : " or more");
    }
}

/* Writes the bounds and the default, in parentheses. */
static void write_notes(const struct option_spec *spec, struct page *page) {
    char range[80], notes[200];
    const char *value = spec->initial ? spec->initial : spec->absent;
    describe_range(spec, range, sizeof range);
    if (*range || value) {
        snprintf(notes, sizeof notes, "(%s%s%s%s)", range, *range && value ? ", " : "",
                 value ? "default " : "", value ? value : "");
        write_words(page, notes);
    }
}

static void write_choices(const struct option_spec *spec, struct output *output) {
    size_t width = 0;
    for (size_t i = 0; spec->choices[i]; i++) {
        size_t length = strlen(spec->choices[i]);
        width = length > width ? length : width;
    }
    for (size_t i = 0; spec->choices[i]; i++) {
        struct page page = {.output = output};
        char left[80];
        if (!*spec->choices[i]) {
            continue;
        }
        snprintf(left, sizeof left, "%*s%zu %s", HELP_COLUMN + 2, "", i, spec->choices[i]);
        start_entry(&page, left, HELP_COLUMN + 6 + width);
        write_words(&page, spec->meanings[i]);
        output_format(output, "\n");
    }
}

/* Writes the option's letter and name, and moves to the column of its text. */
static void start_option(const struct option_spec *spec, struct page *page) {
    char left[80], letter[8] = "    ";
    bool word = spec->word && spec->kind != OPTION_FLAG;
    if (spec->letter) {
        snprintf(letter, sizeof letter, "-%c, ", spec->letter);
    }
    snprintf(left, sizeof left, "  %s--%s%s%s%s%s", letter, spec->name, spec->value ? " " : "",
             word ? spec->word : "", word ? "|" : "", spec->value ? spec->value : "");
    start_entry(page, left, HELP_COLUMN);
}

static void write_option(const struct option_spec *spec, struct output *output) {
    struct page page = {.output = output};
    start_option(spec, &page);
    write_words(&page, spec->help);
    write_notes(spec, &page);
    output_format(output, "\n");
    if (spec->kind == OPTION_CHOICE) {
        write_choices(spec, output);
    }
}

/* Writes the list of options that take a list, if there are any. */
static void write_sweep(const struct options *options, struct output *output) {
    struct page page = {.output = output};
    for (size_t i = 0; i < options->n; i++) {
        char name[80];
        if (options->option[i].spec.level < OPTION_SOLVE) {
            continue;
        }
        if (page.column == 0) {
            output_format(output, "\n");
            write_words(&page, "Several values make a sweep: 1,2,4 or 1:4:x2 or 1:4:+1 or "
                               "2^-4:2^4:x4, of");
        }
        snprintf(name, sizeof name, "--%s", options->option[i].spec.name);
        write_words(&page, name);
    }
    if (page.column > 0) {
        output_format(output, "\n");
    }
}

void help_write_usage(const struct help *help, struct output *output) {
    static const char usage[] = "usage: ";
    struct page page = {output, sizeof usage - 1, sizeof usage - 1};
    output_text(output, usage);
    write_words(&page, help->program);
    write_words(&page, "[options]");
    write_words(&page, help->operands);
    output_format(output, "\n");
    page = (struct page){.output = output};
    write_words(&page, help->summary);
    output_format(output, "\n\nexample: %s %s\n", help->program, help->example);
}

int help_write(const struct help *help, struct output *output, struct error *err) {
    struct measure *measure = NULL;
    size_t n_measures = 0;
    if (help->measures &&
        measures_list(help->measures, help->options, &measure, &n_measures, err) < 0) {
        return -1;
    }
    help_write_usage(help, output);
    output_format(output, "\noptions:\n");
    for (size_t i = 0; i < help->options->n; i++) {
        write_option(&help->options->option[i].spec, output);
    }
    write_sweep(help->options, output);
    output_format(output, "\n");
    struct page page = {.output = output};
    write_words(&page, help->measures ? "Measures:" : "");
    for (size_t i = 0; i < n_measures; i++) {
        write_words(&page, measure[i].name);
    }
    output_format(output, help->measures ? "\n" : "");
    free(measure);
    return 0;
}
