#include "fit/monitor.h"

#include <math.h>

static enum stop_reason run_check(void *context, uint64_t iteration, double primal, double dual) {
    struct monitor_run *run = context;
    run->said = monitor_check(run->behind, run->before + iteration, fmin(primal, run->primal),
                              fmax(dual, run->dual));
    return run->said ? run->said : run->most && iteration >= run->most ? STOP_ITERATIONS : 0;
}

static bool run_late(void *context) {
    const struct monitor_run *run = context;
    return monitor_late(run->behind);
}

static double run_left(void *context) {
    const struct monitor_run *run = context;
    return monitor_left(run->behind);
}

static void run_algorithm(void *context, enum algorithm algorithm) {
    const struct monitor_run *run = context;
    monitor_algorithm(run->behind, algorithm);
}

struct monitor monitor_after(struct monitor_run *run, const struct monitor *behind, uint64_t before,
                             uint64_t most) {
    *run = (struct monitor_run){
        .behind = behind, .before = before, .most = most, .primal = INFINITY, .dual = -INFINITY};
    uint64_t left = behind && behind->most > before ? behind->most - before : 0;
    return (struct monitor){.context = run,
                            .check = run_check,
                            .late = run_late,
                            .left = run_left,
                            .algorithm = run_algorithm,
                            .most = most == 0 || (left > 0 && left < most) ? left : most};
}

struct monitor monitor_inner(const struct monitor *behind) {
    return behind ? (struct monitor){.context = behind->context,
                                     .late = behind->late,
                                     .left = behind->left}
                  : (struct monitor){0};
}

static bool early_late(void *context) {
    const struct monitor_early *early = context;
    return monitor_late(early->behind) || monitor_left(early->behind) <= early->seconds;
}

static enum stop_reason early_check(void *context, uint64_t iteration, double primal, double dual) {
    const struct monitor_early *early = context;
    enum stop_reason said = monitor_check(early->behind, iteration, primal, dual);
    return said ? said : monitor_left(early->behind) <= early->seconds ? STOP_TIME : 0;
}

static double early_left(void *context) {
    const struct monitor_early *early = context;
    return monitor_left(early->behind);
}

static void early_algorithm(void *context, enum algorithm algorithm) {
    const struct monitor_early *early = context;
    monitor_algorithm(early->behind, algorithm);
}

struct monitor monitor_end_early(struct monitor_early *early, const struct monitor *behind,
                                 double seconds) {
    *early = (struct monitor_early){.behind = behind, .seconds = seconds};
    return (struct monitor){.context = early,
                            .check = early_check,
                            .late = early_late,
                            .left = early_left,
                            .algorithm = early_algorithm,
                            .most = behind ? behind->most : 0};
}

static enum stop_reason shared_check(void *context, uint64_t iteration, double primal,
                                     double dual) {
    struct monitor_shared *shared = context;
    pthread_mutex_lock(&shared->mutex);
    enum stop_reason said = monitor_check(shared->behind, iteration, primal, dual);
    pthread_mutex_unlock(&shared->mutex);
    return said;
}

static bool shared_late(void *context) {
    struct monitor_shared *shared = context;
    pthread_mutex_lock(&shared->mutex);
    bool late = monitor_late(shared->behind);
    pthread_mutex_unlock(&shared->mutex);
    return late;
}

static double shared_left(void *context) {
    struct monitor_shared *shared = context;
    pthread_mutex_lock(&shared->mutex);
    double left = monitor_left(shared->behind);
    pthread_mutex_unlock(&shared->mutex);
    return left;
}

static void shared_algorithm(void *context, enum algorithm algorithm) {
    struct monitor_shared *shared = context;
    pthread_mutex_lock(&shared->mutex);
    monitor_algorithm(shared->behind, algorithm);
    pthread_mutex_unlock(&shared->mutex);
}

struct monitor monitor_share(struct monitor_shared *shared, const struct monitor *behind) {
    shared->behind = behind;
    pthread_mutex_init(&shared->mutex, NULL);
    return (struct monitor){.context = shared,
                            .check = shared_check,
                            .late = shared_late,
                            .left = shared_left,
                            .algorithm = shared_algorithm};
}

void monitor_shared_free(struct monitor_shared *shared) {
    pthread_mutex_destroy(&shared->mutex);
}
