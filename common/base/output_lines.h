/* Long outputs of lines that threads format. */
#ifndef COMMON_BASE_OUTPUT_LINES_H
#define COMMON_BASE_OUTPUT_LINES_H

#include "common/base/output.h"
#include "common/base/threads.h"

#include <stddef.h>

/* Appends the text of line 0, 1, ... n - 1: put(context, line, text) writes the text of a line to
 * `text`, on any thread; it may write nothing. width: of a line, in numbers, about. -1 if memory is
 * short; other failures are those of the output. */
int output_lines(struct output *output, size_t n, size_t width, struct threads *threads,
                 void (*put)(const void *context, size_t line, struct output *text),
                 const void *context, struct error *err);

#endif
