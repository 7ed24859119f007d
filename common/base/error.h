/* Errors: a kind, which becomes the exit code, and one line of text for the user.
 *
 * Every function that can fail returns 0 or -1 and has a `struct error *` as its last argument,
 * which it fills when it returns -1. Nothing below `main` prints or exits. */
#ifndef COMMON_BASE_ERROR_H
#define COMMON_BASE_ERROR_H

/* These flags change values, and what is certified would be false. */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "dualsvm is not built with -ffast-math, -Ofast or -ffinite-math-only"
#endif

#include <stdarg.h>

enum error_kind {
    ERROR_NONE = 0,
    ERROR_RUNTIME = 1, /* input, model, I/O, memory: exit code 1 */
    ERROR_USAGE = 2,   /* the command line: exit code 2 */
    ERROR_STOPPED = 4  /* who watches has asked to stop; never of a program */
};

enum { ERROR_TEXT = 1024 };

struct error {
    enum error_kind kind;
    char text[ERROR_TEXT]; /* without program name and newline; control bytes are escaped */
};

/* Sets kind and text (printf format). Bytes that are not printable ASCII become \xHH; of a text
 * that does not fit, "..." stands for what is left out of its middle. Returns -1, so that
 * `return error_set(...)` fails the caller. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int error_set_list(struct error *err, enum error_kind kind, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif
