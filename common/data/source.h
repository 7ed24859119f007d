/* The bytes of a text file: plain or gzip (recognised by its first bytes, one member or many), from
 * a file, a pipe or standard input. A byte order mark of UTF-8 in front of the text is skipped and
 * not counted in sizes and offsets. Other encodings and compressors (file_type.h) are refused. */
#ifndef COMMON_DATA_SOURCE_H
#define COMMON_DATA_SOURCE_H

#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;

/* Opens path, "-" for standard input, and reads its first bytes. The caller calls source_close. */
int source_open(struct source **source, const char *path, struct error *err);
void source_close(struct source *source);

/* The same for `size` bytes in memory, plain or gzip; bytes and name are borrowed until
 * source_close. bytes NULL: the file `name`. */
int source_open_bytes(struct source **source, const char *name, const void *bytes, size_t size,
                      struct error *err);

/* The name for messages: the path, or "<stdin>". source_shown: that of a path. */
const char *source_name(const struct source *source);
const char *source_shown(const char *path);

/* Bytes of text in total, if known beforehand (a plain regular file), else 0. */
size_t source_size(const struct source *source);

/* True for a plain regular file: it can be read from any offset. */
bool source_plain(const struct source *source);

/* Bytes of the file as stored, for a plain file of its text; 0 if it is not a regular file. */
uint64_t source_bytes(const struct source *source);

/* Positions a plain regular file: the next byte read is that at `offset`. */
int source_seek(struct source *source, uint64_t offset, struct error *err);

/* source_shareable: true for gzip whose first member has its length in the header (gzip_members.h).
 * source_share, called before the first read, lets these threads decompress such members;
 * source_read may then only be called by a thread that may call threads_run on them. */
bool source_shareable(const struct source *source);
int source_share(struct source *source, struct threads *threads, struct error *err);

/* Registers two offsets in a gzip file, first[0] <= first[1], in stored bytes. source_cut is then
 * the number of bytes of text that the stored bytes before the offset determine, or UINT64_MAX
 * while less has been read. It is the same whenever the file is read. To be called before the first
 * read. */
int source_cut_at(struct source *source, const uint64_t first[2], struct error *err);
uint64_t source_cut(const struct source *source, size_t place);

/* Reads the next bytes of text: *got = size, or less at the end only. In the first call size must
 * be at least HEAD_BYTES, or a byte order mark within gzip is not removed. */
int source_read(struct source *source, char *text, size_t size, size_t *got, struct error *err);

/* The same, but *got may be less than size, at least 1, if no more arrives through a pipe for a
 * moment: a reader need not wait for rows of a slow program. *end: the end is reached. */
int source_read_some(struct source *source, char *text, size_t size, size_t *got, bool *end,
                     struct error *err);

/* Cancels reading, from another thread: a source_read in progress and all later ones fail soon,
 * even if no more input arrives. */
void source_cancel(struct source *source);

#endif
