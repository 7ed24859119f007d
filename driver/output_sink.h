/* Words for the user that are no results: progress, warnings, measures. Who speaks does not know
 * where they go: a program lends its standard error, a library what its caller wants, or
 * nothing. */
#ifndef DRIVER_OUTPUT_SINK_H
#define DRIVER_OUTPUT_SINK_H

#include <stdbool.h>
#include <stddef.h>

struct output_sink {
    /* Takes text[0..length), whole lines or the text of a line that is rewritten, not ended by a
     * zero. Calls do not overlap. NULL: silence. */
    void (*write)(void *context, const char *text, size_t length);
    void *context;
    bool terminal; /* what is written stands on a terminal: a line can be rewritten */
};

/* Says a text (printf format) in one call of write. A text of more than some thousand bytes is cut
 * if there is no memory for it. */
void output_sink_write(const struct output_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says a line that has names of files or labels in it: its bytes are shown as those of errors are
 * (see error_set). The line's end is added. */
void output_sink_line(const struct output_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
