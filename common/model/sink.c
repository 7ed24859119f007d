#include "common/model/sink.h"

#include "common/base/memory.h"
#include "common/model/checksum.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { TEXT_BYTES = 1 << 15 };

struct model_sink {
    struct output *output;
    bool gzip, failed;
    z_stream stream;
    uint32_t checksum;
    size_t used;
    char text[TEXT_BYTES];
};

static void deflate_text(struct model_sink *sink, int flush) {
    unsigned char packed[TEXT_BYTES];
    sink->stream.next_in = (unsigned char *)sink->text;
    sink->stream.avail_in = (uInt)sink->used;
    int status;
    do {
        sink->stream.next_out = packed;
        sink->stream.avail_out = sizeof packed;
        status = deflate(&sink->stream, flush);
        output_write(sink->output, packed, sizeof packed - sink->stream.avail_out);
    } while (status == Z_OK && sink->stream.avail_out == 0);
    sink->failed |=
        flush == Z_FINISH ? status != Z_STREAM_END : status != Z_OK && status != Z_BUF_ERROR;
}

static void drain(struct model_sink *sink, bool last) {
    sink->checksum = model_checksum_add(sink->checksum, sink->text, sink->used);
    if (sink->gzip) {
        deflate_text(sink, last ? Z_FINISH : Z_NO_FLUSH);
    } else {
        output_write(sink->output, sink->text, sink->used);
    }
    sink->used = 0;
}

void model_sink_put(struct model_sink *sink, const char *text, size_t length) {
    while (length > 0) {
        size_t room = TEXT_BYTES - sink->used;
        size_t part = length < room ? length : room;
        memcpy(sink->text + sink->used, text, part);
        sink->used += part;
        text += part;
        length -= part;
        if (sink->used == TEXT_BYTES) {
            drain(sink, false);
        }
    }
}

int model_sink_open(struct model_sink **sink, struct output *output, struct error *err) {
    struct model_sink *opened = memory_zeros(1, sizeof *opened, "a model buffer", err);
    if (!opened) {
        return -1;
    }
    const char *path = output_path(output);
    size_t length = strlen(path);
    opened->output = output;
    opened->gzip = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    enum { GZIP = 16 + MAX_WBITS, MEMORY_LEVEL = 8 };
    if (opened->gzip && deflateInit2(&opened->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP,
                                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(opened);
        return error_set(err, ERROR_RUNTIME, "%s: cannot compress: out of memory", path);
    }
    *sink = opened;
    return 0;
}

int model_sink_close(struct model_sink *sink, struct error *err) {
    drain(sink, true);
    if (sink->gzip) {
        deflateEnd(&sink->stream);
    }
    int status = sink->failed ? error_set(err, ERROR_RUNTIME, "%s: cannot compress",
                                          output_path(sink->output))
                              : output_flush(sink->output, err);
    free(sink);
    return status;
}

int model_sink_end(struct model_sink *sink, uint64_t lines, uint32_t *checksum, struct error *err) {
    drain(sink, false);
    if (checksum) {
        *checksum = sink->checksum;
    }
    char end[MODEL_CHECKSUM_LINE];
    model_sink_put(sink, end, model_checksum_line(lines, sink->checksum, end));
    model_sink_put(sink, "\n", 1);
    return model_sink_close(sink, err);
}
