/* Sums of numbers over tasks that run side by side, added up in the order of the tasks: the same
 * whatever the threads. Only as many blocks are held as tasks are under way, or wait for one before
 * them, and of these not many. */
#ifndef COMMON_KERNEL_TASK_SUMS_H
#define COMMON_KERNEL_TASK_SUMS_H

#include "common/base/error.h"

#include <stddef.h>

struct task_sums;

/* Numbers at..at + n of the sums. */
struct task_range {
    size_t at, n;
};

/* Of n numbers, 0 so far, for tasks 0 .. n_tasks - 1 that are begun in this order and sum up
 * `block` numbers each at most; when `most` wait to be added others wait to begin. The caller
 * frees, NULL too, when every task that was begun is closed. */
int task_sums_create(struct task_sums **sums, size_t n, size_t n_tasks, size_t block, size_t most,
                     struct error *err);
void task_sums_free(struct task_sums *sums);

/* A block, of any content, for the task to sum up in; NULL with err set for lack of memory. May be
 * called by any thread, as the next one, which each task has to call. */
double *task_sums_open(struct task_sums *sums, size_t task, struct error *err);

/* The task has done with the block (NULL: it had none), which holds what is added to the first
 * range, and after it to the second, once that of all tasks before is. */
void task_sums_close(struct task_sums *sums, size_t task, double *block,
                     const struct task_range range[2]);

/* (n) the sums of all tasks, when each is closed. */
const double *task_sums_all(const struct task_sums *sums);

#endif
