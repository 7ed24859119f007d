/* Gzip members whose header has their length, as written by bgzip (the SAM/BAM specification,
 * section 4.1: an extra field BC with the length of the member, and at most 2^16 bytes of text in
 * each). Their ends are known without decompression, so that several threads can decompress them in
 * parallel. */
#ifndef COMMON_DATA_GZIP_MEMBERS_H
#define COMMON_DATA_GZIP_MEMBERS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/gzip.h"

#include <stdbool.h>
#include <stddef.h>

enum { MEMBERS_HEADER = 18 }; /* bytes of a header with a length */

/* True if these n bytes may begin a member whose header has its length. */
bool members_begin(const unsigned char *bytes, size_t n);

struct members;

/* Creates decompressors for the workers of a pool, which is borrowed. The caller calls
 * members_close; NULL is allowed. */
int members_open(struct members **members, struct threads *threads, struct error *err);
void members_close(struct members *members);

/* Decompresses members from buffers->in on, as many as are complete and have output space, and
 * advances both past the last member before the first corrupt one. Returns false if there was none:
 * the next member is then for a gzip_decompressor, which also finds out what is wrong with it. */
bool members_unpack(struct members *members, struct gzip_buffers *buffers);

#endif
