/* The way to a certified gap of what finishes: the interior point, or operator splitting. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "solvers/ml/bias.h"
#include "solvers/ml/private.h"
#include "solvers/ml/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the points of a fit ---- */

/* The weights that coefficients (rows.n, q) make. bcd's W is lost. */
static int set_coefficients(struct ml *ml, const double *coefficients, struct ml_point *point,
                            struct error *err) {
    size_t n = ml->rows.n, q = ml->rows.q, width = ml->bcd.store.width;
    double *padded = memory_zeros(n, width * sizeof(double), "weights", err);
    if (!padded) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(padded + i * width, coefficients + i * q, q * sizeof *padded);
    }
    ml_point_weights(ml, padded, point);
    free(padded);
    return 0;
}

/* Both points of a fit. bcd's W is lost. */
static int take_point(struct ml *ml, const struct ml_parameters *parameters,
                      const struct ml_fit *fit, struct ml_point *point, struct error *err) {
    size_t n = ml->rows.n, q = ml->rows.q, width = ml->bcd.store.width;
    double constant = ml->setup.bias * ml->setup.bias;
    bool free_bias = ml->setup.free_bias;
    double *beta = memory_zeros(n, width * sizeof(double), "dual variables", err);
    struct ml_kept *kept = ml->setup.keep ? &point->kept : NULL;
    int status =
        beta ? ml_bias_beta(&fit->alphas, free_bias, width, beta, &point->gain, kept, err) : -1;
    if (status == 0) {
        ml_point_weights(ml, beta, point);
        status = ml_point_scores(ml, point, err) < 0
                     ? -1
                     : ml_point_size(ml, parameters->cost, beta, point, err);
    }
    free(beta);
    if (status < 0) {
        return -1;
    }
    for (size_t k = 0; k < q; k++) {
        point->bias[k] = free_bias ? fit->bias[k] : constant * point->residual[k];
    }
    if (ml_point_part(ml, point, err) < 0) {
        return -1;
    }
    if (fit->weights || fit->coefficients) {
        memcpy(point->bias, fit->bias, q * sizeof *point->bias);
        if (fit->weights) {
            memcpy(point->weights, fit->weights, ml_n_weights(ml) * sizeof *point->weights);
        } else if (set_coefficients(ml, fit->coefficients, point, err) < 0) {
            return -1;
        }
        if (ml_point_scores(ml, point, err) < 0) {
            return -1;
        }
    }
    return ml_point_stretch(ml, parameters, fit->primal, point, err);
}

/* The gap to which splitting goes before what rounding costs is looked at for the first time. */
static const double COARSE = 1e-3;

/* Whether rounding alone costs more than the gap that is wanted, and most of the gap that there
 * is. */
static bool is_paid(const struct certificate *certificate, double epsilon) {
    double gap = certificate->primal - certificate->dual;
    double paid = certificate->paid + certificate->lost;
    return paid > epsilon * certificate->primal && 2 * paid >= gap;
}

/* Runs what finishes, the interior point or, if there is one, the splitting, until the certificate
 * is reached, or no more can be gained, or so many rounds are over. cost: that of the parameters
 * or a lower one, whose objective tells nothing of what rounding loses. */
static int run_finisher(struct ml_state *state, struct ml_interior *interior,
                        struct ml_split *split, double cost, int rounds, struct error *err) {
    struct ml *ml = state->ml;
    const struct ml_parameters *parameters = state->parameters;
    struct ml_run *run = &state->run;
    struct ml_point *point = state->point;
    const double stricter = 0.1, part = 0.9, tiny = 1e-13;
    double least = tiny * cost * (double)ml->rows.n_everywhere; /* of the loss at 0 */
    struct monitor_run after;
    const struct monitor monitor = monitor_after(&after, run->monitor, run->iterations, 0);
    after.primal = point->bounds.primal;
    after.dual = point->bounds.dual;
    double epsilon = part * (split ? fmax(parameters->epsilon, COARSE) : parameters->epsilon);
    bool tied = true;
    for (int round = 0; round < rounds; round++) {
        struct ml_fit fit;
        struct ml_point found;
        if (split) {
            ml_split_run(split, epsilon, least, &monitor, &fit);
        } else {
            ml_interior_run(interior, tied, epsilon, least, &monitor, &fit);
        }
        fit.primal = cost < parameters->cost ? INFINITY : fit.primal;
        if (ml_point_create(&found, ml, err) < 0) {
            return -1;
        }
        if (take_point(ml, parameters, &fit, &found, err) < 0) {
            ml_point_free(&found);
            return -1;
        }
        run->iterations = after.before + fit.iterations;
        run->stop = fit.stop;
        double paid = (found.certificate.paid + found.certificate.lost) / found.certificate.primal;
        ml_point_join(point, &found);
        ml_point_free(&found);
        if (split && !fit.stop && is_paid(&point->certificate, parameters->epsilon)) {
            run->stop = fit.stop = STOP_ROUNDING; /* a smaller gap would be paid as much for */
        }
        if (stop_limited(fit.stop) || ml_is_certified(point, parameters->epsilon) ||
            (fit.stop && !fit.tied)) {
            break;
        }
        if (fit.stop) {
            tied = false;
        } else if (epsilon > part * parameters->epsilon) { /* as near as makes a difference */
            epsilon = part * fmax(parameters->epsilon, paid / 2);
        } else {
            epsilon *= stricter;
        }
    }
    return 0;
}

/* The interior point, made when it is first wanted. */
static int want_interior(struct ml *ml, struct error *err) {
    if (!ml->interior && isfinite(ml->interior_work)) {
        if (ml_interior_create(&ml->interior, ml->problem, &ml->rows, ml->setup.bias,
                               ml->setup.free_bias, 0, err) < 0) {
            return -1;
        }
        if (!ml->interior) {
            ml->interior_work = INFINITY;
        }
    }
    return 0;
}

static int solve_interior(struct ml_state *state, struct ml_interior *interior, int rounds,
                          struct error *err) {
    const struct ml_parameters *parameters = state->parameters;
    return ml_interior_start(interior, parameters->loss, parameters->cost, err) < 0
               ? -1
               : run_finisher(state, interior, NULL, parameters->cost, rounds, err);
}

static bool is_ended(const struct ml_state *state) {
    return stop_limited(state->run.stop) ||
           ml_is_certified(state->point, state->parameters->epsilon);
}

/* Where kernel values are huge the optimum's alphas are far below C, and its primal so far below
 * the loss at 0 that no double leads from there to it: dual points of lower costs are feasible, and
 * where they leave no loss the optimum is theirs. */
static int lower_cost(struct ml_state *state, struct error *err) {
    const double far = 0.9, factor = 1e-8;
    const struct ml_parameters *parameters = state->parameters;
    struct ml *ml = state->ml;
    double largest = array_largest(certify_reach(ml->certify), ml->problem->n);
    double enough = 1 / (parameters->cost * largest * largest);
    for (double part = factor; part >= enough && state->point->certificate.gap > far;
         part *= factor) {
        if (is_ended(state)) {
            return 0;
        }
        double cost = part * parameters->cost;
        if (ml_interior_start(ml->interior, parameters->loss, cost, err) < 0 ||
            run_finisher(state, ml->interior, NULL, cost, ML_POLISH_ROUNDS, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* bcd's W is that of its beta again. */
static void restore(struct ml *ml) {
    if (!ml->problem->gram && ml->bcd.cost != 0) {
        ml_store_rebuild(&ml->bcd.store, ml->bcd.beta);
    }
}

int ml_interior_point(struct ml_state *state, struct error *err) {
    struct ml *ml = state->ml;
    if (want_interior(ml, err) < 0) {
        return -1;
    }
    if (!ml->interior) {
        return 0;
    }
    state->ran = true;
    int status = solve_interior(state, ml->interior, ML_POLISH_ROUNDS, err);
    if (status == 0 && ml->problem->gram) {
        status = lower_cost(state, err);
    }
    restore(ml);
    return status;
}

/* The interior point over what of K is worth it: with K = F F' + R, beta of its dual point costs
 * beta'R beta / 2, the less the smaller C is; scores of F's functions are those of K. Where R still
 * costs more than is wanted, less of it is left out. Nothing is run where F has too many columns
 * before any run. */
static int solve_reduced(struct ml_state *state, struct error *err) {
    enum { TRIES = 4, ROUNDS = 2 };
    const double usual = 64, wanted = 1.0 / 4, dearest = 16; /* times what splitting costs */
    struct ml *ml = state->ml;
    const struct ml_parameters *parameters = state->parameters;
    struct ml_point *point = state->point;
    double n = (double)ml->rows.n, cost = parameters->cost, epsilon = parameters->epsilon;
    double primal = fmin(point->bounds.primal, ml_loss_of_nothing(&ml->rows, cost));
    double least = usual * epsilon * primal / (n * cost * cost);
    for (int k = 0; k < TRIES && least > 0; k++) {
        struct ml_interior *interior;
        if (ml_interior_create(&interior, ml->problem, &ml->rows, ml->setup.bias,
                               ml->setup.free_bias, least, err) < 0) {
            return -1;
        }
        if (!interior || (parameters->method == ML_AUTO &&
                          ml_interior_own_work(interior) > dearest * ml->split_work)) {
            ml_interior_free(interior);
            return 0;
        }
        state->ran = true;
        double before = point->certificate.gap;
        int status = solve_interior(state, interior, ROUNDS, err);
        ml_interior_free(interior);
        double left = point->certificate.primal - point->certificate.dual;
        if (status < 0 || is_ended(state) || !(point->certificate.gap < before)) {
            return status;
        }
        least *= fmin(wanted, wanted * epsilon * point->certificate.primal / left);
    }
    return 0;
}

int ml_interior_point_reduced(struct ml_state *state, struct error *err) {
    int status = solve_reduced(state, err);
    restore(state->ml);
    return status;
}

/* From where bcd is; nothing is run where K shows to be not positive semidefinite. */
int ml_admm(struct ml_state *state, struct error *err) {
    struct ml *ml = state->ml;
    const struct ml_parameters *parameters = state->parameters;
    const struct ml_bcd *bcd = &ml->bcd;
    size_t width = bcd->store.width;
    double *scores = memory_array(ml->rows.n, width * sizeof *scores, "scores", err);
    struct ml_split *split = NULL;
    if (!scores) {
        return -1;
    }
    for (size_t i = 0; i < ml->rows.n; i++) {
        ml_store_scores(&bcd->store, i, scores + i * width);
    }
    const struct ml_split_start start = {bcd->beta, scores, width};
    double constant = ml->setup.bias * ml->setup.bias;
    int status = ml_split_create(&split, ml->problem, &ml->rows, parameters->loss, parameters->cost,
                                 constant, ml->setup.free_bias, &start, err);
    free(scores);
    if (split) {
        state->ran = true;
        status = run_finisher(state, NULL, split, parameters->cost, ML_POLISH_ROUNDS, err);
    }
    ml_split_free(split);
    restore(ml);
    return status;
}
