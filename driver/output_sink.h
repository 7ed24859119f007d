/* Where progress, warnings and measures are printed: a program supplies its standard error, an
 * application of the library its own function, or nothing. */
#ifndef DRIVER_OUTPUT_SINK_H
#define DRIVER_OUTPUT_SINK_H

#include <stdbool.h>
#include <stddef.h>

struct output_sink {
    /* Receives text[0..length), without a NUL: complete lines, or the text of a line that is
     * rewritten. Calls do not overlap. NULL: the text is dropped. */
    void (*write)(void *context, const char *text, size_t length);
    void *context;
    bool terminal; /* the text appears on a terminal, where a line can be rewritten */
};

/* Prints a text (printf format) in one call of write. Beyond 4096 bytes it is cut if memory is
 * short. */
void output_sink_write(const struct output_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a line that may contain names of files or labels, whose bytes are escaped as in errors
 * (see error_set). Adds the line end. */
void output_sink_line(const struct output_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
