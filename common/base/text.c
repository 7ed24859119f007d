/* A text that grows (text.h). */
#include "common/base/text.h"

#include "common/base/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Allocates n more bytes and the NUL. */
static bool reserve(struct text *text, size_t n) {
    struct error ignored;
    if (text->failed ||
        memory_grow(&text->bytes, text->room, text->n + n + 1, 1, "", &ignored) < 0) {
        text->failed = true;
        return false;
    }
    text->room = memory_room(text->room, text->n + n + 1);
    return true;
}

int text_take(void *context, const char *bytes, size_t n) {
    struct text *text = context;
    if (!reserve(text, n)) {
        return ENOMEM;
    }
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
    text->bytes[text->n] = '\0';
    return 0;
}

void text_format(struct text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->bytes + text->n, (size_t)length + 1, format, again);
        text->n += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

char *text_end(struct text *text, const char *what, struct error *err) {
    if (!text->failed) {
        return text->bytes;
    }
    free(text->bytes);
    *text = (struct text){0};
    error_set(err, ERROR_RUNTIME, "out of memory: %s", what);
    return NULL;
}
