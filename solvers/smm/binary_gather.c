#include "solvers/smm/binary_gather.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Rows of ranks before this one. */
static int find_first(struct binary_gather *gather, struct error *err) {
    size_t ranks = cluster_size(gather->cluster), own = cluster_rank(gather->cluster);
    double *rows = memory_zeros(ranks, sizeof *rows, "numbers of rows", err);
    if (!rows) {
        return -1;
    }
    rows[own] = (double)gather->n;
    cluster_sum(gather->cluster, rows, ranks);
    for (size_t rank = 0; rank < own; rank++) {
        gather->first += (size_t)rows[rank];
    }
    free(rows);
    return 0;
}

static void take_rows(struct binary_gather *gather, const struct binary_rows *rows) {
    double *own = gather->z + gather->first * rows->d;
    if (rows->z && rows->n > 0) {
        memcpy(own, rows->z, rows->n * rows->d * sizeof *own);
    }
    for (size_t i = 0; !rows->z && i < rows->n; i++) {
        data_row_dense(rows->data, i, rows->d, own + i * rows->d);
    }
    cluster_sum(gather->cluster, gather->z, gather->n_all * rows->d);
}

int binary_gather_create(struct binary_gather **gather, const struct binary_rows *rows,
                         size_t n_all, struct error *err) {
    struct binary_gather *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->cluster = rows->cluster;
    made->n = rows->n;
    made->n_all = n_all;
    made->z = memory_zeros(n_all, rows->d * sizeof(double), "rows of all ranks", err);
    made->y = memory_array(n_all, 3 * sizeof(double), "rows of all ranks", err);
    int status = made->z && made->y ? find_first(made, err) : -1;
    if (status == 0) {
        take_rows(made, rows);
        made->cost = made->y + n_all;
        made->margin = made->cost + n_all;
        const struct binary_rows all = {
            .n = n_all, .d = rows->d, .z = made->z, .threads = rows->threads};
        status = binary_create(&made->binary, &all, err);
    }
    if (status < 0) {
        binary_gather_free(made);
        return -1;
    }
    *gather = made;
    return 0;
}

void binary_gather_free(struct binary_gather *gather) {
    if (gather) {
        binary_free(gather->binary);
        free(gather->z);
        free(gather->y);
        free(gather);
    }
}

struct binary_loss binary_gather_loss(struct binary_gather *gather,
                                      const struct binary_loss *loss) {
    memset(gather->y, 0, 3 * gather->n_all * sizeof *gather->y);
    for (size_t i = 0; i < gather->n; i++) {
        gather->y[gather->first + i] = loss->y[i];
        gather->cost[gather->first + i] = loss->cost[i];
        gather->margin[gather->first + i] = loss->margin ? loss->margin[i] : 1;
    }
    cluster_sum(gather->cluster, gather->y, 3 * gather->n_all);
    return (struct binary_loss){
        .y = gather->y, .cost = gather->cost, .margin = gather->margin, .squared = loss->squared};
}
