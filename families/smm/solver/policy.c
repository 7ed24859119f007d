/* The policy of smm, and the points of its fallback solver, the interior-point method. */
#include "families/smm/solver/policy.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/smm/solver/binary_interior_point.h"
#include "families/smm/solver/nuclear.h"
#include "families/smm/solver/nuclear_interior_point.h"

#include <math.h>
#include <stdlib.h>
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
    return smm_newton_solve(state->newton, state->loss, state->tau, state->epsilon, monitor,
                            &state->fit, err);
}

static bool interior_applies(const void *context) {
    const struct smm_state *state = context;
    const struct binary_rows rows = binary_rows_of(state->matrices);
    return state->tau > 0 ? smm_nuclear_interior_possible(state->matrices)
                          : binary_interior_possible(&rows);
}

/* Takes the interior-point method's primal point of the SVM if it is better. */
static int take_primal(const struct smm_state *state, const struct binary_fit *found,
                       struct binary_fit *fit, struct error *err) {
    size_t n = state->matrices->n, cells = state->matrices->height * state->matrices->width;
    double sum, *s = memory_array(n, 3 * sizeof *s, "scores", err);
    if (!s) {
        return -1;
    }
    smm_scores(state->matrices, found->w, s);
    double bias = binary_bias(state->loss, s, n, s + n, &sum);
    double primal = 0.5 * array_dot(found->w, found->w, cells) + sum;
    if (primal < fit->primal) {
        memcpy(fit->w, found->w, cells * sizeof *fit->w);
        fit->primal = primal;
        fit->bias = bias;
    }
    free(s);
    return 0;
}

/* Runs the interior-point method and keeps the better of each bound. */
static int run_interior(void *context, const struct monitor *monitor, struct error *err) {
    const double gap_share = 0.5; /* the rest is left to truncating singular values */
    struct smm_state *state = context;
    const struct smm_matrices *matrices = state->matrices;
    const struct binary_rows rows = binary_rows_of(matrices);
    struct binary_fit *fit = &state->fit;
    size_t n = matrices->n, cells = matrices->height * matrices->width;
    struct monitor_run run;
    const struct monitor after = monitor_continue(&run, monitor, fit->iterations, 0);
    double *W = memory_array(cells + n, sizeof *W, "a matrix", err);
    if (!W) {
        return -1;
    }
    struct binary_fit found = {.w = W, .alpha = W + cells};
    run.primal = fit->primal;
    run.dual = fit->dual;
    int status =
        state->tau > 0
            ? smm_nuclear_interior(matrices, state->loss, state->tau, gap_share * state->epsilon,
                                   &after, &found, err)
            : binary_interior_solve(&rows, state->loss, state->epsilon, &after, &found, err);
    if (status == 0) {
        if (found.dual > fit->dual) {
            fit->dual = found.dual;
            memcpy(fit->alpha, found.alpha, n * sizeof *fit->alpha);
        }
        fit->iterations += found.iterations;
        fit->reason = found.reason;
        status = state->tau > 0 ? smm_nuclear_truncate(matrices, state->loss, state->tau,
                                                       state->epsilon, W, fit, err)
                                : take_primal(state, &found, fit, err);
        fit->converged = gap_reached(fit->primal, fit->dual, state->epsilon);
    }
    free(W);
    return status;
}

static bool alternation_applies(const void *context) {
    const struct smm_state *state = context;
    return state->lowrank;
}

static const struct policy_row rows[] = {
    {.algorithm = ALGORITHM_NEWTON,
     .when = "unless its certificate failed",
     .limit = "40 steps without a gap lower by a tenth; 500 steps in all",
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
    memset(state->W, 0, cells * sizeof *state->W);
    memset(state->alpha, 0, n * sizeof *state->alpha); /* its dual bound is 0 */
    state->fit = (struct binary_fit){.w = state->W, .alpha = state->alpha, .primal = INFINITY};
    return policy_run(&smm_policy, state, monitor, err);
}
