/* How the ranks of a cluster share the fit of a model. Where rows are spread, that is seen when
 * they are read: rows that are few beside what ranks would tell one another go to where they are
 * fitted sooner. */
#ifndef DRIVER_SHARING_H
#define DRIVER_SHARING_H

#include "common/base/cluster.h"
#include "common/base/error.h"
#include "driver/family.h"
#include "driver/training_data.h"

#include <stdbool.h>
#include <stddef.h>

/* *share is for the fit at the point, to rows that all ranks have, or that are spread
 * (read->spread) and then stay so with FAMILY_APART only. cache_bytes: memory that a rank has for
 * all of them. Rows that are whole are never APART. All ranks, with the same cache_bytes. */
int sharing_settle(struct training_data *read, const struct family *family, struct point point,
                   size_t cache_bytes, struct cluster *cluster, enum family_share *share,
                   struct error *err);

#endif
