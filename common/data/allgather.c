/* Allgather of the arrays of struct data, one after the other. A failure ends the whole job, so
 * that the other processes, which wait, need not be told. */
#include "common/data/allgather.h"

#include "common/base/memory.h"

#include <stdlib.h>

struct allgather {
    struct cluster *cluster;
    size_t *start; /* (processes + 1) where the bytes of each process begin in the last array */
    struct error *err;
    int status;
};

/* Replaces own, n items of `size` bytes, by the items of all processes; after a failure it stays as
 * it is. */
static void *allgather_items(struct allgather *allgather, void *own, size_t n, size_t size) {
    char *all;
    if (allgather->status < 0 || cluster_allgather(allgather->cluster, own, n * size, &all,
                                                   allgather->start, allgather->err) < 0) {
        allgather->status = -1;
        return own;
    }
    free(own);
    return all;
}

int gather_count_before(struct cluster *cluster, uint64_t own, uint64_t *before,
                        struct error *err) {
    size_t *start = memory_array(cluster_size(cluster) + 1, sizeof *start, "ranks", err);
    char *all = NULL;
    int status = start ? cluster_allgather(cluster, &own, sizeof own, &all, start, err) : -1;
    *before = 0;
    for (size_t r = 0; status == 0 && r < cluster_rank(cluster); r++) {
        *before +=
            ((const uint64_t *)(const void *)all)[r]; /* cluster_allgather aligns for all types */
    }
    free(all);
    free(start);
    return status;
}

/* The same for offsets own (n + 1), from 0 on, at which the items of rows begin and end. */
static uint64_t *allgather_offsets(struct allgather *allgather, uint64_t *own, size_t n) {
    uint64_t before = 0;
    if (allgather->status == 0) {
        allgather->status =
            gather_count_before(allgather->cluster, own[n], &before, allgather->err);
    }
    for (size_t i = 0; i <= n; i++) {
        own[i] += before;
    }
    bool last = cluster_rank(allgather->cluster) + 1 == cluster_size(allgather->cluster);
    return allgather_items(allgather, own, last ? n + 1 : n,
                           sizeof *own); /* each end is the next beginning */
}

int allgather_rows(struct data *data, struct cluster *cluster, struct error *err) {
    struct allgather allgather = {.cluster = cluster, .err = err};
    size_t n = data->n_rows, n_all = cluster_count(cluster, n), values = data_values(data);
    size_t n_labels = data->labels == DATA_SET ? (size_t)data->label_start[n] : n;
    allgather.start =
        memory_array(cluster_size(cluster) + 1, sizeof *allgather.start, "ranks", err);
    if (!allgather.start) {
        return -1;
    }
    if (data->row_start) {
        data->row_start = allgather_offsets(&allgather, data->row_start, n);
        data->column = allgather_items(&allgather, data->column, values, sizeof *data->column);
    }
    data->value = allgather_items(&allgather, data->value, values, sizeof *data->value);
    if (data->labels == DATA_SET) {
        data->label_start = allgather_offsets(&allgather, data->label_start, n);
    }
    if (data->labels == DATA_NUMBER) {
        data->target = allgather_items(&allgather, data->target, n, sizeof *data->target);
    } else {
        data->label = allgather_items(&allgather, data->label, n_labels, sizeof *data->label);
    }
    if (data->query) {
        data->query = allgather_items(&allgather, data->query, n, sizeof *data->query);
    }
    if (data->weight) {
        data->weight = allgather_items(&allgather, data->weight, n, sizeof *data->weight);
    }
    free(allgather.start);
    data->n_rows = allgather.status < 0 ? n : n_all;
    return allgather.status;
}
