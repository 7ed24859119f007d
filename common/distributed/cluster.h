/* Communication between the processes of a distributed run, by MPI. Only this module calls MPI. A
 * build without it (make without MPI=1) has the same functions for one process. A NULL cluster also
 * stands for one process, so the same code runs in both cases.
 *
 * Every process runs the same program on its own rows. Functions marked "all processes" are
 * collective: all processes call them in the same order, one thread of each at a time, and their
 * results are the same on all processes, to the last bit. So all processes make the same
 * decisions. */
#ifndef COMMON_DISTRIBUTED_CLUSTER_H
#define COMMON_DISTRIBUTED_CLUSTER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster;

/* Connects the processes that were launched together (mpirun, srun). *cluster becomes NULL if there
 * is one. Call it before anything else of MPI. `tell` is called at most once, on process 0, on any
 * thread, before the job is aborted, with the first error that a process reported (cluster_fail).
 * Returns -1 with err set if MPI does not start or memory is short. All processes. */
int cluster_open(struct cluster **cluster, void (*tell)(void *context, const struct error *err),
                 void *context, struct error *err);

/* Disconnects after a barrier. NULL is allowed. All processes. */
void cluster_close(struct cluster *cluster);

/* The number of processes, and the MPI rank of this one; 1 and 0 for NULL. */
size_t cluster_size(const struct cluster *cluster);
size_t cluster_rank(const struct cluster *cluster);

/* True for process 0, the only one that prints and writes files. */
static inline bool cluster_is_root(const struct cluster *cluster) {
    return cluster_rank(cluster) == 0;
}

/* x (n) becomes the sum, or the maximum, over processes. The order of summation depends only on the
 * number of processes. All processes, with the same n. */
void cluster_sum(struct cluster *cluster, double *x, size_t n);
void cluster_max(struct cluster *cluster, double *x, size_t n);

/* The sum of the lower half of A (n, n), row-major, with the diagonal; with several processes the
 * upper half becomes undefined. All processes, with the same n. */
void cluster_sum_lower(struct cluster *cluster, double *A, size_t n);

/* The sum, or the maximum, of one number over processes. All processes. */
static inline double cluster_total(struct cluster *cluster, double x) {
    cluster_sum(cluster, &x, 1);
    return x;
}
static inline double cluster_largest(struct cluster *cluster, double x) {
    cluster_max(cluster, &x, 1);
    return x;
}

/* x (n, at most CLUSTER_LONGS) becomes the sum over processes, by sums of high and low parts in
 * double. All processes, with the same n. */
enum { CLUSTER_LONGS = 3 };
static inline void cluster_sum_long(struct cluster *cluster, long double *x, size_t n) {
    double part[2 * CLUSTER_LONGS];
    for (size_t i = 0; i < n; i++) {
        part[2 * i] = (double)x[i];
        part[2 * i + 1] = (double)(x[i] - (long double)part[2 * i]);
    }
    cluster_sum(cluster, part, 2 * n);
    for (size_t i = 0; i < n; i++) {
        x[i] = (long double)part[2 * i] + (long double)part[2 * i + 1];
    }
}

/* The sum of counts, below 2^53. All processes. */
static inline size_t cluster_count(struct cluster *cluster, size_t n) {
    return cluster ? (size_t)cluster_total(cluster, (double)n) : n;
}

/* True if `is` is true on at least one process. All processes. */
static inline bool cluster_any(struct cluster *cluster, bool is) {
    return cluster ? cluster_largest(cluster, is) > 0 : is;
}

/* True if the number is the same on all processes. All processes. */
static inline bool cluster_same(struct cluster *cluster, double x) {
    return -cluster_largest(cluster, -x) == cluster_largest(cluster, x);
}

/* bytes (n) become those of process `from`. All processes, with the same n and from. */
void cluster_broadcast(struct cluster *cluster, void *bytes, size_t n, size_t from);

/* Allgather of byte strings: *all becomes the concatenation of `own` (n bytes, n differs between
 * processes) in order of MPI rank; process r's bytes are at start[r] .. start[r + 1]. start (size +
 * 1) belongs to the caller, who frees *all. Returns -1 with err set when memory is short; the
 * caller must then report it to the other processes. All processes. */
int cluster_allgather(struct cluster *cluster, const void *own, size_t n, char **all, size_t *start,
                      struct error *err);

/* Combines the status of work that each process did on its own: 0 if it is 0 on all; else -1, with
 * the error of the first process that failed. All processes. */
int cluster_agree(struct cluster *cluster, int status, struct error *err);

/* The number of processes on this one's machine, itself included; 1 for NULL. */
size_t cluster_local_processes(const struct cluster *cluster);

/* The number of threads for this process: the processors of its affinity mask, each divided by the
 * number of processes of its machine that have it in theirs, at least 1. 0 for NULL, the default of
 * threads_create. */
size_t cluster_threads(const struct cluster *cluster);

/* A list of n tasks: its number, and how many are assigned, as far as this process knows. */
struct cluster_tasks {
    size_t list, n, taken;
};

/* A new list of n tasks, none of them assigned. All processes. */
struct cluster_tasks cluster_create_tasks(struct cluster *cluster, size_t n);

/* Assigns the next task of the list to this process: its number, or n if none remains. Not
 * collective; by one thread of a process at a time. */
size_t cluster_next_task(struct cluster *cluster, struct cluster_tasks *tasks);

/* Starts to receive messages on process 0, until cluster_finish_receiving: hear(context, bytes, n)
 * is called there, on a separate thread, for one message of cluster_send_to_root at a time, those
 * of one process in order. If it fails, the job is aborted. All processes; the arguments are used
 * by process 0. */
void cluster_start_receiving(struct cluster *cluster,
                             int (*hear)(void *context, const char *bytes, size_t n,
                                         struct error *err),
                             void *context);

/* Sends n bytes to process 0. Not collective; from every process but 0, on any thread. */
void cluster_send_to_root(struct cluster *cluster, const void *bytes, size_t n);

/* A barrier that does not occupy a processor, after which process 0 has received all messages. All
 * processes. */
void cluster_finish_receiving(struct cluster *cluster);

/* Aborts the job, because this process cannot continue and the others would wait for it. Process 0
 * reports the error, whose kind becomes the exit code. Does not return, except for NULL. */
void cluster_fail(struct cluster *cluster, const struct error *err);

/* Requests a stop; may be called in a signal handler. cluster_stop_requested: whether this process
 * has been requested to stop; the other processes may not know of it. */
void cluster_request_stop(struct cluster *cluster);
bool cluster_stop_requested(const struct cluster *cluster);

/* The traffic of this process in sums, maxima, broadcasts and allgathers: their number, their
 * bytes, each counted once, and their seconds, the time of waiting for other processes included. */
struct cluster_traffic {
    uint64_t exchanges, bytes;
    double seconds;
};
struct cluster_traffic cluster_traffic(const struct cluster *cluster);

/* The traffic since it was `before`. */
static inline struct cluster_traffic cluster_traffic_since(const struct cluster *cluster,
                                                           struct cluster_traffic before) {
    struct cluster_traffic now = cluster_traffic(cluster);
    return (struct cluster_traffic){now.exchanges - before.exchanges, now.bytes - before.bytes,
                                    now.seconds - before.seconds};
}

#endif
