/* Block coordinate ascent to a certified gap, without a bias, with a constant feature, or with a
 * free bias. A free bias is solved for by the proximal point method (Rockafellar, SIAM J. Control
 * Optim. 1976): each proximal step is a fit with a constant feature of square rho. A sweep costs
 * one pass over the data, or over the kernel matrix, times the labels. */
#include "common/base/array.h"
#include "common/base/gap.h"
#include "families/ml/solver/bias.h"
#include "families/ml/solver/ml_private.h"
#include "fit/tolerance.h"

#include <math.h>
#include <string.h>

/* The first run has weights in float if there are many and the target gap is not small. 1e-4,
 * 20,000 rows: 60,000 weights take 1.04 times as long in float, 300,000 and 1.5 million .95 and .86
 * times. */
static const double MIN_EPSILON_SINGLE = 1e-4;
enum { MIN_WEIGHTS_SINGLE = 1 << 18 };

static bool is_reached(const struct ml_bounds *bounds, double epsilon) {
    return gap_reached(bounds->primal, bounds->dual, epsilon);
}

/* Replaces the scores that sweeps have accumulated by the exact scores. */
static void refresh(struct ml *ml, const struct ml_point *point) {
    struct ml_store *store = &ml->ascent.store;
    size_t q = ml->rows.q;
    for (size_t i = 0; store->S && i < ml->rows.n; i++) {
        memcpy(store->S + i * store->width, point->scores + ml->rows.row[i] * q,
               q * sizeof(double));
    }
}

/* ---- certificates ---- */

/* beta is itself a dual point: hinge, no free bias. */
static int take_beta(struct ml *ml, double cost, struct ml_point *point, struct error *err) {
    const struct ml_ascent *ascent = &ml->ascent;
    point->linear = ml_point_linear(ml, ascent->beta);
    ml_proof_point_clear(&point->proof);
    for (size_t i = 0; ml->setup.keep && i < ml->rows.n; i++) {
        if (ml_proof_point_add_beta(&point->proof, ml->rows.row[i],
                                    ascent->beta + i * ascent->store.width, ml->rows.q, err) < 0) {
            return -1;
        }
    }
    ml_point_weights(ml, ascent->beta, point);
    return ml_point_feasibility(ml, cost, ascent->beta, point, err);
}

/* Certifies the point of the solver's alphas. For a free bias the alphas are moved so that their
 * sums are 0, and the bias is that of the next proximal step. */
static int certify(struct ml *ml, const struct ml_parameters *parameters, struct ml_point *point,
                   struct error *err) {
    struct ml_ascent *ascent = &ml->ascent;
    bool free_bias = ml->setup.free_bias,
         from_alphas = free_bias || ascent->loss == ML_SQUARED_HINGE;
    const struct ml_alphas alphas = ml_ascent_alphas(ascent);
    if ((from_alphas ? ml_point_dual(ml, parameters->cost, &alphas, point, err)
                     : take_beta(ml, parameters->cost, point, err)) < 0 ||
        ml_point_scores(ml, point, err) < 0) {
        return -1;
    }
    if (!from_alphas) {
        refresh(ml, point);
    }
    for (size_t k = 0; k < ml->rows.q; k++) {
        point->bias[k] =
            free_bias ? ascent->offset[k] : ascent->constant_squared * point->residual[k];
    }
    return ml_point_certify(ml, parameters, point, err);
}

/* ---- block coordinate ascent ---- */

static int run_to(void *context, double epsilon, struct tolerance_result *end, struct error *err) {
    struct ml_state *state = context;
    struct ml_run *run = &state->run;
    run->epsilon = epsilon;
    /* later runs start from exact weights */
    if (epsilon < state->parameters->epsilon &&
        ml_store_start(&state->ml->ascent.store, state->ml->ascent.beta, false, err) < 0) {
        return -1;
    }
    if (ml_ascent_run(&state->ml->ascent, run, err) < 0 ||
        certify(state->ml, state->parameters, state->point, err) < 0) {
        return -1;
    }
    const struct certificate *certificate = &state->point->certificate;
    /* A run that stalled counts as converged and is repeated: with a smaller tolerance fewer rows
     * are shrunk, and with a kernel and the hinge it starts from exact scores, so it often reaches
     * the gap. */
    *end = (struct tolerance_result){.gap = certificate->certified ? certificate->gap : (double)NAN,
                                     .limited = stop_limited(run->stop),
                                     .converged = !run->stop && !run->converges_slowly};
    return 0;
}

/* ---- free bias ---- */

/* One proximal step: adds to b what the constant feature has contributed. b is then centred, for
 * adding the same number to all labels does not change the loss. */
static void shift_bias(struct ml_ascent *ascent) {
    size_t q = ascent->rows->q;
    double mean = 0;
    for (size_t k = 0; k < q; k++) {
        ascent->offset[k] += ascent->constant_squared * ascent->total[k];
        mean += ascent->offset[k] / (double)q;
    }
    for (size_t k = 0; k < q; k++) {
        ascent->offset[k] -= mean;
    }
}

/* Bounds without the proximal term, as far as they are known without a dual point whose sums are 0.
 * offset is the bias of the step, before shift_bias. */
static struct ml_bounds bounds_without_prox(const struct ml_ascent *ascent,
                                            const struct ml_bounds *bounds) {
    size_t q = ascent->rows->q;
    double proximal = 0.5 * ascent->constant_squared * array_dot(ascent->total, ascent->total, q);
    return (struct ml_bounds){bounds->primal - proximal,
                              bounds->dual + proximal +
                                  array_dot(ascent->total, ascent->offset, q)};
}

/* The first rho: a share of the mean diagonal entry of K. */
static double first_rho(const struct ml *ml) {
    const double diagonal_share = 0.3;
    double sum = cluster_total(ml->rows.cluster, array_sum(ml->ascent.store.diagonal, ml->rows.n));
    return sum > 0 ? diagonal_share * sum / (double)ml->rows.n_everywhere : 1;
}

/* Solves each proximal step to a share of the present gap. If a step takes few sweeps and reduces
 * the gap by less than half, b is far from its optimum, and rho grows. */
static int solve_free(struct ml_state *state, struct error *err) {
    const double gap_share = 0.2, growth = 3, max_growth = 1e6;
    enum { MAX_QUICK_SWEEPS = 2, MAX_FAILED = 50 };
    struct ml *ml = state->ml;
    const struct ml_parameters *parameters = state->parameters;
    struct ml_run *run = &state->run;
    struct ml_point *point = state->point;
    struct ml_ascent *ascent = &ml->ascent;
    double rho = first_rho(ml), best_gap = INFINITY;
    int failed = 0;
    struct convergence_rate rate = run->rate;
    ascent->constant_squared = rho;
    run->epsilon = gap_share;
    while (failed < MAX_FAILED) {
        uint64_t before = run->iterations;
        run->min_iterations = before + 1;
        run->rate = (struct convergence_rate){.other = rate.other};
        if (ml_ascent_run(ascent, run, err) < 0) {
            return -1;
        }
        struct ml_bounds bounds = bounds_without_prox(ascent, &run->bounds);
        shift_bias(ascent);
        bool end = is_reached(&bounds, parameters->epsilon);
        bool evaluate = run->stop || run->converges_slowly || end || failed + 1 == MAX_FAILED;
        if (!evaluate) {
            double relative_gap = gap_relative(bounds.primal, bounds.dual);
            evaluate = run->converges_slowly =
                convergence_is_slow(&rate, run->work, relative_gap, parameters->epsilon);
        }
        if (evaluate) {
            if (certify(ml, parameters, point, err) < 0) {
                return -1;
            }
            bounds = (struct ml_bounds){point->certificate.primal, point->certificate.dual};
            /* without a certificate, of a kernel that is not positive semidefinite, the solver's
             * own bounds are all there is */
            end = ml_gap_reached(point, parameters->epsilon) ||
                  (end && !point->certificate.certified);
        }
        /* sums that are not 0 had overestimated the dual */
        if (evaluate && !end && !run->converges_slowly) {
            double relative_gap = gap_relative(bounds.primal, bounds.dual);
            run->converges_slowly =
                convergence_is_slow(&rate, run->work, relative_gap, parameters->epsilon);
        }
        if (run->stop || run->converges_slowly || end) {
            break;
        }
        if (evaluate && ml_store_start(&ascent->store, ascent->beta, false, err) < 0) {
            return -1;
        }
        double new_gap = gap_relative(bounds.primal, bounds.dual);
        bool slow = !(new_gap < 0.5 * best_gap); /* or no number */
        failed = slow ? failed + 1 : 0;
        best_gap = fmin(best_gap, new_gap);
        if (slow && run->iterations - before <= MAX_QUICK_SWEEPS &&
            ascent->constant_squared < max_growth * rho) {
            ascent->constant_squared *= growth;
        }
        run->epsilon = fmin(gap_share * new_gap, run->epsilon);
    }
    return 0;
}

int ml_run_ascent(struct ml_state *state, struct error *err) {
    struct ml *ml = state->ml;
    const struct ml_parameters *parameters = state->parameters;
    state->ran = true;
    bool single = parameters->epsilon >= MIN_EPSILON_SINGLE && !ml->rows.cluster &&
                  ml_n_weights(ml) >= MIN_WEIGHTS_SINGLE;
    if (ml_ascent_start(&ml->ascent, parameters->loss, parameters->cost, single, err) < 0) {
        return -1;
    }
    return ml->setup.free_bias ? solve_free(state, err)
                               : tolerance_tighten(run_to, state, parameters->epsilon,
                                                   ML_MAX_OUTER_ITERATIONS, err);
}
