/* Assertions of the unit tests. The first check that fails is printed on standard output, with its
 * position, and ends the program with exit code 1. A part that passed prints a line that begins
 * with "ok: "; without such a line the Bats helper assumes that the program checked nothing. */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include "common/base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The error of the last call that failed, in this thread. */
static _Thread_local __attribute__((unused)) struct error err;

/* FAIL(format, ...): the test has failed, for this reason.
 * CHECK(condition, format, ...): it has unless the condition holds; the format says what was found.
 * CHECK_TRUE(condition): the same, where the condition says all.
 * CHECK_CLOSE(found, expected, off, format, ...): it has unless the two numbers differ by at most
 * `off`; the format names them. CHECK_NEAR: by at most this part of the expected one.
 * MUST(call): it has unless the call returns 0; what it said is in err. */
#define FAIL(...) check_failed(__FILE__, __LINE__, "", __VA_ARGS__)
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            check_failed(__FILE__, __LINE__, #condition ": ", __VA_ARGS__);                        \
        }                                                                                          \
    } while (0)
#define CHECK_TRUE(condition) CHECK(condition, "does not hold")
#define CHECK_CLOSE(found, expected, off, ...)                                                     \
    do {                                                                                           \
        if (!(fabs((found) - (expected)) <= (off))) {                                              \
            check_failed(__FILE__, __LINE__, check_apart(found, expected), __VA_ARGS__);           \
        }                                                                                          \
    } while (0)
#define CHECK_NEAR(found, expected, part, ...)                                                     \
    CHECK_CLOSE(found, expected, fabs(expected) * (part), __VA_ARGS__)
#define MUST(call) CHECK((call) == 0, "%s", err.text)

/* The step of a loop over many alike: 1, or the given one where DUALSVM_QUICK asks for less, as
 * under the sanitizers, which need each line of the code but not each number. */
static inline int quick_step(int step) {
    return getenv("DUALSVM_QUICK") ? step : 1;
}

__attribute__((format(printf, 4, 5))) static inline _Noreturn void
check_failed(const char *file, int line, const char *condition, const char *format, ...) {
    va_list values;
    printf("FAIL %s:%d: %s", file, line, condition);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("\n");
    exit(1);
}

/* The message on two numbers that differ. */
static inline const char *check_apart(double found, double expected) {
    static _Thread_local char text[64];
    snprintf(text, sizeof text, "%.17g, not %.17g: ", found, expected);
    return text;
}

/* n zeros of `size` bytes each that live until the program ends: no test frees them. */
static inline void *check_array(size_t n, size_t size) {
    enum { HEAD = 64 };
    static void *last; /* each block begins with the address of the one before */
    void **block = calloc(1, HEAD + n * size);
    CHECK(block, "out of memory");
    *block = last;
    last = block;
    return (char *)block + HEAD;
}

static inline double *check_numbers(size_t n) {
    return check_array(n, sizeof(double));
}

#endif
