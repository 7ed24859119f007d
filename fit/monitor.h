/* What a solver tells while it works, and how it is told to stop. */
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
    /* Called once an iteration with the bounds known then. Returns 0 to go on; else the solver
     * stops there, gives its best point so far, and passes the reason on. Cheap; NULL: late is
     * asked. */
    enum stop_reason (*check)(void *context, uint64_t iteration, double primal, double dual);
    /* True when a limit of time has passed: for iterations that are long, to end early and be
     * checked. NULL: there is no such limit. */
    bool (*late)(void *context);
    /* Seconds until a run that has not ended is thrown away, certificate and all; rows are not
     * spread then. NULL: it is waited for. */
    double (*left)(void *context);
    /* Iterations after which check is known to say stop; 0: none is. For solvers that call it now
     * and then. */
    uint64_t most;
    /* Called when an algorithm begins, or goes on after another. NULL: not wanted. */
    void (*algorithm)(void *context, enum algorithm algorithm);
};

static inline void monitor_algorithm(const struct monitor *monitor, enum algorithm algorithm) {
    if (monitor && monitor->algorithm) {
        monitor->algorithm(monitor->context, algorithm);
    }
}

static inline bool monitor_late(const struct monitor *monitor) {
    return monitor && monitor->late && monitor->late(monitor->context);
}

static inline double monitor_left(const struct monitor *monitor) {
    return monitor && monitor->left ? monitor->left(monitor->context) : INFINITY;
}

/* Calls check if there is one; else only a limit of time is one. */
static inline enum stop_reason monitor_check(const struct monitor *monitor, uint64_t iteration,
                                             double primal, double dual) {
    if (monitor && monitor->check) {
        return monitor->check(monitor->context, iteration, primal, dual);
    }
    return monitor_late(monitor) ? STOP_TIME : 0;
}

/* ---- monitors before a monitor: `behind` is told and asked all, but for what is said here ---- */

/* One run of several. */
struct monitor_run {
    const struct monitor *behind; /* NULL: nobody watches */
    uint64_t before;              /* iterations of earlier runs, which are added */
    uint64_t most;                /* iterations of this run, after which it ends; 0: no limit */
    double primal, dual;          /* bounds of earlier runs, shown where they are the better ones */
    double seconds;               /* left before it is thrown away, at which it ends */
    pthread_mutex_t *mutex;       /* held while `behind` is asked; NULL: one thread runs */
    enum stop_reason said;        /* what `behind` said last */
};

/* The monitor of a run that goes on where others have ended, with at most `most` iterations of its
 * own (0: no limit). Fills run, which must outlive it, with no bounds of earlier runs. */
struct monitor monitor_after(struct monitor_run *run, const struct monitor *behind, uint64_t before,
                             uint64_t most);

/* The monitor of a solver that works on a part of an iteration: only its time is limited. `behind`
 * may be NULL. */
struct monitor monitor_inner(const struct monitor *behind);

/* The monitor of a run that is late already when no more than so many seconds are left before it is
 * thrown away, for it needs time for what comes after it. Fills run, which must outlive it. */
struct monitor monitor_end_early(struct monitor_run *run, const struct monitor *behind,
                                 double seconds);

/* Behind several threads, which come to it one at a time. */
struct monitor_shared {
    struct monitor_run run;
    pthread_mutex_t mutex;
};

/* The monitor that the threads share. Fills shared, which must outlive it; the caller calls
 * monitor_shared_free. */
struct monitor monitor_share(struct monitor_shared *shared, const struct monitor *behind);
void monitor_shared_free(struct monitor_shared *shared);

#endif
