/* Policies and the portfolio loop.
 *
 * Several algorithms can solve the problem of one family. The family's policy says which of them
 * run, in which order and for how long: it is one table, families/FAMILY/solver/policy.c, read from
 * top to bottom. The portfolio loop runs the table. Each row whose condition holds starts at the
 * best iterate so far, until the target gap is certified or a limit of the user is reached. Rows
 * with time slices alternate until all of them have stalled or the work limit is reached. A row
 * without slices that stalls or reaches its work limit ends, and the next row that applies goes on
 * from the best iterate. After the last row the fit ends with that iterate, its certified gap and a
 * stop reason (stop.h).
 * `tests/policy --list` prints all tables. */
#ifndef FIT_POLICY_H
#define FIT_POLICY_H

#include "common/base/error.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>

/* A row of a policy. `state` belongs to the family: its problem, target gap and best iterate. */
struct policy_row {
    enum algorithm algorithm;
    /* Text for readers: when the row applies, its work limit, and what follows if it stalls. */
    const char *when, *limit, *then;
    /* Whether the algorithm can solve the problem and should run now; NULL: always. */
    bool (*applies)(const void *state);
    /* Runs the algorithm from the best iterate until it reaches the target gap or its work limit,
     * or stalls, and updates the best iterate. NULL: the loop never runs it; the run of another row
     * calls this algorithm if policy_applies. Returns -1 with err set on failure, which ends the
     * fit. */
    int (*run)(void *state, const struct monitor *monitor, struct error *err);
    /* Iterations of the row's time slice in turn `turn` (0, 1, ...); 0: the turn belongs to another
     * row. Adjacent rows with slices alternate, one row per turn; a row that applies alone has one
     * slice of all the work. NULL: the row runs without slices. */
    uint64_t (*slice)(const void *state, int turn);
    double (*work)(
        const void *state); /* work of one iteration; NULL, without slices: not counted */
};

/* The state of the time slices. */
struct policy_slices {
    int turn;
    size_t stalled;   /* successive turns that stalled within their slice */
    bool all_stalled; /* all rows that apply have stalled */
    double work, limit;
};

struct policy {
    const char *family;
    const struct policy_row *rows;
    size_t n_rows;
    /* Whether the target gap or a limit of the user is reached. */
    bool (*is_done)(const void *state);
    /* For tables with time slices: iterations so far, and whether the last run stalled. */
    uint64_t (*iterations)(const void *state);
    bool (*has_stalled)(const void *state);
    /* For tables with time slices: whether the table runs (again) from the top. Sets the work limit
     * of that pass in `turns`. Called before the first pass too, with `turns` zero. */
    bool (*run_again)(const void *state, struct policy_slices *turns);
};

/* Runs the rows that apply, from top to bottom, and reports each to the monitor. Returns -1 if a
 * row's run does. */
int policy_run(const struct policy *policy, void *state, const struct monitor *monitor,
               struct error *err);

/* Whether the row of this algorithm applies; false if the table has none. */
bool policy_applies(const struct policy *policy, enum algorithm algorithm, const void *state);

/* Whether a row is enabled. All are; the programs of `make ablation` are linked with another
 * function of this name (tests/ablation/enabled.c), which disables one row. */
bool policy_enabled(const char *family, enum algorithm algorithm);

#endif
