/* Inflating gzip data, by zlib or, where the build has found it, by the faster ISA-L. Both refuse
 * what is corrupt, checksums included. */
#ifndef COMMON_DATA_GZIP_H
#define COMMON_DATA_GZIP_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum gzip_status {
    GZIP_MORE, /* wants more input or more room */
    GZIP_END,  /* the member has ended; bytes behind it are not used */
    GZIP_CORRUPT,
    GZIP_MEMORY /* is short */
};

/* Bytes to be used, and room to be filled: both move on. */
struct gzip_stretch {
    const unsigned char *in;
    unsigned char *out;
    size_t n_in, n_out;
};

/* A way to inflate. What `open` returns the caller hands to the others, and gives back by `close`,
 * which takes NULL. */
struct gzip_engine {
    /* Ready for the first member; NULL: no memory, err tells. */
    void *(*open)(struct error *err);
    void (*close)(void *state);
    /* Ready for the next member, wherever it was. */
    void (*next)(void *state);
    /* Inflates until the input is used, the room is full, or the member ends. */
    enum gzip_status (*inflate)(void *state, struct gzip_stretch *stretch);
    /* True if the n_in bytes at `in` are one member of exactly n_out bytes of text, which are then
     * at `out`; both counts are below 2^30. Otherwise what is there is of no use. */
    bool (*whole)(void *state, const unsigned char *in, size_t n_in, unsigned char *out,
                  size_t n_out);
};

/* zlib. It is exact: where `inflate` leaves room, the input has no whole symbol more, however it
 * was cut before. */
extern const struct gzip_engine gzip_zlib;

/* The fastest there is, perhaps not exact. */
const struct gzip_engine *gzip_fastest(void);

#endif
