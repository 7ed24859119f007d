#include "families/smm/solver/policy.h"

#include "families/smm/solver/binary_interior_point.h"
#include "families/smm/solver/nuclear.h"
#include "families/smm/solver/nuclear_interior_point.h"

#include <math.h>
#include <string.h>

static bool is_done(const void *context) {
    const struct smm_state *state = context;
    return state->fit.converged || stop_limited(state->fit.reason);
}

static bool newton_applies(const void *context) {
    const struct smm_state *state = context;
    return !state->failed;
}

static int run_newton(void *context, const struct monitor *monitor, struct error *err) {
    struct smm_state *state = context;
    return state->newton
               ? smm_nuclear_newton_solve(state->newton, state->loss, state->tau, state->epsilon,
                                          monitor, &state->fit, err)
               : binary_solve(state->svm, state->loss, state->epsilon, monitor, &state->fit, err);
}

static bool interior_applies(const void *context) {
    const struct smm_state *state = context;
    const struct binary_rows rows = binary_rows_of(state->matrices);
    return state->newton ? smm_nuclear_interior_possible(state->matrices)
                         : binary_interior_possible(&rows);
}

static int run_interior(void *context, const struct monitor *monitor, struct error *err) {
    struct smm_state *state = context;
    return state->newton
               ? smm_nuclear_finish(state->matrices, state->loss, state->tau, state->epsilon,
                                    monitor, &state->fit, err)
               : binary_finish(state->svm, state->loss, state->epsilon, monitor, &state->fit, err);
}

static bool alternation_applies(const void *context) {
    const struct smm_state *state = context;
    return state->lowrank;
}

static const struct policy_row rows[] = {
    {.algorithm = ALGORITHM_NEWTON,
     .when = "unless its certificate failed",
     .limit = "40 steps without a better gap; nuclear: 500 steps in all, too",
     .then = "the interior-point method",
     .applies = newton_applies,
     .run = run_newton},
    {.algorithm = ALGORITHM_INTERIOR_POINT,
     .when =
         "all rows in this process; nuclear: at most 1,536 cells; else fewer than 3,000 rows or "
         "features",
     .limit = "until rounding ends it",
     .then = "the fit ends with the gap of its certificate",
     .applies = interior_applies,
     .run = run_interior},
    {.algorithm = ALGORITHM_ALTERNATION,
     .when = "lowrank, from the singular vectors of the svm",
     .limit = "1,000 joint steps; --solver alternate: 2,000 sweeps",
     .then = "the fit ends",
     .applies = alternation_applies},
};

const struct policy smm_policy = {
    .family = "smm", .rows = rows, .n_rows = sizeof rows / sizeof rows[0], .is_done = is_done};

int smm_policy_solve(struct smm_state *state, const struct monitor *monitor, struct error *err) {
    size_t n = state->matrices->n, cells = state->matrices->height * state->matrices->width;
    if (state->newton) {
        memset(state->W, 0, cells * sizeof *state->W);
        memset(state->alpha, 0, n * sizeof *state->alpha); /* its dual bound is 0 */
        state->fit = (struct binary_fit){.w = state->W, .alpha = state->alpha, .primal = INFINITY};
    } else {
        binary_begin(state->svm, &state->fit);
    }
    if (policy_run(&smm_policy, state, monitor, err) < 0) {
        return -1;
    }
    if (!state->newton) {
        memcpy(state->W, state->fit.w, cells * sizeof *state->W);
        memcpy(state->alpha, state->fit.alpha, n * sizeof *state->alpha);
    }
    return 0;
}
