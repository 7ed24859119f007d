/* The zlib decompressor. ZLIB_CONST: zlib does not write to its input. */
#define ZLIB_CONST
#include "common/data/gzip.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <zlib.h>

static void *open_zlib(struct error *err) {
    enum { GZIP_ONLY = 16 + MAX_WBITS };
    z_stream *stream = memory_zeros(1, sizeof *stream, "gzip", err);
    if (stream && inflateInit2(stream, GZIP_ONLY) != Z_OK) {
        free(stream);
        stream = NULL;
        (void)error_set(err, ERROR_RUNTIME, "out of memory for gzip");
    }
    return stream;
}

static void close_zlib(void *state) {
    if (state) {
        inflateEnd(state);
        free(state);
    }
}

static void next_zlib(void *state) {
    inflateReset(state);
}

static enum gzip_status inflate_zlib(void *state, struct gzip_buffers *buffers) {
    const size_t max_bytes = (size_t)1 << 30; /* zlib counts in unsigned int */
    z_stream *z = state;
    size_t given = buffers->n_in < max_bytes ? buffers->n_in : max_bytes;
    size_t room = buffers->n_out < max_bytes ? buffers->n_out : max_bytes;
    z->next_in = buffers->in;
    z->avail_in = (uInt)given;
    z->next_out = buffers->out;
    z->avail_out = (uInt)room;
    int status = inflate(z, Z_NO_FLUSH);
    gzip_advance(buffers, given - z->avail_in, room - z->avail_out);
    switch (status) {
    case Z_STREAM_END:
        return GZIP_END;
    case Z_MEM_ERROR:
        return GZIP_MEMORY;
    default:
        return status == Z_OK || status == Z_BUF_ERROR ? GZIP_MORE : GZIP_CORRUPT;
    }
}

static bool whole_zlib(void *state, const unsigned char *in, size_t n_in, unsigned char *out,
                       size_t n_out) {
    z_stream *z = state;
    inflateReset(z);
    z->next_in = in;
    z->avail_in = (uInt)n_in;
    z->next_out = out;
    z->avail_out = (uInt)n_out;
    return inflate(z, Z_FINISH) == Z_STREAM_END && z->avail_in == 0 && z->avail_out == 0;
}

const struct gzip_decompressor gzip_zlib = {open_zlib, close_zlib, next_zlib, inflate_zlib,
                                            whole_zlib};
