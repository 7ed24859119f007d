/* Weights of queries, given by the option --weight of rank: QID:W. */
#ifndef FAMILIES_RANK_FRONTEND_QUERY_WEIGHTS_H
#define FAMILIES_RANK_FRONTEND_QUERY_WEIGHTS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "common/distributed/cluster.h"
#include "driver/options.h"

#include <stddef.h>
#include <stdint.h>

struct query_weights {
    size_t n;
    uint64_t *query; /* (n) as given; of equal ones the last counts */
    double *weight;  /* (n) */
    void *block;     /* both arrays */
};

/* Reads the weights of queries of the data from the options. A qid that is a name unknown to the
 * data matches no query. -1 if memory is short. The caller calls query_weights_free. */
int query_weights_read(struct query_weights *weights, const struct options *options,
                       const struct data *data, struct error *err);
void query_weights_free(struct query_weights *weights);

/* The family's check_data: -1 if the option has a weight for a qid that no training row has. */
int query_weights_check(const struct options *options, const struct data *data,
                        struct cluster *cluster, struct error *err);

#endif
