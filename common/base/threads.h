/* A fixed pool of threads that runs numbered tasks. NULL means no pool: tasks then run in order in
 * the caller, so that serial code passes NULL. */
#ifndef COMMON_BASE_THREADS_H
#define COMMON_BASE_THREADS_H

#include "common/base/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct threads;

/* Runs task number `task` as worker number `worker`, 0 <= worker < threads_count(). */
typedef void (*threads_task)(void *argument, size_t task, size_t worker);

/* Starts n - 1 threads; the caller is the n-th worker. n = 0: one for each processor in the
 * affinity mask of the process. A limit on address space (ulimit -v) or data (ulimit -d) reduces n
 * to one for each 320 MB. Tasks may not call BLAS. The caller owns *threads and calls threads_free.
 */
int threads_create(struct threads **threads, size_t n, struct error *err);

/* The same for tasks, and a caller, that call BLAS. If the memory of OpenBLAS (common/base/blas.h)
 * suffices for fewer threads, there are fewer; fails if it does not suffice for one. */
int threads_create_for_blas(struct threads **threads, size_t n, struct error *err);
void threads_free(struct threads *threads);

/* Number of workers; 1 for NULL. */
size_t threads_count(const struct threads *threads);

/* Runs tasks 0..n_tasks-1, each once, started in ascending order, and returns when all are done.
 * Tasks have the caller's mode of arithmetic (flush.h). Not re-entrant: a task must not call
 * threads_run on the pool that runs it. */
void threads_run(struct threads *threads, size_t n_tasks, threads_task task, void *argument);

/* memory_zeros for a block of which each worker sets a part to zero: for large blocks that is the
 * time in which the system clears their pages. Not for use in a task. */
void *threads_zeros(struct threads *threads, size_t count, size_t size, const char *what,
                    struct error *err);

/* Sets a limit of the runs that follow: no task starts once stop(context), which all workers call,
 * is true. The caller then discards what the run has computed. stop NULL: no limit. */
void threads_limit(struct threads *threads, bool (*stop)(void *context), void *context);

/* Whether that limit was met since it was set. */
bool threads_limit_met(const struct threads *threads);

/* Starts a thread outside pools, with the same stack size. The caller joins it. */
int threads_start(pthread_t *thread, void *(*function)(void *), void *argument, struct error *err);

#endif
