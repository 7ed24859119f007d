/* The runs of the algorithms of RankSVM, each from the best iterate, until the certified gap is the
 * one that is asked for. An algorithm that has converged by its own sums, but not by the
 * certificate, goes on to a smaller gap of its own. */
#include "common/base/memory.h"
#include "solvers/methods/bundle.h"
#include "solvers/methods/conditional.h"
#include "solvers/rank/newton.h"
#include "solvers/rank/policy.h"

#include <stdlib.h>
#include <string.h>

/* How often an algorithm goes on to a smaller gap; and interior points. */
enum { MORE_RUNS = 3, INTERIOR_RUNS = 4 };

/* Runs an algorithm once, to a gap of its own. */
typedef int algorithm_run(struct rank_fitting *fitting, double epsilon, uint64_t limit,
                          const struct monitor *monitor, struct fit *fit, struct error *err);

static void has_begun(struct rank_fitting *fitting, enum algorithm algorithm) {
    fitting->ran |= 1U << algorithm;
    fitting->at_limit = false;
}

static bool is_open(const struct rank_fitting *fitting) {
    return !rank_is_reached(fitting) && !stop_limited(fitting->best.reason);
}

/* Runs of the algorithm, each of at most so many iterations (0: no limit). */
static int run_to_gap(struct rank_fitting *fitting, enum algorithm algorithm, algorithm_run *one,
                      const struct monitor *monitor, struct error *err) {
    const struct rank *rank = fitting->rank;
    uint64_t limit = rank_iteration_limit(fitting, algorithm);
    double target = fitting->parameters.epsilon, epsilon = target;
    has_begun(fitting, algorithm);
    for (int run = 0;; run++) {
        struct fit fit;
        struct certificate found;
        struct monitor_run watch;
        struct monitor onward = monitor_after(&watch, monitor, fitting->best.iterations, limit);
        if (one(fitting, epsilon, limit, &onward, &fit, err) < 0) {
            return -1;
        }
        fitting->best.iterations += fit.iterations;
        if (limit > 0 && fit.reason == STOP_ITERATIONS && !watch.said) {
            fit.reason = STOP_STALLED; /* no limit of the user's */
            fitting->at_limit = true;
        }
        bool converged = fit.converged;
        if (rank_take_fit(fitting, &fit, false, &found, err) < 0) {
            return -1;
        }
        bool rounded = rank->exterior && /* going on is in vain, and slow */
                       found.paid > target * found.primal;
        if (!converged || run == MORE_RUNS || rounded || !found.certified ||
            rank_is_reached(fitting)) {
            return 0;
        }
        epsilon /= 2;
    }
}

/* ---- conditional gradient ---- */

/* Once: it stops by rules of its own. */
int rank_run_conditional_gradient(void *state, const struct monitor *monitor, struct error *err) {
    struct rank_fitting *fitting = state;
    struct rank *rank = fitting->rank;
    const struct rank_parameters *parameters = &fitting->parameters;
    struct conditional how = {.cost = parameters->cost,
                              .epsilon = parameters->epsilon,
                              .diminishing = parameters->step == RANK_DIMINISHING,
                              .decay = parameters->stop == RANK_DECAY};
    struct fit fit;
    struct certificate found;
    struct monitor_run watch;
    struct monitor onward = monitor_after(&watch, monitor, fitting->best.iterations, 0);
    has_begun(fitting, ALGORITHM_CONDITIONAL_GRADIENT);
    if (conditional_solve(&rank->map, &rank->risk[parameters->loss], &how, &onward, &fit, err) <
        0) {
        return -1;
    }
    fitting->best.iterations += fit.iterations;
    return rank_take_fit(fitting, &fit, false, &found, err);
}

/* ---- cutting planes ---- */

static int run_planes(struct rank_fitting *fitting, double epsilon, uint64_t limit,
                      const struct monitor *monitor, struct fit *fit, struct error *err) {
    (void)limit;
    struct rank *rank = fitting->rank;
    enum rank_loss loss = fitting->parameters.loss;
    struct bundle **bundle = &rank->bundle[loss];
    if (!*bundle && bundle_create(bundle, &rank->map, &rank->risk[loss], err) < 0) {
        return -1;
    }
    return bundle_solve(*bundle, fitting->parameters.cost, epsilon, monitor, fit, err);
}

int rank_run_cutting_planes(void *state, const struct monitor *monitor, struct error *err) {
    return run_to_gap(state, ALGORITHM_CUTTING_PLANES, run_planes, monitor, err);
}

/* ---- Newton's method ---- */

/* From `start` (NULL: from 0), with that many steps of conjugate gradients (0: no limit). inverse:
 * their preconditioner, or NULL. */
static int newton_from(struct rank_fitting *fitting, double epsilon, const double *start,
                       uint64_t gradients, struct rank_inverse *inverse,
                       const struct monitor *monitor, struct fit *fit, struct error *err) {
    struct rank *rank = fitting->rank;
    const struct rank_parameters *parameters = &fitting->parameters;
    double **last = &rank->last[parameters->loss];
    size_t d = rank->map.dimension;
    const struct score_map *map = inverse ? rank_inverse_map(inverse) : &rank->map;
    if (rank_newton_solve(rank->problem, map, &rank->pairs, parameters->loss, parameters->cost,
                          epsilon, start, gradients, inverse, monitor, fit, err) < 0) {
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

static int run_newton(struct rank_fitting *fitting, double epsilon, uint64_t limit,
                      const struct monitor *monitor, struct fit *fit, struct error *err) {
    return newton_from(fitting, epsilon, fitting->rank->last[fitting->parameters.loss],
                       limit > 0 ? rank_gradient_limit(fitting) : 0, NULL, monitor, fit, err);
}

int rank_run_newton(void *state, const struct monitor *monitor, struct error *err) {
    return run_to_gap(state, ALGORITHM_NEWTON, run_newton, monitor, err);
}

/* Runs of together no more iterations than the limit, with all that is wanted of a step: its system
 * is nearly solved by the preconditioner. */
static int newton_direct(struct rank_fitting *fitting, const struct monitor *monitor,
                         struct error *err) {
    double epsilon = fitting->parameters.epsilon;
    uint64_t limit = rank_iteration_limit(fitting, ALGORITHM_NEWTON_DIRECT), left = limit;
    for (int run = 0; run <= MORE_RUNS && is_open(fitting); run++) {
        struct fit fit;
        struct certificate found;
        struct monitor_run watch;
        struct monitor onward = monitor_after(&watch, monitor, fitting->best.iterations, left);
        if (newton_from(fitting, epsilon, fitting->best.weights, 0, fitting->rank->inverse, &onward,
                        &fit, err) < 0) {
            return -1;
        }
        bool converged = fit.converged;
        fitting->best.iterations += fit.iterations;
        left -= fit.iterations < left ? fit.iterations : left;
        if (limit > 0 && fit.reason == STOP_ITERATIONS && !watch.said) {
            fit.reason = STOP_STALLED; /* no limit of the user's */
        }
        if (rank_take_fit(fitting, &fit, false, &found, err) < 0) {
            return -1;
        }
        if (!converged || (limit > 0 && left == 0)) {
            break;
        }
        epsilon /= 2;
    }
    return 0;
}

int rank_run_newton_direct(void *state, const struct monitor *monitor, struct error *err) {
    struct rank_fitting *fitting = state;
    struct rank *rank = fitting->rank;
    if (!rank->inverse &&
        rank_inverse_create(&rank->inverse, rank->problem, &rank->pairs, err) < 0) {
        return -1;
    }
    if (!rank->inverse) {
        rank->n_inverse = 0;
        fitting->without_one = true;
        return 0;
    }
    certify_allow(rank->certifier.certify, rank_inverse_work(rank->inverse));
    int status = newton_direct(fitting, monitor, err);
    fitting->ran |= 1U << ALGORITHM_NEWTON_DIRECT;
    return status;
}

/* ---- interior points ---- */

/* From `weights` on (NULL: from 0): at first with the coefficients of the dual point, then, where
 * these cancel, with those that make the weights. */
static int interior_from(struct rank_fitting *fitting, const double *weights,
                         const struct monitor *monitor, struct error *err) {
    const double stricter = 0.1, part = 0.5, tiny = 1e-13; /* tiny: of the loss at 0 */
    const struct rank_parameters *parameters = &fitting->parameters;
    struct rank *rank = fitting->rank;
    struct rank_best *best = &fitting->best;
    double epsilon = part * parameters->epsilon;
    double least = tiny * parameters->cost * rank->loss[RANK_HINGE].total;
    struct monitor_run watch;
    struct monitor onward = monitor_after(&watch, monitor, best->iterations, 0);
    bool tied = true, squared = parameters->loss == RANK_SQUARED_HINGE;
    watch.primal = best->certificate.primal;
    watch.dual = best->certificate.dual;
    if (rank_finish_start(rank->finish, squared, parameters->cost, weights, err) < 0) {
        return -1;
    }
    for (int run = 0; run < INTERIOR_RUNS && !rank_is_reached(fitting); run++) {
        struct fit fit;
        struct certificate found;
        if (rank_finish_run(rank->finish, tied, epsilon, least, &onward, &fit, err) < 0) {
            return -1;
        }
        best->iterations = watch.before + fit.iterations;
        enum stop_reason stop = fit.reason;
        if (rank_take_fit(fitting, &fit, true, &found, err) < 0) {
            return -1;
        }
        if (stop_limited(stop) || (stop && !tied)) {
            break;
        }
        tied = tied && !stop && run < 1;
        epsilon *= stop ? 1 : stricter;
    }
    return 0;
}

int rank_run_interior_point(void *state, const struct monitor *monitor, struct error *err) {
    struct rank_fitting *fitting = state;
    struct rank *rank = fitting->rank;
    if (!rank->finish &&
        rank_finish_create(&rank->finish, rank->problem, &rank->map, &rank->pairs,
                           certify_reach(rank->certifier.certify),
                           rank->exterior ? rank->certifier.weight : NULL, err) < 0) {
        return -1;
    }
    if (!rank->finish) {
        rank->n_distinct = 0;
        fitting->without_one = true;
        return 0;
    }
    fitting->ran |= 1U << ALGORITHM_INTERIOR_POINT;
    int status = 0;
    if (rank_finish_starts_at(rank->finish)) {
        status = interior_from(fitting, fitting->best.weights, monitor, err);
    }
    return status == 0 && is_open(fitting) ? interior_from(fitting, NULL, monitor, err) : status;
}
