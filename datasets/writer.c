#include "datasets/writer.h"

#include <errno.h>
#include <string.h>

int writer_open(struct writer *writer, const char *path, struct error *err) {
    writer->path = path;
    writer->used = 0;
    writer->failed = false;
    writer->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    if (!writer->file) {
        return error_set(err, ERROR_RUNTIME, "cannot write %s: %s", path, strerror(errno));
    }
    return 0;
}

static void flush(struct writer *writer) {
    if (fwrite(writer->buffer, 1, writer->used, writer->file) != writer->used) {
        writer->failed = true;
    }
    writer->used = 0;
}

int writer_close(struct writer *writer, struct error *err) {
    errno = 0;
    flush(writer);
    int failed = writer->file == stdout ? fflush(stdout) : fclose(writer->file);
    writer->file = NULL;
    if (failed || writer->failed) {
        return error_set(err, ERROR_RUNTIME, "cannot write %s: %s", writer->path,
                         errno ? strerror(errno) : "output failed");
    }
    return 0;
}

/* Room for one more item. */
static char *room(struct writer *writer) {
    if (writer->used > WRITER_BYTES - WRITER_ITEM) {
        flush(writer);
    }
    return writer->buffer + writer->used;
}

void writer_text(struct writer *writer, const char *text) {
    size_t length = strlen(text);
    char *out = room(writer);
    memcpy(out, text, length < WRITER_ITEM ? length : WRITER_ITEM - 1);
    writer->used += length < WRITER_ITEM ? length : WRITER_ITEM - 1;
}

void writer_count(struct writer *writer, uint64_t count) {
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + count % 10);
        count /= 10;
    } while (count > 0);
    char *out = room(writer);
    for (size_t i = 0; i < n; i++) {
        out[i] = digits[n - 1 - i];
    }
    writer->used += n;
}

void writer_decimal(struct writer *writer, int64_t units, int digits) {
    uint64_t magnitude = units < 0 ? -(uint64_t)units : (uint64_t)units;
    if (units < 0) {
        writer_text(writer, "-");
    }
    uint64_t scale = 1;
    for (int i = 0; i < digits; i++) {
        scale *= 10;
    }
    writer_count(writer, magnitude / scale);
    uint64_t fraction = magnitude % scale;
    if (fraction == 0) {
        return;
    }
    char *out = room(writer);
    *out++ = '.';
    writer->used++;
    while (fraction > 0) {
        scale /= 10;
        *out++ = (char)('0' + fraction / scale);
        writer->used++;
        fraction %= scale;
    }
}
