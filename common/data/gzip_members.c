/* Parallel decompression of gzip members of known length. */
#include "common/data/gzip_members.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MEMBERS = 256 };              /* members of one parallel batch */
static const size_t MAX_TEXT = 1U << 16; /* maximum bytes of text of a member */
static const size_t TRAILER = 8;

struct member {
    struct gzip_buffers buffers;
    bool valid;
};

struct members {
    struct threads *threads;
    const struct gzip_decompressor *engine;
    void **states; /* (workers) */
    struct member member[MAX_MEMBERS];
};

static size_t word16(const unsigned char *bytes) {
    return (size_t)bytes[0] | (size_t)bytes[1] << 8;
}

bool members_begin(const unsigned char *bytes, size_t n) {
    /* method deflate, an extra field and no other, which is BC of two bytes */
    static const unsigned char begin[] = {0x1f, 0x8b, 8, 4}, extra[] = {6, 0, 'B', 'C', 2, 0};
    return n >= MEMBERS_HEADER && memcmp(bytes, begin, sizeof begin) == 0 &&
           memcmp(bytes + 10, extra, sizeof extra) == 0;
}

/* *member = the first member of the buffers, which advance past it. False if it is incomplete or
 * its text does not fit. */
static bool cut_member(struct gzip_buffers *buffers, struct gzip_buffers *member) {
    if (!members_begin(buffers->in, buffers->n_in)) {
        return false;
    }
    size_t length = word16(buffers->in + 16) + 1;
    if (length < MEMBERS_HEADER + TRAILER || length > buffers->n_in) {
        return false;
    }
    const unsigned char *size = buffers->in + length - 4;
    size_t text = word16(size) | word16(size + 2) << 16;
    if (text == 0 || text > MAX_TEXT || text > buffers->n_out) {
        return false;
    }
    *member = (struct gzip_buffers){buffers->in, buffers->out, length, text};
    gzip_advance(buffers, length, text);
    return true;
}

static void unpack(void *argument, size_t task, size_t worker) {
    struct members *members = argument;
    struct member *member = &members->member[task];
    const struct gzip_buffers *buffers = &member->buffers;
    member->valid = members->engine->whole(members->states[worker], buffers->in, buffers->n_in,
                                           buffers->out, buffers->n_out);
}

int members_open(struct members **members, struct threads *threads, struct error *err) {
    struct members *opened = memory_zeros(1, sizeof *opened, "gzip", err);
    size_t workers = threads_count(threads);
    if (!opened) {
        return -1;
    }
    opened->threads = threads;
    opened->engine = gzip_fastest();
    opened->states = memory_zeros(workers, sizeof *opened->states, "gzip", err);
    for (size_t i = 0; opened->states && i < workers; i++) {
        opened->states[i] = opened->engine->open(err);
        if (!opened->states[i]) {
            members_close(opened);
            return -1;
        }
    }
    if (!opened->states) {
        free(opened);
        return -1;
    }
    *members = opened;
    return 0;
}

void members_close(struct members *members) {
    if (!members) {
        return;
    }
    for (size_t i = 0; i < threads_count(members->threads); i++) {
        members->engine->close(members->states[i]);
    }
    free(members->states);
    free(members);
}

bool members_unpack(struct members *members, struct gzip_buffers *buffers) {
    struct gzip_buffers rest = *buffers;
    size_t n = 0, valid = 0;
    while (n < MAX_MEMBERS && cut_member(&rest, &members->member[n].buffers)) {
        n++;
    }
    threads_run(members->threads, n, unpack, members);
    for (; valid < n && members->member[valid].valid; valid++) {
        const struct gzip_buffers *member = &members->member[valid].buffers;
        gzip_advance(buffers, member->n_in, member->n_out);
    }
    return valid > 0;
}
