/* Several processes, "ranks", that work on one run: what MPI is for, and all that knows it. A build
 * without it (make without MPI=1) has the same functions for the one process that there is; NULL
 * stands for that too, so code is written once, and who has one process passes NULL.
 *
 * Ranks run the same program on rows of their own and stay in step: they make the same calls marked
 * "all ranks", in the same order, and what these give is the same on all, to the last bit. So what
 * is decided by it is decided alike. Only one thread of a rank at a time may make such calls. */
#ifndef COMMON_DISTRIBUTED_CLUSTER_H
#define COMMON_DISTRIBUTED_CLUSTER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster;

/* Joins the ranks that were started together (mpirun, srun). *cluster becomes NULL where there is
 * one. Before anything else of MPI; `tell` is called on rank 0, on any thread, once and before the
 * job ends, with the first error that a rank has come to by itself (cluster_fail). All ranks. */
int cluster_open(struct cluster **cluster, void (*tell)(void *context, const struct error *err),
                 void *context, struct error *err);

/* Leaves them, when all are here. NULL is allowed. All ranks. */
void cluster_close(struct cluster *cluster);

/* How many ranks, and which one this is; 1 and 0 for NULL. */
size_t cluster_size(const struct cluster *cluster);
size_t cluster_rank(const struct cluster *cluster);

/* True for rank 0, which alone speaks and writes. */
static inline bool cluster_leads(const struct cluster *cluster) {
    return cluster_rank(cluster) == 0;
}

/* x (n) becomes the sum, or the maximum, over ranks. The order of summation is a tree that is fixed
 * by the number of ranks. All ranks, with the same n. */
void cluster_sum(struct cluster *cluster, double *x, size_t n);
void cluster_max(struct cluster *cluster, double *x, size_t n);

/* The same of the lower half of A (n, n), row-major, with the diagonal; what is above it becomes
 * undefined, if there are several ranks. All ranks, with the same n. */
void cluster_sum_lower(struct cluster *cluster, double *A, size_t n);

/* The sum, or the maximum, of one number over ranks. All ranks. */
static inline double cluster_total(struct cluster *cluster, double x) {
    cluster_sum(cluster, &x, 1);
    return x;
}
static inline double cluster_largest(struct cluster *cluster, double x) {
    cluster_max(cluster, &x, 1);
    return x;
}

/* x (n, at most CLUSTER_LONGS) becomes the sum over ranks, with an error as of double, each rank's
 * part as it is. All ranks, with the same n. */
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

/* The sum of counts below 2^53 in all. All ranks. */
static inline size_t cluster_count(struct cluster *cluster, size_t n) {
    return cluster ? (size_t)cluster_total(cluster, (double)n) : n;
}

/* True if it is on one rank at least. All ranks. */
static inline bool cluster_any(struct cluster *cluster, bool is) {
    return cluster ? cluster_largest(cluster, is) > 0 : is;
}

/* True if the number is the same on all ranks. All ranks. */
static inline bool cluster_same(struct cluster *cluster, double x) {
    return -cluster_largest(cluster, -x) == cluster_largest(cluster, x);
}

/* bytes (n) become those of rank `from`. All ranks, with the same n and from. */
void cluster_broadcast(struct cluster *cluster, void *bytes, size_t n, size_t from);

/* *all becomes what all ranks have, own (n bytes, its own n on each rank), in order of rank: that
 * of rank r is at start[r] .. start[r + 1]. start (size + 1) is the caller's, as *all is, which it
 * frees. -1 for lack of memory, which the caller may not hide from the others. All ranks. */
int cluster_gather(struct cluster *cluster, const void *own, size_t n, char **all, size_t *start,
                   struct error *err);

/* After work that each rank has done for itself: 0 if it came to status 0 on all; else -1, with the
 * error of the first rank that failed. All ranks. */
int cluster_agree(struct cluster *cluster, int status, struct error *err);

/* How many ranks this one's machine has, itself counted; 1 for NULL. */
size_t cluster_neighbours(const struct cluster *cluster);

/* Threads for this rank: the processors of its affinity mask, each divided by the ranks of its
 * machine that have it in theirs, and 1 at least. 0 for NULL: as threads_create takes it. */
size_t cluster_threads(const struct cluster *cluster);

/* A list of n tasks: its number, and how far it is taken, as far as this rank knows. */
struct cluster_tasks {
    size_t list, n, taken;
};

/* A new list of n tasks, none of them taken. All ranks. */
struct cluster_tasks cluster_deal(struct cluster *cluster, size_t n);

/* The next task that no rank has taken yet, or n if there is none. Each rank for itself, as often
 * as it is free, by one thread at a time. */
size_t cluster_take(struct cluster *cluster, struct cluster_tasks *tasks);

/* From now on rank 0 takes what cluster_post sends it, until cluster_settle: hear(context, bytes,
 * n) is called there, on a thread of its own, for one message at a time, those of a rank in their
 * order. If it fails, the job ends. All ranks; what is given is for rank 0. */
void cluster_hear(struct cluster *cluster,
                  int (*hear)(void *context, const char *bytes, size_t n, struct error *err),
                  void *context);

/* Sends n bytes to rank 0, which hears them soon. Each rank but 0 for itself, on any thread. */
void cluster_post(struct cluster *cluster, const void *bytes, size_t n);

/* Waits until all ranks are here, without keeping a processor busy, and rank 0 has heard all that
 * was posted. All ranks. */
void cluster_settle(struct cluster *cluster);

/* Ends the job: this rank cannot go on, and the others would wait for it. The error is told by rank
 * 0, and its kind becomes the exit code. Does not return, but for NULL. */
void cluster_fail(struct cluster *cluster, const struct error *err);

/* Asks for an end: a handler of signals may. Whether this rank has been asked; others may know
 * nothing of it. */
void cluster_ask(struct cluster *cluster);
bool cluster_asked(const struct cluster *cluster);

/* What this rank has sent or received in sums, maxima, broadcasts and gatherings: how many, their
 * bytes, each counted once, and the seconds that they took, with those of waiting for other
 * ranks. */
struct cluster_traffic {
    uint64_t exchanges, bytes;
    double seconds;
};
struct cluster_traffic cluster_traffic(const struct cluster *cluster);

/* What has come since it was `before`. */
static inline struct cluster_traffic cluster_traffic_since(const struct cluster *cluster,
                                                           struct cluster_traffic before) {
    struct cluster_traffic now = cluster_traffic(cluster);
    return (struct cluster_traffic){now.exchanges - before.exchanges, now.bytes - before.bytes,
                                    now.seconds - before.seconds};
}

#endif
