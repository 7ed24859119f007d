/* Monitors that wrap another: each passes on all calls, apart from its own changes. */
#include "fit/monitor.h"
#include "tests/unit/compute.h"

/* Records its calls, and returns `answer`. */
struct witness {
    uint64_t iteration, checks;
    double primal, dual;
    enum stop_reason answer;
    bool late;
    double left;
};

static enum stop_reason witness_check(void *context, uint64_t iteration, double primal,
                                      double dual) {
    struct witness *witness = context;
    witness->iteration = iteration;
    witness->primal = primal;
    witness->dual = dual;
    witness->checks++;
    return witness->answer;
}

static bool witness_late(void *context) {
    return ((struct witness *)context)->late;
}

static double witness_left(void *context) {
    return ((struct witness *)context)->left;
}

/* Checks a monitor that wraps the witness and adds `before` to iterations. */
static void check_passes(struct witness *witness, const struct monitor *monitor, uint64_t before,
                         const char *what) {
    static const enum stop_reason answers[] = {STOP_REACHED, STOP_ITERATIONS, STOP_TIME,
                                               STOP_INTERRUPTED};
    for (size_t k = 0; k < sizeof answers / sizeof answers[0]; k++) {
        witness->answer = answers[k];
        CHECK(monitor_check(monitor, 7, 3, 2) == answers[k], "%s: another reason than %d", what,
              (int)answers[k]);
        CHECK(witness->iteration == 7 + before && witness->primal == 3 && witness->dual == 2,
              "%s: iteration %d, %g, %g", what, (int)witness->iteration, witness->primal,
              witness->dual);
    }
    witness->answer = 0;
    for (int late = 0; late < 2; late++) {
        witness->late = late;
        CHECK(monitor_past_deadline(monitor) == late, "%s: late %d", what, late);
    }
    witness->late = false;
    for (witness->left = 3; witness->left > 0; witness->left--) {
        CHECK(monitor_seconds_left(monitor) == witness->left, "%s: %g s left", what,
              monitor_seconds_left(monitor));
    }
    witness->left = INFINITY;
}

int main(void) {
    struct witness witness = {.left = INFINITY};
    const struct monitor wrapped = {.context = &witness,
                                    .check = witness_check,
                                    .past_deadline = witness_late,
                                    .seconds_left = witness_left};
    struct monitor_run run, outer;
    struct monitor after = monitor_continue(&run, &wrapped, 100, 0);
    check_passes(&witness, &after, 100, "after");

    struct monitor_shared shared;
    struct monitor share = monitor_share(&shared, &wrapped);
    check_passes(&witness, &share, 0, "share");
    after = monitor_continue(&run, &share, 30, 0);
    struct monitor chain = monitor_continue(&outer, &after, 1000, 0);
    check_passes(&witness, &chain, 1030, "a chain of three");
    monitor_shared_free(&shared);

    /* the limit of a run is not reported as a reason of the wrapped monitor */
    after = monitor_continue(&run, &wrapped, 100, 8);
    CHECK(monitor_check(&after, 7, 3, 2) == 0 && run.reason == 0, "stopped before its limit");
    CHECK(monitor_check(&after, 8, 3, 2) == STOP_ITERATIONS && run.reason == 0, "no limit");
    witness.answer = STOP_TIME;
    CHECK(monitor_check(&after, 8, 3, 2) == STOP_TIME && run.reason == STOP_TIME, "another reason");

    /* the better of the bounds of earlier runs and of this one */
    witness.answer = 0;
    after = monitor_continue(&run, &wrapped, 0, 0);
    run.primal = 4;
    run.dual = 2.5;
    CHECK_TRUE(monitor_check(&after, 1, 3, 2) == 0 && witness.primal == 3 && witness.dual == 2.5);
    CHECK_TRUE(monitor_check(&after, 2, 5, 3) == 0 && witness.primal == 4 && witness.dual == 3);

    /* the smaller limit of iterations applies, in the count of the run */
    const uint64_t most[][4] = {{0, 0, 0, 0},    {0, 8, 5, 8},   {20, 0, 5, 15}, {20, 8, 5, 8},
                                {20, 18, 5, 15}, {20, 8, 20, 1}, {20, 0, 21, 1}};
    for (size_t k = 0; k < sizeof most / sizeof most[0]; k++) {
        const struct monitor limited = {.context = &witness, .max_iterations = most[k][0]};
        after = monitor_continue(&run, &limited, most[k][2], most[k][1]);
        CHECK(after.max_iterations == most[k][3], "limit %zu: %d", k, (int)after.max_iterations);
        CHECK(monitor_continue(&run, NULL, most[k][2], most[k][1]).max_iterations == most[k][1],
              "limit %zu", k);
    }

    /* a run that reserves time ends when only that time remains */
    struct monitor_run ahead;
    struct monitor early = monitor_reserve_time(&ahead, &wrapped, 2);
    witness.answer = 0;
    check_passes(&witness, &early, 0, "early");
    for (witness.left = 4; witness.left > 0; witness.left--) {
        bool is = witness.left <= 2;
        witness.answer = 0;
        CHECK(monitor_past_deadline(&early) == is, "late %d with %g s left", !is, witness.left);
        CHECK(monitor_check(&early, 1, 3, 2) == (is ? STOP_TIME : 0), "another reason");
        witness.answer = STOP_ITERATIONS;
        CHECK(monitor_check(&early, 1, 3, 2) == STOP_ITERATIONS, "another reason");
    }

    printf("ok: wrapped monitors\n");
    return 0;
}
