/* Lines are collected from blocks of the decompressed file. */
#include "common/model/lines.h"

#include "common/base/memory.h"
#include "common/data/source.h"
#include "common/model/checksum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16 };

struct model_source {
    struct source *source;
    size_t at, end;          /* block[at .. end) is not consumed yet */
    size_t capacity;         /* capacity of the line */
    char block[BLOCK_BYTES]; /* decompressed bytes */
};

int model_lines_fail(const struct model_lines *lines, const char *what, const char *found,
                     struct error *err) {
    return error_set(err, ERROR_RUNTIME, "%s:%" PRIu64 ": %s%s%.100s", lines->path, lines->number,
                     what, found ? ": " : "", found ? found : "");
}

int model_lines_open(struct model_lines *lines, const char *path, const void *bytes, size_t size,
                     struct error *err) {
    *lines = (struct model_lines){.path = path, .what = "model"};
    lines->source = memory_zeros(1, sizeof *lines->source, "a model buffer", err);
    if (!lines->source || source_open_bytes(&lines->source->source, path, bytes, size, err) < 0) {
        return -1;
    }
    lines->path = source_name(lines->source->source);
    return 0;
}

void model_lines_close(struct model_lines *lines) {
    if (lines->source) {
        source_close(lines->source->source);
    }
    free(lines->source);
    free(lines->line);
    *lines = (struct model_lines){0};
}

static int append(struct model_lines *lines, const char *bytes, size_t n, struct error *err) {
    size_t wanted = lines->length + n + 1, capacity = lines->source->capacity;
    if (memory_grow(&lines->line, capacity, wanted, 1, "a line", err) < 0) {
        return -1;
    }
    lines->source->capacity = memory_room(capacity, wanted);
    memcpy(lines->line + lines->length, bytes, n);
    lines->length += n;
    return 0;
}

/* Adds the current line, with its newline, to the checksum. */
static void add_to_checksum(struct model_lines *lines) {
    lines->line[lines->length] = '\n';
    lines->checksum = model_checksum_add(lines->checksum, lines->line, lines->length + 1);
}

/* Returns 1 if anything follows the current line, 0 if not, or -1 with err set. */
static int model_lines_more(struct model_lines *lines, struct error *err) {
    struct model_source *source = lines->source;
    if (source->at == source->end) {
        source->at = source->end = 0;
        if (source_read(source->source, source->block, BLOCK_BYTES, &source->end, err) < 0) {
            return -1;
        }
    }
    return source->at < source->end;
}

int model_lines_next(struct model_lines *lines, struct error *err) {
    struct model_source *source = lines->source;
    if (lines->number > 0) {
        add_to_checksum(lines);
    }
    lines->number++;
    lines->length = 0;
    for (;;) {
        int more = model_lines_more(lines, err);
        if (more <= 0) {
            return more < 0 ? -1
                            : error_set(err, ERROR_RUNTIME,
                                        "%s:%" PRIu64 ": the %s is cut: its last line, 'end ...', "
                                        "is missing",
                                        lines->path, lines->number, lines->what);
        }
        const char *from = source->block + source->at;
        size_t left = source->end - source->at;
        const char *newline = memchr(from, '\n', left);
        size_t n = newline ? (size_t)(newline - from) : left;
        if (append(lines, from, n, err) < 0) {
            return -1;
        }
        source->at += n + (newline != NULL);
        if (newline) {
            lines->line[lines->length] = '\0';
            return memchr(lines->line, '\0', lines->length)
                       ? model_lines_fail(lines, "a NUL byte", NULL, err)
                       : 0;
        }
    }
}

int model_lines_last(struct model_lines *lines, struct error *err) {
    int more = model_lines_more(lines, err);
    return more > 0 ? model_lines_fail(lines, "something follows the last line", NULL, err) : more;
}

int model_lines_end(struct model_lines *lines, uint64_t body, struct error *err) {
    char end[MODEL_CHECKSUM_LINE], what[64];
    model_checksum_line(body, lines->checksum, end);
    if (strcmp(lines->line, end) != 0) {
        snprintf(what, sizeof what, "the %s is damaged: its checksum does not fit", lines->what);
        return model_lines_fail(lines, what, NULL, err);
    }
    return model_lines_last(lines, err);
}
