/* The policy table of rank (at the end), the conditions of its rows, and their work limits. */
#include "families/rank/solver/policy.h"

#include "families/rank/solver/newton.h"

/* Before a fallback solver, cutting planes get distinct rows / ROWS_PER_STEP iterations, and a run
 * of newton as many steps of conjugate gradients; at least these. With 40 planes eccb2018 at C = 1
 * takes 3 times as long, with 100 steps of conjugate gradients 2,452 rows at C = 1,000 1.3 times as
 * long. */
enum { ROWS_PER_STEP = 16, MIN_PLANES = 100, MIN_STEPS = 40 };

static bool has_run(const struct rank_fitting *fitting, enum algorithm algorithm) {
    return fitting->ran >> algorithm & 1;
}

static bool applies(const struct rank_fitting *fitting, enum algorithm algorithm) {
    return policy_applies(&rank_policy, algorithm, fitting);
}

/* Distinct rows of the fallback solvers; 0: no fallback solver applies. */
static size_t distinct_rows(const struct rank *rank) {
    return rank->n_distinct > 0 ? rank->n_distinct : rank->n_preconditioner_rows;
}

/* ---- conditions ---- */

/* Whether an algorithm runs now: if it has not run, or if it stopped early for a fallback solver
 * that turned out to be impossible. */
static bool begins(const struct rank_fitting *fitting, enum algorithm algorithm) {
    return !has_run(fitting, algorithm) ||
           (fitting->at_limit && rank_iteration_limit(fitting, algorithm) == 0);
}

static bool conditional_gradient_applies(const void *state) {
    const struct rank_fitting *fitting = state;
    return fitting->parameters.method == RANK_FW && begins(fitting, ALGORITHM_CONDITIONAL_GRADIENT);
}

static bool features_apply(const void *state) {
    const struct rank_fitting *fitting = state;
    return fitting->parameters.method == RANK_AUTO && fitting->rank->explicit_features &&
           !has_run(fitting, ALGORITHM_EXPLICIT_FEATURES);
}

static bool low_rank_applies(const void *state) {
    const struct rank_fitting *fitting = state;
    return fitting->parameters.method == RANK_AUTO && fitting->rank->n_landmarks > 0 &&
           !fitting->rank->explicit_features && !has_run(fitting, ALGORITHM_LOW_RANK);
}

static bool newton_applies(const void *state) {
    const struct rank_fitting *fitting = state;
    const struct rank *rank = fitting->rank;
    bool forms_hessian = rank->map.primal && rank->map.dimension <= RANK_MAX_HESSIAN_FEATURES;
    bool smooth = fitting->parameters.loss == RANK_SQUARED_HINGE;
    bool chosen =
        fitting->parameters.method == RANK_NEWTON ||
        (fitting->parameters.method == RANK_AUTO && !rank->exterior && (smooth || forms_hessian));
    return chosen && begins(fitting, ALGORITHM_NEWTON);
}

static bool cutting_planes_apply(const void *state) {
    const struct rank_fitting *fitting = state;
    bool chosen = fitting->parameters.method == RANK_OCAS ||
                  (fitting->parameters.method == RANK_AUTO && !has_run(fitting, ALGORITHM_NEWTON));
    return chosen && begins(fitting, ALGORITHM_CUTTING_PLANES);
}

/* Fallback solvers follow RANK_AUTO and RANK_NEWTON. */
static bool has_fallbacks(const struct rank_fitting *fitting) {
    return fitting->parameters.method == RANK_AUTO || fitting->parameters.method == RANK_NEWTON;
}

static bool newton_direct_applies(const void *state) {
    const struct rank_fitting *fitting = state;
    return has_fallbacks(fitting) && fitting->rank->n_preconditioner_rows > 0 &&
           !has_run(fitting, ALGORITHM_NEWTON_DIRECT);
}

static bool interior_point_applies(const void *state) {
    const struct rank_fitting *fitting = state;
    return has_fallbacks(fitting) && fitting->rank->n_distinct > 0 && !fitting->rank->map.cluster &&
           !has_run(fitting, ALGORITHM_INTERIOR_POINT);
}

/* ---- limits ---- */

uint64_t rank_iteration_limit(const struct rank_fitting *fitting, enum algorithm algorithm) {
    bool fallback = algorithm == ALGORITHM_NEWTON_DIRECT || algorithm == ALGORITHM_INTERIOR_POINT;
    uint64_t limit = distinct_rows(fitting->rank) / ROWS_PER_STEP;
    if (fallback || fitting->rank->map.primal ||
        !(applies(fitting, ALGORITHM_INTERIOR_POINT) ||
          applies(fitting, ALGORITHM_NEWTON_DIRECT))) {
        return 0;
    }
    uint64_t least = algorithm == ALGORITHM_NEWTON ? MIN_STEPS : MIN_PLANES;
    return limit > least ? limit : least;
}

/* ---- the table ---- */

static bool is_done(const void *state) {
    const struct rank_fitting *fitting = state;
    return rank_is_reached(fitting) || stop_limited(fitting->best.reason);
}

static const struct policy_row rows[] = {
    {.algorithm = ALGORITHM_CONDITIONAL_GRADIENT,
     .when = "--solver fw",
     .limit = "none",
     .then = "the fit ends",
     .applies = conditional_gradient_applies,
     .run = rank_run_conditional_gradient},
    {.algorithm = ALGORITHM_EXPLICIT_FEATURES,
     .when = "auto: positive semidefinite kernels, one process: from 1,024 rows on, if at most 512 "
             "landmarks, an eighth of the rows, leave at most a millionth of the trace, and 256 "
             "of them at most .02 of it",
     .limit = "newton for the linear kernel, on the landmarks' features",
     .then = "newton or cutting planes",
     .applies = features_apply,
     .run = rank_run_low_rank},
    {.algorithm = ALGORITHM_LOW_RANK,
     .when = "auto: positive semidefinite kernels whose matrix does not fit into the cache, from "
             "4,096 rows on, one process, if 256 landmarks leave at most .02 of the trace",
     .limit = "3,072 landmarks, fewer if rows or memory are few; doubled up to 8,192 while the gap "
              "is at most 4 times the target. With a time limit they begin with a quarter, and are "
              "doubled while there is time",
     .then = "newton or cutting planes",
     .applies = low_rank_applies,
     .run = rank_run_low_rank},
    {.algorithm = ALGORITHM_NEWTON,
     .when =
         "--solver newton; auto: squared hinge, or linear with at most 2,048 features; not pair "
         "features",
     .limit =
         "4 runs, each to a smaller gap; with kernels and a fallback solver, in each run one step "
         "of conjugate gradients for every 16 distinct rows, 40 at least",
     .then = "newton-direct or interior-point; without them the fit ends",
     .applies = newton_applies,
     .run = rank_run_newton},
    {.algorithm = ALGORITHM_CUTTING_PLANES,
     .when = "--solver ocas; auto: where newton does not apply",
     .limit = "4 runs, each to a smaller gap; auto, with kernels and a fallback solver: an "
              "iteration for 16 distinct rows, 100 at least",
     .then = "newton-direct or interior-point; without them the fit ends",
     .applies = cutting_planes_apply,
     .run = rank_run_cutting_planes},
    {.algorithm = ALGORITHM_NEWTON_DIRECT,
     .when =
         "positive semidefinite kernels, up to 2,896 distinct rows, or 16,384 that fit into the "
         "cache",
     .limit = "4 runs, each to a smaller gap; by the method of multipliers where the list of "
              "preferences fits into the cache",
     .then = "interior-point; without it the fit ends",
     .applies = newton_direct_applies,
     .run = rank_run_newton_direct},
    {.algorithm = ALGORITHM_INTERIOR_POINT,
     .when = "up to 2,896 distinct rows, or as many pairs with features of pairs; one process",
     .limit = "4 runs, each to a smaller gap",
     .then = "the fit ends",
     .applies = interior_point_applies,
     .run = rank_run_interior_point},
};

const struct policy rank_policy = {
    .family = "rank", .rows = rows, .n_rows = sizeof rows / sizeof rows[0], .is_done = is_done};
