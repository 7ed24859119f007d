/* The buffer, and the formats of numbers. */
#include "datasets/writer.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int writer_open(struct writer *writer, const char *path, struct error *err) {
    writer->used = 0;
    writer->failed = false;
    return output_open(&writer->output, path, err);
}

static void flush(struct writer *writer) {
    struct error unheard; /* reported by writer_close */
    output_write(writer->output, writer->buffer, writer->used);
    writer->failed = output_flush(writer->output, &unheard) < 0;
    writer->used = 0;
}

int writer_close(struct writer *writer, struct error *err) {
    flush(writer);
    return output_end(writer->output, 0, err);
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

void writer_feature(struct writer *writer, uint64_t column, int64_t units, int digits) {
    writer_text(writer, " ");
    writer_count(writer, column + 1);
    writer_text(writer, ":");
    writer_decimal(writer, units, digits);
}

int writer_split(const char *output, bool split, const void *set,
                 int (*write)(const void *set, const char *path, bool test, struct error *err),
                 struct error *err) {
    static const char *const end[] = {".train", ".test"};
    if (!split) {
        return write(set, output, false, err);
    }
    size_t bytes = strlen(output) + sizeof ".train";
    char *path = memory_array(bytes, 1, "a file name", err);
    int status = path ? 0 : -1;
    for (int test = 0; status == 0 && test < 2; test++) {
        snprintf(path, bytes, "%s%s", output, end[test]);
        status = write(set, path, test == 1, err);
    }
    free(path);
    return status;
}
