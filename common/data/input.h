/* svmlight text to data: plain or gzip, file or pipe, read in blocks and parsed in parallel.
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

/* The largest index that a row may have. */
struct input_limit {
    uint32_t most; /* 0: any */
    char what[64]; /* "is ..." of a larger one, for the error */
};

struct input_format {
    enum data_labels labels;
    bool label_optional; /* a DATA_NUMBER or DATA_NAME row may begin with qid: or index:value */
    bool precomputed;    /* rows begin with 0:serial; otherwise index 0 is an error */
    bool remarks;        /* keep the comments of the rows */
    /* *limit = that of a file whose first line is `comment` ("" if it is none); of a part that does
     * not begin the file "" too. context is the caller's. NULL: there is none. */
    void (*find_limit)(const void *context, const char *comment, struct input_limit *limit);
    const void *context;
    struct input_limit limit; /* what it found: set by the reading */
};

/* Reads the whole of `path` ("-": standard input). The caller frees *data with data_free. Errors
 * read "PATH:LINE:COLUMN: what is wrong: what was found" (PATH is "<stdin>" for "-"); a file with
 * no row is an error. Memory stays below 8 bytes a stored value (4 if every row stores exactly the
 * columns 1..n_features, which is then dense at once), some tens of bytes a row, and 8 MiB a
 * thread. */
int input_read(struct data *data, const char *path, const struct input_format *format,
               struct threads *threads, struct error *err);

/* How ranks share out what they read. */
struct input_share {
    struct cluster *cluster;
    bool whole;   /* each reads a file of its own; else each its part of one (part.h) */
    bool queries; /* rows of a query stay together */
};

/* What a rank found besides rows, of which it may have none. */
struct input_found {
    uint64_t bytes;   /* of its file, as it is stored */
    uint64_t n_lines; /* that it took */
};

/* input_read of a rank, which may come to have no row. If one fails all do, with the error of the
 * lowest that did: of one file, what is wrong first in it, by its line in the whole. All ranks. */
int input_read_part(struct data *data, const char *path, const struct input_format *format,
                    const struct input_share *share, struct threads *threads,
                    struct input_found *found, struct error *err);

/* The same a block of rows at a time, for files of any length. */
struct input;
int input_open(struct input **input, const char *path, const struct input_format *format,
               struct threads *threads, struct error *err);

/* Replaces *block (empty at first) by the next rows of the file, in order; block->n_rows = 0 at
 * the end. `names` and `queries` carry over from block to block, so that their numbers stay the
 * same. The caller frees the block after the last call. */
int input_next(struct input *input, struct data *block, struct error *err);
void input_close(struct input *input);

#endif
