/* The fallback solvers, interior-point method and ADMM, run to a certified gap. Their primal and
 * dual points are built here: the primal point is scaled, and its free bias centred. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "families/ml/solver/admm.h"
#include "families/ml/solver/ml_private.h"
#include "fit/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the points of a fit ---- */

/* Weights of the coefficients (rows.n, q). */
static int set_coefficients(struct ml *ml, const double *coefficients, struct ml_point *point,
                            struct error *err) {
    size_t n = ml->rows.n, q = ml->rows.q, width = ml->ascent.store.width;
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

/* Directional derivative of the loss in t, at t times the point's scores and bias. */
static double loss_derivative(const struct ml *ml, const struct ml_parameters *parameters,
                              const struct ml_point *point, double t) {
    size_t q = ml->rows.q;
    const double *bias = point->bias;
    double derivative = 0, conjugate, *s = ml->ascent.s, *vertex = ml->ascent.old;
    for (size_t i = 0; i < ml->rows.n; i++) {
        struct ml_block block = ml_rows_block(&ml->rows, i, parameters->loss, parameters->cost);
        const double *from = point->scores + ml->rows.row[i] * q;
        for (size_t k = 0; k < q; k++) {
            s[k] = t * (from[k] + bias[k]);
        }
        ml_block_vertex(&block, s, vertex, &conjugate, ml->ascent.scratch[0]);
        derivative -= array_dot(vertex, from, q) + array_dot(vertex, bias, q);
    }
    return cluster_total(ml->rows.cluster, derivative);
}

/* The t near 1 that minimises the primal of t times the point; squared_norm: |f|^2. At a large C
 * margins that are one ulp short of 1 cost more than weights longer by that much. */
static double best_multiple(const struct ml *ml, const struct ml_parameters *parameters,
                            const struct ml_point *point, double squared_norm) {
    const double ulp = 4e-16, max_step = 0.5; /* two units in the last place of 1 */
    double low = 1, high = 1;
    bool too_short = loss_derivative(ml, parameters, point, 1) + squared_norm < 0;
    for (double step = too_short ? ulp : -ulp; fabs(step) < max_step; step *= 2) {
        double t = 1 + step;
        *(too_short ? &high : &low) = t;
        if ((loss_derivative(ml, parameters, point, t) + t * squared_norm < 0) != too_short) {
            break;
        }
        *(too_short ? &low : &high) = t;
    }
    while (high - low > ulp) {
        double t = low + (high - low) / 2;
        *(loss_derivative(ml, parameters, point, t) + t * squared_norm < 0 ? &low : &high) = t;
    }
    return high;
}

/* Multiplies the point by `scale` and by the best multiple. */
static void scale_point(const struct ml *ml, const struct ml_parameters *parameters, double scale,
                        struct ml_point *point) {
    size_t q = ml->rows.q, n = ml_n_weights(ml);
    double squared_norm =
        array_dot(point->weights, ml->problem->gram ? point->scores : point->weights, n);
    if (ml->setup.bias > 0) {
        squared_norm += array_dot(point->bias, point->bias, q) / (ml->setup.bias * ml->setup.bias);
    }
    scale *= best_multiple(ml, parameters, point, squared_norm);
    array_scale(point->weights, scale, n);
    array_scale(point->scores, scale, ml->rows.n_all * q);
    array_scale(point->bias, scale, q);
}

/* For each label the largest shift of its scores, upwards where it is not relevant, or downwards
 * (falls) where it is, before a pair reaches the margin. INFINITY if none can. All processes. */
static void find_slack(const struct ml *ml, const struct ml_point *point, bool falls,
                       double *slack) {
    size_t q = ml->rows.q;
    double *s = ml->ascent.s;
    for (size_t k = 0; k < q; k++) {
        slack[k] = -INFINITY; /* minus the slack, so that the maximum is the smallest slack */
    }
    for (size_t i = 0; i < ml->rows.n; i++) {
        struct ml_block block = ml_rows_block(&ml->rows, i, ML_HINGE, 1);
        double low = INFINITY, high = -INFINITY;
        memcpy(s, point->scores + ml->rows.row[i] * q, q * sizeof *s);
        array_add(s, 1, point->bias, q);
        for (uint32_t pass = 0; pass < 2; pass++) {
            for (uint32_t k = 0, next = 0; k < q; k++) {
                bool relevant = next < block.n_relevant && block.relevant[next] == k;
                next += relevant;
                if (pass == 0) {
                    low = relevant ? fmin(low, s[k]) : low;
                    high = relevant ? high : fmax(high, s[k]);
                } else if (relevant == falls) {
                    double shift = falls ? s[k] - 1 - high : low - 1 - s[k];
                    slack[k] = fmax(slack[k], -shift);
                }
            }
        }
    }
    cluster_max(ml->rows.cluster, slack, q);
    array_scale(slack, -1, q);
}

/* Moves the entries of a free bias together where the loss does not determine them: an interior
 * point may have them at millions, where scores lose digits. Labels are raised, then
 * lowered, but stay at a distance of 1 from any pair with a loss. */
static int centre_bias(const struct ml *ml, struct ml_point *point, struct error *err) {
    size_t q = ml->rows.q;
    double *bias = point->bias, mean = 0, *slack = memory_array(q, sizeof *slack, "weights", err);
    if (!slack) {
        return -1;
    }
    for (int pass = 0; pass < 2; pass++) {
        bool falls = pass > 0;
        double end = bias[0];
        for (size_t k = 0; k < q; k++) {
            end = falls ? fmin(end, bias[k]) : fmax(end, bias[k]);
        }
        find_slack(ml, point, falls, slack);
        for (size_t k = 0; k < q; k++) {
            double by = fmax(fmin(slack[k] - 1, fabs(end - bias[k])), 0);
            bias[k] += falls ? -by : by;
        }
    }
    for (size_t k = 0; k < q; k++) {
        mean += bias[k] / (double)q;
    }
    for (size_t k = 0; k < q; k++) {
        bias[k] -= mean;
    }
    free(slack);
    return 0;
}

/* Builds and certifies both points of a fit, the primal from the fit's `own` or the dual point's
 * weights: it is scaled and, if `centre`, its free bias centred. Overwrites the score store's W. */
static int form_point(struct ml *ml, const struct ml_parameters *parameters,
                      const struct ml_fit *fit, bool own, double scale, bool centre,
                      struct ml_point *point, struct error *err) {
    size_t q = ml->rows.q;
    double constant = ml->setup.bias * ml->setup.bias;
    if (ml_point_dual(ml, parameters->cost, &fit->alphas, point, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < q; k++) {
        point->bias[k] = ml->setup.free_bias ? fit->bias[k] : constant * point->residual[k];
    }
    if (ml_point_separate_dual(ml, point, err) < 0) {
        return -1;
    }
    if (own) {
        memcpy(point->bias, fit->bias, q * sizeof *point->bias);
    }
    if (own && fit->weights) {
        memcpy(point->weights, fit->weights, ml_n_weights(ml) * sizeof *point->weights);
    } else if (own && set_coefficients(ml, fit->coefficients, point, err) < 0) {
        return -1;
    }
    if (ml_point_scores(ml, point, err) < 0) {
        return -1;
    }
    scale_point(ml, parameters, scale, point);
    if ((centre && centre_bias(ml, point, err) < 0) ||
        ml_point_certify(ml, parameters, point, err) < 0) {
        return -1;
    }
    point->certificate.solver_rounding = fmax(0, point->certificate.primal - fit->primal);
    return 0;
}

/* ---- solve, certify, tighten ---- */

/* One of the two methods, and its fit. */
struct fallback {
    struct ml_state *state;
    struct ml_interior *interior; /* NULL: admm */
    struct ml_admm *admm;
    double min_scale; /* of the gap's denominator: rounding of the loss at 0 */
    struct monitor monitor;
};

/* Keeps the points of a fit, the primal from its own or the dual point's weights, if they are
 * better. A free bias is centred from the second point on. Margins that rounding may have left
 * short of 1 count as loss; if that is most of the gap, a slightly longer primal point has less. */
static int offer_points(struct ml_state *state, const struct ml_fit *fit, bool own,
                        struct error *err) {
    enum { RESCALINGS = 3 };
    bool centre = false, centres = state->ml->setup.free_bias;
    double scale = 1, next = INFINITY;
    for (int k = 0; k <= RESCALINGS && next > 1; k++) {
        struct ml_point found;
        if (ml_point_create(&found, state->ml, err) < 0) {
            return -1;
        }
        if (form_point(state->ml, state->parameters, fit, own, scale, centre, &found, err) < 0) {
            ml_point_free(&found);
            return -1;
        }
        next = centre == centres ? found.certificate.scaling : INFINITY;
        scale *= centre == centres ? next : 1;
        centre = centres;
        ml_point_merge(state->point, &found);
        ml_point_free(&found);
        if (ml_gap_reached(state->point, state->parameters->epsilon)) {
            break;
        }
    }
    return 0;
}

/* The dual point's weights differ from the fit's own if best primal and best dual are of different
 * iterates, or to make sums over rows 0. With a large C a small change of weights is a large loss.
 * Only at the fit's own a larger primal than the fit's is rounding. */
static int offer_fit(struct ml_state *state, const struct ml_fit *fit, struct error *err) {
    if (fit->dual_first && offer_points(state, fit, false, err) < 0) {
        return -1;
    }
    return ml_gap_reached(state->point, state->parameters->epsilon)
               ? 0
               : offer_points(state, fit, true, err);
}

static int run_to(void *context, double epsilon, struct tolerance_result *end, struct error *err) {
    struct fallback *fallback = context;
    struct ml_state *state = fallback->state;
    struct ml_fit fit;
    if (fallback->admm) {
        ml_admm_run(fallback->admm, epsilon, fallback->min_scale, &fallback->monitor, &fit);
    } else {
        ml_interior_run(fallback->interior, epsilon, fallback->min_scale, &fallback->monitor, &fit);
    }
    if (offer_fit(state, &fit, err) < 0) {
        return -1;
    }
    state->run.iterations = fit.iterations;
    state->run.stop = fit.stop;
    *end = (struct tolerance_result){.gap = state->point->certificate.gap,
                                     .limited = stop_limited(fit.stop),
                                     .converged = !fit.stop};
    return 0;
}

/* Runs one of the two methods. */
static int run_fallback(struct ml_state *state, struct ml_interior *interior, struct ml_admm *admm,
                        struct error *err) {
    const double tiny = 1e-13; /* of the loss at 0, which is accurate to about so much */
    struct ml *ml = state->ml;
    uint64_t before = state->run.iterations;
    struct monitor_run after;
    struct fallback fallback = {.state = state,
                                .interior = interior,
                                .admm = admm,
                                .min_scale =
                                    tiny * ml_loss_of_zero(&ml->rows, state->parameters->cost),
                                .monitor = monitor_continue(&after, state->run.monitor, before, 0)};
    after.primal = state->point->certificate.primal;
    after.dual = state->point->certificate.dual;
    state->ran = true;
    int status = tolerance_tighten(run_to, &fallback, state->parameters->epsilon,
                                   ML_MAX_OUTER_ITERATIONS, err);
    state->run.iterations += before;
    return status;
}

/* ---- the algorithms ---- */

/* Creates the solver on first use. Sets ml->interior_work to INFINITY if K proves not to be
 * positive semidefinite. */
int ml_run_interior_point(void *context, const struct monitor *monitor, struct error *err) {
    struct ml_state *state = context;
    struct ml *ml = state->ml;
    (void)monitor;
    if (!ml->interior && ml_interior_create(&ml->interior, ml->problem, &ml->rows, ml->setup.bias,
                                            ml->setup.free_bias, err) < 0) {
        return -1;
    }
    if (!ml->interior) {
        ml->interior_work = INFINITY;
        return 0;
    }
    return ml_interior_start(ml->interior, state->parameters->loss, state->parameters->cost, err) <
                   0
               ? -1
               : run_fallback(state, ml->interior, NULL, err);
}

/* Starts at the point of coordinate ascent. Does nothing if K proves not to be positive
 * semidefinite. */
int ml_run_admm(void *context, const struct monitor *monitor, struct error *err) {
    struct ml_state *state = context;
    struct ml *ml = state->ml;
    (void)monitor;
    const struct ml_parameters *parameters = state->parameters;
    const struct ml_ascent *ascent = &ml->ascent;
    size_t width = ascent->store.width;
    double *scores = memory_array(ml->rows.n, width * sizeof *scores, "scores", err);
    struct ml_admm *admm = NULL;
    if (!scores) {
        return -1;
    }
    for (size_t i = 0; i < ml->rows.n; i++) {
        ml_store_scores(&ascent->store, i, scores + i * width);
    }
    const struct ml_admm_start start = {ascent->beta, scores, width};
    double constant = ml->setup.bias * ml->setup.bias;
    int status = ml_admm_create(&admm, ml->problem, &ml->rows, parameters->loss, parameters->cost,
                                constant, ml->setup.free_bias, &start, err);
    free(scores);
    if (admm) {
        status = run_fallback(state, NULL, admm, err);
    }
    ml_admm_free(admm);
    return status;
}
