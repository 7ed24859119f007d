/* Sums of numbers over tasks that run side by side, added up in the order of the tasks: the same
 * whatever the threads. Only as many blocks are held as tasks are under way, or wait for one before
 * them. */
#ifndef COMMON_KERNEL_TASK_SUMS_H
#define COMMON_KERNEL_TASK_SUMS_H

#include "common/base/error.h"

#include <stddef.h>

struct task_sums;

/* Of n numbers, 0 so far, for tasks 0 .. n_tasks - 1. The caller frees, NULL too. */
int task_sums_create(struct task_sums **sums, size_t n, size_t n_tasks, struct error *err);
void task_sums_free(struct task_sums *sums);

/* A block (n), of any content, for a task to sum up in; NULL with err set for lack of memory. May
 * be called by any thread, as the next one. */
double *task_sums_open(struct task_sums *sums, struct error *err);

/* The task has done with the block: its first `used` numbers are added to the sums once those of
 * all tasks before it are. */
void task_sums_close(struct task_sums *sums, size_t task, double *block, size_t used);

/* (n) the sums of all tasks, when each is closed. */
const double *task_sums_all(const struct task_sums *sums);

#endif
