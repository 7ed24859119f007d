/* The labels of a model: those of its training rows, in the order of its scores. They are sorted by
 * value if all labels are numbers, else by bytes. */
#ifndef COMMON_DATA_LABELS_H
#define COMMON_DATA_LABELS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"

#include <stddef.h>
#include <stdint.h>

/* The number of a label that the model does not have. */
#define LABELS_UNKNOWN UINT32_MAX

struct labels {
    struct names
        names; /* n labels, numbered in the order above; labels read from a model have the order
                  of the model */
};

/* Collects the labels of rows[0..n) of data (NULL: of its first n), with DATA_NAME or DATA_SET; a
 * DATA_NAME row may have none, and there may be none at all. The caller calls labels_free. cluster:
 * processes over which the rows are distributed, with the same names on each; or NULL. Collective.
 */
int labels_collect(struct labels *labels, const struct data *data, const uint32_t *rows, size_t n,
                   struct cluster *cluster, struct error *err);

/* Makes `second` the second of two labels. Other labels stay as they are. */
int labels_order_pair(struct labels *labels, const char *second, struct error *err);

/* map (names->n) = the number in `labels` of each name, or LABELS_UNKNOWN. */
void labels_map(const struct labels *labels, const struct names *names, uint32_t *map);

/* Frees the labels and empties the list. */
void labels_free(struct labels *labels);

#endif
