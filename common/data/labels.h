/* The labels that a model knows: those that occur in its training rows, in one order, which is
 * that of the model's scores.
 *
 * The order is that of their values if all labels are numbers, else that of their bytes. */
#ifndef COMMON_DATA_LABELS_H
#define COMMON_DATA_LABELS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"

#include <stddef.h>
#include <stdint.h>

/* What a label that the model does not have is numbered. */
#define LABELS_UNKNOWN UINT32_MAX

struct labels {
    struct names names; /* n labels, numbered in the order above; a model's: in its own order */
};

/* Takes the labels of rows[0..n) of data (NULL: of its first n), with DATA_NAME or DATA_SET; a
 * DATA_NAME row may have none. There may be none at all. The caller calls labels_free. cluster:
 * over whose ranks the rows are spread, with the same names on each; or NULL. All ranks. */
int labels_collect(struct labels *labels, const struct data *data, const uint32_t *rows, size_t n,
                   struct cluster *cluster, struct error *err);

/* map (names->n): the number in `labels` of each of other names, or LABELS_UNKNOWN. */
void labels_map(const struct labels *labels, const struct names *names, uint32_t *map);

/* Releases what the labels own and makes them empty. */
void labels_free(struct labels *labels);

#endif
