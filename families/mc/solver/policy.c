/* The policy's table and its rows. */
#include "families/mc/solver/policy.h"

#include "families/mc/solver/active_set.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/interior_point.h"
#include "families/mc/solver/newton.h"

#include <math.h>

/* Newton's method must cost so many times less than the problem's kernel form: at large C it takes
 * more steps than its work counts. */
static const double NEWTON_RATIO = 2;

/* An algorithm, which starts at the best iterate if there is one. */
typedef int (*algorithm_run)(struct mc_state *state, struct mc_goal goal,
                             const struct monitor *monitor, struct mc_fit *fit, struct error *err);

/* Runs an algorithm, and updates the best iterate. */
static int run_algorithm(struct mc_state *state, algorithm_run solve, const struct monitor *monitor,
                         struct error *err) {
    struct mc_fit found = {0};
    struct monitor_run run;
    const struct monitor onward = monitor_continue(&run, monitor, state->fit->iterations, 0);
    const struct mc_goal goal = {.cost = state->cost, .epsilon = state->epsilon};
    if (solve(state, goal, &onward, &found, err) < 0) {
        mc_fit_free(&found);
        return -1;
    }
    mc_fit_take(state->fit, &found);
    return 0;
}

/* Whether the gap or a limit of the user is reached. */
static bool is_done(const void *context) {
    const struct mc_fit *fit = ((const struct mc_state *)context)->fit;
    return fit->unsolved ||
           (fit->weights && (stop_limited(fit->reason) ||
                             fit->certificate.gap <= ((const struct mc_state *)context)->epsilon));
}

static const struct problem *problem_of(const struct mc_state *state) {
    return state->solvers->task->problem;
}

static bool is_linear(const struct mc_state *state) {
    return !problem_of(state)->gram;
}

static double enabled_work(enum algorithm algorithm, double work) {
    return policy_enabled("mc", algorithm) ? work : (double)INFINITY;
}

/* ---- coordinate descent ---- */

static bool descent_applies(const void *context) {
    return ((const struct mc_state *)context)->method != MC_NEWTON;
}

static int run_linear(struct mc_state *state, struct mc_goal goal, const struct monitor *monitor,
                      struct mc_fit *fit, struct error *err) {
    struct mc_solvers *solvers = state->solvers;
    if (!solvers->linear && mc_linear_create(&solvers->linear, solvers->task, err) < 0) {
        return -1;
    }
    const struct mc_task *task = solvers->task;
    goal.fallback_work = policy_applies(&mc_policy, ALGORITHM_NEWTON, state)
                             ? mc_newton_work(task)
                             : fmin(enabled_work(ALGORITHM_INTERIOR_POINT, mc_interior_work(task)),
                                    enabled_work(ALGORITHM_ADMM, mc_reformulation_work(task)));
    return mc_linear_solve(solvers->linear, &goal, monitor, fit, err);
}

static double admm_work(const struct mc_state *state) {
    return enabled_work(ALGORITHM_ADMM, mc_kernel_admm_work(state->solvers->kernel_descent));
}

static double surrogate_work(const struct mc_state *state) {
    return enabled_work(ALGORITHM_ADMM_LOW_RANK,
                        mc_kernel_surrogate_work(state->solvers->kernel_descent));
}

static int run_kernel(struct mc_state *state, struct mc_goal goal, const struct monitor *monitor,
                      struct mc_fit *fit, struct error *err) {
    goal.active_set = policy_applies(&mc_policy, ALGORITHM_ACTIVE_SET, state);
    goal.fallback_work = fmin(admm_work(state), surrogate_work(state));
    return mc_kernel_solve(state->solvers->kernel_descent, &goal, monitor, fit, err);
}

static int run_descent(void *context, const struct monitor *monitor, struct error *err) {
    struct mc_state *state = context;
    struct mc_solvers *solvers = state->solvers;
    if (is_linear(state)) {
        return run_algorithm(state, run_linear, monitor, err);
    }
    if (!solvers->kernel_descent &&
        mc_kernel_create(&solvers->kernel_descent, solvers->task, err) < 0) {
        return -1;
    }
    return run_algorithm(state, run_kernel, monitor, err);
}

/* ---- Newton's method ---- */

/* Whether there is an algorithm for what Newton's method may leave, or, as with few weights, it
 * leaves little. Coordinate descent, which hands over to it, has no second turn. */
static bool newton_may_stall(const struct mc_task *task) {
    return task->reformulated || isfinite(mc_interior_work(task)) ||
           task->problem->data->n_features < mc_newton_cheap_features(task);
}

static bool newton_applies(const void *context) {
    const struct mc_state *state = context;
    const struct mc_task *task = state->solvers->task;
    double dual_work = enabled_work(ALGORITHM_ADMM, mc_reformulation_work(task));
    return state->method == MC_NEWTON ||
           (state->method == MC_AUTO && is_linear(state) && newton_may_stall(task) &&
            NEWTON_RATIO * mc_newton_work(task) < dual_work);
}

static int newton(struct mc_state *state, struct mc_goal goal, const struct monitor *monitor,
                  struct mc_fit *fit, struct error *err) {
    return mc_newton_solve(state->solvers->task, &goal, state->fit->weights, monitor, fit, err);
}

static int run_newton(void *state, const struct monitor *monitor, struct error *err) {
    return run_algorithm(state, newton, monitor, err);
}

/* ---- with kernels ---- */

/* Whether the descent has stopped because ADMM would be faster. */
static bool is_slow(const struct mc_state *state) {
    const struct mc_kernel_descent *descent = state->solvers->kernel_descent;
    return !is_linear(state) && descent && mc_kernel_is_slow(descent);
}

static bool surrogate_applies(const void *context) {
    const struct mc_state *state = context;
    return is_slow(state) && surrogate_work(state) < admm_work(state);
}

static int surrogate(struct mc_state *state, struct mc_goal goal, const struct monitor *monitor,
                     struct mc_fit *fit, struct error *err) {
    goal.active_set = policy_applies(&mc_policy, ALGORITHM_ACTIVE_SET, state);
    goal.fallback_work = admm_work(state);
    return mc_kernel_surrogate(state->solvers->kernel_descent, &goal, monitor, fit, err);
}

static int run_surrogate(void *state, const struct monitor *monitor, struct error *err) {
    return run_algorithm(state, surrogate, monitor, err);
}

/* Linear problems are solved in the dual where the interior-point method takes longer. */
static bool admm_applies(const void *context) {
    const struct mc_state *state = context;
    const struct mc_task *task = state->solvers->task;
    double work = mc_reformulation_work(task);
    return is_linear(state)
               ? state->method != MC_NEWTON && isfinite(work) && work < mc_interior_work(task)
               : is_slow(state);
}

/* Solves the problem in its other form. */
static int reformulated(struct mc_state *state, struct mc_goal goal, const struct monitor *monitor,
                        struct mc_fit *fit, struct error *err) {
    struct mc_solvers *solvers = state->solvers;
    return !solvers->reformulation &&
                   mc_reformulation_create(&solvers->reformulation, solvers->task,
                                           solvers->n_explicit, err) < 0
               ? -1
               : mc_reformulation_solve(solvers->reformulation, &goal, monitor, fit, err);
}

static int admm(struct mc_state *state, struct mc_goal goal, const struct monitor *monitor,
                struct mc_fit *fit, struct error *err) {
    if (is_linear(state)) {
        return reformulated(state, goal, monitor, fit, err);
    }
    goal.active_set = policy_applies(&mc_policy, ALGORITHM_ACTIVE_SET, state);
    return mc_kernel_admm(state->solvers->kernel_descent, &goal, monitor, fit, err);
}

static int run_admm(void *state, const struct monitor *monitor, struct error *err) {
    return run_algorithm(state, admm, monitor, err);
}

static bool features_apply(const void *context) {
    const struct mc_state *state = context;
    return state->method == MC_AUTO && state->solvers->n_explicit > 0;
}

/* If the gap is not confirmed, rounding of the features is too large at this cost, and they are not
 * used again. */
static int run_features(void *context, const struct monitor *monitor, struct error *err) {
    struct mc_state *state = context;
    struct mc_solvers *solvers = state->solvers;
    int status = run_algorithm(state, reformulated, monitor, err);
    if (status == 0 && !is_done(state)) {
        mc_reformulation_free(solvers->reformulation);
        solvers->reformulation = NULL;
        solvers->n_explicit = 0;
    }
    return status;
}

static bool active_set_applies(const void *state) {
    return !is_linear(state);
}

/* ---- the interior-point method ---- */

static bool interior_applies(const void *context) {
    const struct mc_state *state = context;
    const struct mc_task *task = state->solvers->task;
    return state->method != MC_NEWTON && isfinite(mc_interior_work(task)) &&
           (is_linear(state) || (state->fit->certificate.certified && !task->problem->cluster));
}

static int interior(struct mc_state *state, struct mc_goal goal, const struct monitor *monitor,
                    struct mc_fit *fit, struct error *err) {
    bool possible;
    if (mc_interior_solve(state->solvers->task, &goal, monitor, fit, &possible, err) < 0) {
        return -1;
    }
    if (!possible) { /* the best iterate stays */
        fit->certificate = (struct certificate){.primal = INFINITY, .certified = true};
    }
    if (!is_linear(state) && !stop_limited(fit->reason)) {
        fit->reason = state->fit->reason; /* the reason of the stop before limits this as well */
    }
    return 0;
}

static int run_interior(void *state, const struct monitor *monitor, struct error *err) {
    return run_algorithm(state, interior, monitor, err);
}

/* ---- the policy ---- */

static const struct policy_row rows[] = {
    {.algorithm = ALGORITHM_EXPLICIT_FEATURES,
     .when = "auto, positive semidefinite kernels, one process: from 1,024 rows on, if at most 512 "
             "landmarks, an eighth of the rows, leave at most a millionth of the trace, 256 of "
             "them at most .02 of it, and the square of the number of weights that Newton's method "
             "couples is at most 60 times the rows",
     .limit = "all rows for the linear kernel, on these features",
     .then = "coordinate descent, from zero",
     .applies = features_apply,
     .run = run_features},
    {.algorithm = ALGORITHM_COORDINATE_DESCENT,
     .when = "always, but with --solver newton",
     .limit =
         "linear: until its convergence rate says that it would take longer than the estimated "
         "work of Newton's method, or of the interior-point method or ADMM where that does not "
         "apply; "
         "kernels: from 28,000 rows on first "
         "joint steps of all rows, while each lowers the distance of the bounds by a tenth; "
         "the work of ADMM if a working set still needs half as much, 4 times that if it still "
         "needs as much",
     .then = "kernels: active-set iterations in its place where one costs less than the working "
             "set has used and still needs, and less than 4 times ADMM; else the next row that "
             "applies",
     .applies = descent_applies,
     .run = run_descent},
    {.algorithm = ALGORITHM_NEWTON,
     .when = "linear: --solver newton; or auto with at most 2,048 weights, for sums of absolute "
             "margins of each class and 2^24 numbers of all matrices; up to 4,096 rows in this "
             "process only if twice its work is below that of ADMM; where the interior-point "
             "method does not apply only if the square of the weights is at most 60 times the rows",
     .limit = "none: until the smoothing stalls",
     .then = "auto: the interior-point method",
     .applies = newton_applies,
     .run = run_newton},
    {.algorithm = ALGORITHM_ADMM_LOW_RANK,
     .when = "kernels: the descent has left the problem to ADMM, which costs more than this",
     .limit = "16 evaluations of 25 iterations, then as coordinate descent",
     .then = "active-set iterations and coordinate descent from its point, then ADMM",
     .applies = surrogate_applies,
     .run = run_surrogate},
    {.algorithm = ALGORITHM_ADMM,
     .when = "kernels: the descent has left the problem to it; linear: up to 4,096 rows in this "
             "process, if the interior-point method takes longer",
     .limit = "1,000 evaluations of the bounds, of 10 iterations each, foreseen after 60",
     .then = "active-set iterations from its point where they cost less than it still needs; then "
             "the interior-point method. Linear: all rows for kernels, on the products of the rows",
     .applies = admm_applies,
     .run = run_admm},
    {.algorithm = ALGORITHM_ACTIVE_SET,
     .when = "kernels: coordinate descent or ADMM hands over to it",
     .limit = "4,096 free variables, up to 8,192 after ADMM of low rank; as the algorithm that "
              "started it allows",
     .then = "the algorithm that started it",
     .applies = active_set_applies},
    {.algorithm = ALGORITHM_INTERIOR_POINT,
     .when = "as many weights as of Newton's method; kernels: rows times classes at most 2,048, "
             "positive semidefinite, one process; the features are rows of a factor of the kernel "
             "matrix",
     .limit = "none: until a step fails",
     .then = "the best iterate, with its stop reason",
     .applies = interior_applies,
     .run = run_interior}};

const struct policy mc_policy = {
    .family = "mc", .rows = rows, .n_rows = sizeof rows / sizeof rows[0], .is_done = is_done};

int mc_policy_solve(struct mc_state *state, const struct monitor *monitor, struct error *err) {
    struct mc_solvers *solvers = state->solvers;
    if (state->method == MC_AUTO && !solvers->measured) {
        if (mc_reformulation_size(solvers->task, &solvers->n_explicit, err) < 0) {
            return -1;
        }
        solvers->measured = true;
    }
    if (policy_run(&mc_policy, state, monitor, err) < 0) {
        return -1;
    }
    const struct certificate *found = &state->fit->certificate;
    if (!is_linear(state) && !is_done(state) &&
        mc_is_rounding(found, found->rounding + found->solver_rounding)) {
        state->fit->reason = STOP_ROUNDING;
    }
    return 0;
}

void mc_solvers_free(struct mc_solvers *solvers) {
    mc_linear_free(solvers->linear);
    mc_reformulation_free(solvers->reformulation);
    mc_kernel_free(solvers->kernel_descent);
}

/* ---- handovers ---- */

double mc_rate_needed(const struct mc_rate *rate, double work, double gap, double target) {
    double fall = log(rate->earlier / gap);
    return fall > 0 ? log(gap / target) / fall * (work - rate->mark) : (double)INFINITY;
}

void mc_rate_update(struct mc_rate *rate, double work, double gap) {
    if (work > 2 * rate->mark) {
        rate->mark = work;
        rate->earlier = gap;
    }
}

/* A handover must cost less than the work used so far: an active-set iteration less than that of
 * this working set, ADMM, which finishes the fit, less than all. With many rows ADMM takes longer
 * than predicted, so the descent must still need half of its work. */
enum mc_set_end mc_policy_after_sweep(const struct mc_descent_work *work) {
    if (work->active_set <= MC_ACTIVE_RATIO * work->fallback) {
        return work->active_set < work->set && work->active_set < work->needed
                   ? MC_SET_TO_ACTIVE_SET
                   : MC_SET_RUNNING;
    }
    return work->fallback < work->all && work->fallback < 2 * work->needed ? MC_SET_TO_ADMM
                                                                           : MC_SET_RUNNING;
}

bool mc_policy_after_set(const struct mc_descent_work *work) {
    double max = MC_ACTIVE_RATIO * work->fallback;
    return work->active_set > max || (work->all > max && work->needed > work->all);
}

bool mc_policy_starts_active_set(const struct mc_admm_work *work) {
    return work->now <= work->evaluation + work->later && !(work->now > work->needed) &&
           work->active_set + work->now <= work->admm;
}
