/* The lines of a model file, plain or gzip, with their checksum (checksum.h). */
#ifndef COMMON_MODEL_LINES_H
#define COMMON_MODEL_LINES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_lines {
    const char *path; /* as errors show it */
    const char *what; /* the file is, in errors: "model", unless it is said after opening */
    uint64_t number;  /* of this line, from 1 */
    char *line;       /* this line, a NUL in place of its newline; may be written to */
    size_t length;
    uint32_t checksum; /* of the lines before this one */
    struct model_source *source;
};

/* Opens path ("-": standard input); the caller ends with model_lines_close, also on failure. */
int model_lines_open(struct model_lines *lines, const char *path, struct error *err);

/* The same for `size` bytes that lie in memory, plain or gzip; both are borrowed. */
int model_lines_open_bytes(struct model_lines *lines, const char *name, const void *bytes,
                           size_t size, struct error *err);
void model_lines_close(struct model_lines *lines);

/* Reads the next line. The end of the file, a last line without newline and a NUL byte are errors:
 * a model ends with a line of its own. */
int model_lines_next(struct model_lines *lines, struct error *err);

/* Whether this line ends the file: "end LINES CRC" with as many `lines` of the body, and the
 * checksum of all lines before it; nothing may follow. Fails if it does not. */
int model_lines_end(struct model_lines *lines, uint64_t body, struct error *err);

/* Fails if anything follows this line. */
int model_lines_last(struct model_lines *lines, struct error *err);

/* Fails with "PATH:LINE: WHAT: FOUND" (found may be NULL). */
int model_lines_fail(const struct model_lines *lines, const char *what, const char *found,
                     struct error *err);

#endif
