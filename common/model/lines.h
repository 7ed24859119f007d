/* Reads the lines of a model or proof file, plain or gzip, and computes their checksum
 * (checksum.h). */
#ifndef COMMON_MODEL_LINES_H
#define COMMON_MODEL_LINES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_lines {
    const char *path; /* as shown in errors */
    const char *what; /* what the file is called in errors: "model", or what the caller sets after
                 opening */
    uint64_t number;  /* number of the current line, from 1 */
    char *line;       /* the current line, ended by NUL instead of a newline; may be written to */
    size_t length;
    uint32_t checksum; /* of the lines before the current one */
    struct model_source *source;
};

/* Opens path ("-": standard input) or, if `bytes` is not NULL, these `size` bytes, plain or gzip,
 * which errors call `path`; both are borrowed. The caller ends with model_lines_close, also on
 * failure. */
int model_lines_open(struct model_lines *lines, const char *path, const void *bytes, size_t size,
                     struct error *err);
void model_lines_close(struct model_lines *lines);

/* Reads the next line. Fails at the end of the file, for a last line without newline, and for a NUL
 * byte: a model ends with a line of its own. */
int model_lines_next(struct model_lines *lines, struct error *err);

/* Checks the current line, the last one: "end LINES CRC" with the number of lines of the body, and
 * the checksum of all lines before it; nothing may follow. Fails otherwise. */
int model_lines_end(struct model_lines *lines, uint64_t body, struct error *err);

/* Fails if anything follows the current line. */
int model_lines_last(struct model_lines *lines, struct error *err);

/* Sets err to "PATH:LINE: WHAT: FOUND" (found may be NULL); returns -1. */
int model_lines_fail(const struct model_lines *lines, const char *what, const char *found,
                     struct error *err);

#endif
