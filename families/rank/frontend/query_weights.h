/* Weights of queries, as rank's option --weight gives them: QID:W. */
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
    uint64_t *query; /* (n) as given: of equal ones the last counts */
    double *weight;  /* (n) */
};

/* Reads what the options say of queries of the data; a name that is not there stands for no query.
 * The caller calls query_weights_free. */
int query_weights_read(struct query_weights *weights, const struct options *options,
                       const struct data *data, struct error *err);
void query_weights_free(struct query_weights *weights);

/* The family's check_data: refuses a weight for a qid that none of the training rows has. */
int query_weights_check(const struct options *options, const struct data *data,
                        struct cluster *cluster, struct error *err);

#endif
