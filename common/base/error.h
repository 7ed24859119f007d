/* Errors: a kind, which becomes the exit code, and one line of text for the user.
 *
 * Every function that can fail returns 0 or -1 and takes a `struct error *` as its last argument,
 * which it sets when it returns -1. Only `main` prints or exits. */
#ifndef COMMON_BASE_ERROR_H
#define COMMON_BASE_ERROR_H

/* These flags change floating-point results, and certificates would be false. */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "dualsvm is not built with -ffast-math, -Ofast or -ffinite-math-only"
#endif

#include <stdarg.h>
#include <stddef.h>

enum error_kind {
    ERROR_NONE = 0,
    ERROR_RUNTIME = 1, /* input, model, I/O, memory: exit code 1 */
    ERROR_USAGE = 2,   /* the command line: exit code 2 */
    ERROR_STOPPED = 4 /* a progress callback of the library has requested a stop; not in programs */
};

enum { ERROR_TEXT = 1024 };

struct error {
    enum error_kind kind;
    char text[ERROR_TEXT]; /* without program name and newline; control bytes are escaped */
};

/* Sets kind and text (printf format). Bytes that are not printable ASCII become \xHH; a text that
 * is too long loses its middle, marked by "...". Returns -1, so that `return error_set(...)` fails
 * the caller. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int error_set_list(struct error *err, enum error_kind kind, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* Puts "name: " in front of the text. Returns -1. */
int error_prefix(struct error *err, const char *name);

#endif
