/* A text file in batches of whole lines, read ahead by a thread of its own where several are
 * given: it then reads and unpacks the next batch while this one is parsed. Where the file lets
 * them (see members.h) all threads unpack instead, in turn with what else they do. */
#ifndef COMMON_DATA_LINES_H
#define COMMON_DATA_LINES_H

#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Readable bytes behind every batch. */
enum { LINES_PADDING = 64 };

struct lines;

/* batch_bytes is what a batch has at most, unless one line is longer. threads: borrowed, NULL: none
 * but the caller. The caller calls lines_close, which does not wait for input that has not
 * arrived. */
int lines_open(struct lines **lines, const char *path, size_t batch_bytes, struct threads *threads,
               struct error *err);
void lines_close(struct lines *lines);

/* lines_open for one of several processes that share out a regular file, each the lines of `part`
 * (see part.h); only they come. Of a plain file no others are read, but to find where the part
 * begins; of a gzip file all before it are. */
struct lines_part {
    size_t number, n; /* this process, counted from 0, and how many there are */
    bool queries;     /* rows of a query stay together */
};
int lines_open_part(struct lines **lines, const char *path, const struct lines_part *part,
                    size_t batch_bytes, struct threads *threads, struct error *err);

/* Bytes of the file as it is stored. */
uint64_t lines_bytes(const struct lines *lines);

/* source_name and source_size of the file; the size of a part is about that. */
const char *lines_name(const struct lines *lines);
size_t lines_size(const struct lines *lines);

/* The next batch: *length bytes, the last one '\n' (added where the file lacks it), valid until
 * the next call; 0 bytes at the end. */
int lines_next(struct lines *lines, const char **text, size_t *length, struct error *err);

/* Reads all of a file that has a line for each of n training rows: hands each to `take`, without
 * its line end (LF or CRLF) and the blanks before that, with its number from 0. Other numbers of
 * lines are an error, as is -1 of take, which sets err. */
int lines_by_row(struct lines *lines, size_t n,
                 int (*take)(void *context, size_t row, const char *text, size_t length,
                             struct error *err),
                 void *context, struct error *err);

#endif
