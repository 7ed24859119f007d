/* Runs a task that may not check the clock in a thread of its own, which is abandoned after the
 * deadline. */
#ifndef DRIVER_TIMED_TASK_H
#define DRIVER_TIMED_TASK_H

#include "common/base/error.h"

#include <stdbool.h>

/* Returns whether the deadline, a time of clock_seconds(), is finite and less than 30 years
 * away. */
bool timed_task_is_limited(double deadline);

/* The time by which a task with that deadline is to end. It is abandoned some time later. */
double timed_task_end_time(double deadline);

/* Runs work(context) until it ends, or until it is abandoned. *ended: it has ended, and its
 * status is returned, with err set if it failed; -1 also if no thread could be started. Otherwise
 * it continues, and keeps using its context until the process ends; returns 0. */
int timed_task_run(int (*work)(void *context, struct error *err), void *context, double deadline,
                   bool *ended, struct error *err);

#endif
