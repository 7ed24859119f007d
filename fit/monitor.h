/* The progress callback of a solver, through which it is also stopped. */
#ifndef FIT_MONITOR_H
#define FIT_MONITOR_H

#include "fit/algorithm.h"
#include "fit/stop.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct monitor {
    void *context;
    /* Called once per iteration with the current bounds. Returns 0 to continue; otherwise the
     * solver stops, returns its best iterate, and passes the reason on. Cheap. NULL: past_deadline
     * is called instead. */
    enum stop_reason (*check)(void *context, uint64_t iteration, double primal, double dual);
    /* True once the time limit has passed. Long iterations call it, to end early. NULL: there is no
     * time limit. */
    bool (*past_deadline)(void *context);
    /* Seconds remaining until an unfinished run is discarded, its certificate included. Not with
     * rows distributed over processes. NULL: a run is never discarded. */
    double (*seconds_left)(void *context);
    /* Iterations after which `check` will stop the solver; 0: no limit. For solvers that do not
     * call it in every iteration. */
    uint64_t max_iterations;
    /* Called when an algorithm starts, or resumes after another. May be NULL. */
    void (*algorithm)(void *context, enum algorithm algorithm);
};

static inline void monitor_algorithm(const struct monitor *monitor, enum algorithm algorithm) {
    if (monitor && monitor->algorithm) {
        monitor->algorithm(monitor->context, algorithm);
    }
}

static inline bool monitor_past_deadline(const struct monitor *monitor) {
    return monitor && monitor->past_deadline && monitor->past_deadline(monitor->context);
}

static inline double monitor_seconds_left(const struct monitor *monitor) {
    return monitor && monitor->seconds_left ? monitor->seconds_left(monitor->context) : INFINITY;
}

/* Calls check; if there is none, only the time limit stops a solver. */
static inline enum stop_reason monitor_check(const struct monitor *monitor, uint64_t iteration,
                                             double primal, double dual) {
    if (monitor && monitor->check) {
        return monitor->check(monitor->context, iteration, primal, dual);
    }
    return monitor_past_deadline(monitor) ? STOP_TIME : 0;
}

/* ---- monitors that wrap another monitor and pass all calls on to it, with these changes ---- */

/* A monitor that wraps another for one run of several. */
struct monitor_run {
    const struct monitor *wrapped; /* NULL: none */
    uint64_t before;               /* iterations of earlier runs, added to those of this one */
    uint64_t max_iterations;       /* limit of iterations of this run; 0: no limit */
    double primal, dual;           /* bounds known otherwise, reported if they are better */
    double seconds;                /* time reserved: the run ends when no more is left */
    pthread_mutex_t *mutex;        /* held during calls of `wrapped`; NULL: one thread only */
    enum stop_reason reason;       /* the last stop reason of `wrapped` */
};

/* The monitor of a run that continues earlier ones, with max_iterations of its own at most (0: no
 * limit). Fills `run`, without bounds of earlier runs; `run` must outlive the monitor. */
struct monitor monitor_continue(struct monitor_run *run, const struct monitor *wrapped,
                                uint64_t before, uint64_t max_iterations);

/* The monitor of a solver that computes a part of an iteration: only its time is limited. `wrapped`
 * may be NULL. */
struct monitor monitor_deadline_only(const struct monitor *wrapped);

/* The monitor of a run that ends `seconds` before it would be discarded, so that time remains for
 * what follows it. Fills `run`, which must outlive the monitor. */
struct monitor monitor_reserve_time(struct monitor_run *run, const struct monitor *wrapped,
                                    double seconds);

/* A monitor that several threads share; one at a time calls the wrapped one. */
struct monitor_shared {
    struct monitor_run run;
    pthread_mutex_t mutex;
};

/* The monitor that the threads share. Fills `shared`, which must outlive it; the caller ends with
 * monitor_shared_free. */
struct monitor monitor_share(struct monitor_shared *shared, const struct monitor *wrapped);
void monitor_shared_free(struct monitor_shared *shared);

#endif
