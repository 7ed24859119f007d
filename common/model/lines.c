/* for O_CLOEXEC */
#define _GNU_SOURCE
#include "common/model/lines.h"

#include "common/base/memory.h"
#include "common/data/head.h"
#include "common/model/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK_BYTES = 1 << 16 };

struct model_source {
    int fd;                    /* -1: in memory */
    const unsigned char *rest; /* (n_rest) in memory, not read yet */
    size_t n_rest;
    bool gzip, member_end; /* member_end: behind the last byte of a gzip member */
    z_stream stream;
    size_t at, end;                    /* of block: bytes not used yet */
    size_t capacity;                   /* of the line */
    unsigned char block[BLOCK_BYTES];  /* plain bytes */
    unsigned char packed[BLOCK_BYTES]; /* gzip bytes */
};

int model_lines_fail(const struct model_lines *lines, const char *what, const char *found,
                     struct error *err) {
    return error_set(err, ERROR_RUNTIME, "%s:%" PRIu64 ": %s%s%.100s", lines->path, lines->number,
                     what, found ? ": " : "", found ? found : "");
}

/* Up to `size` bytes; 0 at the end. */
static ssize_t read_some(const struct model_lines *lines, unsigned char *bytes, size_t size,
                         struct error *err) {
    struct model_source *source = lines->source;
    if (source->rest) {
        size_t n = source->n_rest < size ? source->n_rest : size;
        memcpy(bytes, source->rest, n);
        source->rest += n;
        source->n_rest -= n;
        return (ssize_t)n;
    }
    for (;;) {
        ssize_t n = read(source->fd, bytes, size);
        if (n >= 0) {
            return n;
        }
        if (errno != EINTR) {
            return error_set(err, ERROR_RUNTIME, "%s: cannot read: %s", lines->path,
                             strerror(errno));
        }
    }
}

/* Refills the empty block from gzip bytes; end = 0 at the end of the file. */
static int refill_packed(const struct model_lines *lines, struct error *err) {
    struct model_source *source = lines->source;
    z_stream *stream = &source->stream;
    source->end = 0;
    while (source->end == 0) {
        if (stream->avail_in == 0) {
            ssize_t n = read_some(lines, source->packed, BLOCK_BYTES, err);
            if (n < 0) {
                return -1;
            }
            if (n == 0) {
                return source->member_end
                           ? 0
                           : model_lines_fail(lines, "the gzip file is cut", NULL, err);
            }
            stream->next_in = source->packed;
            stream->avail_in = (uInt)n;
        }
        if (source->member_end) { /* more members may follow */
            inflateReset(stream);
            source->member_end = false;
        }
        stream->next_out = source->block;
        stream->avail_out = BLOCK_BYTES;
        int status = inflate(stream, Z_NO_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
            return model_lines_fail(lines, "the gzip file is damaged", NULL, err);
        }
        source->member_end = status == Z_STREAM_END;
        source->end = BLOCK_BYTES - stream->avail_out;
    }
    return 0;
}

static int refill(const struct model_lines *lines, struct error *err) {
    struct model_source *source = lines->source;
    source->at = 0;
    if (source->gzip) {
        return refill_packed(lines, err);
    }
    ssize_t n = read_some(lines, source->block, BLOCK_BYTES, err);
    source->end = n > 0 ? (size_t)n : 0;
    return n < 0 ? -1 : 0;
}

/* Begins to unpack gzip, of which n bytes have been read. */
static int begin_packed(const struct model_lines *lines, size_t n, struct error *err) {
    struct model_source *source = lines->source;
    enum { GZIP = 16 };
    source->stream.next_in = source->packed;
    source->stream.avail_in = (uInt)n;
    if (inflateInit2(&source->stream, GZIP + MAX_WBITS) != Z_OK) {
        return error_set(err, ERROR_RUNTIME, "%s: cannot decompress: out of memory", lines->path);
    }
    source->gzip = true;
    return refill_packed(lines, err);
}

/* Fills the first block. The first two bytes tell whether this is gzip: it begins with 1f 8b. */
static int look(const struct model_lines *lines, struct error *err) {
    struct model_source *source = lines->source;
    unsigned char *first = source->packed;
    ssize_t n = read_some(lines, first, BLOCK_BYTES, err), more = n;
    while (n > 0 && n < HEAD_BYTES && more > 0) { /* a pipe may give few bytes at first */
        more = read_some(lines, first + n, (size_t)(BLOCK_BYTES - n), err);
        n = more < 0 ? more : n + more;
    }
    if (n < 0) {
        return -1;
    }
    if (n >= 2 && first[0] == 0x1f && first[1] == 0x8b) {
        if (begin_packed(lines, (size_t)n, err) < 0) {
            return -1;
        }
    } else {
        memcpy(source->block, first, (size_t)n);
        source->end = (size_t)n;
    }
    return head_unpacked(lines->path, source->gzip, source->block, source->end, err) < 0
               ? -1
               : head_text(lines->path, source->block, source->end, &source->at, err);
}

int model_lines_open(struct model_lines *lines, const char *path, struct error *err) {
    bool standard = strcmp(path, "-") == 0;
    *lines = (struct model_lines){.path = standard ? "<stdin>" : path, .what = "model"};
    struct model_source *source = memory_zeros(1, sizeof *source, "a model buffer", err);
    if (!source) {
        return -1;
    }
    lines->source = source;
    source->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0) {
        return error_set(err, ERROR_RUNTIME, "%s: cannot open: %s", path, strerror(errno));
    }
    return look(lines, err);
}

int model_lines_open_bytes(struct model_lines *lines, const char *name, const void *bytes,
                           size_t size, struct error *err) {
    *lines = (struct model_lines){.path = name, .what = "model"};
    lines->source = memory_zeros(1, sizeof *lines->source, "a model buffer", err);
    if (!lines->source) {
        return -1;
    }
    lines->source->fd = -1;
    lines->source->rest = bytes;
    lines->source->n_rest = size;
    return look(lines, err);
}

void model_lines_close(struct model_lines *lines) {
    struct model_source *source = lines->source;
    if (source && source->gzip) {
        inflateEnd(&source->stream);
    }
    if (source && source->fd > STDIN_FILENO) {
        close(source->fd);
    }
    free(source);
    free(lines->line);
    *lines = (struct model_lines){0};
}

static int append(struct model_lines *lines, const unsigned char *bytes, size_t n,
                  struct error *err) {
    size_t wanted = lines->length + n + 1, capacity = lines->source->capacity;
    if (memory_grow(&lines->line, capacity, wanted, 1, "a line", err) < 0) {
        return -1;
    }
    lines->source->capacity = memory_room(capacity, wanted);
    memcpy(lines->line + lines->length, bytes, n);
    lines->length += n;
    return 0;
}

/* Takes this line, with its newline, into the checksum. */
static void add_to_checksum(struct model_lines *lines) {
    lines->line[lines->length] = '\n';
    lines->checksum = model_checksum_add(lines->checksum, lines->line, lines->length + 1);
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
        const unsigned char *from = source->block + source->at;
        size_t left = source->end - source->at;
        const unsigned char *newline = memchr(from, '\n', left);
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

int model_lines_more(struct model_lines *lines, struct error *err) {
    struct model_source *source = lines->source;
    if (source->at == source->end && refill(lines, err) < 0) {
        return -1;
    }
    return source->at < source->end;
}
