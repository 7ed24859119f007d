/* Decompression of gzip data, by zlib or, if the build found it, by ISA-L, which is faster. Both
 * reject corrupt data, including wrong checksums. */
#ifndef COMMON_DATA_GZIP_H
#define COMMON_DATA_GZIP_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum gzip_status {
    GZIP_MORE, /* needs more input or more output space */
    GZIP_END,  /* the member has ended; the bytes after it are not consumed */
    GZIP_CORRUPT,
    GZIP_MEMORY /* out of memory */
};

/* The rest of an input and of an output buffer. Decompression advances both pointers past what it
 * has read and written, and lowers both counts. */
struct gzip_buffers {
    const unsigned char *in; /* (n_in) compressed bytes */
    unsigned char *out;      /* (n_out) space for text */
    size_t n_in, n_out;
};

static inline void gzip_advance(struct gzip_buffers *buffers, size_t read, size_t written) {
    buffers->in += read;
    buffers->n_in -= read;
    buffers->out += written;
    buffers->n_out -= written;
}

/* The functions of a decompressor. `open` returns its state, which is passed to the others and
 * freed by `close`, which accepts NULL. */
struct gzip_decompressor {
    /* Creates the state for the first member; NULL with err set if memory runs out. */
    void *(*open)(struct error *err);
    void (*close)(void *state);
    /* Resets the state for the next member, at any point. */
    void (*next)(void *state);
    /* Decompresses until the input is consumed, the output is full, or the member ends. */
    enum gzip_status (*inflate)(void *state, struct gzip_buffers *buffers);
    /* True if the n_in bytes at `in` are one member of exactly n_out bytes of text, which is then
     * at `out`; both counts are below 2^30. If false, the output is undefined. */
    bool (*whole)(void *state, const unsigned char *in, size_t n_in, unsigned char *out,
                  size_t n_out);
};

/* zlib. It is exact: if `inflate` leaves output space, the input holds no further whole symbol,
 * however it was divided before. */
extern const struct gzip_decompressor gzip_zlib;

/* The fastest decompressor of the build; it need not be exact. */
const struct gzip_decompressor *gzip_fastest(void);

#endif
