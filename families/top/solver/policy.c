/* The policy table of classification at the top, the conditions of its rows, and the work of an
 * iteration of each algorithm. */
#include "families/top/solver/policy.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/explicit_features.h"
#include "families/top/solver/feasible_dual.h"
#include "families/top/solver/interior_point.h"
#include "families/top/solver/interior_working_set.h"
#include "families/top/solver/low_rank.h"
#include "families/top/solver/published_ascent.h"
#include "fit/work.h"

#include <math.h>
#include <stdlib.h>

/* Gap after the first slice of coordinate descent, below which it converges fast. */
static const double FAST_GAP = 0.2;

/* A solve: the problem, the target, and the best iterate. */
struct solve {
    struct top_algorithms *algorithms;
    const struct top_parameters *parameters;
    double epsilon;
    struct monitor_run *outer; /* counts the iterations of all algorithms */
    struct fit *fit;
    bool started;      /* there is an iterate */
    bool is_fast;      /* coordinate descent converges fast: it gets all time slices */
    bool stalled;      /* the last run ended before its limit without reaching the gap */
    bool reformulated; /* the linear form has been solved */
    bool grows;        /* the working set of the last interior-point run was not the largest */
};

void top_algorithms_free(struct top_algorithms *algorithms) {
    cutting_planes_free(algorithms->planes);
    top_smo_free(algorithms->smo);
    top_descent_free(algorithms->descent);
    top_linear_form_free(algorithms->linear);
    top_risk_free(&algorithms->risk);
}

/* ---- which rows apply ---- */

static bool is_wanted(const struct solve *solve, enum top_method method) {
    return solve->parameters->method == method || solve->parameters->method == TOP_AUTO;
}

/* The SVM with the linear kernel, whose dual has bound constraints only. */
static bool is_separable(const struct solve *solve) {
    return solve->algorithms->risk.kind == TOP_NONE && solve->algorithms->map->primal;
}

static double interior_work(const struct solve *solve) {
    return top_interior_work(solve->algorithms->problem, &solve->algorithms->risk);
}

/* Kernels: the interior-point method takes working sets first, unless there are so few rows that
 * these save nothing. */
static bool is_reduced(const struct solve *solve) {
    enum { FEW_ROWS = 256 };
    const struct top_algorithms *algorithms = solve->algorithms;
    return !algorithms->map->primal && algorithms->problem->n > FEW_ROWS &&
           is_wanted(solve, TOP_SMO);
}

static bool ascent_applies(const void *state) {
    const struct solve *solve = state;
    return solve->parameters->method == TOP_CD && !is_separable(solve);
}

static bool has_linear_form(const struct solve *solve) {
    return solve->parameters->method == TOP_AUTO && solve->algorithms->n_explicit > 0;
}

static bool features_apply(const void *state) {
    const struct solve *solve = state;
    return has_linear_form(solve) && !solve->reformulated;
}

/* Until smo exists: once, at any cost. */
static bool low_rank_applies(const void *state) {
    const struct solve *solve = state;
    return !has_linear_form(solve) && solve->parameters->method == TOP_AUTO &&
           !solve->algorithms->smo && top_low_rank_applies(solve->algorithms->problem);
}

/* With few features cutting planes or the interior-point method take less time: 15,000 rows of 16,
 * .05 instead of .4 s. With 60,000, at C = 10, they take 4 s, coordinate descent .1 s. */
static bool descent_applies(const void *state) {
    enum { FEW_FEATURES = 256 };
    const struct solve *solve = state;
    bool few = solve->algorithms->problem->data->n_features <= FEW_FEATURES;
    enum top_method method = solve->parameters->method;
    return is_separable(solve) && (method == TOP_CD || (method == TOP_AUTO && !few)) &&
           !solve->algorithms->certificate_failed;
}

static bool planes_apply(const void *state) {
    const struct solve *solve = state;
    return solve->parameters->method == TOP_BUNDLE ||
           (solve->parameters->method == TOP_AUTO && solve->algorithms->map->primal &&
            (!solve->algorithms->certificate_failed || solve->algorithms->map->cluster));
}

/* Kernels: the certificate has not confirmed gaps, and the interior-point method takes all rows,
 * unless a test has switched it off. */
static bool has_failed(const struct solve *solve) {
    const struct top_algorithms *algorithms = solve->algorithms;
    return (algorithms->certificate_failed || algorithms->missed_twice) &&
           !algorithms->map->primal && isfinite(interior_work(solve)) &&
           policy_enabled(top_policy.family, ALGORITHM_INTERIOR_POINT);
}

static bool smo_applies(const void *state) {
    const struct solve *solve = state;
    if (has_failed(solve)) {
        return false;
    }
    return solve->parameters->method == TOP_SMO ||
           (solve->parameters->method == TOP_AUTO && !solve->algorithms->map->cluster &&
            (!is_separable(solve) || solve->algorithms->certificate_failed));
}

static bool reduced_applies(const void *state) {
    const struct solve *solve = state;
    return is_reduced(solve) && smo_applies(state) && solve->algorithms->smo &&
           top_working_set_fits(solve->algorithms->problem, solve->fit);
}

static bool interior_applies(const void *state) {
    const struct solve *solve = state;
    return solve->parameters->method == TOP_INTERIOR ||
           (!ascent_applies(state) && isfinite(interior_work(solve)));
}

/* ---- runs ---- */

/* Takes the better bounds of a run with this status into the best iterate. -1 if the run failed:
 * its fit is then empty. */
static int take(struct solve *solve, struct fit *run, int status) {
    struct fit *fit = solve->fit;
    if (status < 0) {
        return -1;
    }
    uint64_t iterations = fit->iterations + run->iterations;
    enum stop_reason reason = run->reason;
    bool limited = stop_limited(reason);
    solve->stalled = !run->converged && !limited;
    if (solve->started) {
        fit_take_better(fit, run);
    } else {
        *fit = *run;
        fit->reason = STOP_REACHED;
    }
    solve->started = true;
    fit->iterations = iterations;
    fit->converged = gap_reached(fit->primal, fit->dual, solve->epsilon);
    if (fit->converged) {
        fit->reason = STOP_REACHED; /* perhaps with the primal of one run and the dual of another */
    } else if (!limited || solve->outer->reason) { /* otherwise only a time slice has ended */
        fit->reason = reason;
    }
    return 0;
}

static int run_ascent(void *state, const struct monitor *monitor, struct error *err) {
    struct solve *solve = state;
    struct top_algorithms *algorithms = solve->algorithms;
    struct fit fit;
    return take(solve, &fit,
                top_cd_solve(algorithms->problem, algorithms->map, &algorithms->risk,
                             solve->parameters->cost, solve->epsilon, solve->parameters->seed,
                             monitor, &fit, err));
}

static int run_descent(void *state, const struct monitor *monitor, struct error *err) {
    struct solve *solve = state;
    struct top_algorithms *algorithms = solve->algorithms;
    struct fit fit;
    if (!algorithms->descent &&
        top_descent_create(&algorithms->descent, algorithms->problem, algorithms->map,
                           &algorithms->risk, algorithms->norm_bound, solve->parameters->seed,
                           err) < 0) {
        return -1;
    }
    int status = top_descent_solve(algorithms->descent, solve->parameters->cost, solve->epsilon,
                                   monitor, &fit, err);
    if (status == 0 && !solve->started) {
        solve->is_fast = gap_relative(fit.primal, fit.dual) < FAST_GAP;
    }
    return take(solve, &fit, status);
}

static void add_plane(void *context, double weight, const void *record) {
    const struct fit *fit = context;
    top_risk_add_record(weight, record, fit->alpha, fit->beta);
}

static int run_planes(void *state, const struct monitor *monitor, struct error *err) {
    struct solve *solve = state;
    struct top_algorithms *algorithms = solve->algorithms;
    double cost = solve->parameters->cost;
    struct fit fit;
    if (!algorithms->planes) {
        algorithms->risk_functions = top_risk_functions(&algorithms->risk);
        if (cutting_planes_create(&algorithms->planes, algorithms->map, &algorithms->risk_functions,
                                  err) < 0) {
            return -1;
        }
    }
    if (cutting_planes_solve(algorithms->planes, cost, solve->epsilon, monitor, &fit, err) < 0) {
        return -1;
    }
    if (top_dual_allocate(&fit, algorithms->map->n, algorithms->map->dimension, err) < 0) {
        fit_free(&fit);
        return -1;
    }
    cutting_planes_visit_dual(algorithms->planes, cost, add_plane, &fit);
    return take(solve, &fit, 0);
}

static int create_smo(struct top_algorithms *algorithms, struct error *err) {
    return algorithms->smo ? 0
                           : top_smo_create(&algorithms->smo, algorithms->problem, algorithms->map,
                                            algorithms->plain, &algorithms->risk, err);
}

static int run_features(void *state, const struct monitor *monitor, struct error *err) {
    struct solve *solve = state;
    struct top_algorithms *algorithms = solve->algorithms;
    struct fit fit = {0};
    solve->reformulated = true;
    if (!algorithms->linear &&
        top_linear_form_create(&algorithms->linear, algorithms->problem, &algorithms->risk,
                               algorithms->n_explicit, solve->parameters->seed, err) < 0) {
        return -1;
    }
    if (!algorithms->linear) {
        algorithms->n_explicit = 0;
        return 0;
    }
    return take(solve, &fit,
                top_linear_form_solve(algorithms->linear, solve->parameters,
                                      EXPLICIT_FEATURES_PART * solve->epsilon, monitor, &fit, err));
}

/* The point of the approximate problem, from which smo goes on. */
static int run_low_rank(void *state, const struct monitor *monitor, struct error *err) {
    struct solve *solve = state;
    struct top_algorithms *algorithms = solve->algorithms;
    const struct top_parameters *parameters = solve->parameters;
    size_t n = algorithms->problem->n;
    struct fit fit = {0};
    bool has_point = false;
    double *alpha = memory_array(n, 2 * sizeof *alpha, "the dual point", err);
    double *beta = alpha ? alpha + n : NULL;
    int status = !alpha ||
                         top_low_rank_solve(algorithms->problem, &algorithms->risk,
                                            parameters->cost, parameters->seed, monitor, alpha,
                                            beta, &fit.iterations, &has_point, err) < 0 ||
                         create_smo(algorithms, err) < 0
                     ? -1
                     : 0;
    if (status == 0 && has_point) {
        status =
            top_smo_start_near(algorithms->smo, parameters->cost, alpha, beta, monitor, err) < 0 ||
                    top_smo_take_point(algorithms->smo, solve->epsilon, &fit, err) < 0
                ? -1
                : 0;
    }
    free(alpha);
    if (status < 0 || !has_point) {
        solve->fit->iterations += fit.iterations;
        return status;
    }
    fit.converged = gap_reached(fit.primal, fit.dual, solve->epsilon);
    fit.reason = monitor_check(monitor, fit.iterations, fit.primal, fit.dual);
    return take(solve, &fit, 0);
}

static int run_smo(void *state, const struct monitor *monitor, struct error *err) {
    struct solve *solve = state;
    struct top_algorithms *algorithms = solve->algorithms;
    const struct top_smo_settings settings = {.cost = solve->parameters->cost,
                                              .epsilon = solve->epsilon,
                                              .shrink = solve->parameters->shrink,
                                              .reserved_seconds = algorithms->reserved_seconds};
    struct fit fit;
    solve->grows = false; /* run_reduced sets it */
    if (create_smo(algorithms, err) < 0) {
        return -1;
    }
    return take(solve, &fit, top_smo_solve(algorithms->smo, &settings, monitor, &fit, err));
}

/* Keeps the stop reason of the algorithms with time slices, unless the fit ends. */
static int run_reduced(void *state, const struct monitor *monitor, struct error *err) {
    struct solve *solve = state;
    struct top_smo *smo = solve->algorithms->smo;
    const struct top_smo_settings settings = {.cost = solve->parameters->cost,
                                              .epsilon = solve->epsilon};
    enum stop_reason reason = solve->fit->reason;
    struct fit fit;
    solve->grows = top_working_set_grows(smo);
    int status = take(solve, &fit, top_working_set_solve(smo, &settings, monitor, &fit, err));
    solve->fit->reason =
        solve->fit->converged || solve->outer->reason ? solve->fit->reason : reason;
    return status;
}

static int run_interior(void *state, const struct monitor *monitor, struct error *err) {
    struct solve *solve = state;
    struct top_algorithms *algorithms = solve->algorithms;
    const struct top_interior_settings settings = {.cost = solve->parameters->cost,
                                                   .epsilon = solve->epsilon,
                                                   .norm_bound = algorithms->norm_bound,
                                                   .certificate_failed =
                                                       algorithms->certificate_failed};
    struct fit fit;
    if (top_interior_solve(algorithms->problem, algorithms->map, &algorithms->risk, &settings,
                           monitor, &fit, err) < 0) {
        return -1;
    }
    if (algorithms->smo) {
        top_smo_set_point(algorithms->smo, settings.cost, fit.alpha, fit.beta);
    }
    return take(solve, &fit, 0);
}

/* ---- time slices ---- */

/* Iterations of the first time slices, which take about as long as one another. Of two algorithms
 * each has twice the iterations in each of its slices, so the slower one costs no more than the
 * better one. */
enum { FIRST_PLANES = 256, FIRST_SWEEPS = 64, FIRST_STEPS = 4096 };

static uint64_t descent_slice(const void *state, int turn) {
    if (((const struct solve *)state)->is_fast) {
        return (uint64_t)FIRST_SWEEPS << turn;
    }
    return turn % 2 == 0 ? (uint64_t)FIRST_SWEEPS << turn / 2 : 0;
}

static uint64_t planes_slice(const void *state, int turn) {
    const struct solve *solve = state;
    bool is_turn = !solve->is_fast && (turn % 2 == 0) == !is_separable(solve);
    return is_turn ? (uint64_t)FIRST_PLANES << turn / 2 : 0;
}

static uint64_t smo_slice(const void *state, int turn) {
    const struct solve *solve = state;
    const struct problem *problem = solve->algorithms->problem;
    /* steps in the time of a cutting plane */
    uint64_t row = data_values(problem->data) / (problem->n + 1) / 4;
    return turn % 2 ? (FIRST_STEPS + FIRST_PLANES * row) << turn / 2 : 0;
}

/* A step of smo or a sweep passes over the rows about so many times; a step of the SVM, which
 * shrinks rows at both bounds, fewer times: 3 to 15 us on spambase, C = 32,768. */
enum { ROW_PASSES = 8, SVM_ROW_PASSES = 2 };

static double descent_work(const void *state) {
    const struct solve *solve = state;
    return work_scalar(ROW_PASSES * (double)solve->algorithms->risk.n_all +
                       2 * solve->algorithms->values);
}

/* Two products with the data or K. */
static double planes_work(const void *state) {
    const struct solve *solve = state;
    const struct top_algorithms *algorithms = solve->algorithms;
    double n = (double)algorithms->risk.n_all;
    return work_scalar(algorithms->map->primal ? 2 * algorithms->values : n * n);
}

static double smo_work(const void *state) {
    const struct solve *solve = state;
    const struct top_risk *risk = &solve->algorithms->risk;
    return work_scalar((risk->kind == TOP_NONE ? SVM_ROW_PASSES : ROW_PASSES) *
                       (double)risk->n_all);
}

static double reduced_work(const void *state) {
    const struct solve *solve = state;
    return top_working_set_step_work(solve->algorithms->problem);
}

/* ---- the table ---- */

static const struct policy_row rows[] = {
    {.algorithm = ALGORITHM_GRADIENT,
     .when = "grill and grill-np, which are not convex",
     .limit = "until ten iterations of a start gain less than epsilon",
     .then = "the next start; the best of --starts is the solution"},
    {.algorithm = ALGORITHM_COORDINATE_ASCENT,
     .when = "--solver cd, but for svm",
     .limit = "none",
     .then = "the fit ends: the published algorithm and its stopping rule",
     .applies = ascent_applies,
     .run = run_ascent},
    {.algorithm = ALGORITHM_EXPLICIT_FEATURES,
     .when = "auto: positive semidefinite kernels, one process: from 1,024 rows on, if at most 512 "
             "landmarks, an eighth of the rows, leave at most a millionth of the trace, and 256 "
             "of them at most .02 of it",
     .limit = "all rows for the linear kernel, on the landmarks' features",
     .then = "smo; after a gap that the certificate does not confirm it is not used again",
     .applies = features_apply,
     .run = run_features},
    {.algorithm = ALGORITHM_LOW_RANK,
     .when = "auto: positive semidefinite kernels, from 32,768 rows on, one process, first",
     .limit = "once, for the first cost; landmarks: the root of 12 times the rows, with "
              "a time limit a quarter of that, and more while they take a twentieth of it; planes "
              "to a gap of .02, 100 at most",
     .then = "smo, from low-rank's point; if 100 planes do not reach the gap, from its own start",
     .applies = low_rank_applies,
     .run = run_low_rank},
    {.algorithm = ALGORITHM_COORDINATE_DESCENT,
     .when = "svm with the linear kernel, with --solver cd, or in auto above 256 features, first; "
             "until its certificate fails by rounding",
     .limit = "slices of 64 sweeps, doubled; all turns if the first leaves a gap below .2",
     .then = "cutting planes take turns with it",
     .applies = descent_applies,
     .run = run_descent,
     .slice = descent_slice,
     .work = descent_work},
    {.algorithm = ALGORITHM_CUTTING_PLANES,
     .when = "--solver bundle; auto: the linear kernel, in svm second; on one process only until "
             "the certificate fails by rounding",
     .limit = "slices of 256 planes, doubled, until all slices together have used the work of the "
              "interior-point method",
     .then = "smo takes turns with it; in svm, coordinate descent",
     .applies = planes_apply,
     .run = run_planes,
     .slice = planes_slice,
     .work = planes_work},
    {.algorithm = ALGORITHM_SMO,
     .when = "one process; kernels: alone, and if the interior-point method takes all rows only "
             "until the certificate has missed twice, or at all by rounding; linear kernel: "
             "second; svm: once the certificate has failed by rounding",
     .limit = "the same, or the work of a working set if that is less; slices of 4,096 steps and "
              "as many as take the time of 256 planes, doubled",
     .then = "the interior-point method, with kernels on working sets first",
     .applies = smo_applies,
     .run = run_smo,
     .slice = smo_slice,
     .work = smo_work},
    {.algorithm = ALGORITHM_INTERIOR_POINT_REDUCED,
     .when = "as smo with kernels, more than 256 rows: fewer than half of the rows are above 0, or "
             "than twice as many as the interior-point method takes, if it does not take all",
     .limit = "working sets of up to 2,048 rows; until two gain nothing",
     .then = "the interior-point method if it takes all rows; else smo again, for half of the work "
             "so far, and sets of twice as many; ends when both have stalled, and working sets "
             "grow no more",
     .applies = reduced_applies,
     .run = run_reduced,
     .work = reduced_work},
    {.algorithm = ALGORITHM_INTERIOR_POINT,
     .when =
         "up to 1,024 rows, 4,096 that fit into the cache, or 4,096 features of the linear kernel; "
         "not --solver cd but for svm",
     .limit = "300 steps",
     .then = "the fit ends",
     .applies = interior_applies,
     .run = run_interior},
};

static bool is_done(const void *state) {
    const struct solve *solve = state;
    return solve->fit->converged || solve->outer->reason;
}

static uint64_t iterations(const void *state) {
    const struct solve *solve = state;
    return solve->fit->iterations;
}

static bool has_stalled(const void *state) {
    const struct solve *solve = state;
    return solve->stalled;
}

/* The steps of smo that its first slice has after low-rank: 200,000 rows take 28,000 to 40,000, and
 * the end of a slice costs an evaluation of all scores. */
static double least_steps(const struct solve *solve) {
    const size_t rows_per_step = 4;
    return (double)(solve->algorithms->risk.n_all / rows_per_step);
}

/* The slices together use as much work as the interior-point method needs, or a working set. If it
 * does not take all rows, the table runs again, until all algorithms have stalled. */
static bool run_again(const void *state, struct policy_slices *turns) {
    /* work limit after working sets, relative to the work so far */
    static const double LIMIT_GROWTH = 1.5;
    const struct solve *solve = state;
    bool reduced = is_reduced(solve);
    if (!solve->started) {
        bool first = turns->limit == 0;
        turns->limit = interior_work(solve);
        if (reduced) {
            turns->limit = fmin(turns->limit, top_working_set_work(solve->algorithms->problem));
        }
        if (low_rank_applies(state)) {
            turns->limit = fmax(turns->limit, smo_work(state) * least_steps(solve));
        }
        return first; /* a second time: no algorithm applied */
    }
    if (isfinite(interior_work(solve)) || !reduced || (turns->all_stalled && !solve->grows)) {
        return false;
    }
    turns->limit = fmax(turns->limit, LIMIT_GROWTH * turns->work);
    turns->stalled = 0;
    return true;
}

const struct policy top_policy = {.family = "top",
                                  .rows = rows,
                                  .n_rows = sizeof rows / sizeof rows[0],
                                  .is_done = is_done,
                                  .iterations = iterations,
                                  .has_stalled = has_stalled,
                                  .run_again = run_again};

int top_algorithms_solve(struct top_algorithms *algorithms, const struct top_parameters *parameters,
                         double epsilon, uint64_t before, const struct monitor *monitor,
                         struct fit *fit, struct error *err) {
    struct monitor_run outer;
    const struct monitor watch = monitor_continue(&outer, monitor, before, 0);
    struct solve solve = {.algorithms = algorithms,
                          .parameters = parameters,
                          .epsilon = epsilon,
                          .outer = &outer,
                          .fit = fit};
    *fit = (struct fit){0};
    if (parameters->method == TOP_AUTO && !algorithms->measured) {
        if (explicit_features_size(algorithms->problem, EXPLICIT_MAX_FEATURES, parameters->seed,
                                   &algorithms->n_explicit, err) < 0) {
            return -1;
        }
        algorithms->measured = true;
    }
    int status = policy_run(&top_policy, &solve, &watch, err);
    if (status == 0 && !solve.started) {
        status = error_set(err, ERROR_RUNTIME, "no algorithm of the policy applies");
    }
    if (status < 0) {
        fit_free(fit);
    }
    return status;
}
