#include "solvers/rank/rank.h"

#include "common/base/gap.h"
#include "common/base/memory.h"
#include "solvers/methods/bundle.h"
#include "solvers/methods/conditional.h"
#include "solvers/methods/score_map.h"
#include "solvers/rank/exterior.h"
#include "solvers/rank/newton.h"
#include "solvers/rank/pairs.h"
#include "solvers/rank/risk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often a fit that looked converged, but is not when recomputed in double, is taken further. */
enum { POLISH_ROUNDS = 3 };

/* A square this much below 0, of its terms, or a dual above the primal, of both, is no rounding. */
static const double INDEFINITE = 1e-9;

struct rank {
    const struct problem *problem;
    struct rank_pairs pairs;
    struct score_map map;
    struct exterior *exterior; /* pair features; else NULL */
    struct rank_risk loss[2];  /* by enum rank_loss */
    struct risk risk[2];
    struct bundle *bundle[2]; /* planes of earlier solves, by loss; NULL before the first */
    double *last[2];          /* weights of the last Newton solve, by loss */
};

static int open_parts(struct rank *rank, const struct rank_preferences *preferences,
                      struct error *err) {
    if (rank_pairs_create(&rank->pairs, rank->problem, preferences, err) ||
        rank_risk_create(&rank->loss[RANK_HINGE], &rank->pairs, RANK_RISK_HINGE, err) ||
        rank_risk_create(&rank->loss[RANK_SQUARED_HINGE], &rank->pairs, RANK_RISK_SQUARE, err)) {
        return -1;
    }
    if (!preferences->exterior) {
        rank->risk[RANK_HINGE] = rank_risk_table(&rank->loss[RANK_HINGE]);
        rank->risk[RANK_SQUARED_HINGE] = rank_risk_table(&rank->loss[RANK_SQUARED_HINGE]);
        return score_map_create(&rank->map, rank->problem, err);
    }
    if (exterior_create(&rank->exterior, rank->problem, &rank->pairs, err)) {
        return -1;
    }
    rank->risk[RANK_HINGE] = exterior_risk(rank->exterior, false);
    rank->risk[RANK_SQUARED_HINGE] = exterior_risk(rank->exterior, true);
    rank->map = exterior_map(rank->exterior);
    return 0;
}

int rank_open(struct rank **rank, const struct problem *problem,
              const struct rank_preferences *preferences, struct error *err) {
    struct rank *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    if (open_parts(made, preferences, err)) {
        rank_close(made);
        return -1;
    }
    *rank = made;
    return 0;
}

void rank_close(struct rank *rank) {
    if (!rank) {
        return;
    }
    for (int loss = 0; loss < 2; loss++) {
        bundle_free(rank->bundle[loss]);
        rank_risk_free(&rank->loss[loss]);
        free(rank->last[loss]);
    }
    score_map_free(&rank->map);
    exterior_free(rank->exterior);
    rank_pairs_free(&rank->pairs);
    free(rank);
}

struct rank_counts rank_counts(const struct rank *rank) {
    return (struct rank_counts){rank->pairs.n_groups + rank->pairs.n_groups_without,
                                rank->pairs.n_groups_without, rank->pairs.n_pairs};
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

static int run_newton(struct rank *rank, const struct rank_parameters *parameters, double epsilon,
                      const struct monitor *monitor, struct fit *fit, struct error *err) {
    double **last = &rank->last[parameters->loss];
    size_t d = rank->map.dimension;
    if (rank_newton_solve(rank->problem, &rank->map, &rank->pairs, parameters->loss,
                          parameters->cost, epsilon, *last, monitor, fit, err)) {
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
    if (!*bundle && bundle_create(bundle, &rank->map, &rank->risk[parameters->loss], err)) {
        return -1;
    }
    if (start && bundle_start(*bundle, start, err)) {
        return -1;
    }
    return bundle_solve(*bundle, parameters->cost, epsilon, monitor, fit, err);
}

/* What Newton's method leaves to rounding, cutting planes may still finish. */
static int finish_by_planes(struct rank *rank, const struct rank_parameters *parameters,
                            double epsilon, const struct monitor *monitor, struct fit *fit,
                            struct error *err) {
    struct fit finish;
    struct monitor_run planes;
    struct monitor onward = monitor_after(&planes, monitor, fit->iterations, 0);
    int status = run_bundle(rank, parameters, epsilon, fit->weights, &onward, &finish, err);
    if (status == 0) {
        finish.iterations += fit->iterations;
        fit_free(fit);
        *fit = finish;
    }
    return status;
}

static int run_engine(struct rank *rank, const struct rank_parameters *parameters, double epsilon,
                      const struct monitor *monitor, struct fit *fit, struct error *err) {
    struct conditional how = {.cost = parameters->cost,
                              .epsilon = epsilon,
                              .diminishing = parameters->step == RANK_DIMINISHING,
                              .decay = parameters->stop == RANK_DECAY};
    switch (choose(rank, parameters)) {
    case RANK_NEWTON:
        if (run_newton(rank, parameters, epsilon, monitor, fit, err)) {
            return -1;
        }
        if (fit->converged || stop_limited(fit->reason) || parameters->loss != RANK_HINGE) {
            return 0;
        }
        if (finish_by_planes(rank, parameters, epsilon, monitor, fit, err)) {
            fit_free(fit);
            return -1;
        }
        return 0;
    case RANK_FW:
        return conditional_solve(&rank->map, &rank->risk[parameters->loss], &how, monitor, fit,
                                 err);
    default:
        return run_bundle(rank, parameters, epsilon, NULL, monitor, fit, err);
    }
}

/* Recomputes both bounds in double from the weights. *indefinite: they show that the kernel is not
 * positive semidefinite. */
static int certify(struct rank *rank, const struct rank_parameters *parameters, struct fit *fit,
                   bool *indefinite, struct error *err) {
    const struct score_map *map = &rank->map;
    size_t n = map->n, d = map->dimension;
    double *both = memory_array(d, 2 * sizeof *both, "a certificate", err);
    double *scores = memory_array(n, 2 * sizeof *scores, "a certificate", err);
    double *s = memory_array(n, 2 * sizeof *s, "a certificate", err);
    int status = -1;
    if (both && scores && s) {
        for (size_t k = 0; k < d; k++) {
            both[2 * k] = fit->weights[k];
            both[2 * k + 1] = fit->dual_weights[k];
        }
        status = map->exact(map, both, 2, scores, err);
    }
    if (status == 0) {
        double norm = 0, dual_norm = 0, terms = 0, dual_terms = 0, offset;
        for (size_t k = 0; k < d; k++) {
            double term = both[2 * k] * (map->primal ? both : scores)[2 * k];
            double dual_term = both[2 * k + 1] * (map->primal ? both : scores)[2 * k + 1];
            norm += term;
            terms += fabs(term);
            dual_norm += dual_term;
            dual_terms += fabs(dual_term);
        }
        for (size_t i = 0; i < n; i++) {
            s[i] = scores[2 * i];
        }
        const struct risk *risk = &rank->risk[parameters->loss];
        fit->primal = 0.5 * norm + parameters->cost * risk->cut(risk->context, s, s + n, &offset);
        fit->dual = fit->dual_offset - 0.5 * dual_norm;
        *indefinite = norm < -INDEFINITE * terms || dual_norm < -INDEFINITE * dual_terms ||
                      fit->dual - fit->primal > INDEFINITE * (fabs(fit->dual) + fabs(fit->primal));
        if (!isfinite(fit->primal) || !isfinite(fit->dual)) {
            status =
                error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
        }
    }
    free(both);
    free(scores);
    free(s);
    return status;
}

static int fill_solution(struct rank *rank, const struct rank_parameters *parameters,
                         struct fit *fit, uint64_t iterations, bool indefinite,
                         struct solution *solution, struct error *err) {
    *solution = (struct solution){.n_outputs = 1,
                                  .primal = fit->primal,
                                  .dual = fit->dual,
                                  .iterations = iterations,
                                  .converged = fit->converged,
                                  .reason = fit->reason};
    bool decay = parameters->method == RANK_FW && parameters->stop == RANK_DECAY;
    if (!decay) {
        solution->converged = gap_reached(fit->primal, fit->dual, parameters->epsilon);
        if (!solution->converged && !solution->reason) {
            solution->reason = STOP_PRECISION;
        }
    }
    if (indefinite) {
        solution->dual = fit->primal - fabs(fit->primal); /* says nothing: a gap of 1 */
        solution->uncertified = true;
        solution->converged = false;
        solution->reason = stop_limited(fit->reason) ? fit->reason : STOP_INDEFINITE;
    }
    if (rank->exterior) {
        return exterior_coefficients(rank->exterior, fit->weights, &solution->pairs,
                                     &solution->n_pairs, err);
    }
    solution->weights = fit->weights;
    fit->weights = NULL;
    return 0;
}

int rank_solve(struct rank *rank, const struct rank_parameters *parameters,
               const struct monitor *monitor, struct solution *solution, struct error *err) {
    *solution = (struct solution){0};
    if (check(rank, parameters, err)) {
        return -1;
    }
    double epsilon = parameters->epsilon;
    uint64_t iterations = 0;
    struct fit fit;
    bool indefinite = false;
    for (int round = 0;; round++) {
        struct monitor_run run;
        struct monitor onward = monitor_after(&run, monitor, iterations, 0);
        if (run_engine(rank, parameters, epsilon, &onward, &fit, err)) {
            return -1;
        }
        iterations += fit.iterations;
        if (certify(rank, parameters, &fit, &indefinite, err)) {
            fit_free(&fit);
            return -1;
        }
        bool stays = !fit.converged || parameters->method == RANK_FW || round == POLISH_ROUNDS;
        if (stays || indefinite || gap_reached(fit.primal, fit.dual, parameters->epsilon)) {
            break;
        }
        fit_free(&fit);
        epsilon /= 2;
    }
    int status = fill_solution(rank, parameters, &fit, iterations, indefinite, solution, err);
    fit_free(&fit);
    return status;
}
