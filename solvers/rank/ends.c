/* What ends a fit whose engine gains too little: interior points, Newton's method with the inverse
 * of its system, or cutting planes; and how long the engine has before. */
#include "solvers/rank/rank_private.h"

#include <math.h>

/* Rounds of interior points, each to a smaller gap. */
enum { FINISH_ROUNDS = 4 };

/* Steps of conjugate gradients that take about as long as what ends the fit: so many for each row
 * that differs before interior points; before Newton's method with the inverse of its system one
 * for so many rows, as of planes, and this at least. */
enum { CG_STEPS = 4, ROWS_EACH = 16, CG_LEAST = 40 };

/* Rows that differ, of which Newton's method with the inverse of its system goes before interior
 * points. */
enum { INVERSE_LEAST = 256 };

/* Steps of it, where interior points may end the fit if it does not. */
enum { INVERSE_STEPS = 64 };

/* Rows that differ, of which --solver newton does not wait until its other steps have ended. */
enum { INVERSE_FIRST = 2048 };

/* ---- how long the engine has ---- */

/* How many rows that differ the methods that may end a fit have; 0: these cannot. */
static size_t rows_that_differ(const struct rank *rank) {
    return rank->n_distinct > 0 ? rank->n_distinct : rank->n_inverse;
}

bool rank_has_finish(const struct rank *rank, const struct rank_parameters *parameters) {
    return parameters->method == RANK_AUTO && !rank->map.cluster && !rank->endless &&
           rank->n_distinct > 0;
}

/* Whether Newton's method with the inverse of its system may: interior points of few rows end
 * sooner, and nearer to the optimum. */
static bool has_inverse(const struct rank *rank, const struct rank_parameters *parameters) {
    bool wanted = rows_that_differ(rank) > INVERSE_LEAST || !rank_has_finish(rank, parameters);
    return rank->n_inverse > 0 &&
           (parameters->method == RANK_NEWTON || (parameters->method == RANK_AUTO && wanted));
}

uint64_t rank_most_gradients(const struct rank *rank, const struct rank_parameters *parameters) {
    size_t rows = rows_that_differ(rank), few = rows / ROWS_EACH;
    return !has_inverse(rank, parameters) ? CG_STEPS * rows : few > CG_LEAST ? few : CG_LEAST;
}

/* Planes take longer the more there are, and Newton's steps by conjugate gradients, of which there
 * are then rank_most_gradients, are many products each. */
uint64_t rank_patience(const struct rank *rank, const struct rank_parameters *parameters) {
    const double planes = 0.01;
    const uint64_t least = 100, steps = 16;
    size_t rows = rows_that_differ(rank);
    bool inverse = has_inverse(rank, parameters);
    bool first = parameters->method == RANK_AUTO || rows > INVERSE_FIRST;
    if (rank->map.primal || !first || !(inverse || rank_has_finish(rank, parameters))) {
        return 0;
    }
    if (rank_choose(rank, parameters) == RANK_NEWTON) {
        return steps;
    }
    uint64_t most = inverse ? rows / ROWS_EACH : (uint64_t)(planes * pow((double)rows, 1.5));
    return most > least ? most : least;
}

/* ---- what comes then ---- */

int rank_finish_by_planes(struct rank *rank, const struct rank_parameters *parameters,
                          const struct monitor *monitor, struct rank_best *best,
                          struct error *err) {
    struct fit fit;
    struct certificate found;
    struct monitor_run run;
    struct monitor onward = monitor_after(&run, monitor, best->iterations, 0);
    if (rank_run_bundle(rank, parameters, parameters->epsilon, best->weights, &onward, &fit, err) <
        0) {
        return -1;
    }
    best->iterations += fit.iterations;
    return rank_take_fit(rank, parameters, best, &fit, false, &found, err);
}

/* Newton's method with the inverse of its system, from `start` (NULL: from 0), then from the best
 * point; rounds of it, each to a smaller gap of its own, of INVERSE_STEPS together where interior
 * points stand behind it. */
static int inverse_from(struct rank *rank, const struct rank_parameters *parameters,
                        const double *start, const struct monitor *monitor, struct rank_best *best,
                        struct error *err) {
    double epsilon = parameters->epsilon;
    uint64_t left = rank_has_finish(rank, parameters) ? INVERSE_STEPS : 0;
    bool bounded = left > 0;
    for (int round = 0; round <= RANK_POLISH_ROUNDS && rank_is_open(best, parameters); round++) {
        struct fit fit;
        struct certificate found;
        struct monitor_run run;
        struct monitor onward = monitor_after(&run, monitor, best->iterations, left);
        if (rank_run_newton(rank, parameters, epsilon, round > 0 ? best->weights : start, 0,
                            rank->inverse, &onward, &fit, err) < 0) {
            return -1;
        }
        bool converged = fit.converged;
        best->iterations += fit.iterations;
        left -= fit.iterations < left ? fit.iterations : left;
        if (bounded && fit.reason == STOP_ITERATIONS && !run.said) {
            fit.reason = STOP_STALLED; /* no limit of the user's */
        }
        if (rank_take_fit(rank, parameters, best, &fit, false, &found, err) < 0) {
            return -1;
        }
        if (!converged || (bounded && left == 0)) {
            break;
        }
        epsilon /= 2;
    }
    return 0;
}

/* The same from the best point, and from 0 where that leads nowhere and nothing else follows. */
static int finish_by_inverse(struct rank *rank, const struct rank_parameters *parameters,
                             const struct monitor *monitor, struct rank_best *best,
                             struct error *err) {
    if (!rank->inverse &&
        rank_inverse_create(&rank->inverse, rank->problem, &rank->pairs, err) < 0) {
        return -1;
    }
    if (!rank->inverse) {
        rank->n_inverse = 0;
        return 0;
    }
    certify_allow(rank->certifier.certify, rank_inverse_work(rank->inverse));
    int status = inverse_from(rank, parameters, best->weights, monitor, best, err);
    bool last = parameters->loss == RANK_HINGE && !rank_has_finish(rank, parameters);
    return status == 0 && last && rank_is_open(best, parameters)
               ? inverse_from(rank, parameters, NULL, monitor, best, err)
               : status;
}

/* Interior points from `weights` on (NULL: from 0): at first with the coefficients of the dual
 * point, then, where these cancel, with those that make the weights. */
static int finish_from(struct rank *rank, const struct rank_parameters *parameters,
                       const double *weights, const struct monitor *monitor, struct rank_best *best,
                       struct error *err) {
    const double stricter = 0.1, part = 0.5, tiny = 1e-13; /* tiny: of the loss at 0 */
    double epsilon = part * parameters->epsilon;
    double least = tiny * parameters->cost * rank->loss[RANK_HINGE].total;
    struct monitor_run run;
    struct monitor onward = monitor_after(&run, monitor, best->iterations, 0);
    bool tied = true, squared = parameters->loss == RANK_SQUARED_HINGE;
    run.primal = best->certificate.primal;
    run.dual = best->certificate.dual;
    if (rank_finish_start(rank->finish, squared, parameters->cost, weights, err) < 0) {
        return -1;
    }
    for (int round = 0; round < FINISH_ROUNDS && !rank_is_reached(best, parameters); round++) {
        struct fit fit;
        struct certificate found;
        if (rank_finish_run(rank->finish, tied, epsilon, least, &onward, &fit, err) < 0) {
            return -1;
        }
        best->iterations = run.before + fit.iterations;
        enum stop_reason stop = fit.reason;
        if (rank_take_fit(rank, parameters, best, &fit, true, &found, err) < 0) {
            return -1;
        }
        if (stop_limited(stop) || (stop && !tied)) {
            break;
        }
        tied = tied && !stop && round < 1;
        epsilon *= stop ? 1 : stricter;
    }
    return 0;
}

/* Interior points, from what the engine has found; from nothing where that leads nowhere. */
static int finish(struct rank *rank, const struct rank_parameters *parameters,
                  const struct monitor *monitor, struct rank_best *best, struct error *err) {
    if (!rank->finish && !rank->endless &&
        rank_finish_create(&rank->finish, rank->problem, &rank->map, &rank->pairs,
                           certify_reach(rank->certifier.certify),
                           rank->exterior ? rank->certifier.weight : NULL, err) < 0) {
        return -1;
    }
    rank->endless = !rank->finish;
    if (rank->endless) {
        return 0;
    }
    int status = 0;
    if (rank_finish_starts_at(rank->finish)) {
        status = finish_from(rank, parameters, best->weights, monitor, best, err);
    }
    return status == 0 && rank_is_open(best, parameters)
               ? finish_from(rank, parameters, NULL, monitor, best, err)
               : status;
}

int rank_end_fit(struct rank *rank, const struct rank_parameters *parameters,
                 const struct monitor *monitor, struct rank_best *best, struct error *err) {
    bool first = has_inverse(rank, parameters);
    int status = 0;
    if (first && rank_is_open(best, parameters)) {
        status = finish_by_inverse(rank, parameters, monitor, best, err);
    }
    if (status == 0 && rank_is_open(best, parameters) && rank_has_finish(rank, parameters)) {
        status = finish(rank, parameters, monitor, best, err);
    }
    if (status == 0 && rank_is_open(best, parameters) && !first && has_inverse(rank, parameters)) {
        status = finish_by_inverse(rank, parameters, monitor, best, err);
    }
    return status;
}
