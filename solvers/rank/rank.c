/* The handle of a RankSVM problem: its engines, and the rounds between them and its certificate. */
#include "solvers/rank/rank.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/gram.h"
#include "solvers/methods/bundle.h"
#include "solvers/methods/conditional.h"
#include "solvers/methods/score_map.h"
#include "solvers/rank/certify.h"
#include "solvers/rank/exterior.h"
#include "solvers/rank/finish.h"
#include "solvers/rank/hinges.h"
#include "solvers/rank/inverse.h"
#include "solvers/rank/newton.h"
#include "solvers/rank/pairs.h"
#include "solvers/rank/risk.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often a fit that looked converged, but is not when recomputed in double, is taken further. */
enum { POLISH_ROUNDS = 3 };

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

struct rank {
    const struct problem *problem;
    struct rank_pairs pairs;
    struct score_map map;
    struct exterior *exterior; /* pair features; else NULL */
    struct rank_risk loss[2];  /* by enum rank_loss */
    struct risk risk[2];
    struct rank_certifier certifier;
    struct bundle *bundle[2];     /* planes of earlier solves, by loss; NULL before the first */
    double *last[2];              /* weights of the last Newton solve, by loss */
    size_t n_distinct;            /* rows that interior points would have; 0: they are too many */
    struct rank_finish *finish;   /* NULL until it is wanted ... */
    bool endless;                 /* ... and where it cannot be */
    size_t n_inverse;             /* rows that differ, of Newton's system; 0: they are too many */
    struct rank_inverse *inverse; /* NULL until it is wanted, and where it cannot be */
    bool pair_features;
    bool keep;                 /* the dual points of solutions are wanted: */
    struct rank_points points; /* that of the last */
};

static int create_parts(struct rank *rank, const struct rank_preferences *preferences,
                        struct error *err) {
    if (rank_pairs_create(&rank->pairs, rank->problem, preferences, err) < 0 ||
        rank_risk_create(&rank->loss[RANK_HINGE], &rank->pairs, RANK_RISK_HINGE, err) < 0 ||
        rank_risk_create(&rank->loss[RANK_SQUARED_HINGE], &rank->pairs, RANK_RISK_SQUARE, err) <
            0) {
        return -1;
    }
    if (!rank->pair_features || !rank->problem->gram) {
        rank->risk[RANK_HINGE] = rank_risk_table(&rank->loss[RANK_HINGE], preferences->keep);
        rank->risk[RANK_SQUARED_HINGE] =
            rank_risk_table(&rank->loss[RANK_SQUARED_HINGE], preferences->keep);
        return score_map_create(&rank->map, rank->problem, err);
    }
    if (exterior_create(&rank->exterior, rank->problem, &rank->pairs, err) < 0) {
        return -1;
    }
    rank->risk[RANK_HINGE] = exterior_risk(rank->exterior, false);
    rank->risk[RANK_SQUARED_HINGE] = exterior_risk(rank->exterior, true);
    rank->map = exterior_map(rank->exterior);
    return 0;
}

int rank_create(struct rank **rank, const struct problem *problem,
                const struct rank_preferences *preferences, struct error *err) {
    struct rank *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->keep = preferences->keep;
    made->pair_features = preferences->exterior;
    if (create_parts(made, preferences, err) < 0 ||
        rank_certifier_create(&made->certifier, problem, &made->map, &made->pairs, made->exterior,
                              &made->loss[RANK_HINGE], err) < 0 ||
        rank_hinges_count(problem, &made->map, &made->pairs, made->exterior != NULL,
                          &made->n_distinct, err) < 0) {
        rank_free(made);
        return -1;
    }
    made->n_inverse = made->exterior ? 0 : rank_inverse_rows(problem, &made->pairs);
    *rank = made;
    return 0;
}

void rank_free(struct rank *rank) {
    if (!rank) {
        return;
    }
    for (int loss = 0; loss < 2; loss++) {
        bundle_free(rank->bundle[loss]);
        rank_risk_free(&rank->loss[loss]);
        free(rank->last[loss]);
    }
    rank_finish_free(rank->finish);
    rank_inverse_free(rank->inverse);
    rank_points_clear(&rank->points, 0);
    rank_certifier_free(&rank->certifier);
    score_map_free(&rank->map);
    exterior_free(rank->exterior);
    rank_pairs_free(&rank->pairs);
    free(rank);
}

struct rank_counts rank_counts(const struct rank *rank) {
    struct cluster *cluster = rank->pairs.cluster;
    size_t without = cluster_count(cluster, rank->pairs.n_groups_without);
    return (struct rank_counts){cluster_count(cluster, rank->pairs.n_groups) + without, without,
                                cluster_total(cluster, rank->pairs.n_pairs)};
}

const struct rank_points *rank_get_points(const struct rank *rank) {
    return &rank->points;
}

/* Newton where the Hessian is small or the loss has one, else cutting planes. */
static enum rank_method choose(const struct rank *rank, const struct rank_parameters *parameters) {
    if (parameters->method != RANK_AUTO) {
        return parameters->method;
    }
    if (rank->exterior) {
        return RANK_OCAS;
    }
    if (parameters->loss == RANK_SQUARED_HINGE) {
        return RANK_NEWTON;
    }
    return rank->map.primal && rank->map.dimension <= RANK_NEWTON_DIRECT ? RANK_NEWTON : RANK_OCAS;
}

static int check(const struct rank *rank, const struct rank_parameters *parameters,
                 struct error *err) {
    if (parameters->method == RANK_FW && parameters->loss != RANK_HINGE) {
        return error_set(err, ERROR_USAGE, "solver fw: the hinge loss only, for its dual is a box");
    }
    if (parameters->method == RANK_NEWTON && rank->exterior) {
        return error_set(err, ERROR_USAGE, "solver newton: not with pair features");
    }
    return 0;
}

/* From `start`, if it is not NULL. inverse: the preconditioner, or NULL. */
static int run_newton(struct rank *rank, const struct rank_parameters *parameters, double epsilon,
                      const double *start, uint64_t most, struct rank_inverse *inverse,
                      const struct monitor *monitor, struct fit *fit, struct error *err) {
    double **last = &rank->last[parameters->loss];
    size_t d = rank->map.dimension;
    const struct score_map *map = inverse ? rank_inverse_map(inverse) : &rank->map;
    if (rank_newton_solve(rank->problem, map, &rank->pairs, parameters->loss, parameters->cost,
                          epsilon, start, most, inverse, monitor, fit, err) < 0) {
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

/* Cutting planes, from `start` if it is not NULL. */
static int run_bundle(struct rank *rank, const struct rank_parameters *parameters, double epsilon,
                      const double *start, const struct monitor *monitor, struct fit *fit,
                      struct error *err) {
    struct bundle **bundle = &rank->bundle[parameters->loss];
    if (!*bundle && bundle_create(bundle, &rank->map, &rank->risk[parameters->loss], err) < 0) {
        return -1;
    }
    if (start && bundle_start(*bundle, start, err) < 0) {
        return -1;
    }
    return bundle_solve(*bundle, parameters->cost, epsilon, monitor, fit, err);
}

/* How many rows that differ the methods that may end a fit have; 0: these cannot. */
static size_t rows_that_differ(const struct rank *rank) {
    return rank->n_distinct > 0 ? rank->n_distinct : rank->n_inverse;
}

/* Whether interior points may end what the engine leaves: they want all rows. */
static bool has_finish(const struct rank *rank, const struct rank_parameters *parameters) {
    return parameters->method == RANK_AUTO && !rank->map.cluster && !rank->endless &&
           rank->n_distinct > 0;
}

/* The same of Newton's method with the inverse of its system: interior points of few rows end
 * sooner, and nearer to the optimum. */
static bool has_inverse(const struct rank *rank, const struct rank_parameters *parameters) {
    bool wanted = rows_that_differ(rank) > INVERSE_LEAST || !has_finish(rank, parameters);
    return rank->n_inverse > 0 &&
           (parameters->method == RANK_NEWTON || (parameters->method == RANK_AUTO && wanted));
}

static uint64_t most_gradients(const struct rank *rank, const struct rank_parameters *parameters) {
    size_t rows = rows_that_differ(rank), few = rows / ROWS_EACH;
    return !has_inverse(rank, parameters) ? CG_STEPS * rows : few > CG_LEAST ? few : CG_LEAST;
}

/* impatient: what comes after it ends sooner than its slow steps would. */
static int run_engine(struct rank *rank, const struct rank_parameters *parameters, double epsilon,
                      bool impatient, const struct monitor *monitor, struct fit *fit,
                      struct error *err) {
    struct conditional how = {.cost = parameters->cost,
                              .epsilon = epsilon,
                              .diminishing = parameters->step == RANK_DIMINISHING,
                              .decay = parameters->stop == RANK_DECAY};
    switch (choose(rank, parameters)) {
    case RANK_NEWTON:
        return run_newton(rank, parameters, epsilon, rank->last[parameters->loss],
                          impatient ? most_gradients(rank, parameters) : 0, NULL, monitor, fit,
                          err);
    case RANK_FW:
        return conditional_solve(&rank->map, &rank->risk[parameters->loss], &how, monitor, fit,
                                 err);
    default:
        return run_bundle(rank, parameters, epsilon, NULL, monitor, fit, err);
    }
}

/* The points of all rounds: what one round gains, another may lose to rounding. */
struct best {
    double *weights; /* (dimension) of the primal point; NULL: none yet */
    struct certificate certificate;
    enum stop_reason reason;
    bool converged; /* by the last engine's own rule */
    bool impatient; /* that was ended for what comes after it */
    uint64_t iterations;
};

static bool is_definite(const struct rank *rank) {
    const struct problem *problem = rank->problem;
    return !problem->gram || kernel_definite(gram_rows(problem->gram)->kernel);
}

/* Takes the better primal and the better dual; where the kernel is known by the rows of both only,
 * the two together. Returns whether the dual is found's. */
static bool keep_best(const struct rank *rank, struct best *best, struct fit *fit,
                      const struct certificate *found) {
    struct certificate *known = &best->certificate;
    bool whole = !is_definite(rank), better, dual;
    if (!best->weights || !known->certified) {
        better = !best->weights || found->certified;
        whole = true;
    } else {
        better =
            whole ? found->certified && found->gap < known->gap : found->primal < known->primal;
    }
    dual = whole ? better : !(known->dual >= found->dual);
    if (better) {
        struct certificate before = *known;
        double *weights = best->weights;
        best->weights = fit->weights;
        fit->weights = weights;
        *known = *found;
        if (!whole) {
            certify_join(known, &before);
        }
    } else if (!whole) {
        certify_join(known, found);
    }
    best->reason = fit->reason ? fit->reason : STOP_ROUNDING;
    best->converged = fit->converged;
    return dual;
}

struct keeping {
    struct rank_points *points;
    int status;
    struct error *err;
};

static void keep_plane(void *context, double weight, const void *record) {
    struct keeping *keeping = context;
    if (keeping->status == 0) {
        keeping->status = rank_points_add(keeping->points, weight, 0, record, keeping->err);
    }
}

/* What the fit's dual point is made of: pairs, a smoothed loss, or planes. */
static int keep_points(struct rank *rank, enum rank_loss loss, const struct fit *fit, bool by_pairs,
                       struct error *err) {
    struct keeping keeping = {.points = &rank->points, .err = err};
    rank_points_clear(&rank->points, rank->map.n);
    if (rank->exterior) {
        return exterior_points(rank->exterior, fit->dual_weights, &rank->points, err);
    }
    if (by_pairs) {
        return rank_finish_points(rank->finish, &rank->points, err);
    }
    if (fit->dual_scores) {
        return rank_points_add(&rank->points, 1, fit->smoothing, fit->dual_scores, err);
    }
    bundle_visit(rank->bundle[loss], 1, keep_plane, &keeping);
    return keeping.status;
}

/* Certifies what an engine has found, with coefficients of distinct rows alone where the matrix
 * knows these, and keeps the best. */
static int take_fit(struct rank *rank, const struct rank_parameters *parameters, struct best *best,
                    struct fit *fit, bool by_pairs, struct certificate *found, struct error *err) {
    const struct problem *problem = rank->problem;
    int status =
        problem->gram ? gram_merge(problem->gram, problem->rows, problem->n, fit->weights, err) : 0;
    status = status < 0 ? -1
                        : rank_certify(&rank->certifier, parameters->loss, parameters->cost,
                                       parameters->epsilon, fit, found, err);
    if (status == 0 && keep_best(rank, best, fit, found) && rank->keep) {
        status = keep_points(rank, parameters->loss, fit, by_pairs, err);
    }
    fit_free(fit);
    return status;
}

static bool is_reached(const struct best *best, const struct rank_parameters *parameters) {
    return best->certificate.certified && best->certificate.gap <= parameters->epsilon;
}

/* Whether there is something left to do, and time for it. */
static bool is_open(const struct best *best, const struct rank_parameters *parameters) {
    return !is_reached(best, parameters) && !stop_limited(best->reason);
}

/* Interior points from `weights` on (NULL: from 0): at first with the coefficients of the dual
 * point, then, where these cancel, with those that make the weights. */
static int finish_from(struct rank *rank, const struct rank_parameters *parameters,
                       const double *weights, const struct monitor *monitor, struct best *best,
                       struct error *err) {
    const double stricter = 0.1, part = 0.5, tiny = 1e-13; /* tiny: of the loss at 0 */
    double epsilon = part * parameters->epsilon,
           least = tiny * parameters->cost * rank->loss[RANK_HINGE].total;
    struct monitor_run run;
    struct monitor onward = monitor_after(&run, monitor, best->iterations, 0);
    bool tied = true, squared = parameters->loss == RANK_SQUARED_HINGE;
    run.primal = best->certificate.primal;
    run.dual = best->certificate.dual;
    if (rank_finish_start(rank->finish, squared, parameters->cost, weights, err) < 0) {
        return -1;
    }
    for (int round = 0; round < FINISH_ROUNDS && !is_reached(best, parameters); round++) {
        struct fit fit;
        struct certificate found;
        if (rank_finish_run(rank->finish, tied, epsilon, least, &onward, &fit, err) < 0) {
            return -1;
        }
        best->iterations = run.before + fit.iterations;
        enum stop_reason stop = fit.reason;
        if (take_fit(rank, parameters, best, &fit, true, &found, err) < 0) {
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
                  const struct monitor *monitor, struct best *best, struct error *err) {
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
    return status == 0 && is_open(best, parameters)
               ? finish_from(rank, parameters, NULL, monitor, best, err)
               : status;
}

static int fill_solution(struct rank *rank, const struct rank_parameters *parameters,
                         struct best *best, struct solution *solution, struct error *err) {
    *solution = (struct solution){.n_outputs = 1, .iterations = best->iterations};
    certify_conclude(&best->certificate, parameters->epsilon, best->reason, solution);
    if (parameters->method == RANK_FW && parameters->stop == RANK_DECAY &&
        best->certificate.certified) {
        solution->converged = best->converged;
        solution->reason = best->converged ? STOP_REACHED : best->reason;
    }
    if (best->certificate.worse) {
        memset(best->weights, 0, rank->map.dimension * sizeof *best->weights);
    }
    if (rank->exterior) {
        return exterior_coefficients(rank->exterior, best->weights, &solution->pairs,
                                     &solution->n_pairs, err);
    }
    solution->weights = best->weights;
    best->weights = NULL;
    return 0;
}

/* Iterations in which an engine takes about as long as what would end the fit: planes take longer
 * the more there are, and Newton's steps by conjugate gradients, of which there are then
 * most_gradients, are many products each. 0: as many as it wants. */
static uint64_t patience(const struct rank *rank, const struct rank_parameters *parameters) {
    const double planes = 0.01;
    const uint64_t least = 100, steps = 16;
    size_t rows = rows_that_differ(rank);
    bool inverse = has_inverse(rank, parameters);
    bool first = parameters->method == RANK_AUTO || rows > INVERSE_FIRST;
    if (rank->map.primal || !first || !(inverse || has_finish(rank, parameters))) {
        return 0;
    }
    if (choose(rank, parameters) == RANK_NEWTON) {
        return steps;
    }
    uint64_t most = inverse ? rows / ROWS_EACH : (uint64_t)(planes * pow((double)rows, 1.5));
    return most > least ? most : least;
}

/* What Newton's method leaves to rounding, cutting planes may still finish, where interior points
 * cannot. */
static int finish_by_planes(struct rank *rank, const struct rank_parameters *parameters,
                            const struct monitor *monitor, struct best *best, struct error *err) {
    struct fit fit;
    struct certificate found;
    struct monitor_run run;
    struct monitor onward = monitor_after(&run, monitor, best->iterations, 0);
    if (run_bundle(rank, parameters, parameters->epsilon, best->weights, &onward, &fit, err) < 0) {
        return -1;
    }
    best->iterations += fit.iterations;
    return take_fit(rank, parameters, best, &fit, false, &found, err);
}

/* Newton's method with the inverse of its system, from the best point; rounds of it, each to a
 * smaller gap of its own, of INVERSE_STEPS together where interior points stand behind it. */
static int finish_by_inverse(struct rank *rank, const struct rank_parameters *parameters,
                             const struct monitor *monitor, struct best *best, struct error *err) {
    double epsilon = parameters->epsilon;
    if (!rank->inverse &&
        rank_inverse_create(&rank->inverse, rank->problem, &rank->pairs, err) < 0) {
        return -1;
    }
    if (!rank->inverse) {
        rank->n_inverse = 0;
        return 0;
    }
    uint64_t left = has_finish(rank, parameters) ? INVERSE_STEPS : 0;
    bool bounded = left > 0;
    certify_allow(rank->certifier.certify, rank_inverse_work(rank->inverse));
    for (int round = 0; round <= POLISH_ROUNDS && is_open(best, parameters); round++) {
        struct fit fit;
        struct certificate found;
        struct monitor_run run;
        struct monitor onward = monitor_after(&run, monitor, best->iterations, left);
        if (run_newton(rank, parameters, epsilon, best->weights, 0, rank->inverse, &onward, &fit,
                       err) < 0) {
            return -1;
        }
        bool converged = fit.converged;
        best->iterations += fit.iterations;
        left -= fit.iterations < left ? fit.iterations : left;
        if (bounded && fit.reason == STOP_ITERATIONS && !run.said) {
            fit.reason = STOP_STALLED; /* no limit of the user's */
        }
        if (take_fit(rank, parameters, best, &fit, false, &found, err) < 0) {
            return -1;
        }
        if (!converged || (bounded && left == 0)) {
            break;
        }
        epsilon /= 2;
    }
    return 0;
}

/* Rounds of the engine, each to a smaller gap of its own while the certificate's is not reached,
 * and of at most so many iterations (0: no limit). */
static int run_rounds(struct rank *rank, const struct rank_parameters *parameters, uint64_t most,
                      const struct monitor *monitor, struct best *best, struct error *err) {
    double epsilon = parameters->epsilon;
    for (int round = 0;; round++) {
        struct fit fit;
        struct certificate found;
        struct monitor_run run;
        struct monitor onward = monitor_after(&run, monitor, best->iterations, most);
        if (run_engine(rank, parameters, epsilon, most > 0, &onward, &fit, err) < 0) {
            return -1;
        }
        best->iterations += fit.iterations;
        if (most > 0 && fit.reason == STOP_ITERATIONS && !run.said) {
            fit.reason = STOP_STALLED; /* no limit of the user's */
            best->impatient = true;
        }
        bool converged = fit.converged;
        if (take_fit(rank, parameters, best, &fit, false, &found, err) < 0) {
            return -1;
        }
        bool refined = false;
        if (is_open(best, parameters) &&
            rank_certifier_refine(&rank->certifier, parameters->epsilon, &found, &refined, err) <
                0) {
            return -1;
        }
        bool stays = !converged || parameters->method == RANK_FW || round == POLISH_ROUNDS;
        bool rounded = rank->exterior && !refined && /* going on is in vain, and slow */
                       found.paid > parameters->epsilon * found.primal;
        if (stays || rounded || !found.certified || is_reached(best, parameters)) {
            return 0;
        }
        epsilon /= refined ? 1 : 2;
    }
}

/* w = 0 for lack of time. */
static int give_nothing(struct rank *rank, double cost, struct solution *solution,
                        struct error *err) {
    solution->n_outputs = 1;
    if (rank->pair_features) {
        solution->pairs = memory_array(1, sizeof *solution->pairs, "pairs", err);
    } else {
        solution->weights = memory_zeros(rank->map.dimension, sizeof(double), "weights", err);
    }
    certify_nothing(rank->problem, rank_certifier_nothing(&rank->certifier, cost), solution);
    return solution->pairs || solution->weights ? 0 : -1;
}

/* What the engine has left, by what may end it. */
static int end_fit(struct rank *rank, const struct rank_parameters *parameters,
                   const struct monitor *monitor, struct best *best, struct error *err) {
    bool first = has_inverse(rank, parameters);
    int status = 0;
    if (first && is_open(best, parameters)) {
        status = finish_by_inverse(rank, parameters, monitor, best, err);
    }
    if (status == 0 && is_open(best, parameters) && has_finish(rank, parameters)) {
        status = finish(rank, parameters, monitor, best, err);
    }
    if (status == 0 && is_open(best, parameters) && !first && has_inverse(rank, parameters)) {
        status = finish_by_inverse(rank, parameters, monitor, best, err);
    }
    return status;
}

int rank_solve(struct rank *rank, const struct rank_parameters *parameters,
               const struct monitor *monitor, struct solution *solution, struct error *err) {
    *solution = (struct solution){0};
    struct best best = {.weights = NULL};
    if (check(rank, parameters, err) < 0) {
        return -1;
    }
    if (monitor_late(monitor)) {
        return give_nothing(rank, parameters->cost, solution, err);
    }
    int status = run_rounds(rank, parameters, patience(rank, parameters), monitor, &best, err);
    status = status < 0 ? -1 : end_fit(rank, parameters, monitor, &best, err);
    bool waited = best.impatient && patience(rank, parameters) > 0; /* for what has ended it */
    if (status == 0 && is_open(&best, parameters) && best.impatient && !waited) {
        status = run_rounds(rank, parameters, 0, monitor, &best, err);
    }
    if (status == 0 && is_open(&best, parameters) && !has_finish(rank, parameters) &&
        parameters->loss == RANK_HINGE && (waited || choose(rank, parameters) == RANK_NEWTON)) {
        status = finish_by_planes(rank, parameters, monitor, &best, err);
    }
    status = status < 0 ? -1 : fill_solution(rank, parameters, &best, solution, err);
    free(best.weights);
    return status;
}
