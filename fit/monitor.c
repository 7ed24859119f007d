/* Monitors that wrap another monitor. */
#include "fit/monitor.h"

#include <math.h>

static void lock(const struct monitor_run *run) {
    if (run->mutex) {
        pthread_mutex_lock(run->mutex);
    }
}

static void unlock(const struct monitor_run *run) {
    if (run->mutex) {
        pthread_mutex_unlock(run->mutex);
    }
}

static enum stop_reason run_check(void *context, uint64_t iteration, double primal, double dual) {
    struct monitor_run *run = context;
    lock(run);
    enum stop_reason reason = monitor_check(run->wrapped, run->before + iteration,
                                            fmin(primal, run->primal), fmax(dual, run->dual));
    bool late = !reason && monitor_seconds_left(run->wrapped) <= run->seconds;
    run->reason = reason;
    unlock(run);
    return reason                                                    ? reason
           : late                                                    ? STOP_TIME
           : run->max_iterations && iteration >= run->max_iterations ? STOP_ITERATIONS
                                                                     : 0;
}

static bool run_late(void *context) {
    const struct monitor_run *run = context;
    lock(run);
    bool late =
        monitor_past_deadline(run->wrapped) || monitor_seconds_left(run->wrapped) <= run->seconds;
    unlock(run);
    return late;
}

static double run_left(void *context) {
    const struct monitor_run *run = context;
    lock(run);
    double left = monitor_seconds_left(run->wrapped);
    unlock(run);
    return left;
}

static void run_algorithm(void *context, enum algorithm algorithm) {
    const struct monitor_run *run = context;
    lock(run);
    monitor_algorithm(run->wrapped, algorithm);
    unlock(run);
}

struct monitor monitor_continue(struct monitor_run *run, const struct monitor *wrapped,
                                uint64_t before, uint64_t max_iterations) {
    *run = (struct monitor_run){.wrapped = wrapped,
                                .before = before,
                                .max_iterations = max_iterations,
                                .primal = INFINITY,
                                .dual = -INFINITY,
                                .seconds = -INFINITY};
    uint64_t left = 0;
    if (wrapped && wrapped->max_iterations > 0) { /* at least 1, as 0 means no limit */
        left = wrapped->max_iterations > before ? wrapped->max_iterations - before : 1;
    }
    return (struct monitor){
        .context = run,
        .check = run_check,
        .past_deadline = run_late,
        .seconds_left = run_left,
        .algorithm = run_algorithm,
        .max_iterations =
            max_iterations == 0 || (left > 0 && left < max_iterations) ? left : max_iterations};
}

struct monitor monitor_deadline_only(const struct monitor *wrapped) {
    return wrapped ? (struct monitor){.context = wrapped->context,
                                      .past_deadline = wrapped->past_deadline,
                                      .seconds_left = wrapped->seconds_left}
                   : (struct monitor){0};
}

struct monitor monitor_reserve_time(struct monitor_run *run, const struct monitor *wrapped,
                                    double seconds) {
    const struct monitor monitor = monitor_continue(run, wrapped, 0, 0);
    run->seconds = seconds;
    return monitor;
}

struct monitor monitor_share(struct monitor_shared *shared, const struct monitor *wrapped) {
    struct monitor monitor = monitor_continue(&shared->run, wrapped, 0, 0);
    pthread_mutex_init(&shared->mutex, NULL);
    shared->run.mutex = &shared->mutex;
    monitor.max_iterations = 0;
    return monitor;
}

void monitor_shared_free(struct monitor_shared *shared) {
    pthread_mutex_destroy(&shared->mutex);
}
