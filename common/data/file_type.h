/* File types by their first bytes: compressed files, and encodings of text. */
#ifndef COMMON_DATA_FILE_TYPE_H
#define COMMON_DATA_FILE_TYPE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The byte order mark of UTF-8. In front of any other line than the first it is an error: files
 * that each had one were concatenated. */
#define HEAD_MARK "\xef\xbb\xbf"

enum { HEAD_BYTES = 10 }; /* enough to recognise every type */

/* True if n bytes are the beginning of a known signature that is longer. */
bool head_wants_more(const unsigned char *bytes, size_t n);

/* Fails for compressed files, with a message that names the pipe that decompresses them. bytes: the
 * first n bytes of the file, HEAD_BYTES if it has so many; in_gzip: of the decompressed text.
 * `name` is the name of the file in messages. */
int head_unpacked(const char *name, bool in_gzip, const unsigned char *bytes, size_t n,
                  struct error *err);

/* *skip = the length of a byte order mark of UTF-8 at the beginning of the text; fails for UTF-16.
 */
int head_text(const char *name, const unsigned char *bytes, size_t n, size_t *skip,
              struct error *err);

#endif
