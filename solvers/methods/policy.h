/* Policies and the portfolio loop.
 *
 * Several algorithms can solve the problem of one family. Which of them run, in which order and for
 * how long is the family's policy: one table, solvers/FAMILY/policy.c, read from top to bottom. The
 * portfolio loop runs it: each row that applies goes on from the best iterate so far, until the
 * target gap is certified or a limit of the user is reached. `tests/policy --list` prints the
 * tables. */
#ifndef SOLVERS_METHODS_POLICY_H
#define SOLVERS_METHODS_POLICY_H

#include "common/base/error.h"
#include "solvers/methods/monitor.h"

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
};

struct policy {
    const char *family;
    const struct policy_row *rows;
    size_t n_rows;
    /* Whether nothing more is to be done: the gap is reached, or a limit of the user. */
    bool (*is_done)(const void *state);
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
