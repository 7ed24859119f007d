/* --help: how to call a program, and every option with its default. */
#ifndef DRIVER_HELP_H
#define DRIVER_HELP_H

#include "common/base/output.h"
#include "driver/options.h"

/* Writes the usage of `program`, its summary (a text of one line or more), and the options. */
void help_write(const struct options *options, const char *program, const char *operands,
                const char *summary, struct output *output);

#endif
