/* Formatting of errors: bytes are escaped, and long texts shortened. */
#include "common/base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a text that is too long the first FIRST_BYTES are shown, and as many of its last as fit: a
 * long path loses its middle, and the message after it is complete. */
enum { FIRST_BYTES = 200, ESCAPE_BYTES = 4 };

/* Writes the printed form of a byte; returns its length. */
static size_t escape(char byte, char shown[ESCAPE_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char value = (unsigned char)byte;
    if (value >= 0x20 && value < 0x7f) {
        shown[0] = byte;
        return 1;
    }
    shown[0] = '\\';
    shown[1] = 'x';
    shown[2] = digits[value >> 4];
    shown[3] = digits[value & 15];
    return ESCAPE_BYTES;
}

/* The number of bytes of raw[0..n) whose printed form fits into `room`, from its beginning or its
 * end. */
static size_t fitting(const char *raw, size_t n, size_t room, bool end) {
    char shown[ESCAPE_BYTES];
    size_t fit = 0, used = 0;
    while (fit < n) {
        used += escape(raw[end ? n - 1 - fit : fit], shown);
        if (used > room) {
            break;
        }
        fit++;
    }
    return fit;
}

static char *add_shown(char *out, const char *raw, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out += escape(raw[i], out);
    }
    return out;
}

static void show(char text[ERROR_TEXT], const char *raw, size_t n) {
    static const char gap[] = "...";
    size_t room = ERROR_TEXT - 1;
    char *out = text;
    if (fitting(raw, n, room, false) < n) {
        size_t first = fitting(raw, n, FIRST_BYTES, false);
        out = add_shown(out, raw, first);
        memcpy(out, gap, sizeof gap - 1);
        out += sizeof gap - 1;
        size_t last = fitting(raw, n, room - (size_t)(out - text), true);
        raw += n - last;
        n = last;
    }
    *add_shown(out, raw, n) = '\0';
}

int error_set_list(struct error *err, enum error_kind kind, const char *format, va_list arguments) {
    char raw[ERROR_TEXT], *longer = NULL;
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(raw, sizeof raw, format, arguments);
    size_t n = length < 0 ? 0 : (size_t)length;
    if (n >= sizeof raw && (longer = malloc(n + 1)) != NULL) {
        vsnprintf(longer, n + 1, format, again);
    } else if (n >= sizeof raw) {
        n = sizeof raw - 1;
    }
    va_end(again);
    show(err->text, longer ? longer : raw, n);
    free(longer);
    err->kind = kind;
    return -1;
}

int error_set(struct error *err, enum error_kind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error_set_list(err, kind, format, arguments);
    va_end(arguments);
    return -1;
}

int error_prefix(struct error *err, const char *name) {
    const struct error before = *err;
    return error_set(err, before.kind, "%s: %s", name, before.text);
}
