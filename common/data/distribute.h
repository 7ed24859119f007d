/* The rows of a file, or of a file for each rank, spread over the ranks of a cluster, as if one
 * process had read them all: names have the same numbers, rows the same width and are held
 * alike. */
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

/* Where a rank's rows stand among all. */
struct spread_rows {
    size_t n;     /* on all ranks */
    size_t first; /* how many are on lower ranks */
};

/* True if the path has %d once: for ranks that is a file each. */
bool spread_has_parts(const char *path);

/* The path with `number` for its %d. The caller frees it; NULL for lack of memory. */
char *spread_part_path(const char *path, size_t number, struct error *err);

/* Reads the rank's rows of `path`, a regular file of which each rank takes a part (part.h), or
 * files of their own. `queries`: rows of a query are to be on one rank, and an error if they do not
 * stand together. A rank may have no row, all may not. n_features, names, queries and the comment
 * of the first line are those of all rows. The caller frees *data. All ranks. */
int spread_read(struct data *data, struct spread_rows *rows, const char *path,
                const struct input_format *format, bool queries, struct cluster *cluster,
                struct threads *threads, struct error *err);

/* data_compact (if `compact`) and data_make_dense of what all ranks have. All ranks. */
int spread_hold(struct data *data, uint32_t width, bool compact, struct cluster *cluster,
                struct error *err);

#endif
