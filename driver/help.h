/* --help: the usage line, every option with its default, and the measures. tools/manual copies the
 * lists of options into the reference and the manual pages. A program that is started without
 * arguments prints a shorter text. */
#ifndef DRIVER_HELP_H
#define DRIVER_HELP_H

#include "driver/family.h"

struct help {
    const char *program, *operands;
    const char *summary; /* one paragraph */
    const char *example; /* the arguments of a usual run */
    const struct options *options;
    const struct measures *measures; /* NULL: none */
};

/* Writes the help in lines of at most 80 columns; the measures are those of these options. */
int help_write(const struct help *help, struct output *output, struct error *err);

/* Writes how help_write begins: the usage line, the summary and the example. */
void help_write_usage(const struct help *help, struct output *output);

#endif
