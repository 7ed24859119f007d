/* Work that may not look at the clock: on a thread of its own, which is left to itself when it is
 * late. */
#ifndef DRIVER_TIMED_TASK_H
#define DRIVER_TIMED_TASK_H

#include "common/base/error.h"

#include <stdbool.h>

/* False for a deadline, a time of progress_clock(), that is INFINITY or next to it. */
bool timed_task_is_limited(double deadline);

/* When work with that deadline is left to itself. */
double timed_task_abandon_time(double deadline);

/* Runs work(context) until it ends, or somewhat after a deadline that limits. *ended: it has;
 * then returns what it did, with err set where it failed. Else it goes on, and has its context for
 * ever: returns 0. -1 also where there is no thread to be had, with *ended true. */
int timed_task_run(int (*work)(void *context, struct error *err), void *context, double deadline,
                   bool *ended, struct error *err);

#endif
