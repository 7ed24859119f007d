/* A text file in batches of whole lines; a batch from a slow pipe has the lines that have arrived.
 * With several threads, a reader thread reads and decompresses the next batch while the current one
 * is parsed; if the file consists of gzip members of known length (gzip_members.h), all threads
 * decompress in turn with their other work instead. */
#ifndef COMMON_DATA_LINES_H
#define COMMON_DATA_LINES_H

#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Readable bytes after every batch. */
enum { LINES_PADDING = 64 };

struct lines;

/* One of several processes that divide a regular file. */
struct lines_part {
    size_t number, n; /* rank of this process, from 0, and number of processes */
    bool queries;     /* rows of a query stay together */
};

/* Opens `path`. part: NULL, or only the lines of that part are returned (byte_range.h); of a plain
 * file only these are read, and what it takes to find where they begin, of a gzip file everything
 * before them too. batch_bytes is the maximum size of a batch, unless a line is longer. threads:
 * borrowed; NULL: only the caller. The caller calls lines_close, which does not wait for input that
 * has not arrived. */
int lines_open(struct lines **lines, const char *path, const struct lines_part *part,
               size_t batch_bytes, struct threads *threads, struct error *err);
void lines_close(struct lines *lines);

/* Bytes of the file as stored. */
uint64_t lines_bytes(const struct lines *lines);

/* source_name and source_size of the file; the size of a part is approximate. */
const char *lines_name(const struct lines *lines);
size_t lines_size(const struct lines *lines);

/* The next batch: *length bytes, the last of which is '\n' (added if the file does not end with
 * one), valid until the next call; 0 bytes at the end. */
int lines_next(struct lines *lines, const char **text, size_t *length, struct error *err);

/* Receives a line without its line end (LF or CRLF) and trailing blanks, with its number from 0.
 * -1, with err set, ends the reading. */
typedef int lines_take(void *context, size_t row, const char *text, size_t length,
                       struct error *err);

/* Passes each line of a file to `take`. n: the number of training rows that the file has a line for
 * each of, another number of lines is an error; SIZE_MAX: any number. */
int lines_each(const char *path, size_t n, lines_take *take, void *context, struct error *err);

#endif
