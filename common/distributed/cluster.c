/* The functions of cluster.h for a build without MPI, with one process. */
#include "common/distributed/cluster.h"

#include "common/base/memory.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* nothing is exchanged */

int cluster_open(struct cluster **cluster, void (*tell)(void *context, const struct error *err),
                 void *context, struct error *err) {
    *cluster = NULL;
    return 0;
}

void cluster_close(struct cluster *cluster) {
}

size_t cluster_size(const struct cluster *cluster) {
    return 1;
}

size_t cluster_rank(const struct cluster *cluster) {
    return 0;
}

void cluster_sum(struct cluster *cluster, double *x, size_t n) {
}

void cluster_sum_lower(struct cluster *cluster, double *A, size_t n) {
}

void cluster_max(struct cluster *cluster, double *x, size_t n) {
}

void cluster_broadcast(struct cluster *cluster, void *bytes, size_t n, size_t from) {
}

int cluster_allgather(struct cluster *cluster, const void *own, size_t n, char **all, size_t *start,
                      struct error *err) {
    *all = memory_array(n, 1, "the data of all processes", err);
    if (!*all) {
        return -1;
    }
    if (n > 0) {
        memcpy(*all, own, n);
    }
    start[0] = 0;
    start[1] = n;
    return 0;
}

int cluster_agree(struct cluster *cluster, int status, struct error *err) {
    return status;
}

size_t cluster_local_processes(const struct cluster *cluster) {
    return 1;
}

size_t cluster_threads(const struct cluster *cluster) {
    return 0;
}

struct cluster_tasks cluster_create_tasks(struct cluster *cluster, size_t n) {
    return (struct cluster_tasks){.n = n};
}

size_t cluster_next_task(struct cluster *cluster, struct cluster_tasks *tasks) {
    return tasks->taken < tasks->n ? tasks->taken++ : tasks->n;
}

void cluster_start_receiving(struct cluster *cluster,
                             int (*hear)(void *context, const char *bytes, size_t n,
                                         struct error *err),
                             void *context) {
}

void cluster_send_to_root(struct cluster *cluster, const void *bytes, size_t n) {
}

void cluster_finish_receiving(struct cluster *cluster) {
}

void cluster_fail(struct cluster *cluster, const struct error *err) {
}

void cluster_request_stop(struct cluster *cluster) {
}

bool cluster_stop_requested(const struct cluster *cluster) {
    return false;
}

struct cluster_traffic cluster_traffic(const struct cluster *cluster) {
    return (struct cluster_traffic){0};
}
