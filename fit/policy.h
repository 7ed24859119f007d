/* Policies and the portfolio loop.
 *
 * Several algorithms can solve the problem of one family. Which of them run, in which order and for
 * how long is the family's policy: one table, solvers/FAMILY/policy.c, read from top to bottom. The
 * portfolio loop runs it: each row whose condition holds goes on from the best iterate so far,
 * until the target gap is certified or a limit of the user is reached. Rows that take turns run in
 * time slices, until all of them have stalled, or a limit of work is reached. `tests/policy --list`
 * prints all tables. */
#ifndef FIT_POLICY_H
#define FIT_POLICY_H

#include "common/base/error.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>

/* A row of a policy. `state` is the family's: its problem, the target and the best iterate. */
struct policy_row {
    enum algorithm algorithm;
    /* For readers: when it applies, its work limit, and what follows if it stalls. */
    const char *when, *limit, *then;
    /* Whether it can solve the problem, and is wanted at this point; NULL: always. */
    bool (*applies)(const void *state);
    /* Runs the algorithm from the best iterate until the target gap is reached, its work limit is
     * reached or it stalls, and takes what is better than the best iterate. NULL: another row runs
     * it, which asks policy_applies. -1 with err set ends the fit. */
    int (*run)(void *state, const struct monitor *monitor, struct error *err);
    /* Iterations of its time slice in this turn (0, 1, ...); 0: the turn is another row's (of rows
     * that apply together one has its turn). Rows
     * with a slice, one below the other, take turns; one that applies alone has one slice of all
     * the work. NULL: it takes none. */
    uint64_t (*slice)(const void *state, int turn);
    double (*work)(const void *state); /* of an iteration; NULL: it is not counted */
};

/* The time slices so far. */
struct policy_turns {
    int turn;
    size_t stalled;   /* turns in a row that ended before their slice did */
    bool all_stalled; /* as many as rows apply */
    double work, limit;
};

struct policy {
    const char *family;
    const struct policy_row *rows;
    size_t n_rows;
    /* Whether nothing more is to be done: the gap is reached, or a limit of the user. */
    bool (*is_done)(const void *state);
    /* If rows take turns: iterations so far; whether the last run stalled; and whether the table is
     * run again from the top, with its limit of work. The last is asked before the first time too,
     * when all turns are 0. */
    uint64_t (*iterations)(const void *state);
    bool (*has_stalled)(const void *state);
    bool (*run_again)(const void *state, struct policy_turns *turns);
};

/* Runs the rows that apply, from top to bottom, and tells the monitor of each. -1 as a row's run
 * says. */
int policy_run(const struct policy *policy, void *state, const struct monitor *monitor,
               struct error *err);

/* Whether the row of this algorithm applies; false if the table has none. */
bool policy_applies(const struct policy *policy, enum algorithm algorithm, const void *state);

/* Whether the row of a table is enabled. All are; the ablation's programs are linked with another
 * function of this name (tests/ablation/enabled.c), which disables the row that it is told to. */
bool policy_enabled(const char *family, enum algorithm algorithm);

#endif
