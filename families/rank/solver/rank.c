/* Creates and solves a RankSVM problem, and keeps the best iterate of a fit. A fit runs the policy
 * table (policy.c) for each tolerance of a sequence (fit/tolerance.h). */
#include "families/rank/solver/policy.h"

#include "common/base/memory.h"
#include "common/kernel/gram.h"
#include "families/rank/solver/exterior.h"
#include "families/rank/solver/listed_pairs.h"
#include "fit/tolerance.h"

#include <stdlib.h>
#include <string.h>

static int create_parts(struct rank *rank, const struct rank_preferences *preferences,
                        struct error *err) {
    if (rank_pairs_create(&rank->pairs, rank->problem, preferences, err) < 0 ||
        rank_risk_create(&rank->loss[RANK_HINGE], &rank->pairs, RANK_RISK_HINGE, err) < 0 ||
        rank_risk_create(&rank->loss[RANK_SQUARED_HINGE], &rank->pairs, RANK_RISK_SQUARE, err) <
            0) {
        return -1;
    }
    if (!rank->pair_features || !rank->problem->gram) {
        rank->risk[RANK_HINGE] = rank_risk_functions(&rank->loss[RANK_HINGE], preferences->keep);
        rank->risk[RANK_SQUARED_HINGE] =
            rank_risk_functions(&rank->loss[RANK_SQUARED_HINGE], preferences->keep);
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
    made->seed = preferences->seed;
    if (create_parts(made, preferences, err) < 0 ||
        rank_certifier_create(&made->certifier, problem, &made->map, &made->pairs, made->exterior,
                              &made->loss[RANK_HINGE], err) < 0 ||
        rank_listed_count(problem, &made->map, made->exterior != NULL, &made->n_distinct, err) <
            0 ||
        (!made->exterior && rank_low_rank_size(problem, made->seed, &made->n_landmarks,
                                               &made->explicit_features, err) < 0)) {
        rank_free(made);
        return -1;
    }
    made->n_preconditioner_rows =
        made->exterior ? 0 : rank_preconditioner_rows(problem, &made->pairs);
    *rank = made;
    return 0;
}

void rank_free(struct rank *rank) {
    if (!rank) {
        return;
    }
    for (int loss = 0; loss < 2; loss++) {
        cutting_planes_free(rank->planes[loss]);
        rank_risk_free(&rank->loss[loss]);
        free(rank->last[loss]);
    }
    rank_low_rank_free(rank->low_rank);
    rank_interior_free(rank->interior);
    rank_multipliers_free(&rank->multipliers);
    rank_listed_free(&rank->listed);
    rank_preconditioner_free(rank->preconditioner);
    rank_points_clear(&rank->points, 0);
    fit_free(&rank->dual);
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

/* Updates the best primal point and the best dual bound from a fit and its certificate. A certified
 * point replaces an uncertified one. Returns whether the dual bound is now that of the fit. */
static bool update_best(struct rank_best *best, struct fit *fit, const struct certificate *found) {
    struct certificate *known = &best->certificate;
    bool first = !best->weights, alike = first || known->certified == found->certified;
    bool better = first || (alike ? found->primal < known->primal : found->certified);
    bool dual = first || (alike ? !(known->dual >= found->dual) : better);
    if (better) {
        struct certificate before = *known;
        double *weights = best->weights;
        best->weights = fit->weights;
        fit->weights = weights;
        *known = *found;
        if (!first) {
            certify_take_better_dual(known, &before);
        }
    } else {
        certify_take_better_dual(known, found);
    }
    best->reason = fit->reason ? fit->reason : STOP_ROUNDING;
    best->converged = fit->converged;
    return dual;
}

struct plane_visit {
    struct rank_points *points;
    int status;
    struct error *err;
};

static void store_plane(void *context, double weight, const void *record) {
    struct plane_visit *visit = context;
    if (visit->status == 0) {
        visit->status = rank_points_add(visit->points, weight, 0, record, visit->err);
    }
}

/* Stores the fit's dual point in the form of the algorithm: coefficients of pairs, scores of a
 * smoothed loss, or cutting planes. */
static int store_points(struct rank *rank, const struct rank_parameters *parameters,
                        const struct fit *fit, const struct cutting_planes *planes,
                        struct error *err) {
    struct plane_visit visit = {.points = &rank->points, .err = err};
    rank_points_clear(&rank->points, rank->map.n);
    if (rank->exterior) {
        return exterior_points(rank->exterior, fit->dual_weights, &rank->points, err);
    }
    if (fit->dual_error) {
        return rank_listed_points(&rank->listed, rank->alpha, parameters->cost,
                                  parameters->loss == RANK_HINGE, &rank->points, err);
    }
    if (fit->dual_scores) {
        return rank_points_add(&rank->points, 1, fit->smoothing, fit->dual_scores, err);
    }
    cutting_planes_visit_dual(planes, 1, store_plane, &visit);
    return visit.status;
}

/* Moves the fit's dual point to the problem. */
static void keep_dual(struct rank *rank, struct fit *fit) {
    free(fit->weights);
    fit->weights = NULL;
    fit_free(&rank->dual);
    rank->dual = *fit;
    *fit = (struct fit){0};
}

int rank_take_fit(struct rank_fitting *fitting, struct fit *fit,
                  const struct cutting_planes *planes, struct certificate *found,
                  struct error *err) {
    struct rank *rank = fitting->rank;
    const struct rank_parameters *parameters = &fitting->parameters;
    const struct problem *problem = rank->problem;
    int status = problem->gram
                     ? gram_aggregate(problem->gram, problem->rows, problem->n, fit->weights, err)
                     : 0;
    status = status < 0 ? -1
                        : rank_certify(&rank->certifier, parameters->loss, parameters->cost,
                                       parameters->epsilon, fit, found, err);
    if (status == 0 && update_best(&fitting->best, fit, found)) {
        status = rank->keep ? store_points(rank, parameters, fit, planes, err) : 0;
        keep_dual(rank, fit);
    }
    fit_free(fit);
    return status;
}

static int fill_solution(struct rank *rank, const struct rank_parameters *parameters,
                         struct rank_best *best, struct solution *solution, struct error *err) {
    *solution = (struct solution){.n_outputs = 1, .iterations = best->iterations};
    certify_conclude(&best->certificate, parameters->epsilon, best->reason, solution);
    if (parameters->method == RANK_FW && parameters->stop == RANK_DECAY &&
        best->certificate.certified) {
        solution->converged = best->converged;
        solution->reason = best->converged ? STOP_REACHED : best->reason;
    }
    if (best->certificate.zero_is_better) {
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

/* The zero solution, for a fit that has no time. */
static int zero_solution(struct rank *rank, double cost, struct solution *solution,
                         struct error *err) {
    if (rank->pair_features) {
        solution->pairs = memory_array(1, sizeof *solution->pairs, "pairs", err);
        if (!solution->pairs) {
            return -1;
        }
    }
    return certify_zero_solution(rank->problem, rank_certifier_zero_loss(&rank->certifier, cost),
                                 rank->map.dimension, 1, false, solution, err);
}

struct solving {
    struct rank_fitting fitting;
    const struct monitor *monitor;
};

/* Runs the policy table to a gap, from the best iterate. */
static int solve_to(void *context, double epsilon, struct tolerance_result *end,
                    struct error *err) {
    struct solving *solving = context;
    struct rank_fitting *fitting = &solving->fitting;
    const struct certificate *certificate = &fitting->best.certificate;
    int status;
    const unsigned direct = 1U << ALGORITHM_NEWTON_DIRECT, last = 1U << ALGORITHM_INTERIOR_POINT;
    fitting->parameters.epsilon = epsilon;
    /* what has given way to a fallback solver does not run again */
    fitting->ran = fitting->ran & last     ? fitting->ran & ~last
                   : fitting->ran & direct ? fitting->ran & ~direct
                                           : 0;
    do { /* again, if a fallback solver turned out to be impossible */
        fitting->fallback_impossible = false;
        status = policy_run(&rank_policy, fitting, solving->monitor, err);
    } while (status == 0 && fitting->fallback_impossible);
    end->gap = certificate->certified ? certificate->gap : (double)NAN;
    end->limited = stop_limited(fitting->best.reason);
    return status;
}

/* The stopping rule RANK_DECAY is no gap, so there is no sequence of tolerances for it. */
static int solve_all(struct solving *solving, struct error *err) {
    const struct rank_parameters *parameters = &solving->fitting.parameters;
    double epsilon = parameters->epsilon;
    struct tolerance_result end;
    if (parameters->method == RANK_FW && parameters->stop == RANK_DECAY) {
        return solve_to(solving, epsilon, &end, err);
    }
    const struct score_map *map = &solving->fitting.rank->map;
    return tolerance_solve(solve_to, solving, epsilon, cluster_count(map->cluster, map->n), err);
}

/* Products with the kernel matrix for which a time limit leaves time: the last plane takes one, and
 * the certificate two columns. With 1.5 a fit of 20,000 rows came too late. */
static const double LAST_PRODUCTS = 3;

/* Measures the time of a product with many rows if there is a time limit. */
static int time_product(struct rank_fitting *fitting, struct error *err) {
    const struct rank *rank = fitting->rank;
    return rank->problem->gram && !rank->exterior
               ? rank_low_rank_time_product(rank->problem, fitting->limit,
                                            &fitting->product_seconds, err)
               : 0;
}

int rank_solve(struct rank *rank, const struct rank_parameters *parameters,
               const struct monitor *monitor, struct solution *solution, struct error *err) {
    *solution = (struct solution){0};
    struct monitor_run run;
    struct monitor onward;
    struct solving solving = {
        .fitting = {.rank = rank, .parameters = *parameters, .limit = monitor}, .monitor = &onward};
    if (check(rank, parameters, err) < 0 || time_product(&solving.fitting, err) < 0) {
        return -1;
    }
    bool landmarks = policy_applies(&rank_policy, ALGORITHM_EXPLICIT_FEATURES, &solving.fitting) ||
                     policy_applies(&rank_policy, ALGORITHM_LOW_RANK, &solving.fitting);
    double products = landmarks ? RANK_CERTIFICATE_PRODUCTS : LAST_PRODUCTS;
    onward = monitor_reserve_time(&run, monitor, products * solving.fitting.product_seconds);
    if (monitor_past_deadline(&onward)) {
        return zero_solution(rank, parameters->cost, solution, err);
    }
    onward = monitor_reserve_time(&run, monitor, LAST_PRODUCTS * solving.fitting.product_seconds);
    int status = solve_all(&solving, err);
    rank_multipliers_free(&rank->multipliers); /* another cost has others */
    rank->alpha = NULL;
    status =
        status < 0 ? -1 : fill_solution(rank, parameters, &solving.fitting.best, solution, err);
    free(solving.fitting.best.weights);
    return status;
}

int rank_replace(struct rank *rank, const struct rank_parameters *parameters,
                 struct solution *solution, struct error *err) {
    struct certificate certificate;
    rank->dual.weights = solution->weights;
    rank->dual.points = solution->points;
    int status = rank_certify(&rank->certifier, parameters->loss, parameters->cost,
                              parameters->epsilon, &rank->dual, &certificate, err);
    rank->dual.weights = NULL;
    rank->dual.points = NULL;
    if (status < 0) {
        return -1;
    }
    certify_conclude(&certificate, parameters->epsilon, STOP_STALLED, solution);
    if (certificate.zero_is_better) {
        memset(solution->weights, 0, rank->map.dimension * sizeof *solution->weights);
    }
    return 0;
}
