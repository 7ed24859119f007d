/* The policy table of ml, and the conditions of its rows. */
#include "families/ml/solver/policy.h"

#include "families/ml/solver/ml_private.h"

#include <math.h>

/* Whether all scores are 0 for any weights and bias; then w = 0 is optimal. */
static bool scores_are_zero(const struct ml *ml) {
    bool zero = ml->ascent.constant_squared == 0 && !ml->setup.free_bias;
    for (size_t i = 0; zero && i < ml->rows.n; i++) {
        zero = ml->ascent.store.diagonal[i] == 0;
    }
    return !cluster_any(ml->rows.cluster, !zero);
}

static bool coordinate_descent_applies(const void *context) {
    const struct ml_state *state = context;
    return state->parameters->method != ML_INTERIOR || scores_are_zero(state->ml);
}

/* A polynomial kernel may have few unknowns and more rows than the method takes otherwise; ADMM may
 * then take less. */
static bool admm_is_faster(const struct ml *ml) {
    return ml->problem->gram && ml->rows.n * (ml->rows.q - 1) > ML_INTERIOR_MAX_UNKNOWNS &&
           ml->admm_work < ml->interior_work;
}

static bool interior_point_applies(const void *context) {
    const struct ml_state *state = context;
    const struct ml *ml = state->ml;
    return state->parameters->method != ML_BCD && isfinite(ml->interior_work) &&
           !(state->parameters->method == ML_AUTO && admm_is_faster(ml));
}

static bool admm_applies(const void *context) {
    const struct ml_state *state = context;
    const struct ml *ml = state->ml;
    return state->parameters->method == ML_AUTO && !ml->interior && isfinite(ml->admm_work);
}

/* Coordinate ascent stops when it is estimated to take longer than the fallback solver. */
static int run_coordinate_descent(void *context, const struct monitor *monitor, struct error *err) {
    struct ml_state *state = context;
    (void)monitor;
    state->run.rate.other =
        policy_applies(&ml_policy, ALGORITHM_INTERIOR_POINT, state) ? state->ml->interior_work
        : policy_applies(&ml_policy, ALGORITHM_ADMM, state)         ? state->ml->admm_work
                                                                    : INFINITY;
    return ml_run_ascent(state, err);
}

static const struct policy_row rows[] = {
    {.algorithm = ALGORITHM_COORDINATE_DESCENT,
     .when = "always; with --solver interior only if all scores are zero",
     .limit = "until its convergence rate says that it would take longer than the estimated work "
              "of the interior-point method, or of ADMM where that does not apply; --solver bcd: "
              "6 outer iterations, or 50 proximal steps of a free bias without progress",
     .then = "interior-point or admm; --solver bcd: the fit ends",
     .applies = coordinate_descent_applies,
     .run = run_coordinate_descent},
    {.algorithm = ALGORITHM_INTERIOR_POINT,
     .when = "up to 4096 unknowns (features, rows, or the monomials of a polynomial kernel, times "
             "labels) and 2 million pairs of labels, and a kernel matrix that is positive "
             "semidefinite; auto with more rows times labels than that: if its work is below "
             "that of ADMM; not with --solver bcd",
     .limit = "6 outer iterations",
     .then = "the fit ends",
     .applies = interior_point_applies,
     .run = ml_run_interior_point},
    {.algorithm = ALGORITHM_ADMM,
     .when = "where the interior-point method does not apply: a positive semidefinite kernel "
             "matrix that fits in half of the cache, on one process; only with --solver auto",
     .limit = "6 outer iterations",
     .then = "the fit ends",
     .applies = admm_applies,
     .run = ml_run_admm}};

static bool is_done(const void *context) {
    const struct ml_state *state = context;
    return state->ran && (stop_limited(state->run.stop) ||
                          ml_gap_reached(state->point, state->parameters->epsilon));
}

const struct policy ml_policy = {
    .family = "ml", .rows = rows, .n_rows = sizeof rows / sizeof rows[0], .is_done = is_done};
