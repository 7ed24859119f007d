/* The policy tables of all families: with --list prints one row per line, otherwise checks them.
 * New families are added to `policies`. */
#include "families/mc/solver/policy.h"
#include "families/ml/solver/policy.h"
#include "families/rank/solver/policy.h"
#include "families/smm/solver/policy.h"
#include "families/top/solver/policy.h"
#include "fit/policy.h"
#include "tests/unit/check.h"

#include <stdbool.h>
#include <string.h>

static const struct policy *const policies[] = {&rank_policy, &top_policy, &mc_policy, &ml_policy,
                                                &smm_policy};

enum { N_POLICIES = sizeof policies / sizeof policies[0] };

static void list(const struct policy *policy) {
    for (size_t r = 0; r < policy->n_rows; r++) {
        const struct policy_row *row = &policy->rows[r];
        printf("%s\t%s\t%s\t%s\t%s\n", policy->family, algorithm_names[row->algorithm], row->when,
               row->limit, row->then);
    }
}

/* Checks that each algorithm has one row, and each row its texts. */
static void check_table(const struct policy *policy) {
    unsigned seen = 0;
    for (size_t r = 0; r < policy->n_rows; r++) {
        const struct policy_row *row = &policy->rows[r];
        CHECK(!(seen >> row->algorithm & 1), "%s: %s twice", policy->family,
              algorithm_names[row->algorithm]);
        seen |= 1U << row->algorithm;
        CHECK_TRUE(*row->when && *row->limit && *row->then);
    }
}

int main(int argc, char **argv) {
    bool listed = argc == 2 && strcmp(argv[1], "--list") == 0;
    if (listed) {
        printf("family\talgorithm\twhen\tlimit\tthen\n");
    }
    for (size_t p = 0; p < N_POLICIES; p++) {
        if (listed) {
            list(policies[p]);
        } else {
            check_table(policies[p]);
        }
    }
    if (!listed) {
        printf("ok: tables of %d families\n", (int)N_POLICIES);
    }
    return 0;
}
