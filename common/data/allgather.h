/* Collects rows that are distributed over processes. */
#ifndef COMMON_DATA_ALLGATHER_H
#define COMMON_DATA_ALLGATHER_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"

/* data, the rows of this process as distribute_hold leaves them, becomes the rows of all processes,
 * as one process that had read them all would hold them. Rows with comments or serial numbers are
 * not supported. Collective. */
int allgather_rows(struct data *data, struct cluster *cluster, struct error *err);

/* *before = the sum of `own` over the processes of lower rank. Collective. */
int gather_count_before(struct cluster *cluster, uint64_t own, uint64_t *before, struct error *err);

#endif
