/* Parsing and look-up of QID:W (query_weights.h). */
#include "families/rank/frontend/query_weights.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/order.h"

#include <stdlib.h>
#include <string.h>

int query_weights_read(struct query_weights *weights, const struct options *options,
                       const struct data *data, struct error *err) {
    const struct option *option = options_find(options, "weight");
    size_t n = option->n_weights;
    *weights = (struct query_weights){.n = n};
    weights->block = ARRAYS_CREATE("query weights", err, ARRAYS(n, uint64_t, &weights->query),
                                   ARRAYS(n, double, &weights->weight));
    for (size_t i = 0; weights->block && i < n; i++) {
        const struct option_weight *given = &option->weights[i];
        weights->weight[i] = given->weight;
        data_find_query(&data->queries, given->key, given->key_length, &weights->query[i]);
    }
    return weights->block ? 0 : -1;
}

void query_weights_free(struct query_weights *weights) {
    free(weights->block);
    *weights = (struct query_weights){0};
}

/* The queries of the rows in ascending order; without qids all are 0. The caller frees. */
static uint64_t *sorted_queries(const struct data *data, struct error *err) {
    uint64_t *sorted = memory_zeros(data->n_rows, sizeof *sorted, "queries", err);
    if (sorted && data->query && data->n_rows > 0) {
        memcpy(sorted, data->query, data->n_rows * sizeof *sorted);
        qsort(sorted, data->n_rows, sizeof *sorted, order_uint64);
    }
    return sorted;
}

int query_weights_check(const struct options *options, const struct data *data,
                        struct cluster *cluster, struct error *err) {
    struct query_weights weights;
    if (query_weights_read(&weights, options, data, err) < 0) {
        return -1;
    }
    uint64_t *sorted = weights.n > 0 ? sorted_queries(data, err) : NULL;
    int status = weights.n > 0 && !sorted ? -1 : 0;
    for (size_t i = 0; sorted && i < weights.n; i++) {
        bool known =
            bsearch(&weights.query[i], sorted, data->n_rows, sizeof *sorted, order_uint64) != NULL;
        if (!cluster_any(cluster, known) && status == 0) {
            const struct option_weight *given = &options_find(options, "weight")->weights[i];
            status =
                error_set(err, ERROR_USAGE, "option --weight: no training row has the qid '%.*s'",
                          (int)given->key_length, given->key);
        }
    }
    free(sorted);
    query_weights_free(&weights);
    return status;
}
