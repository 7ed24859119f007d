/* Text that grows in memory: rows of tables, file names, what an output writes. */
#ifndef DRIVER_TEXT_H
#define DRIVER_TEXT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Zero at first. Who fills it by text_take alone, and looks at what that returns, frees bytes. */
struct text {
    char *bytes; /* (n) and a NUL behind them; malloc'd; NULL: nothing was added */
    size_t n, room;
    bool failed; /* for lack of memory: nothing more is added */
};

/* Adds n bytes: an output_taker (output.h) whose context is the text. Returns 0 or ENOMEM. */
int text_take(void *text, const char *bytes, size_t n);

/* Adds a text (printf format). */
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The bytes, to which something was added, which the caller frees; NULL with err set if an addition
 * has failed: "out of memory: WHAT". */
char *text_end(struct text *text, const char *what, struct error *err);

#endif
