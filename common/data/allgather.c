#include "common/data/allgather.h"

#include "common/base/memory.h"

#include <stdlib.h>

/* The gathering of one array after the other. Whatever fails comes to an end of the whole job, so
 * the other ranks, which wait, need not know. */
struct gathering {
    struct cluster *cluster;
    size_t *start; /* (ranks + 1) bytes of the last array, where each rank's begin */
    struct error *err;
    int status;
};

/* own, n items of `size` bytes each, becomes that of all ranks; after a failure it stays as it
 * is. */
static void *gather(struct gathering *gathering, void *own, size_t n, size_t size) {
    char *all;
    if (gathering->status < 0 || cluster_gather(gathering->cluster, own, n * size, &all,
                                                gathering->start, gathering->err) < 0) {
        gathering->status = -1;
        return own;
    }
    free(own);
    return all;
}

int gather_count_before(struct cluster *cluster, uint64_t own, uint64_t *before,
                        struct error *err) {
    size_t *start = memory_array(cluster_size(cluster) + 1, sizeof *start, "ranks", err);
    char *all = NULL;
    int status = start ? cluster_gather(cluster, &own, sizeof own, &all, start, err) : -1;
    *before = 0;
    for (size_t r = 0; status == 0 && r < cluster_rank(cluster); r++) {
        *before += ((const uint64_t *)(const void *)all)[r]; /* aligned for all types */
    }
    free(all);
    free(start);
    return status;
}

/* The same as gather of the places own (n + 1), from 0 on, at which the items of rows begin and
 * end. */
static uint64_t *gather_places(struct gathering *gathering, uint64_t *own, size_t n) {
    uint64_t before = 0;
    if (gathering->status == 0) {
        gathering->status =
            gather_count_before(gathering->cluster, own[n], &before, gathering->err);
    }
    for (size_t i = 0; i <= n; i++) {
        own[i] += before;
    }
    bool last = cluster_rank(gathering->cluster) + 1 == cluster_size(gathering->cluster);
    return gather(gathering, own, last ? n + 1 : n, sizeof *own); /* ends are beginnings */
}

int gather_rows(struct data *data, struct cluster *cluster, struct error *err) {
    struct gathering gathering = {.cluster = cluster, .err = err};
    size_t n = data->n_rows, n_all = cluster_count(cluster, n), values = data_values(data);
    size_t n_labels = data->labels == DATA_SET ? (size_t)data->label_start[n] : n;
    gathering.start =
        memory_array(cluster_size(cluster) + 1, sizeof *gathering.start, "ranks", err);
    if (!gathering.start) {
        return -1;
    }
    if (data->row_start) {
        data->row_start = gather_places(&gathering, data->row_start, n);
        data->column = gather(&gathering, data->column, values, sizeof *data->column);
    }
    data->value = gather(&gathering, data->value, values, sizeof *data->value);
    if (data->labels == DATA_SET) {
        data->label_start = gather_places(&gathering, data->label_start, n);
    }
    if (data->labels == DATA_NUMBER) {
        data->target = gather(&gathering, data->target, n, sizeof *data->target);
    } else {
        data->label = gather(&gathering, data->label, n_labels, sizeof *data->label);
    }
    if (data->query) {
        data->query = gather(&gathering, data->query, n, sizeof *data->query);
    }
    if (data->weight) {
        data->weight = gather(&gathering, data->weight, n, sizeof *data->weight);
    }
    free(gathering.start);
    data->n_rows = gathering.status < 0 ? n : n_all;
    return gathering.status;
}
