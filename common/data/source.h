/* The bytes of a text file: plain or gzip (told by its first bytes, one member or many), from a
 * file, a pipe or standard input. A byte order mark of UTF-8 in front of the text is skipped: no
 * count or place has it. Other encodings and compressors (head.h) are refused. */
#ifndef COMMON_DATA_SOURCE_H
#define COMMON_DATA_SOURCE_H

#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;

/* Opens path, "-" for standard input, and reads its beginning. The caller calls source_close. */
int source_open(struct source **source, const char *path, struct error *err);
void source_close(struct source *source);

/* The same for `size` bytes in memory, plain or gzip; bytes and name are borrowed until
 * source_close. */
int source_open_bytes(struct source **source, const char *name, const void *bytes, size_t size,
                      struct error *err);

/* The name for messages: the path, or "<stdin>". */
const char *source_name(const struct source *source);

/* Bytes of text in all, if that is known beforehand (a plain regular file), else 0. */
size_t source_size(const struct source *source);

/* True of a plain regular file: it may be read from anywhere. */
bool source_plain(const struct source *source);

/* Bytes of the file itself, as it is stored, or of the text of a plain one; 0 of what is no regular
 * file. */
uint64_t source_bytes(const struct source *source);

/* A plain regular file: the next byte read is that at `offset`. */
int source_seek(struct source *source, uint64_t offset, struct error *err);

/* True of gzip whose first member says how long it is (members.h). source_share, before the first
 * read, lets these threads unpack such members; who reads then is who may call threads_run on
 * them. */
bool source_shareable(const struct source *source);
int source_share(struct source *source, struct threads *threads, struct error *err);

/* Notes two places of a gzip file, at first[0] <= first[1] bytes of it as it is stored: source_cut
 * is then how many bytes of text those in front of the place are enough for, all that they tell, or
 * UINT64_MAX as long as less has been read. Every reading of the file gives the same. Before the
 * first read. */
int source_cut_at(struct source *source, const uint64_t first[2], struct error *err);
uint64_t source_cut(const struct source *source, size_t place);

/* Reads the next bytes of text: *got = size, or less at the end only. The first time, size is at
 * least HEAD_BYTES, or a byte order mark within gzip stays. */
int source_read(struct source *source, char *text, size_t size, size_t *got, struct error *err);

/* May be called from another thread: a source_read under way and all later ones fail soon, even if
 * nothing arrives any more. */
void source_cancel(struct source *source);

#endif
