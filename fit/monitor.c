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
    enum stop_reason reason = monitor_check(run->behind, run->before + iteration,
                                            fmin(primal, run->primal), fmax(dual, run->dual));
    bool late = !reason && monitor_seconds_left(run->behind) <= run->seconds;
    run->said = reason;
    unlock(run);
    return reason                                ? reason
           : late                                ? STOP_TIME
           : run->most && iteration >= run->most ? STOP_ITERATIONS
                                                 : 0;
}

static bool run_late(void *context) {
    const struct monitor_run *run = context;
    lock(run);
    bool late =
        monitor_past_deadline(run->behind) || monitor_seconds_left(run->behind) <= run->seconds;
    unlock(run);
    return late;
}

static double run_left(void *context) {
    const struct monitor_run *run = context;
    lock(run);
    double left = monitor_seconds_left(run->behind);
    unlock(run);
    return left;
}

static void run_algorithm(void *context, enum algorithm algorithm) {
    const struct monitor_run *run = context;
    lock(run);
    monitor_algorithm(run->behind, algorithm);
    unlock(run);
}

struct monitor monitor_continue(struct monitor_run *run, const struct monitor *behind,
                                uint64_t before, uint64_t most) {
    *run = (struct monitor_run){.behind = behind,
                                .before = before,
                                .most = most,
                                .primal = INFINITY,
                                .dual = -INFINITY,
                                .seconds = -INFINITY};
    uint64_t left = behind && behind->most > before ? behind->most - before : 0;
    return (struct monitor){.context = run,
                            .check = run_check,
                            .late = run_late,
                            .left = run_left,
                            .algorithm = run_algorithm,
                            .most = most == 0 || (left > 0 && left < most) ? left : most};
}

struct monitor monitor_deadline_only(const struct monitor *behind) {
    return behind ? (struct monitor){.context = behind->context,
                                     .late = behind->late,
                                     .left = behind->left}
                  : (struct monitor){0};
}

struct monitor monitor_reserve_time(struct monitor_run *run, const struct monitor *behind,
                                    double seconds) {
    const struct monitor monitor = monitor_continue(run, behind, 0, 0);
    run->seconds = seconds;
    return monitor;
}

struct monitor monitor_share(struct monitor_shared *shared, const struct monitor *behind) {
    struct monitor monitor = monitor_continue(&shared->run, behind, 0, 0);
    pthread_mutex_init(&shared->mutex, NULL);
    shared->run.mutex = &shared->mutex;
    monitor.most = 0;
    return monitor;
}

void monitor_shared_free(struct monitor_shared *shared) {
    pthread_mutex_destroy(&shared->mutex);
}
