/* The portfolio loop. */
#include "fit/policy.h"

#include <math.h>

/* A run of a policy. */
struct portfolio {
    const struct policy *policy;
    void *state;
    const struct monitor *monitor;
    struct policy_slices turns;
};

static bool row_applies(const struct policy *policy, const struct policy_row *row,
                        const void *state) {
    return policy_enabled(policy->family, row->algorithm) && (!row->applies || row->applies(state));
}

static bool is_done(const struct portfolio *portfolio) {
    return portfolio->policy->is_done(portfolio->state);
}

/* Runs a row for at most `limit` iterations; 0: no limit. */
static int run_row(struct portfolio *portfolio, const struct policy_row *row, uint64_t limit,
                   struct error *err) {
    const struct policy *policy = portfolio->policy;
    struct policy_slices *turns = &portfolio->turns;
    void *state = portfolio->state;
    monitor_algorithm(portfolio->monitor, row->algorithm);
    if (!policy->iterations) {
        return row->run(state, portfolio->monitor, err);
    }
    struct monitor_run run;
    uint64_t before = policy->iterations(state);
    const struct monitor monitor = monitor_continue(&run, portfolio->monitor, before, limit);
    if (row->run(state, &monitor, err) < 0) {
        return -1;
    }
    if (row->work) {
        turns->work += (double)(policy->iterations(state) - before) * row->work(state);
    }
    return 0;
}

/* Of n rows with time slices: the one whose turn it is, and its slice. *applying: how many
 * apply. */
static const struct policy_row *choose_row(const struct portfolio *portfolio,
                                           const struct policy_row *rows, size_t n,
                                           size_t *applying, uint64_t *slice) {
    const struct policy_row *chosen = NULL;
    *applying = 0;
    *slice = 0;
    for (size_t r = 0; r < n; r++) {
        if (row_applies(portfolio->policy, &rows[r], portfolio->state)) {
            uint64_t own = rows[r].slice(portfolio->state, portfolio->turns.turn);
            if (!chosen || (*slice == 0 && own > 0)) {
                chosen = &rows[r];
                *slice = own;
            }
            ++*applying;
        }
    }
    return chosen;
}

/* Runs n rows in time slices, until the work limit is reached or as many successive turns have
 * stalled as rows apply. A slice that the work limit cuts is continued once the limit is higher. */
static int run_turns(struct portfolio *portfolio, const struct policy_row *rows, size_t n,
                     struct error *err) {
    struct policy_slices *turns = &portfolio->turns;
    turns->all_stalled = false;
    while (!is_done(portfolio) && !turns->all_stalled && turns->work < turns->limit) {
        size_t applying;
        uint64_t slice;
        const struct policy_row *row = choose_row(portfolio, rows, n, &applying, &slice);
        turns->all_stalled = !row;
        if (!row) {
            return 0;
        }
        double remaining = (turns->limit - turns->work) / row->work(portfolio->state);
        bool cut = applying == 1 || remaining < (double)slice;
        if (run_row(portfolio, row, cut ? (uint64_t)fmin(remaining + 1, (double)INT64_MAX) : slice,
                    err) < 0) {
            return -1;
        }
        turns->stalled = portfolio->policy->has_stalled(portfolio->state) ? turns->stalled + 1 : 0;
        turns->all_stalled = turns->stalled >= applying;
        turns->turn += !cut || turns->stalled > 0;
    }
    return 0;
}

static int run_rows(struct portfolio *portfolio, struct error *err) {
    const struct policy *policy = portfolio->policy;
    for (size_t r = 0, n = 0; r < policy->n_rows && !is_done(portfolio); r += n) {
        const struct policy_row *row = &policy->rows[r];
        for (n = 0; r + n < policy->n_rows && row[n].slice; n++) {
        }
        if (n > 0) {
            if (run_turns(portfolio, row, n, err) < 0) {
                return -1;
            }
            continue;
        }
        n = 1;
        if (row->run && row_applies(policy, row, portfolio->state) &&
            run_row(portfolio, row, 0, err) < 0) {
            return -1;
        }
    }
    return 0;
}

int policy_run(const struct policy *policy, void *state, const struct monitor *monitor,
               struct error *err) {
    struct portfolio portfolio = {.policy = policy, .state = state, .monitor = monitor};
    if (!policy->run_again) {
        return run_rows(&portfolio, err);
    }
    while (!is_done(&portfolio) && policy->run_again(state, &portfolio.turns)) {
        if (run_rows(&portfolio, err) < 0) {
            return -1;
        }
    }
    return 0;
}

bool policy_applies(const struct policy *policy, enum algorithm algorithm, const void *state) {
    for (size_t r = 0; r < policy->n_rows; r++) {
        if (policy->rows[r].algorithm == algorithm) {
            return row_applies(policy, &policy->rows[r], state);
        }
    }
    return false;
}
