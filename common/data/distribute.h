/* Reads the rows of a file, or of one file for each process, distributed over the processes of a
 * cluster, as if one process had read them all: names have the same numbers everywhere, and all
 * rows have the same width and form. */
#ifndef COMMON_DATA_DISTRIBUTE_H
#define COMMON_DATA_DISTRIBUTE_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/data/data.h"
#include "common/data/input.h"
#include "common/distributed/cluster.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The position of the rows of this process among all rows. */
struct distributed_rows {
    size_t n;     /* number of rows on all processes */
    size_t first; /* number of rows on processes of lower rank */
};

/* True if the path has %d once: then each process has a file of its own. */
bool distribute_has_parts(const char *path);

/* The path with `number` in place of %d. The caller frees it; NULL if memory runs out. */
char *distribute_part_path(const char *path, size_t number, struct error *err);

/* Reads the rows of this process from `path`: a byte range (byte_range.h) of one regular file, or a
 * file of its own. queries: rows of a query must be on one process; fails if they are not
 * consecutive in the file. Some processes may have no row, but not all of them. n_features, names,
 * queries and the comment of the first line are those of all rows. The caller frees *data.
 * Collective. */
int distribute_read(struct data *data, struct distributed_rows *rows, const char *path,
                    const struct input_format *format, bool queries, struct cluster *cluster,
                    struct threads *threads, struct error *err);

/* data_compact (if `compact`) and data_make_dense, decided for the rows of all processes.
 * Collective. */
int distribute_hold(struct data *data, uint32_t width, bool compact, struct cluster *cluster,
                    struct error *err);

#endif
