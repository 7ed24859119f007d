/* Ranks that are threads of a unit program: what is over ranks is tested without MPI. Its functions
 * stand in place of those of common/distributed/cluster, so a program that includes this knows no
 * others; it has all that sums, maxima and gatherings need, and no tasks or messages. */
#ifndef TESTS_UNIT_RANKS_H
#define TESTS_UNIT_RANKS_H

#include "common/distributed/cluster.h"
#include "tests/unit/check.h"

#include <pthread.h>
#include <string.h>

enum { MAX_RANKS = 4 };

/* What the ranks share: what each of them brings to an exchange. */
struct ranks {
    size_t n;
    pthread_barrier_t barrier;
    const void *brought[MAX_RANKS];
    size_t bytes[MAX_RANKS];
    void (*work)(struct cluster *cluster, void *context);
    void *context;
};

struct cluster {
    struct ranks *ranks;
    size_t rank;
};

static inline void *ranks_begin(void *cluster) {
    struct cluster *own = cluster;
    own->ranks->work(own, own->ranks->context);
    return NULL;
}

/* Calls work(cluster, context) on n ranks, at most MAX_RANKS. */
static inline void ranks_run(size_t n, void (*work)(struct cluster *cluster, void *context),
                             void *context) {
    struct ranks ranks = {.n = n, .work = work, .context = context};
    struct cluster cluster[MAX_RANKS];
    pthread_t thread[MAX_RANKS];
    CHECK_TRUE(n <= MAX_RANKS && pthread_barrier_init(&ranks.barrier, NULL, (unsigned)n) == 0);
    for (size_t r = 0; r < n; r++) {
        cluster[r] = (struct cluster){&ranks, r};
        CHECK_TRUE(pthread_create(&thread[r], NULL, ranks_begin, &cluster[r]) == 0);
    }
    for (size_t r = 0; r < n; r++) {
        CHECK_TRUE(pthread_join(thread[r], NULL) == 0);
    }
    pthread_barrier_destroy(&ranks.barrier);
}

/* Rank r of n has rows ranks_first(r, n, rows) .. ranks_first(r + 1, n, rows): the first of several
 * has one, and the last of more than two none. */
static inline size_t ranks_first(size_t r, size_t n, size_t rows) {
    return r == 0       ? 0
           : r + 1 >= n ? (r == n || n > 2 ? rows : 1)
                        : 1 + (r - 1) * (rows - 1) / (n - 2);
}

/* *data, dense rows, becomes those of this rank of `ranks`; returns the first of them. */
static inline size_t ranks_cut(const struct cluster *cluster, size_t ranks, struct data *data) {
    size_t rank = cluster_rank(cluster), rows = data->n_rows;
    size_t first = ranks_first(rank, ranks, rows);
    data->n_rows = ranks_first(rank + 1, ranks, rows) - first;
    data->value += first * data->n_features;
    return first;
}

/* Whether all ranks have the same x. */
static inline bool ranks_agree(struct cluster *cluster, double x) {
    return cluster_largest(cluster, x) == -cluster_largest(cluster, -x);
}

/* ---- common/distributed/cluster.h ---- */

size_t cluster_size(const struct cluster *cluster) {
    return cluster ? cluster->ranks->n : 1;
}

size_t cluster_rank(const struct cluster *cluster) {
    return cluster ? cluster->rank : 0;
}

/* All have brought what they bring, and may look at it until they meet again. */
static inline void ranks_bring(struct cluster *cluster, const void *own, size_t n) {
    cluster->ranks->brought[cluster->rank] = own;
    cluster->ranks->bytes[cluster->rank] = n;
    pthread_barrier_wait(&cluster->ranks->barrier);
    for (size_t r = 0; r < cluster->ranks->n; r++) {
        CHECK(cluster->ranks->bytes[r] == n, "rank %zu has %zu bytes, rank %zu %zu", r,
              cluster->ranks->bytes[r], cluster->rank, n);
    }
}

static inline void ranks_combine(struct cluster *cluster, double *x, size_t n, bool sum) {
    if (!cluster) {
        return;
    }
    double *own = malloc(n * sizeof *own + 1);
    CHECK_TRUE(own);
    memcpy(own, x, n * sizeof *own);
    ranks_bring(cluster, own, n * sizeof *own);
    for (size_t i = 0; i < n; i++) {
        x[i] = ((const double *)cluster->ranks->brought[0])[i];
        for (size_t r = 1; r < cluster->ranks->n; r++) {
            double other = ((const double *)cluster->ranks->brought[r])[i];
            x[i] = sum ? x[i] + other : fmax(x[i], other);
        }
    }
    pthread_barrier_wait(&cluster->ranks->barrier);
    free(own);
}

void cluster_sum(struct cluster *cluster, double *x, size_t n) {
    ranks_combine(cluster, x, n, true);
}

void cluster_max(struct cluster *cluster, double *x, size_t n) {
    ranks_combine(cluster, x, n, false);
}

void cluster_sum_lower(struct cluster *cluster, double *A, size_t n) {
    cluster_sum(cluster, A, n * n);
}

void cluster_broadcast(struct cluster *cluster, void *bytes, size_t n, size_t from) {
    if (cluster) {
        void *own = malloc(n + 1);
        CHECK_TRUE(own);
        memcpy(own, bytes, n);
        ranks_bring(cluster, own, n);
        memcpy(bytes, cluster->ranks->brought[from], n);
        pthread_barrier_wait(&cluster->ranks->barrier);
        free(own);
    }
}

int cluster_allgather(struct cluster *cluster, const void *own, size_t n, char **all, size_t *start,
                      struct error *failure) {
    struct ranks alone = {.n = 1, .brought = {own}, .bytes = {n}}, *ranks = &alone;
    if (cluster) {
        ranks = cluster->ranks;
        ranks->bytes[cluster->rank] = n;
        ranks->brought[cluster->rank] = own;
        pthread_barrier_wait(&ranks->barrier);
    }
    start[0] = 0;
    for (size_t r = 0; r < ranks->n; r++) {
        start[r + 1] = start[r] + ranks->bytes[r];
    }
    *all = memory_array(start[ranks->n], 1, "what all ranks have", failure);
    for (size_t r = 0; *all && r < ranks->n; r++) {
        memcpy(*all + start[r], ranks->brought[r], ranks->bytes[r]);
    }
    if (cluster) {
        pthread_barrier_wait(&ranks->barrier);
    }
    return *all ? 0 : -1;
}

int cluster_agree(struct cluster *cluster, int status, struct error *failure) {
    (void)failure;
    return cluster_largest(cluster, status < 0) > 0 ? -1 : status;
}

struct cluster_traffic cluster_traffic(const struct cluster *cluster) {
    (void)cluster;
    return (struct cluster_traffic){0};
}

#endif
