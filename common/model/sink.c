/* The sink compresses with zlib. ZLIB_CONST: zlib does not write to its input. */
#define ZLIB_CONST
#include "common/model/sink.h"

#include "common/base/memory.h"
#include "common/model/checksum.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PACKED_BYTES = 1 << 15 };

struct model_sink {
    struct output *output, *text;
    bool gzip, failed;
    z_stream stream;
    uint32_t checksum;
};

static void deflate_text(struct model_sink *sink, const char *text, size_t n, int flush) {
    unsigned char packed[PACKED_BYTES];
    sink->stream.next_in = (const unsigned char *)text;
    sink->stream.avail_in = (uInt)n;
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

static int take(void *context, const char *text, size_t n) {
    struct model_sink *sink = context;
    sink->checksum = model_checksum_add(sink->checksum, text, n);
    if (sink->gzip) {
        deflate_text(sink, text, n, Z_NO_FLUSH);
    } else {
        output_write(sink->output, text, n);
    }
    return 0;
}

int model_sink_open(struct model_sink **sink, struct output *output, struct output **text,
                    struct error *err) {
    struct model_sink *opened = memory_zeros(1, sizeof *opened, "a model buffer", err);
    const char *path = output_path(output);
    size_t length = strlen(path);
    if (!opened || output_open_function(&opened->text, path, take, opened, err) < 0) {
        free(opened);
        return -1;
    }
    opened->output = output;
    opened->gzip = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    enum { GZIP = 16 + MAX_WBITS, MEMORY_LEVEL = 8 };
    if (opened->gzip && deflateInit2(&opened->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP,
                                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        output_discard(opened->text);
        free(opened);
        return error_set(err, ERROR_RUNTIME, "%s: cannot compress: out of memory", path);
    }
    *sink = opened;
    *text = opened->text;
    return 0;
}

int model_sink_close(struct model_sink *sink, struct error *err) {
    int status = output_flush(sink->text, err);
    if (sink->gzip) {
        deflate_text(sink, "", 0, Z_FINISH);
        deflateEnd(&sink->stream);
    }
    if (status == 0) {
        status = sink->failed ? error_set(err, ERROR_RUNTIME, "%s: cannot compress",
                                          output_path(sink->output))
                              : output_flush(sink->output, err);
    }
    output_discard(sink->text);
    free(sink);
    return status;
}

int model_sink_end(struct model_sink *sink, uint64_t lines, uint32_t *checksum, struct error *err) {
    char end[MODEL_CHECKSUM_LINE];
    if (output_flush(sink->text, err) == 0) { /* the checksum is that of all so far */
        model_checksum_line(lines, sink->checksum, end);
        if (checksum) {
            *checksum = sink->checksum;
        }
        output_format(sink->text, "%s\n", end);
    }
    return model_sink_close(sink, err);
}
