/* Formatted messages to an output sink (output_sink.h). */
#include "driver/output_sink.h"

#include "common/base/error.h"
#include "common/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { USUAL_BYTES = 4096 };

void output_sink_write(const struct output_sink *sink, const char *format, ...) {
    if (!sink->write) {
        return;
    }
    char usual[USUAL_BYTES], *text = usual;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(usual, sizeof usual, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return;
    }
    struct error ignored;
    char *longer = NULL;
    if ((size_t)length >= sizeof usual) {
        longer = memory_array((size_t)length + 1, 1, "a message", &ignored);
        if (longer) {
            va_start(arguments, format);
            vsnprintf(longer, (size_t)length + 1, format, arguments);
            va_end(arguments);
            text = longer;
        } else {
            length = sizeof usual - 1;
        }
    }
    sink->write(sink->context, text, (size_t)length);
    free(longer);
}

void output_sink_line(const struct output_sink *sink, const char *format, ...) {
    struct error line;
    va_list arguments;
    va_start(arguments, format);
    error_set_list(&line, ERROR_NONE, format, arguments);
    va_end(arguments);
    output_sink_write(sink, "%s\n", line.text);
}
