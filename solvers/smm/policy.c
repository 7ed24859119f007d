#include "solvers/smm/policy.h"

#include <math.h>
#include <string.h>

/* Operations of an interior-point method that are done in a second. */
static const double QUICK = 1e9;

/* What the nuclear interior-point method takes; INFINITY if it cannot run. */
static double interior_cost(const struct smm_state *state) {
    return policy_applies(&smm_policy, ALGORITHM_INTERIOR_POINT, state)
               ? smm_nuclear_interior_cost(state->nuclear)
               : INFINITY;
}

static bool is_done(const void *context) {
    const struct smm_state *state = context;
    return state->fit.converged || stop_limited(state->fit.reason) || state->stalled;
}

static bool newton_applies(const void *context) {
    const struct smm_state *state = context;
    return !state->nuclear ||
           (!state->failed && !(interior_cost(state) < QUICK &&
                                smm_nuclear_newton_ended(state->nuclear, state->loss, state->tau)));
}

static int run_newton(void *context, const struct monitor *monitor, struct error *err) {
    struct smm_state *state = context;
    if (state->nuclear) {
        return smm_nuclear_newton(state->nuclear, state->loss, state->tau, state->epsilon, monitor,
                                  state->W, &state->fit, err);
    }
    if (binary_solve(state->svm, state->loss, state->epsilon, monitor, &state->fit, err) < 0) {
        return -1;
    }
    if (state->failed) { /* its bounds have met by rounding: they count for nothing */
        state->fit.converged = false;
        state->fit.primal = INFINITY;
        state->fit.dual = -INFINITY;
    }
    return 0;
}

static bool admm_applies(const void *context) {
    const struct smm_state *state = context;
    return state->nuclear && !state->failed;
}

static int run_admm(void *context, const struct monitor *monitor, struct error *err) {
    struct smm_state *state = context;
    state->stalled = true;
    return smm_nuclear_admm(state->nuclear, state->loss, state->tau, state->epsilon,
                            interior_cost(state), monitor, state->W, &state->fit, err);
}

static bool interior_applies(const void *context) {
    const struct smm_state *state = context;
    return state->nuclear ? isfinite(smm_nuclear_interior_cost(state->nuclear))
                          : binary_may_finish(state->svm);
}

static int run_interior(void *context, const struct monitor *monitor, struct error *err) {
    struct smm_state *state = context;
    return state->nuclear
               ? smm_nuclear_finish(state->nuclear, state->loss, state->tau, state->epsilon,
                                    monitor, state->W, &state->fit, err)
               : binary_finish(state->svm, state->loss, state->epsilon, monitor, &state->fit, err);
}

static bool alternation_applies(const void *context) {
    const struct smm_state *state = context;
    return state->lowrank;
}

static const struct policy_row rows[] = {
    {ALGORITHM_NEWTON,
     "svm and lowrank; nuclear, unless its certificate failed, or it ended before at this point "
     "and "
     "the interior-point method takes less than 1e9 operations",
     "40 steps without a better gap; nuclear: 500 steps",
     "svm: the interior-point method; nuclear: ADMM", newton_applies, run_newton},
    {ALGORITHM_ADMM, "nuclear, unless the certificate failed", "20,000 iterations",
     "the interior-point method, once, when it takes less work than the gap at the rate of "
     "convergence so far; then ADMM again",
     admm_applies, run_admm},
    {ALGORITHM_INTERIOR_POINT,
     "all rows in this process and a system that fits in memory; nuclear: called by ADMM, or alone "
     "after the certificate failed",
     "until rounding ends it", "the fit ends with the gap of its certificate", interior_applies,
     run_interior},
    {ALGORITHM_ALTERNATION, "lowrank, from the singular vectors of the svm",
     "1,000 joint steps; --solver alternate: 2,000 sweeps", "the fit ends", alternation_applies,
     NULL}};

const struct policy smm_policy = {"smm", rows, sizeof rows / sizeof rows[0], is_done};

bool smm_policy_can_finish(const struct smm_state *state) {
    return !state->nuclear || policy_applies(&smm_policy, ALGORITHM_INTERIOR_POINT, state);
}

int smm_policy_solve(struct smm_state *state, const struct monitor *monitor, struct error *err) {
    if (state->nuclear) {
        smm_nuclear_begin(state->nuclear, state->loss, state->tau, state->W, &state->fit);
        state->fit.primal = state->failed ? INFINITY : state->fit.primal;
    } else {
        binary_begin(state->svm, &state->fit);
    }
    state->stalled = false;
    if (policy_run(&smm_policy, state, monitor, err) < 0) {
        return -1;
    }
    if (!state->nuclear) {
        memcpy(state->W, state->fit.w, state->cells * sizeof *state->W);
    }
    return 0;
}
