#include "common/base/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *err, enum error_kind kind, const char *format, ...) {
    char raw[ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    if (length < 0) {
        raw[0] = '\0';
    }
    static const char digits[] = "0123456789abcdef";
    size_t out = 0;
    for (const char *in = raw; *in && out + 5 < sizeof err->text; in++) {
        unsigned char byte = (unsigned char)*in;
        if (byte >= 0x20 && byte < 0x7f) {
            err->text[out++] = *in;
        } else {
            err->text[out++] = '\\';
            err->text[out++] = 'x';
            err->text[out++] = digits[byte >> 4];
            err->text[out++] = digits[byte & 15];
        }
    }
    err->text[out] = '\0';
    err->kind = kind;
    return -1;
}
