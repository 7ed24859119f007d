/* The ISA-L decompressor. Headers are parsed by zlib, which checks all of their fields. */
#define ZLIB_CONST
#include "common/base/memory.h"
#include "common/data/gzip.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <zlib.h>

static const size_t MAX_BYTES = (size_t)1 << 30; /* both libraries count in 32 bits */

struct isal {
    z_stream header;
    bool in_header;
    struct inflate_state body; /* the compressed data and the trailer */
};

static void reset_body(struct isal *isal, uint32_t format) {
    isal_inflate_reset(&isal->body);
    isal->body.crc_flag = format;
}

static void next_isal(void *state) {
    struct isal *isal = state;
    inflateReset(&isal->header);
    isal->in_header = true;
    reset_body(isal, ISAL_GZIP_NO_HDR_VER);
}

static void *open_isal(struct error *err) {
    enum { GZIP_ONLY = 16 + MAX_WBITS };
    struct isal *isal = memory_zeros(1, sizeof *isal, "gzip", err);
    if (!isal) {
        return NULL;
    }
    if (inflateInit2(&isal->header, GZIP_ONLY) != Z_OK) {
        free(isal);
        (void)error_set(err, ERROR_RUNTIME, "out of memory for gzip");
        return NULL;
    }
    isal_inflate_init(&isal->body);
    next_isal(isal);
    return isal;
}

static void close_isal(void *state) {
    struct isal *isal = state;
    if (isal) {
        inflateEnd(&isal->header);
        free(isal);
    }
}

static enum gzip_status inflate_header(struct isal *isal, struct gzip_buffers *buffers) {
    enum { AT_BLOCK = 128 }; /* flag of data_type, also set after a header */
    unsigned char none;
    size_t given = buffers->n_in < MAX_BYTES ? buffers->n_in : MAX_BYTES;
    z_stream *z = &isal->header;
    z->next_in = buffers->in;
    z->avail_in = (uInt)given;
    z->next_out = &none;
    z->avail_out = 0;
    int status = inflate(z, Z_BLOCK);
    gzip_advance(buffers, given - z->avail_in, 0);
    isal->in_header = !(z->data_type & AT_BLOCK);
    return status == Z_OK || status == Z_BUF_ERROR ? GZIP_MORE
           : status == Z_MEM_ERROR                 ? GZIP_MEMORY
                                                   : GZIP_CORRUPT;
}

static enum gzip_status inflate_isal(void *state, struct gzip_buffers *buffers) {
    struct isal *isal = state;
    if (isal->in_header) {
        enum gzip_status status = inflate_header(isal, buffers);
        if (status != GZIP_MORE || isal->in_header) {
            return status;
        }
    }
    struct inflate_state *body = &isal->body;
    size_t given = buffers->n_in < MAX_BYTES ? buffers->n_in : MAX_BYTES;
    size_t room = buffers->n_out < MAX_BYTES ? buffers->n_out : MAX_BYTES;
    body->next_in = (uint8_t *)(uintptr_t)buffers->in; /* ISA-L only reads it */
    body->avail_in = (uint32_t)given;
    body->next_out = buffers->out;
    body->avail_out = (uint32_t)room;
    int status = isal_inflate(body);
    if (status < 0) { /* its counts may then have wrapped below 0 */
        return GZIP_CORRUPT;
    }
    gzip_advance(buffers, given - body->avail_in, room - body->avail_out);
    return body->block_state == ISAL_BLOCK_FINISH ? GZIP_END : GZIP_MORE;
}

static bool whole_isal(void *state, const unsigned char *in, size_t n_in, unsigned char *out,
                       size_t n_out) {
    struct isal *isal = state;
    struct inflate_state *body = &isal->body;
    reset_body(isal, ISAL_GZIP);
    body->next_in = (uint8_t *)(uintptr_t)in;
    body->avail_in = (uint32_t)n_in;
    body->next_out = out;
    body->avail_out = (uint32_t)n_out;
    return isal_inflate_stateless(body) == ISAL_DECOMP_OK && body->avail_in == 0 &&
           body->avail_out == 0;
}

const struct gzip_decompressor *gzip_fastest(void) {
    static const struct gzip_decompressor isal = {open_isal, close_isal, next_isal, inflate_isal,
                                                  whole_isal};
    return &isal;
}
