/* One job at a time beside the calling thread: another thread runs it ahead of its need. For loops
 * whose steps are too short for threads_run. */
#ifndef COMMON_BASE_AHEAD_H
#define COMMON_BASE_AHEAD_H

#include "common/base/threads.h"

struct ahead;

/* Calls body(context, ahead), in which ahead_post and ahead_wait may be called, on one thread of
 * the pool, while another one waits for jobs, each job(context). NULL, or a pool of one thread: the
 * jobs run in ahead_wait. The pool must have no limit (threads_limit). */
void ahead_run(struct threads *threads, void (*body)(void *context, struct ahead *ahead),
               void (*job)(void *context), void *context);

/* Lets the job begin. Each ahead_post is followed by ahead_wait, the last one, too. */
void ahead_post(struct ahead *ahead);

/* Returns when the posted job is done. If no other thread has begun it, it runs here: a thread that
 * the system does not run delays nothing. */
void ahead_wait(struct ahead *ahead);

#endif
