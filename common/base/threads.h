/* A fixed pool of threads that runs numbered tasks. NULL stands for "no pool": tasks then run in
 * order in the caller, so code is written once and serial callers pass NULL. */
#ifndef COMMON_BASE_THREADS_H
#define COMMON_BASE_THREADS_H

#include "common/base/error.h"

#include <pthread.h>
#include <stddef.h>

struct threads;

/* Runs task number `task` as worker number `worker`, 0 <= worker < threads_count(). */
typedef void (*threads_task)(void *argument, size_t task, size_t worker);

/* Starts n - 1 threads (the caller is the n-th worker); n = 0 means one per processor of this
 * process's affinity mask. A limited address space (ulimit -v) or limited data (ulimit -d) make
 * them fewer, one for each 320 MB. Tasks may not call BLAS. The caller owns *threads; threads_free
 * ends the pool. */
int threads_create(struct threads **threads, size_t n, struct error *err);

/* The same for tasks, and a caller, who may call BLAS. If OpenBLAS's memory (common/base/blas.h)
 * suffices for fewer threads, there are fewer; fails if it does not suffice for one. */
int threads_create_for_blas(struct threads **threads, size_t n, struct error *err);
void threads_free(struct threads *threads);

/* Number of workers; 1 for NULL. */
size_t threads_count(const struct threads *threads);

/* Runs tasks 0..n_tasks-1, each once, handed out in ascending order, and returns when all are
 * done. Not re-entrant: a task must not call threads_run on the pool that runs it. */
void threads_run(struct threads *threads, size_t n_tasks, threads_task task, void *argument);

/* Starts a thread beside pools, with a stack like theirs. The caller joins it. */
int threads_start(pthread_t *thread, void *(*function)(void *), void *argument, struct error *err);

#endif
