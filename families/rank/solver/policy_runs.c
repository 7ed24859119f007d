/* Runs of the algorithms of RankSVM: rows of the policy table. Each starts at the best iterate and
 * is repeated until the certified gap is at its target. An algorithm whose running sums have
 * converged, but whose certificate has not, runs again to a smaller gap (fit/tolerance.h). */
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/rank/solver/newton.h"
#include "families/rank/solver/policy.h"
#include "fit/tolerance.h"
#include "methods/conditional_gradient.h"
#include "methods/cutting_planes.h"

#include <math.h>
#include <string.h>

/* Maximal runs of an algorithm: to the target gap, and to smaller ones. */
enum { MAX_RUNS = 4 };

/* Landmarks are doubled while the estimated gap is above SAFE_PART of the target, since the
 * estimate was wrong by up to a tenth, and at most MAX_GAP_RATIO times it: a doubling divides it by
 * about 2. With a time limit, the first are a TIMED_PART of those without, and they are doubled
 * while there is time. */
static const double SAFE_PART = 0.95, MAX_GAP_RATIO = 4;
enum { TIMED_PART = 4 };

/* The repeated runs of one algorithm. */
struct repeated_run {
    struct rank_fitting *fitting;
    const struct monitor *monitor;
    uint64_t iterations_left; /* iterations left, if they are limited */
    bool limited;
    /* Runs the algorithm once to a gap of epsilon, from the best iterate or from the algorithm's
     * own last point. */
    int (*once)(struct repeated_run *repeated, double epsilon, const struct monitor *monitor,
                struct fit *fit, struct error *err);
    bool counts_across_runs;     /* its iteration count continues from run to run */
    uint64_t iterations_counted; /* iterations counted so far, if so */
    bool from_dual; /* interior point: the primal point is w = A'alpha of a dual-feasible alpha */
};

/* Certifies the result of a run, and frees it. Fills end. */
static int certify_run(struct repeated_run *repeated, struct fit *fit, struct tolerance_result *end,
                       struct error *err) {
    struct rank_fitting *fitting = repeated->fitting;
    const struct certificate *best = &fitting->best.certificate;
    struct certificate found;
    end->converged = fit->converged;
    if (rank_take_fit(fitting, fit, fitting->rank->planes[fitting->parameters.loss], &found, err) <
        0) {
        return -1;
    }
    /* With pair features, stop when the rounding-error bound exceeds the target gap: another run is
     * slow and gains nothing. */
    double target = fitting->parameters.epsilon;
    bool rounded = fitting->rank->exterior && found.rounding > target * found.primal;
    end->gap = best->certified ? best->gap : best->failed ? INFINITY : (double)NAN;
    end->limited = stop_limited(fitting->best.reason) || rounded ||
                   (repeated->limited && repeated->iterations_left == 0);
    return 0;
}

static int run_once(void *context, double epsilon, struct tolerance_result *end,
                    struct error *err) {
    struct repeated_run *repeated = context;
    struct rank_fitting *fitting = repeated->fitting;
    struct rank_best *best = &fitting->best;
    struct fit fit;
    struct monitor_run watch;
    uint64_t before = best->iterations - repeated->iterations_counted;
    struct monitor onward =
        monitor_continue(&watch, repeated->monitor, before, repeated->iterations_left);
    if (best->weights) {
        watch.primal = best->certificate.primal;
        watch.dual = best->certificate.dual;
    }
    if (repeated->once(repeated, epsilon, &onward, &fit, err) < 0) {
        return -1;
    }
    best->iterations = before + fit.iterations;
    repeated->iterations_counted = repeated->counts_across_runs ? fit.iterations : 0;
    repeated->iterations_left -=
        fit.iterations < repeated->iterations_left ? fit.iterations : repeated->iterations_left;
    if (repeated->limited && fit.reason == STOP_ITERATIONS && !watch.reason) {
        fit.reason = STOP_STALLED; /* not a limit of the user */
        fitting->at_limit = true;
    }
    return certify_run(repeated, &fit, end, err);
}

/* Repeats the algorithm up to the target gap, within the iteration limit of its row. */
static int run_to_gap(struct repeated_run *repeated, enum algorithm algorithm, int max_runs,
                      struct error *err) {
    struct rank_fitting *fitting = repeated->fitting;
    repeated->iterations_left = rank_iteration_limit(fitting, algorithm);
    repeated->limited = repeated->iterations_left > 0;
    fitting->ran |= 1U << algorithm;
    fitting->at_limit = false;
    return tolerance_tighten(run_once, repeated, fitting->parameters.epsilon, max_runs, err);
}

/* ---- low-rank approximation ---- */

/* Whether the landmarks are doubled after a solution. */
static bool doubles(const struct rank_fitting *fitting, const struct monitor *monitor,
                    const struct fit *fit) {
    const struct rank_low_rank *low = fitting->rank->low_rank;
    double gap = gap_relative(fit->primal, fit->dual), epsilon = fitting->parameters.epsilon;
    double left =
        monitor_seconds_left(monitor) - RANK_CERTIFICATE_PRODUCTS * fitting->product_seconds;
    bool pays =
        isfinite(left) ? left >= rank_low_rank_next_seconds(low) : gap <= MAX_GAP_RATIO * epsilon;
    return gap > SAFE_PART * epsilon && pays && !stop_limited(fit->reason) &&
           rank_low_rank_next_size(low) > 0;
}

/* Solves the approximate problem, with more and more landmarks. */
static int low_rank_once(struct rank_fitting *fitting, const struct monitor *monitor,
                         struct fit *fit, struct error *err) {
    struct rank *rank = fitting->rank;
    const struct rank_parameters *parameters = &fitting->parameters;
    bool limited = isfinite(monitor_seconds_left(monitor)) && !rank->explicit_features;
    size_t size = limited ? rank->n_landmarks / TIMED_PART : rank->n_landmarks;
    uint64_t before = fitting->best.iterations;
    for (;;) {
        struct monitor_run watch;
        struct monitor onward = monitor_continue(&watch, monitor, before, 0);
        if (!rank->low_rank && rank_low_rank_create(&rank->low_rank, rank->problem, &rank->pairs,
                                                    size, rank->seed, &onward, err) < 0) {
            return -1;
        }
        if (rank_low_rank_solve(rank->low_rank, parameters->loss, &rank->risk[parameters->loss],
                                parameters->cost, parameters->epsilon, &onward, fit, err) < 0) {
            return -1;
        }
        before += fit->iterations;
        fit->iterations = before;
        if (!doubles(fitting, monitor, fit)) {
            return 0;
        }
        size = rank_low_rank_next_size(rank->low_rank);
        fit_free(fit);
        rank_low_rank_free(rank->low_rank);
        rank->low_rank = NULL;
    }
}

int rank_run_low_rank(void *state, const struct monitor *monitor, struct error *err) {
    struct rank_fitting *fitting = state;
    struct rank *rank = fitting->rank;
    struct fit fit;
    struct certificate found;
    struct monitor_run run;
    struct monitor longer = monitor_reserve_time(
        &run, fitting->limit, RANK_CERTIFICATE_PRODUCTS * fitting->product_seconds);
    fitting->ran |=
        1U << (rank->explicit_features ? ALGORITHM_EXPLICIT_FEATURES : ALGORITHM_LOW_RANK);
    if (low_rank_once(fitting, &longer, &fit, err) < 0) {
        return -1;
    }
    fitting->best.iterations = fit.iterations;
    if (rank_take_fit(fitting, &fit, rank_low_rank_planes(rank->low_rank), &found, err) < 0) {
        return -1;
    }
    if (!rank_is_reached(fitting)) { /* the next algorithm needs the memory, and the time */
        rank_low_rank_free(rank->low_rank);
        rank->low_rank = NULL;
        fitting->best.reason = monitor_past_deadline(monitor) ? STOP_TIME : fitting->best.reason;
    }
    return 0;
}

/* ---- conditional gradient ---- */

static int conditional_once(struct repeated_run *repeated, double epsilon,
                            const struct monitor *monitor, struct fit *fit, struct error *err) {
    struct rank *rank = repeated->fitting->rank;
    const struct rank_parameters *parameters = &repeated->fitting->parameters;
    struct conditional how = {.cost = parameters->cost,
                              .epsilon = epsilon,
                              .diminishing = parameters->step == RANK_DIMINISHING,
                              .decay = parameters->stop == RANK_DECAY};
    return conditional_gradient_solve(&rank->map, &rank->risk[parameters->loss], &how, monitor, fit,
                                      err);
}

int rank_run_conditional_gradient(void *state, const struct monitor *monitor, struct error *err) {
    struct repeated_run repeated = {.fitting = state, .monitor = monitor, .once = conditional_once};
    return run_to_gap(&repeated, ALGORITHM_CONDITIONAL_GRADIENT, 1, err);
}

/* ---- cutting planes ---- */

static int planes_once(struct repeated_run *repeated, double epsilon, const struct monitor *monitor,
                       struct fit *fit, struct error *err) {
    const struct rank_parameters *parameters = &repeated->fitting->parameters;
    struct rank *rank = repeated->fitting->rank;
    enum rank_loss loss = parameters->loss;
    struct cutting_planes **planes = &rank->planes[loss];
    if (!*planes && cutting_planes_create(planes, &rank->map, &rank->risk[loss], err) < 0) {
        return -1;
    }
    return cutting_planes_solve(*planes, parameters->cost, epsilon, monitor, fit, err);
}

int rank_run_cutting_planes(void *state, const struct monitor *monitor, struct error *err) {
    struct repeated_run repeated = {.fitting = state, .monitor = monitor, .once = planes_once};
    return run_to_gap(&repeated, ALGORITHM_CUTTING_PLANES, MAX_RUNS, err);
}

/* Lists the preferences, if they are not. */
static int list_preferences(struct rank *rank, struct error *err) {
    return rank->listed.row
               ? 0
               : rank_listed_create(&rank->listed, rank->problem, &rank->map, &rank->pairs,
                                    rank->exterior ? exterior_weights(rank->exterior) : NULL, err);
}

/* ---- Newton's method ---- */

/* From `start` (NULL: from zero), with at most `gradients` steps of conjugate gradients (0: no
 * limit) and their preconditioner (NULL: none). */
static int newton_from(struct rank_fitting *fitting, double epsilon, const double *start,
                       uint64_t gradients, struct rank_preconditioner *preconditioner,
                       struct rank_multipliers *multipliers, const struct monitor *monitor,
                       struct fit *fit, struct error *err) {
    struct rank *rank = fitting->rank;
    const struct rank_parameters *parameters = &fitting->parameters;
    double **last = &rank->last[parameters->loss];
    size_t d = rank->map.dimension;
    const struct score_map *map =
        preconditioner ? rank_preconditioner_map(preconditioner) : &rank->map;
    if (rank_newton_solve(rank->problem, map, &rank->pairs, parameters->loss, parameters->cost,
                          epsilon, start, gradients, preconditioner, multipliers, monitor, fit,
                          err) < 0) {
        return -1;
    }
    *last = *last ? *last : memory_array(d, sizeof **last, "weights", err);
    if (!*last) {
        fit_free(fit);
        return -1;
    }
    memcpy(*last, fit->weights, d * sizeof **last);
    return 0;
}

static int newton_once(struct repeated_run *repeated, double epsilon, const struct monitor *monitor,
                       struct fit *fit, struct error *err) {
    struct rank_fitting *fitting = repeated->fitting;
    return newton_from(fitting, epsilon, fitting->rank->last[fitting->parameters.loss],
                       rank_iteration_limit(fitting, ALGORITHM_NEWTON), NULL, NULL, monitor, fit,
                       err);
}

int rank_run_newton(void *state, const struct monitor *monitor, struct error *err) {
    struct repeated_run repeated = {.fitting = state, .monitor = monitor, .once = newton_once};
    return run_to_gap(&repeated, ALGORITHM_NEWTON, MAX_RUNS, err);
}

static int direct_once(struct repeated_run *repeated, double epsilon, const struct monitor *monitor,
                       struct fit *fit, struct error *err) {
    struct rank_fitting *fitting = repeated->fitting;
    struct rank *rank = fitting->rank;
    bool centred = rank->multipliers.listed != NULL;
    rank->alpha = rank->multipliers.alpha;
    return newton_from(fitting, epsilon, fitting->best.weights, 0, rank->preconditioner,
                       centred ? &rank->multipliers : NULL, monitor, fit, err);
}

/* Whether a fallback solver of so many rows can be created, and take a first step, before an
 * unfinished run is discarded. newton-direct: 5,000 rows take 4 s on a quiet machine and 12 s on a
 * busy one, of which the estimate is 12.5; twice that, as the steps after it must also pay. The
 * interior-point method takes three times as long. */
static bool has_time(enum algorithm algorithm, size_t rows, const struct monitor *monitor) {
    double factor = algorithm == ALGORITHM_INTERIOR_POINT ? 6e-9 : 2e-9;
    return factor * rank_preconditioner_work(rows) < monitor_seconds_left(monitor);
}

/* The mu with which newton-direct begins to smooth the loss about a centre; 0: it does not. The sum
 * of alpha is about twice the primal. If one preference of each row has a loss, its mean a is 2 /
 * ratio. Slacks of mu a are smoothed: they are of the size of a margin at most, and the squared
 * hinge is not smoothed without need. The list of preferences, with the preconditioner, must fit
 * into the cache. */
static double start_mu(const struct rank_fitting *fitting) {
    const struct rank *rank = fitting->rank;
    bool squared = fitting->parameters.loss == RANK_SQUARED_HINGE;
    size_t rows = rank->n_preconditioner_rows;
    double weight = rank->loss[RANK_HINGE].total / rank->pairs.n_pairs;
    double ratio =
        fitting->parameters.cost * weight * (double)rows / fitting->best.certificate.primal;
    double bytes = rank_multipliers_bytes(&rank->pairs, rows) + rank_preconditioner_bytes(rows);
    if (rank->map.cluster || bytes > (double)rank->problem->cache_bytes) {
        return 0;
    }
    return ratio > 2 && isfinite(ratio) ? ratio / 2 : squared ? 0 : 1;
}

/* Lists the preferences and creates their multipliers. */
static int create_multipliers(struct rank *rank, bool squared, double mu, struct error *err) {
    return list_preferences(rank, err) < 0
               ? -1
               : rank_multipliers_create(&rank->multipliers, &rank->listed, squared, mu, err);
}

int rank_run_newton_direct(void *state, const struct monitor *monitor, struct error *err) {
    struct repeated_run repeated = {.fitting = state, .monitor = monitor, .once = direct_once};
    struct rank *rank = repeated.fitting->rank;
    size_t rows = rank->n_preconditioner_rows;
    if (!rank->preconditioner && has_time(ALGORITHM_NEWTON_DIRECT, rows, monitor) &&
        rank_preconditioner_create(&rank->preconditioner, rank->problem, &rank->pairs, err) < 0) {
        return -1;
    }
    if (!rank->preconditioner) {
        rank->n_preconditioner_rows = 0;
        repeated.fitting->fallback_impossible = true;
        return 0;
    }
    certify_raise_work_limit(rank->certifier.certify, rank_preconditioner_work(rows));
    double mu = start_mu(repeated.fitting);
    bool squared = repeated.fitting->parameters.loss == RANK_SQUARED_HINGE;
    if (!rank->multipliers.listed && mu > 0 && create_multipliers(rank, squared, mu, err) < 0) {
        return -1;
    }
    return run_to_gap(&repeated, ALGORITHM_NEWTON_DIRECT, MAX_RUNS, err);
}

/* ---- interior-point method ---- */

/* The first run recovers the primal from the dual (w = A'alpha). If alpha is so large that it
 * cancels, the next runs use the coefficients of the method's own primal point. */
static int interior_once(struct repeated_run *repeated, double epsilon,
                         const struct monitor *monitor, struct fit *fit, struct error *err) {
    struct rank *rank = repeated->fitting->rank;
    if (rank_interior_run(rank->interior, repeated->from_dual, epsilon, monitor, fit, err) < 0) {
        return -1;
    }
    rank->alpha = rank_interior_alpha(rank->interior);
    fit->converged = !fit->reason || (repeated->from_dual && !stop_limited(fit->reason));
    repeated->from_dual = false;
    return 0;
}

/* Starts at `weights`; NULL: at zero. */
static int interior_start_from(struct repeated_run *repeated, const double *weights,
                               struct error *err) {
    const struct rank_parameters *parameters = &repeated->fitting->parameters;
    bool squared = parameters->loss == RANK_SQUARED_HINGE;
    repeated->from_dual = true;
    repeated->iterations_counted = 0;
    if (rank_interior_start(repeated->fitting->rank->interior, squared, parameters->cost, weights,
                            err) < 0) {
        return -1;
    }
    return run_to_gap(repeated, ALGORITHM_INTERIOR_POINT, MAX_RUNS, err);
}

int rank_run_interior_point(void *state, const struct monitor *monitor, struct error *err) {
    struct repeated_run repeated = {
        .fitting = state, .monitor = monitor, .once = interior_once, .counts_across_runs = true};
    struct rank *rank = repeated.fitting->rank;
    if (!rank->interior && !has_time(ALGORITHM_INTERIOR_POINT, rank->n_distinct, monitor)) {
        repeated.fitting->ran |= 1U << ALGORITHM_INTERIOR_POINT;
        repeated.fitting->best.reason = STOP_TIME;
        return 0;
    }
    if (!rank->interior &&
        (list_preferences(rank, err) < 0 ||
         rank_interior_create(&rank->interior, rank->problem, &rank->map, &rank->listed,
                              certify_norm_bounds(rank->certifier.certify), err) < 0)) {
        return -1;
    }
    if (!rank->interior) {
        rank->n_distinct = 0;
        repeated.fitting->fallback_impossible = true;
        return 0;
    }
    int status = 0;
    if (rank_interior_has_warm_start(rank->interior)) {
        status = interior_start_from(&repeated, repeated.fitting->best.weights, err);
    }
    return status == 0 && !rank_policy.is_done(repeated.fitting)
               ? interior_start_from(&repeated, NULL, err)
               : status;
}
