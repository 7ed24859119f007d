/* What only the files of options know; nobody else includes this. */
#ifndef DRIVER_OPTIONS_PRIVATE_H
#define DRIVER_OPTIONS_PRIVATE_H

#include "driver/options.h"

/* A sweep of more points, or a list of more values, is a mistyped range. */
enum { OPTIONS_MOST_POINTS = 10000 };

/* Takes `text` (borrowed) as the option's value, in place of what it had; a weight (OPTION_WEIGHTS)
 * is added to those before it. */
int option_take(struct option *option, const char *text, struct error *err);

/* Adds the weight that `text` says to an option of kind OPTION_WEIGHTS. The key is borrowed. */
int option_add_weight(struct option *option, const char *key, size_t key_length, const char *text,
                      struct error *err);

#endif
