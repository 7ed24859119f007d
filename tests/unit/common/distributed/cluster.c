/* common/distributed/cluster in one process, or under mpirun in several: each task is assigned
 * once, each message is received once and complete, and sums are totals. Process 0 prints. */
#include "common/distributed/cluster.h"

#include "tests/unit/check.h"

#include <pthread.h>
#include <string.h>

enum { TASKS = 200, LONGEST = 300000 };

/* The tasks of a list of which process 0 knows. */
struct done {
    pthread_mutex_t mutex;
    unsigned times[TASKS];
    size_t bytes;
};

static void tell(void *context, const struct error *failure) {
    (void)context;
    FAIL("%s", failure->text);
}

/* The length of a task's message; some contain only the number. */
static size_t length_of(size_t task) {
    return sizeof task + (task % 7 == 0 ? LONGEST : task % 3);
}

static void count(struct done *done, size_t task, size_t bytes) {
    pthread_mutex_lock(&done->mutex);
    done->times[task]++;
    done->bytes += bytes;
    pthread_mutex_unlock(&done->mutex);
}

static int hear(void *context, const char *bytes, size_t n, struct error *failure) {
    size_t task;
    (void)failure;
    memcpy(&task, bytes, sizeof task);
    CHECK(n == length_of(task), "%zu bytes for task %zu", n, task);
    for (size_t i = sizeof task; i < n; i++) {
        CHECK(bytes[i] == (char)(task + i), "byte %zu of task %zu", i, task);
    }
    count(context, task, n);
    return 0;
}

/* Takes tasks until none remain, and reports each to process 0. */
static void work(struct cluster *cluster, struct done *done) {
    static char message[sizeof(size_t) + LONGEST];
    struct cluster_tasks tasks = cluster_create_tasks(cluster, TASKS);
    for (size_t task; (task = cluster_next_task(cluster, &tasks)) < TASKS;) {
        size_t n = length_of(task);
        memcpy(message, &task, sizeof task);
        for (size_t i = sizeof task; i < n; i++) {
            message[i] = (char)(task + i);
        }
        if (cluster_is_root(cluster)) {
            count(done, task, n);
        } else {
            cluster_send_to_root(cluster, message, n);
        }
    }
    CHECK_TRUE(cluster_next_task(cluster, &tasks) == TASKS); /* and remains empty */
}

static void test_tasks(struct cluster *cluster) {
    for (int list = 0; list < 3; list++) {
        struct done done = {.bytes = 0};
        pthread_mutex_init(&done.mutex, NULL);
        cluster_start_receiving(cluster, hear, &done);
        work(cluster, &done);
        cluster_finish_receiving(cluster);
        for (size_t i = 0; cluster_is_root(cluster) && i < TASKS; i++) {
            CHECK(done.times[i] == 1, "list %d: task %zu %u times", list, i, done.times[i]);
        }
        pthread_mutex_destroy(&done.mutex);
    }
}

static void test_sums(struct cluster *cluster) {
    size_t size = cluster_size(cluster), rank = cluster_rank(cluster), far = rank;
    CHECK_TRUE(cluster_total(cluster, (double)rank) == (double)(size * (size - 1)) / 2);
    CHECK_TRUE(cluster_largest(cluster, -(double)rank) == 0);
    CHECK_TRUE(cluster_any(cluster, rank + 1 == size) && !cluster_any(cluster, false));
    cluster_broadcast(cluster, &far, sizeof far, size - 1);
    CHECK_TRUE(far == size - 1);
}

/* All processes of these tests run on one machine. */
static void test_machine(struct cluster *cluster) {
    size_t threads = cluster_threads(cluster);
    CHECK_TRUE(cluster_local_processes(cluster) == cluster_size(cluster));
    CHECK(cluster ? threads >= 1 : threads == 0, "%zu threads", threads);
    if (cluster_is_root(cluster)) {
        printf("ok: %zu ranks, %zu threads\n", cluster_size(cluster), threads);
    }
}

int main(void) {
    struct cluster *cluster;
    MUST(cluster_open(&cluster, tell, NULL, &err));
    test_sums(cluster);
    test_tasks(cluster);
    test_machine(cluster);
    cluster_close(cluster);
    return 0;
}
