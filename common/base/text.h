/* A text that grows in memory: rows of tables, file names, messages between processes. */
#ifndef COMMON_BASE_TEXT_H
#define COMMON_BASE_TEXT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Zero at first. The bytes are freed by the caller of text_end, or by the owner if that is not
 * called. */
struct text {
    char *bytes; /* (n) and a NUL after them; malloc'd; NULL: nothing was added */
    size_t n, room;
    bool failed; /* memory was short: nothing more is added */
};

/* Adds n bytes; an output_function (output.h) whose context is the text. Returns 0 or ENOMEM. */
int text_take(void *text, const char *bytes, size_t n);

/* Adds formatted text (printf format). */
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The bytes of a text that something was added to; the caller frees them. NULL with err set if an
 * addition has failed: "out of memory: WHAT". */
char *text_end(struct text *text, const char *what, struct error *err);

#endif
