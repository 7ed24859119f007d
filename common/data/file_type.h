/* What the first bytes of a file say of all of it: that a compressor wrote it, or how its text is
 * encoded. */
#ifndef COMMON_DATA_FILE_TYPE_H
#define COMMON_DATA_FILE_TYPE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* UTF-8's byte order mark. In front of another line than the first it is an error: files have been
 * joined that each had one. */
#define HEAD_MARK "\xef\xbb\xbf"

enum { HEAD_BYTES = 10 }; /* tell all that there is to tell */

/* True if n bytes begin something that is known here and has more of them. */
bool head_wants_more(const unsigned char *bytes, size_t n);

/* Refuses what a compressor wrote, and names the pipe that unpacks it. bytes: the first HEAD_BYTES
 * of the file, or all n that it has; if it is gzip (in_gzip), of what is in it. `name` is that of
 * the file in errors. */
int head_unpacked(const char *name, bool in_gzip, const unsigned char *bytes, size_t n,
                  struct error *err);

/* *skip = how many of the text's first bytes are a byte order mark of UTF-8; refuses UTF-16. */
int head_text(const char *name, const unsigned char *bytes, size_t n, size_t *skip,
              struct error *err);

#endif
