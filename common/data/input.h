/* Reads svmlight files: plain or gzip, a file or a pipe, in blocks that are parsed in parallel.
 *
 * Grammar of a row: label[,label...] [qid:WORD] index:value ... [# comment], see doc/formats. */
#ifndef COMMON_DATA_INPUT_H
#define COMMON_DATA_INPUT_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"

#include <stdbool.h>
#include <stddef.h>

/* A limit on the index of a feature. */
struct input_limit {
    uint32_t most; /* 0: no limit */
    char what[64]; /* "is ...": the error for a larger index */
};

struct input_format {
    enum data_labels labels;
    bool label_optional; /* a DATA_NUMBER or DATA_NAME row may begin with qid: or index:value */
    bool missing_labels; /* DATA_NUMBER: nan and -inf are accepted, and are targets */
    bool precomputed;    /* rows begin with 0:serial; otherwise index 0 is an error */
    bool remarks;        /* store the comments of the rows */
    /* Sets *limit for a file whose first line is `comment` ("" if that is no comment); for a part
     * that does not begin the file "" too. context is passed through. NULL: there is no limit. */
    void (*find_limit)(const void *context, const char *comment, struct input_limit *limit);
    const void *context;
    struct input_limit limit; /* the result of find_limit, set while reading */
};

/* Reads all rows of `path` ("-": standard input). The caller frees *data with data_free. Errors
 * have the form "PATH:LINE:COLUMN: what is wrong: what was found" (PATH is "<stdin>" for "-"); a
 * file without rows is an error. Peak memory is below 8 bytes for each stored value (4 if every row
 * stores exactly the columns 1..n_features; the data is then dense), some tens of bytes for each
 * row, and 8 MiB for each thread. */
int input_read(struct data *data, const char *path, const struct input_format *format,
               struct threads *threads, struct error *err);

/* How processes divide the rows to read. */
struct input_share {
    struct cluster *cluster;
    bool whole;   /* each process reads a whole file of its own; else its byte range (byte_range.h)
                  of one file */
    bool queries; /* rows of a query stay together */
};

/* The counts of a process, which may have read no row. */
struct input_found {
    uint64_t bytes;   /* bytes of its file, as stored */
    uint64_t n_lines; /* lines that it read */
};

/* Reads the rows of one process, which may be none. If one process fails all do, with the error of
 * the lowest rank that failed: in one file, the first error in it, with its line number in the
 * whole file. Collective. */
int input_read_part(struct data *data, const char *path, const struct input_format *format,
                    const struct input_share *share, struct threads *threads,
                    struct input_found *found, struct error *err);

/* Reading of files of any length, a block of rows at a time. */
struct input;
int input_open(struct input **input, const char *path, const struct input_format *format,
               struct threads *threads, struct error *err);

/* Replaces *block (empty at first) by the next rows of the file, in order; block->n_rows = 0 at the
 * end. `names` and `queries` carry over from block to block, so that numbers stay the same. The
 * caller frees the block after the last call. */
int input_next(struct input *input, struct data *block, struct error *err);
void input_close(struct input *input);

#endif
