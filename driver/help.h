/* --help: how to call a program, every option with its default, and the measures. README and the
 * manual pages have their lists of options from here, see tools/manual. */
#ifndef DRIVER_HELP_H
#define DRIVER_HELP_H

#include "driver/family.h"

struct help {
    const char *program, *operands;
    const char *summary; /* one paragraph */
    const struct options *options;
    const struct measures *measures; /* NULL: none */
};

/* Writes all that, in lines of at most 80 columns; the measures are those with these options. */
int help_write(const struct help *help, struct output *output, struct error *err);

#endif
