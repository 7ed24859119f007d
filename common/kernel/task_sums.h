/* Sums over tasks that run in parallel, added in the order of the tasks, so that they do not depend
 * on the number of threads. Partial sums are held only for tasks that are running or wait for an
 * earlier task, and their number is bounded. */
#ifndef COMMON_KERNEL_TASK_SUMS_H
#define COMMON_KERNEL_TASK_SUMS_H

#include "common/base/error.h"

#include <stddef.h>

struct task_sums;

/* Entries at..at + n of the sums. */
struct task_range {
    size_t at, n;
};

/* Sums of n numbers, zero at first, over tasks 0 .. n_tasks - 1. Tasks begin in this order and fill
 * at most `block` numbers each; a task waits to begin while max_blocks blocks are in use, unless it
 * is the next to be added. The caller calls task_sums_free (NULL is allowed) when every task that
 * was begun is closed. */
int task_sums_create(struct task_sums **sums, size_t n, size_t n_tasks, size_t block,
                     size_t max_blocks, struct error *err);
void task_sums_free(struct task_sums *sums);

/* A block with undefined contents for the partial sums of the task; NULL with err set if memory
 * runs out. Every task must call it, from any thread. */
double *task_sums_open(struct task_sums *sums, size_t task, struct error *err);

/* Ends the task. The block (NULL: it had none) holds the partial sums of the first range and, after
 * them, of the second; they are added after those of all earlier tasks. */
void task_sums_close(struct task_sums *sums, size_t task, double *block,
                     const struct task_range range[2]);

/* (n) the sums, after every task is closed. */
const double *task_sums_all(const struct task_sums *sums);

#endif
