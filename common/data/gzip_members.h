/* Members of gzip data that say in their header how long they are, as bgzip writes them (the
 * SAM/BAM specification, section 4.1: an extra field BC that holds the member's length, and at most
 * 2^16 bytes of text in each): found without unpacking, and so unpacked by several threads at
 * once. */
#ifndef COMMON_DATA_GZIP_MEMBERS_H
#define COMMON_DATA_GZIP_MEMBERS_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/gzip.h"

#include <stdbool.h>
#include <stddef.h>

enum { MEMBERS_HEADER = 18 }; /* bytes that a header has which says so */

/* True if a member that says how long it is may begin at these n bytes. */
bool members_begin(const unsigned char *bytes, size_t n);

struct members;

/* For a pool whose tasks they will be, which is borrowed. The caller calls members_close, which
 * takes NULL. */
int members_open(struct members **members, struct threads *threads, struct error *err);
void members_close(struct members *members);

/* Unpacks members from stretch->in on, as many as are there and have room, and moves both on,
 * behind the last up to which all are sound. False if there was none: the next, if any, is then for
 * a gzip_engine, which also tells what is wrong with it. */
bool members_unpack(struct members *members, struct gzip_stretch *stretch);

#endif
