/* A solver that never checks the clock is abandoned, and the result is the zero solution; one that
 * ends in time gives the result. */
#include "driver/plain_fit.h"

#include "common/base/clock.h"
#include "driver/train.h"
#include "tests/unit/check.h"

#include <pthread.h>
#include <unistd.h>

static const char *const names[] = {"only", NULL};

/* A solver that waits for a signal of the test. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static int open_problem(void **state, const struct problem *problem, struct point point,
                        struct error *failure) {
    (void)problem, (void)point, (void)failure;
    *state = &gate;
    return 0;
}

static void close_problem(void *state) {
    (void)state;
}

static int solve(void *state, struct point point, const struct monitor *monitor,
                 struct solution *solution, struct error *failure) {
    (void)point;
    bool late = monitor_past_deadline(monitor);
    if (!late) {
        pthread_mutex_lock(state);
        pthread_mutex_unlock(state);
    }
    *solution = (struct solution){.n_outputs = 1,
                                  .weights = calloc(1, sizeof(double)),
                                  .primal = late ? 2 : 1,
                                  .zero_only = late,
                                  .iterations = late ? 0 : 7,
                                  .converged = !late,
                                  .certified = true};
    return solution->weights ? 0 : error_set(failure, ERROR_RUNTIME, "no memory");
}

static const struct measures measures = {.n_options = 0};
static const struct family family = {.name = "waiting",
                                     .summary = "Waits.",
                                     .formulations = names,
                                     .formulation_meanings = names,
                                     .solvers = names,
                                     .solver_meanings = names,
                                     .open = open_problem,
                                     .solve = solve,
                                     .measures = &measures,
                                     .close = close_problem};

static struct plain_fit *fit(const struct options *options, struct data *data, double seconds,
                             struct progress *progress, bool *abandoned) {
    const struct plain_fit_setup setup = {.family = &family,
                                          .point = {options, 0},
                                          .data = data,
                                          .n_features = 1,
                                          .cache_bytes = 1,
                                          .deadline = clock_seconds() + seconds,
                                          .progress = progress};
    struct plain_fit *made = NULL;
    MUST(plain_fit_create(&made, &setup, abandoned, &err));
    return made;
}

/* The number of the check (1, 2; 0: none) that stops a solver 100 seconds before its deadline, if
 * its last two iterations took so many seconds, and in the last it asked for the time so often. */
static int stops(double before, double last, int questions) {
    struct watch watch = {.deadline = clock_seconds() + 100, .end_time = INFINITY};
    const struct monitor monitor = watch_monitor(&watch);
    watch_open(&watch);
    watch.asked -= before;
    if (monitor_check(&monitor, 1, 1, 0)) {
        return 1;
    }
    for (int k = 0; k < questions; k++) {
        watch.asked -= last / questions;
        CHECK(k + 1 == questions || !monitor_past_deadline(&monitor), "the deadline is too early");
    }
    return monitor_check(&monitor, 2, 1, 0) == STOP_TIME ? 2 : 0;
}

int main(void) {
    struct options options = {0};
    struct data data = {.n_features = 1};
    struct plain_fit *made;
    struct progress progress;
    const struct output_sink sink = {.write = NULL};
    bool abandoned;
    progress_open(&progress, &sink, "unit", true);
    MUST(train_options(&options, &family, &err));
    made = fit(&options, &data, 500, &progress, &abandoned);
    CHECK(!abandoned && made->solution.iterations == 7 && made->model.primal == 1,
          "a fit that ends in time is not taken");
    plain_fit_free(made);
    made = fit(&options, &data, INFINITY, &progress, &abandoned);
    CHECK(!abandoned && made->solution.iterations == 7, "a fit without a limit is not taken");
    plain_fit_free(made);
    pthread_mutex_lock(&gate);
    made = fit(&options, &data, 0.1, &progress, &abandoned);
    CHECK(abandoned && made->solution.zero_only && made->model.primal == 2 &&
              made->model.iterations == 0,
          "a solver that waits is waited for");
    plain_fit_free(made);
    CHECK(stops(150, 200, 1) == 2, "an iteration is begun that would end too late");
    CHECK(stops(1, 200, 1) == 0 && stops(200, 1, 1) == 0, "one long iteration stops a solver");
    CHECK(stops(150, 200, 4) == 0, "a solver that asks for the time is stopped early");
    options_free(&options);
    puts("ok: a solver that does not look at the clock is left to itself");
    fflush(stdout);
    _exit(0);
}
