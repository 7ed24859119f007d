/* The functions of cluster.h by MPI (make MPI=1), in place of cluster.c.
 *
 * Besides collective operations there is a listener thread on process 0. It receives errors of
 * processes that have failed, for which the others would wait for ever; requests for tasks; and
 * messages. */
#define _GNU_SOURCE /* for nanosleep, sched_getaffinity */
#include "common/distributed/cluster.h"

#include "common/base/memory.h"
#include "common/base/threads.h"

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_FAILED = 1, TAG_TAKE, TAG_TASK, TAG_POST, TAG_REST };

/* The largest number of items of one MPI call, whose counts are int. */
static const size_t MAX_COUNT = (size_t)1 << 27;

/* The interval of polling, and how long a process waits for the job to be aborted. */
static const double LISTEN_SECONDS = 0.002, PATIENCE_SECONDS = 10;

struct cluster {
    MPI_Comm collective, listening; /* for collective operations; for the listener */
    size_t size, rank, neighbours, threads;
    size_t n_dealt; /* number of task lists */
    struct cluster_traffic traffic;
    void (*tell)(void *context, const struct error *err);
    void *context;
    atomic_flag reported;
    atomic_bool asked;
    pthread_t listener; /* of process 0 */
    atomic_bool leaving;
    pthread_mutex_t mutex; /* guards the members down to `heard` */
    uint64_t *taken;       /* (n_lists) number of assigned tasks of each list */
    size_t n_lists;
    pthread_cond_t heard_more;
    int (*hear)(void *context, const char *bytes, size_t n, struct error *err);
    void *hear_context;
    uint64_t heard;         /* messages received */
    pthread_mutex_t asking; /* held by a thread that requests a task or sends */
    uint64_t posted;        /* messages sent by this process; guarded by `asking` */
};

/* Whether a launcher started this process, by its environment. Otherwise MPI is not initialised. */
static bool launched(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                        "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (getenv(names[i])) {
            return true;
        }
    }
    return false;
}

static void pause_seconds(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

/* ---- the listener of process 0 ---- */

static void end_job(struct cluster *cluster, const struct error *err) {
    if (!atomic_flag_test_and_set(&cluster->reported)) {
        cluster->tell(cluster->context, err);
        MPI_Abort(cluster->collective, (int)err->kind);
    }
    pause_seconds(PATIENCE_SECONDS);
    MPI_Abort(cluster->collective, (int)err->kind);
}

static void hear_failure(struct cluster *cluster, int rank) {
    struct error err;
    MPI_Recv(&err, (int)sizeof err, MPI_BYTE, rank, TAG_FAILED, cluster->listening,
             MPI_STATUS_IGNORE);
    end_job(cluster, &err);
}

/* The next task of a list, on process 0. */
static uint64_t next_task(struct cluster *cluster, uint64_t list) {
    struct error err;
    pthread_mutex_lock(&cluster->mutex);
    size_t n = cluster->n_lists;
    if (list >= n && memory_grow(&cluster->taken, memory_room(0, n), list + 1,
                                 sizeof *cluster->taken, "lists of tasks", &err) < 0) {
        end_job(cluster, &err);
    }
    for (; n <= list; n++) {
        cluster->taken[n] = 0;
        cluster->n_lists = n + 1;
    }
    uint64_t task = cluster->taken[list]++;
    pthread_mutex_unlock(&cluster->mutex);
    return task;
}

static void hand_out(struct cluster *cluster, int rank) {
    uint64_t list;
    MPI_Recv(&list, 1, MPI_UINT64_T, rank, TAG_TAKE, cluster->listening, MPI_STATUS_IGNORE);
    uint64_t task = next_task(cluster, list);
    MPI_Send(&task, 1, MPI_UINT64_T, rank, TAG_TASK, cluster->listening);
}

/* Receives a message of any length: first its length, then its bytes in parts. */
static void hear_message(struct cluster *cluster, int rank) {
    struct error err;
    uint64_t n;
    MPI_Recv(&n, 1, MPI_UINT64_T, rank, TAG_POST, cluster->listening, MPI_STATUS_IGNORE);
    char *bytes = memory_array((size_t)n, 1, "a message of a process", &err);
    if (!bytes) {
        end_job(cluster, &err);
    }
    for (size_t first = 0; first < n; first += MAX_COUNT) {
        int part = (int)(n - first < MAX_COUNT ? n - first : MAX_COUNT);
        MPI_Recv(bytes + first, part, MPI_BYTE, rank, TAG_REST, cluster->listening,
                 MPI_STATUS_IGNORE);
    }
    pthread_mutex_lock(&cluster->mutex);
    int (*hear)(void *context, const char *bytes, size_t n, struct error *err) = cluster->hear;
    void *context = cluster->hear_context;
    pthread_mutex_unlock(&cluster->mutex);
    if (hear(context, bytes, (size_t)n, &err) < 0) {
        end_job(cluster, &err);
    }
    free(bytes);
    pthread_mutex_lock(&cluster->mutex);
    cluster->heard++;
    pthread_cond_signal(&cluster->heard_more);
    pthread_mutex_unlock(&cluster->mutex);
}

static void *listen_to_ranks(void *argument) {
    struct cluster *cluster = argument;
    while (!atomic_load(&cluster->leaving)) {
        MPI_Status status;
        int here;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, cluster->listening, &here, &status);
        if (!here) {
            pause_seconds(LISTEN_SECONDS);
        } else if (status.MPI_TAG == TAG_FAILED) {
            hear_failure(cluster, status.MPI_SOURCE);
        } else if (status.MPI_TAG == TAG_POST) {
            hear_message(cluster, status.MPI_SOURCE);
        } else {
            hand_out(cluster, status.MPI_SOURCE);
        }
    }
    return NULL;
}

/* ---- connection ---- */

static int start_listener(struct cluster *cluster, struct error *err) {
    return cluster->rank > 0 ? 0 : threads_start(&cluster->listener, listen_to_ranks, cluster, err);
}

/* Finds the processes of this machine, and the processors for this one. */
static void count_local_processes(struct cluster *cluster) {
    MPI_Comm machine;
    int size, own[CPU_SETSIZE], ranks[CPU_SETSIZE];
    double processors = 0;
    cpu_set_t set;
    MPI_Comm_split_type(cluster->collective, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &size);
    if (sched_getaffinity(0, sizeof set, &set) < 0) {
        CPU_ZERO(&set);
    }
    for (int i = 0; i < CPU_SETSIZE; i++) {
        own[i] = CPU_ISSET((size_t)i, &set) != 0;
    }
    MPI_Allreduce(own, ranks, CPU_SETSIZE, MPI_INT, MPI_SUM, machine);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        processors += own[i] ? 1 / (double)ranks[i] : 0;
    }
    MPI_Comm_free(&machine);
    cluster->neighbours = (size_t)size;
    cluster->threads = processors > 1 ? (size_t)(processors + 1e-6) : 1;
}

int cluster_open(struct cluster **cluster, void (*tell)(void *context, const struct error *err),
                 void *context, struct error *err) {
    int level, size, rank;
    *cluster = NULL;
    if (!launched()) {
        return 0;
    }
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) {
        return error_set(err, ERROR_RUNTIME, "MPI does not start");
    }
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size == 1) {
        MPI_Finalize();
        return 0;
    }
    if (level < MPI_THREAD_MULTIPLE) {
        return error_set(err, ERROR_RUNTIME, "this MPI has no MPI_THREAD_MULTIPLE");
    }
    struct cluster *made = memory_zeros(1, sizeof *made, "a cluster", err);
    if (!made) {
        return -1;
    }
    made->size = (size_t)size;
    made->rank = (size_t)rank;
    made->tell = tell;
    made->context = context;
    atomic_flag_clear(&made->reported);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_mutex_init(&made->asking, NULL);
    pthread_cond_init(&made->heard_more, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &made->collective);
    MPI_Comm_dup(MPI_COMM_WORLD, &made->listening);
    count_local_processes(made);
    if (start_listener(made, err) < 0) {
        free(made);
        return -1;
    }
    *cluster = made;
    return 0;
}

/* A barrier that polls. Blocking collective calls occupy a processor while they wait, possibly for
 * hours. */
static void barrier(struct cluster *cluster) {
    MPI_Request request;
    MPI_Ibarrier(cluster->collective, &request);
    for (int here = 0;;) {
        MPI_Test(&request, &here, MPI_STATUS_IGNORE);
        if (here) {
            return;
        }
        pause_seconds(LISTEN_SECONDS);
    }
}

void cluster_close(struct cluster *cluster) {
    if (!cluster) {
        return;
    }
    barrier(cluster);
    if (cluster->rank == 0) {
        atomic_store(&cluster->leaving, true);
        pthread_join(cluster->listener, NULL);
    }
    MPI_Comm_free(&cluster->listening);
    MPI_Comm_free(&cluster->collective);
    MPI_Finalize();
    pthread_cond_destroy(&cluster->heard_more);
    pthread_mutex_destroy(&cluster->asking);
    pthread_mutex_destroy(&cluster->mutex);
    free(cluster->taken);
    free(cluster);
}

size_t cluster_size(const struct cluster *cluster) {
    return cluster ? cluster->size : 1;
}

size_t cluster_rank(const struct cluster *cluster) {
    return cluster ? cluster->rank : 0;
}

size_t cluster_local_processes(const struct cluster *cluster) {
    return cluster ? cluster->neighbours : 1;
}

size_t cluster_threads(const struct cluster *cluster) {
    return cluster ? cluster->threads : 0;
}

/* ---- collective operations ---- */

static void count(struct cluster *cluster, size_t bytes, double start) {
    cluster->traffic.exchanges++;
    cluster->traffic.bytes += bytes;
    cluster->traffic.seconds += MPI_Wtime() - start;
}

/* All processes get identical bytes, as the MPI standard requires (5.9.6, All-Reduce). */
static void reduce(struct cluster *cluster, double *x, size_t n, MPI_Op operation) {
    double start = MPI_Wtime();
    for (size_t first = 0; first < n; first += MAX_COUNT) {
        int part = (int)(n - first < MAX_COUNT ? n - first : MAX_COUNT);
        MPI_Allreduce(MPI_IN_PLACE, x + first, part, MPI_DOUBLE, operation, cluster->collective);
    }
    count(cluster, n * sizeof *x, start);
}

void cluster_sum(struct cluster *cluster, double *x, size_t n) {
    if (cluster) {
        reduce(cluster, x, n, MPI_SUM);
    }
}

void cluster_sum_lower(struct cluster *cluster, double *A, size_t n) {
    if (!cluster) {
        return;
    }
    size_t packed = 0; /* row i moves down by at most its offset: no unread entry is overwritten */
    for (size_t i = 0; i < n; i++) {
        memmove(A + packed, A + i * n, (i + 1) * sizeof *A);
        packed += i + 1;
    }
    reduce(cluster, A, packed, MPI_SUM);
    for (size_t i = n; i-- > 0;) {
        packed -= i + 1;
        memmove(A + i * n, A + packed, (i + 1) * sizeof *A);
    }
}

void cluster_max(struct cluster *cluster, double *x, size_t n) {
    if (cluster) {
        reduce(cluster, x, n, MPI_MAX);
    }
}

static void broadcast(struct cluster *cluster, void *bytes, size_t n, size_t from) {
    for (size_t first = 0; first < n; first += MAX_COUNT) {
        int part = (int)(n - first < MAX_COUNT ? n - first : MAX_COUNT);
        MPI_Bcast((char *)bytes + first, part, MPI_BYTE, (int)from, cluster->collective);
    }
}

void cluster_broadcast(struct cluster *cluster, void *bytes, size_t n, size_t from) {
    if (cluster) {
        double start = MPI_Wtime();
        broadcast(cluster, bytes, n, from);
        count(cluster, n, start);
    }
}

/* Fills `all`, which already contains this process's bytes. */
static int allgather_bytes(struct cluster *cluster, char *all, const size_t *start,
                           struct error *err) {
    size_t size = cluster->size, total = start[size];
    if (total > MAX_COUNT) { /* too large for one call */
        for (size_t r = 0; r < size; r++) {
            broadcast(cluster, all + start[r], start[r + 1] - start[r], r);
        }
        return 0;
    }
    int *n = memory_array(size, 2 * sizeof *n, "the data of all processes", err), *first = n + size;
    if (!n) {
        return -1;
    }
    for (size_t r = 0; r < size; r++) {
        n[r] = (int)(start[r + 1] - start[r]);
        first[r] = (int)start[r];
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, n, first, MPI_BYTE, cluster->collective);
    free(n);
    return 0;
}

int cluster_allgather(struct cluster *cluster, const void *own, size_t n, char **all, size_t *start,
                      struct error *err) {
    size_t size = cluster_size(cluster), rank = cluster_rank(cluster), total = 0;
    double begun = cluster ? MPI_Wtime() : 0;
    start[rank] = n;
    if (cluster) {
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, start, (int)sizeof *start, MPI_BYTE,
                      cluster->collective);
    }
    for (size_t r = 0; r < size; r++) {
        size_t part = start[r];
        start[r] = total;
        total += part;
    }
    start[size] = total;
    *all = memory_array(total, 1, "the data of all processes", err);
    if (!*all) {
        return -1;
    }
    if (n > 0) {
        memcpy(*all + start[rank], own, n);
    }
    if (cluster && allgather_bytes(cluster, *all, start, err) < 0) {
        free(*all);
        *all = NULL;
        return -1;
    }
    if (cluster) {
        count(cluster, total, begun);
    }
    return 0;
}

int cluster_agree(struct cluster *cluster, int status, struct error *err) {
    if (!cluster) {
        return status;
    }
    double first_failed =
        status < 0 ? -(double)cluster->rank : -(double)cluster->size; /* the first failure wins */
    cluster_max(cluster, &first_failed, 1);
    if (first_failed == -(double)cluster->size) {
        return 0;
    }
    cluster_broadcast(cluster, err, sizeof *err, (size_t)-first_failed);
    return -1;
}

/* ---- operations of one process ---- */

struct cluster_tasks cluster_create_tasks(struct cluster *cluster, size_t n) {
    return (struct cluster_tasks){.list = cluster ? cluster->n_dealt++ : 0, .n = n};
}

size_t cluster_next_task(struct cluster *cluster, struct cluster_tasks *tasks) {
    uint64_t list = tasks->list, task = tasks->taken;
    if (cluster && cluster->rank > 0) {
        pthread_mutex_lock(&cluster->asking);
        MPI_Send(&list, 1, MPI_UINT64_T, 0, TAG_TAKE, cluster->listening);
        MPI_Recv(&task, 1, MPI_UINT64_T, 0, TAG_TASK, cluster->listening, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&cluster->asking);
    } else if (cluster) {
        task = next_task(cluster, list);
    }
    tasks->taken = task < tasks->n ? (size_t)task + 1 : tasks->n;
    return task < tasks->n ? (size_t)task : tasks->n;
}

void cluster_start_receiving(struct cluster *cluster,
                             int (*hear)(void *context, const char *bytes, size_t n,
                                         struct error *err),
                             void *context) {
    if (cluster) {
        pthread_mutex_lock(&cluster->mutex);
        cluster->hear = hear;
        cluster->hear_context = context;
        cluster->heard = cluster->posted = 0;
        pthread_mutex_unlock(&cluster->mutex);
        barrier(cluster);
    }
}

void cluster_send_to_root(struct cluster *cluster, const void *bytes, size_t n) {
    uint64_t length = n;
    pthread_mutex_lock(&cluster->asking);
    MPI_Send(&length, 1, MPI_UINT64_T, 0, TAG_POST, cluster->listening);
    for (size_t first = 0; first < n; first += MAX_COUNT) {
        int part = (int)(n - first < MAX_COUNT ? n - first : MAX_COUNT);
        MPI_Send((const char *)bytes + first, part, MPI_BYTE, 0, TAG_REST, cluster->listening);
    }
    cluster->posted++;
    pthread_mutex_unlock(&cluster->asking);
}

void cluster_finish_receiving(struct cluster *cluster) {
    if (!cluster) {
        return;
    }
    barrier(cluster);
    size_t posted = cluster_count(cluster, (size_t)cluster->posted);
    pthread_mutex_lock(&cluster->mutex);
    while (cluster->rank == 0 && cluster->heard < posted) {
        pthread_cond_wait(&cluster->heard_more, &cluster->mutex);
    }
    pthread_mutex_unlock(&cluster->mutex);
}

void cluster_fail(struct cluster *cluster, const struct error *err) {
    if (!cluster) {
        return;
    }
    if (cluster->rank > 0) {
        MPI_Send(err, (int)sizeof *err, MPI_BYTE, 0, TAG_FAILED, cluster->listening);
        pause_seconds(PATIENCE_SECONDS);
        MPI_Abort(cluster->collective, (int)err->kind);
    }
    end_job(cluster, err);
}

void cluster_request_stop(struct cluster *cluster) {
    atomic_store(&cluster->asked, true);
}

bool cluster_stop_requested(const struct cluster *cluster) {
    return cluster && atomic_load(&cluster->asked);
}

struct cluster_traffic cluster_traffic(const struct cluster *cluster) {
    return cluster ? cluster->traffic : (struct cluster_traffic){0};
}
