/* The thread pool: workers wait for the next run and take tasks from an atomic counter.
 * _GNU_SOURCE: sched_getaffinity. */
#define _GNU_SOURCE
#include "common/base/threads.h"

#include "common/base/blas.h"
#include "common/base/flush.h"
#include "common/base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MAX_THREADS = 1024 };
enum { ZEROS_TASK = 8 << 20 }; /* bytes that a task sets to zero */

struct threads {
    pthread_mutex_t mutex;
    pthread_cond_t start, done;
    size_t n;       /* workers, including the caller */
    size_t callers; /* workers registered by blas_join, or 0 */
    size_t running; /* started workers that have not finished this run */
    unsigned long run_number;
    bool quit;
    threads_task task;
    void *argument;
    size_t n_tasks;
    unsigned mode; /* of the caller's arithmetic (flush.h) */
    atomic_size_t next;
    bool (*stop)(void *context); /* the limit of the runs, or NULL */
    void *stop_context;
    atomic_bool limit_met;

    struct worker {
        struct threads *threads;
        size_t number;
        pthread_t thread;
    } workers[]; /* n - 1 */
};

static bool may_start(struct threads *threads) {
    bool stop = threads->stop && threads->stop(threads->stop_context);
    if (stop) {
        atomic_store(&threads->limit_met, true);
    }
    return !stop;
}

static void work(struct threads *threads, size_t worker) {
    size_t task;
    while (may_start(threads) && (task = atomic_fetch_add(&threads->next, 1)) < threads->n_tasks) {
        threads->task(threads->argument, task, worker);
    }
}

static void *worker_main(void *argument) {
    struct worker *worker = argument;
    struct threads *threads = worker->threads;
    unsigned long run_number = 0;
    pthread_mutex_lock(&threads->mutex);
    for (;;) {
        while (threads->run_number == run_number && !threads->quit) {
            pthread_cond_wait(&threads->start, &threads->mutex);
        }
        if (threads->quit) {
            break;
        }
        run_number = threads->run_number;
        pthread_mutex_unlock(&threads->mutex);
        flush_set_mode(threads->mode);
        work(threads, worker->number);
        pthread_mutex_lock(&threads->mutex);
        if (--threads->running == 0) {
            pthread_cond_signal(&threads->done);
        }
    }
    pthread_mutex_unlock(&threads->mutex);
    return NULL;
}

static size_t processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int n = CPU_COUNT(&set);
        return n > 0 ? (size_t)n : 1;
    }
    return 1;
}

enum { STACK_BYTES = 2 << 20 };

/* Starts a thread whose stack size does not depend on the stack limit of the program. Returns 0 or
 * errno. */
static int start(pthread_t *thread, void *(*function)(void *), void *argument) {
    pthread_attr_t attributes;
    int failure = pthread_attr_init(&attributes);
    if (failure == 0) {
        failure = pthread_attr_setstacksize(&attributes, STACK_BYTES);
        failure = failure ? failure : pthread_create(thread, &attributes, function, argument);
        pthread_attr_destroy(&attributes);
    }
    return failure;
}

int threads_start(pthread_t *thread, void *(*function)(void *), void *argument, struct error *err) {
    return start(thread, function, argument) == 0
               ? 0
               : error_set(err, ERROR_RUNTIME, "cannot start a thread");
}

/* The number of threads for which a limited address space (ulimit -v) or limited data (ulimit -d)
 * suffices: each needs a stack, an arena of malloc, an OpenBLAS buffer of 128 MB, and blocks of its
 * own. */
static size_t room_for_threads(void) {
    const rlim_t each = (rlim_t)320 << 20;
    rlim_t min_limit = RLIM_INFINITY; /* RLIM_INFINITY is the largest value */
    struct rlimit addresses, data;
    if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur < min_limit) {
        min_limit = addresses.rlim_cur;
    }
    if (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur < min_limit) {
        min_limit = data.rlim_cur;
    }
    return min_limit == RLIM_INFINITY ? MAX_THREADS
           : min_limit < 2 * each     ? 1
                                      : (size_t)(min_limit / each);
}

/* Reduces *n to the number of workers for which there is memory. */
static int settle(size_t *n, struct error *err) {
    if (*n == 0) {
        *n = processors();
    }
    if (*n > MAX_THREADS) {
        return error_set(err, ERROR_USAGE, "%zu threads: at most %d", *n, MAX_THREADS);
    }
    size_t room = room_for_threads();
    *n = *n > room ? room : *n;
    return 0;
}

/* Creates n workers; `callers` is n if they were registered by blas_join, else 0. */
static int create(struct threads **threads, size_t n, size_t callers, struct error *err) {
    struct threads *pool =
        memory_zeros(1, sizeof *pool + (n - 1) * sizeof pool->workers[0], "threads", err);
    if (!pool) {
        blas_leave(callers);
        return -1;
    }
    pool->callers = callers;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (pool->n = 1; pool->n < n; pool->n++) {
        struct worker *worker = &pool->workers[pool->n - 1];
        worker->threads = pool;
        worker->number = pool->n;
        if (start(&worker->thread, worker_main, worker) != 0) {
            error_set(err, ERROR_RUNTIME, "cannot start thread %zu of %zu", pool->n, n);
            threads_free(pool);
            return -1;
        }
    }
    *threads = pool;
    return 0;
}

int threads_create(struct threads **threads, size_t n, struct error *err) {
    return settle(&n, err) < 0 ? -1 : create(threads, n, 0, err);
}

int threads_create_for_blas(struct threads **threads, size_t n, struct error *err) {
    return settle(&n, err) < 0 || blas_join(&n, err) < 0 ? -1 : create(threads, n, n, err);
}

void threads_free(struct threads *threads) {
    if (!threads) {
        return;
    }
    pthread_mutex_lock(&threads->mutex);
    threads->quit = true;
    pthread_cond_broadcast(&threads->start);
    pthread_mutex_unlock(&threads->mutex);
    for (size_t i = 0; i + 1 < threads->n; i++) {
        pthread_join(threads->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&threads->done);
    pthread_cond_destroy(&threads->start);
    pthread_mutex_destroy(&threads->mutex);
    blas_leave(threads->callers);
    free(threads);
}

size_t threads_count(const struct threads *threads) {
    return threads ? threads->n : 1;
}

void threads_run(struct threads *threads, size_t n_tasks, threads_task task, void *argument) {
    if (!threads || threads->n == 1 || n_tasks <= 1) {
        for (size_t i = 0; i < n_tasks && (!threads || may_start(threads)); i++) {
            task(argument, i, 0);
        }
        return;
    }
    pthread_mutex_lock(&threads->mutex);
    threads->task = task;
    threads->argument = argument;
    threads->n_tasks = n_tasks;
    threads->mode = flush_mode();
    atomic_store(&threads->next, 0);
    threads->running = threads->n - 1;
    threads->run_number++;
    pthread_cond_broadcast(&threads->start);
    pthread_mutex_unlock(&threads->mutex);
    work(threads, 0);
    pthread_mutex_lock(&threads->mutex);
    while (threads->running > 0) {
        pthread_cond_wait(&threads->done, &threads->mutex);
    }
    pthread_mutex_unlock(&threads->mutex);
}

struct zeros {
    char *block;
    size_t bytes;
};

static void zeros_task(void *argument, size_t task, size_t worker) {
    const struct zeros *zeros = argument;
    size_t first = task * ZEROS_TASK, left = zeros->bytes - first;
    (void)worker;
    memset(zeros->block + first, 0, left < ZEROS_TASK ? left : ZEROS_TASK);
}

void *threads_zeros(struct threads *threads, size_t count, size_t size, const char *what,
                    struct error *err) {
    struct zeros zeros = {memory_array(count, size, what, err), count * size};
    if (zeros.block && threads && threads->stop) { /* a run could leave a part unset */
        memset(zeros.block, 0, zeros.bytes);
    } else if (zeros.block) {
        threads_run(threads, (zeros.bytes + ZEROS_TASK - 1) / ZEROS_TASK, zeros_task, &zeros);
    }
    return zeros.block;
}

void threads_limit(struct threads *threads, bool (*stop)(void *context), void *context) {
    if (threads) {
        threads->stop = stop;
        threads->stop_context = context;
        atomic_store(&threads->limit_met, false);
    }
}

bool threads_limit_met(const struct threads *threads) {
    return threads && atomic_load(&threads->limit_met);
}
