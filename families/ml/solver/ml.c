/* The ml solver: creation, the outer loop over tolerances, and the solution. */
#include "families/ml/solver/ml.h"

#include "common/base/array.h"
#include "common/base/memory.h"
#include "common/data/duplicates.h"
#include "families/ml/solver/admm.h"
#include "families/ml/solver/ml_private.h"
#include "families/ml/solver/policy.h"
#include "fit/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int ml_create(struct ml **ml, const struct problem *problem, const struct ml_setup *setup,
              struct error *err) {
    struct ml *made = memory_zeros(1, sizeof *made, "a problem", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->setup = *setup;
    bool definite = false;
    if (ml_rows_create(&made->rows, problem, err) < 0 ||
        score_map_create(&made->map, problem, err) < 0 ||
        certify_create(&made->certify, problem, &made->map, setup->bias, err) < 0 ||
        certify_definite(made->certify, &definite, err) < 0 ||
        (!problem->zero_only &&
         ml_ascent_create(&made->ascent, problem, &made->rows, setup->bias * setup->bias,
                          setup->shrinking, setup->seed, err) < 0)) {
        ml_free(made);
        return -1;
    }
    made->interior_work = ml_interior_work(problem, &made->rows);
    made->admm_work = definite ? ml_admm_work(problem, &made->rows) : INFINITY;
    *ml = made;
    return 0;
}

void ml_free(struct ml *ml) {
    if (!ml) {
        return;
    }
    if (ml->ascent.problem) {
        ml_ascent_free(&ml->ascent);
    }
    ml_interior_free(ml->interior);
    certify_free(ml->certify);
    score_map_free(&ml->map);
    ml_rows_free(&ml->rows);
    ml_proof_point_free(&ml->proof);
    free(ml->scores);
    free(ml);
}

const struct ml_rows *ml_get_rows(const struct ml *ml) {
    return &ml->rows;
}

const struct ml_proof_point *ml_get_proof_point(const struct ml *ml) {
    return &ml->proof;
}

const double *ml_get_scores(const struct ml *ml) {
    return ml->scores;
}

/* ---- solving ---- */

static int solve(struct ml *ml, const struct ml_parameters *parameters, struct ml_run *run,
                 struct ml_point *point, struct error *err) {
    struct ml_state state = {.ml = ml, .parameters = parameters, .run = *run, .point = point};
    int status = policy_run(&ml_policy, &state, run->monitor, err);
    *run = state.run;
    return status < 0 || state.ran
               ? status
               : error_set(err, ERROR_RUNTIME,
                           "solver interior: too many features, rows or labels, or a kernel that "
                           "is not positive semidefinite");
}

/* A fit of the outer loop over tolerances. */
struct solving {
    struct ml *ml;
    const struct ml_parameters *parameters;
    struct ml_run run;
    struct ml_point point; /* the best one; without weights before the first iteration */
};

/* Solves to a gap of epsilon, and keeps the better primal and the better dual point. */
static int solve_to(void *context, double epsilon, struct tolerance_result *end,
                    struct error *err) {
    struct solving *solving = context;
    struct ml_point found, *best = &solving->point;
    struct ml_parameters own = *solving->parameters;
    own.epsilon = epsilon;
    solving->run =
        (struct ml_run){.monitor = solving->run.monitor, .iterations = solving->run.iterations};
    if (ml_point_create(&found, solving->ml, err) < 0) {
        return -1;
    }
    int status = solve(solving->ml, &own, &solving->run, &found, err);
    if (status == 0) {
        ml_point_merge(best, &found);
    }
    ml_point_free(&found);
    if (status < 0) {
        return -1;
    }
    end->gap = best->certificate.certified ? best->certificate.gap : (double)NAN;
    end->limited = stop_limited(solving->run.stop);
    return 0;
}

/* Moves the point's weights to the solution and its scores, with the bias added, to ml. With
 * kernels rows of this process that are equal get equal scores, for thresholds. -1, and nothing has
 * changed, if memory is short. */
static int set_solution(struct ml *ml, struct ml_point *point, struct solution *solution,
                        struct error *err) {
    const struct problem *problem = ml->problem;
    size_t q = ml->rows.q;
    if (!ml->map.primal) {
        uint32_t *first = memory_array(ml->rows.n_all, sizeof *first, "equal rows", err);
        if (!first ||
            duplicates_find(problem->data, problem->rows, ml->rows.n_all, first, err) < 0) {
            free(first);
            return -1;
        }
        duplicates_equalise(first, ml->rows.n_all, point->scores, q);
        free(first);
    }
    if (point->certificate.zero_is_better) {
        memset(point->weights, 0, ml_n_weights(ml) * sizeof *point->weights);
        memset(point->bias, 0, q * sizeof *point->bias);
        memset(point->scores, 0, ml->rows.n_all * q * sizeof *point->scores);
    }
    for (size_t i = 0; i < ml->rows.n_all; i++) {
        array_add(point->scores + i * q, 1, point->bias, q);
    }
    free(ml->scores);
    ml->scores = point->scores;
    ml_proof_point_free(&ml->proof);
    ml->proof = point->proof;
    point->proof = (struct ml_proof_point){0};
    solution->weights = point->weights;
    point->scores = point->weights = NULL;
    if (ml->setup.bias > 0 || ml->setup.free_bias) {
        solution->bias = point->bias;
        point->bias = NULL;
    }
    return 0;
}

/* The zero solution, if there is no time to solve. Scores are not computed; they are 0. */
static int give_zero(struct ml *ml, double cost, struct solution *solution, struct error *err) {
    bool biased = ml->setup.bias > 0 || ml->setup.free_bias;
    free(ml->scores);
    ml->scores = NULL;
    ml_proof_point_free(&ml->proof);
    return certify_zero_solution(ml->problem, ml_loss_of_zero(&ml->rows, cost), ml_n_weights(ml),
                                 ml->rows.q, biased, solution, err);
}

int ml_solve(struct ml *ml, const struct ml_parameters *parameters, const struct monitor *monitor,
             struct solution *solution, struct error *err) {
    *solution = (struct solution){0};
    struct solving solving = {.ml = ml,
                              .parameters = parameters,
                              .run = {.monitor = monitor},
                              .point.certificate = {.primal = INFINITY, .gap = INFINITY}};
    struct ml_point *point = &solving.point;
    if (monitor_past_deadline(monitor)) {
        return give_zero(ml, parameters->cost, solution, err);
    }
    size_t size = cluster_count(ml->rows.cluster, ml->rows.n_all) * ml->rows.q;
    if (tolerance_solve(solve_to, &solving, parameters->epsilon, size, err) < 0) {
        ml_point_free(point);
        return -1;
    }
    *solution = (struct solution){.n_outputs = ml->rows.q, .iterations = solving.run.iterations};
    certify_conclude(&point->certificate, parameters->epsilon,
                     solving.run.stop ? solving.run.stop : STOP_ROUNDING, solution);
    int status = set_solution(ml, point, solution, err);
    ml_point_free(point);
    return status;
}
