#include "solvers/methods/policy.h"

static bool row_applies(const struct policy *policy, const struct policy_row *row,
                        const void *state) {
    return policy_enabled(policy->family, row->algorithm) && (!row->applies || row->applies(state));
}

int policy_run(const struct policy *policy, void *state, const struct monitor *monitor,
               struct error *err) {
    for (size_t r = 0; r < policy->n_rows && !policy->is_done(state); r++) {
        const struct policy_row *row = &policy->rows[r];
        if (!row->run || !row_applies(policy, row, state)) {
            continue;
        }
        monitor_algorithm(monitor, row->algorithm);
        if (row->run(state, monitor, err) < 0) {
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
