/* A task on its own thread, which is abandoned if it passes the deadline (timed_task.h). */
#define _GNU_SOURCE /* pthread_condattr_setclock */
#include "driver/timed_task.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/threads.h"
#include "driver/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* Time after the deadline that a task may plan for, as for the certificate of its best iterate. */
static const double PLANNED_SECONDS = 0.5;
/* Time after the deadline when a task is abandoned: what it has planned may take longer. */
static const double GRACE_SECONDS = 1.5;

/* Deadlines further away are treated as none. */
static const double MAX_SECONDS = 1e9;

struct job {
    int (*work)(void *context, struct error *err);
    void *context;
    pthread_mutex_t mutex; /* guards the fields below */
    pthread_cond_t ended;
    bool done;
    int status;
    struct error err;
};

static void *job_main(void *argument) {
    struct job *job = argument;
    struct error err = {0};
    int status = job->work(job->context, &err);
    pthread_mutex_lock(&job->mutex);
    job->status = status;
    job->err = err;
    job->done = true;
    pthread_cond_signal(&job->ended);
    pthread_mutex_unlock(&job->mutex);
    return NULL;
}

/* Waits for the end of the job until that time; returns whether it has ended. */
static bool wait_for(struct job *job, double until) {
    struct timespec end = {.tv_sec = (time_t)until,
                           .tv_nsec = (long)(1e9 * (until - floor(until)))};
    pthread_mutex_lock(&job->mutex);
    for (int late = 0; !job->done && !late;) {
        late = pthread_cond_timedwait(&job->ended, &job->mutex, &end);
    }
    bool done = job->done;
    pthread_mutex_unlock(&job->mutex);
    return done;
}

bool timed_task_is_limited(double deadline) {
    return deadline - clock_seconds() < MAX_SECONDS;
}

double timed_task_end_time(double deadline) {
    return deadline + PLANNED_SECONDS;
}

int timed_task_run(int (*work)(void *context, struct error *err), void *context, double deadline,
                   bool *ended, struct error *err) {
    *ended = true;
    if (!timed_task_is_limited(deadline)) {
        return work(context, err);
    }
    struct job *job = memory_zeros(1, sizeof *job, "a fit", err);
    if (!job) {
        return -1;
    }
    pthread_condattr_t attributes;
    pthread_t thread;
    job->work = work;
    job->context = context;
    pthread_mutex_init(&job->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&job->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    if (threads_start(&thread, job_main, job, err) < 0) {
        free(job);
        return -1;
    }
    *ended = wait_for(job, deadline + GRACE_SECONDS);
    if (!*ended) {
        return 0;
    }
    pthread_join(thread, NULL);
    int status = job->status;
    if (status < 0) {
        *err = job->err;
    }
    free(job);
    return status;
}
