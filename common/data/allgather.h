/* Rows that are spread over ranks, brought together again. */
#ifndef COMMON_DATA_ALLGATHER_H
#define COMMON_DATA_ALLGATHER_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"

/* data, the rank's rows as spread_hold leaves them, becomes the rows of all ranks, as one process
 * that had read them would hold them. Rows with remarks or numbers (serial) are not for it. All
 * ranks. */
int gather_rows(struct data *data, struct cluster *cluster, struct error *err);

/* *before = the sum of the numbers `own` of the ranks before this one. All ranks. */
int gather_count_before(struct cluster *cluster, uint64_t own, uint64_t *before, struct error *err);

#endif
