#include "common/data/weights.h"

#include "common/base/number.h"
#include "common/data/lines.h"

#include <math.h>
#include <string.h>

enum { BATCH = 1 << 16 };

/* One line, without its newline. */
static int read_line(const struct lines *lines, size_t number, const char *text, size_t length,
                     double *weight, struct error *err) {
    while (length > 0 && strchr("\r \t", text[length - 1])) {
        length--;
    }
    if (number_parse(text, text + length, weight) != text + length || !isfinite(*weight) ||
        *weight < 0) {
        return error_set(err, ERROR_RUNTIME, "%s:%zu:1: not a weight of 0 or more: '%.*s'",
                         lines_name(lines), number, length < 100 ? (int)length : 100, text);
    }
    return 0;
}

static int read_lines(struct lines *lines, double *weight, size_t n, struct error *err) {
    size_t row = 0;
    for (;;) {
        const char *text;
        size_t length;
        if (lines_next(lines, &text, &length, err) < 0) {
            return -1;
        }
        if (length == 0) {
            break;
        }
        for (const char *end = text + length; text < end; row++) {
            const char *newline = memchr(text, '\n', (size_t)(end - text));
            if (row == n) {
                return error_set(err, ERROR_RUNTIME,
                                 "%s:%zu: more lines than the %zu training rows", lines_name(lines),
                                 row + 1, n);
            }
            if (read_line(lines, row + 1, text, (size_t)(newline - text), &weight[row], err) < 0) {
                return -1;
            }
            text = newline + 1;
        }
    }
    return row == n ? 0
                    : error_set(err, ERROR_RUNTIME, "%s: %zu lines for %zu training rows",
                                lines_name(lines), row, n);
}

int weights_read(const char *path, double *weight, size_t n, struct error *err) {
    struct lines *lines;
    if (lines_open(&lines, path, BATCH, false, err) < 0) {
        return -1;
    }
    int status = read_lines(lines, weight, n, err);
    lines_close(lines);
    return status;
}
