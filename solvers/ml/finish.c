/* The interior point's way to a certified gap. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "solvers/ml/bias.h"
#include "solvers/ml/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the best multiple ---- */

/* The loss at t times the point's scores and bias_t times its bias; *slope gets that of both
 * together. */
static double scaled_loss(const struct ml *ml, const struct ml_parameters *parameters,
                          const struct ml_point *point, double t, double bias_t, double *slope) {
    size_t q = ml->rows.q;
    const double *bias = point->bias;
    double loss = 0, conjugate, *s = ml->bcd.s, *vertex = ml->bcd.old;
    *slope = 0;
    for (size_t i = 0; i < ml->rows.n; i++) {
        struct ml_block block = ml_rows_block(&ml->rows, i, parameters->loss, parameters->cost);
        const double *from = point->scores + ml->rows.row[i] * q;
        for (size_t k = 0; k < q; k++) {
            s[k] = t * from[k] + bias_t * bias[k];
        }
        loss += ml_block_vertex(&block, s, vertex, &conjugate, ml->bcd.scratch[0]);
        *slope -= array_dot(vertex, from, q) + array_dot(vertex, bias, q);
    }
    *slope = cluster_total(ml->rows.cluster, *slope);
    return cluster_total(ml->rows.cluster, loss);
}

/* The t near 1 where norm t^2 / 2 and the loss at t times the scores are least together. */
static double best_scale(const struct ml *ml, const struct ml_parameters *parameters,
                         const struct ml_point *point, double norm) {
    enum { HALVINGS = 60 };
    const double ulp = 4e-16, most = 0.5;
    double low = 1, high = 1, slope;
    scaled_loss(ml, parameters, point, 1, 1, &slope);
    bool too_short = slope + norm < 0;
    for (double step = too_short ? ulp : -ulp; fabs(step) < most; step *= 2) {
        double t = 1 + step;
        *(too_short ? &high : &low) = t;
        scaled_loss(ml, parameters, point, t, t, &slope);
        if ((slope + t * norm < 0) != too_short) {
            break;
        }
        *(too_short ? &low : &high) = t;
    }
    for (int k = 0; k < HALVINGS && high - low > ulp; k++) {
        double t = low + (high - low) / 2;
        scaled_loss(ml, parameters, point, t, t, &slope);
        *(slope + t * norm < 0 ? &low : &high) = t;
    }
    return high;
}

static void multiply(const struct ml *ml, double t, double bias_t, struct ml_point *point) {
    for (size_t k = 0; k < ml_n_weights(ml); k++) {
        point->weights[k] *= t;
    }
    for (size_t k = 0; k < ml->rows.n_all * ml->rows.q; k++) {
        point->scores[k] *= t;
    }
    for (size_t k = 0; k < ml->rows.q; k++) {
        point->bias[k] *= bias_t;
    }
}

/* Multiplies the point by the best factor: where C is large, margins that rounding has left an ulp
 * short of 1 cost more than weights that are longer by that much. That is 0 where the free bias alone
 * is as good. */
static void scale_point(const struct ml *ml, const struct ml_parameters *parameters,
                        struct ml_point *point) {
    size_t q = ml->rows.q;
    bool free_bias = ml->setup.free_bias;
    const double *other = ml->problem->gram ? point->scores : point->weights;
    double norm = array_dot(point->weights, other, ml_n_weights(ml)), slope;
    if (ml->setup.bias > 0) {
        norm += array_dot(point->bias, point->bias, q) / (ml->setup.bias * ml->setup.bias);
    }
    double t = best_scale(ml, parameters, point, norm), bias_t = t;
    double primal = t * t * norm / 2 + scaled_loss(ml, parameters, point, t, t, &slope);
    if (scaled_loss(ml, parameters, point, 0, free_bias ? 1 : 0, &slope) <= primal) {
        t = 0;
        bias_t = free_bias ? 1 : 0;
    }
    multiply(ml, t, bias_t, point);
}

/* t times the weights, bias and scores that `from` has, one behind the other. */
static void take_multiple(const struct ml *ml, const double *from, double t,
                          struct ml_point *point) {
    size_t n = ml_n_weights(ml), q = ml->rows.q, scores = ml->rows.n_all * q;
    memcpy(point->weights, from, n * sizeof *from);
    memcpy(point->bias, from + n, q * sizeof *from);
    memcpy(point->scores, from + n + q, scores * sizeof *from);
    multiply(ml, t, t, point);
}

/* The same for what rounding may have left short when the scores were computed: the certificate
 * counts it as loss. Each length is a multiple of the first, lest scores be rounded time and again. */
static int stretch(struct ml *ml, const struct ml_parameters *parameters, struct ml_point *point,
                   struct error *err) {
    static const double more[] = {1e-14, 1e-12, 1e-10, 1e-8};
    size_t n = ml_n_weights(ml), q = ml->rows.q, scores = ml->rows.n_all * q;
    if (point->certificate.gap <= parameters->epsilon) {
        return 0;
    }
    double *from = memory_array(n + q + scores, sizeof *from, "weights", err), length = 1;
    if (!from) {
        return -1;
    }
    memcpy(from, point->weights, n * sizeof *from);
    memcpy(from + n, point->bias, q * sizeof *from);
    memcpy(from + n + q, point->scores, scores * sizeof *from);
    int status = 0;
    for (size_t k = 0; k < sizeof more / sizeof more[0] && status == 0 &&
                       point->certificate.gap > parameters->epsilon;
         k++) {
        const struct certificate before = point->certificate;
        const struct ml_bounds bounds = point->bounds;
        take_multiple(ml, from, length * (1 + more[k]), point);
        status = ml_point_certify(ml, parameters, point, err);
        if (point->certificate.primal < before.primal) {
            length *= 1 + more[k];
        } else { /* the next may be long enough */
            take_multiple(ml, from, length, point);
            point->certificate = before;
            point->bounds = bounds;
        }
    }
    free(from);
    return status;
}

/* ---- the points of a fit ---- */

/* The weights that coefficients (rows.n, q) make. bcd's W is lost. */
static int set_coefficients(struct ml *ml, const double *coefficients, struct ml_point *point,
                            struct error *err) {
    size_t n = ml->rows.n, q = ml->rows.q, width = ml->bcd.store.width;
    double *padded = memory_zeros(n, width * sizeof(double), "weights", err);
    for (size_t i = 0; padded && i < n; i++) {
        memcpy(padded + i * width, coefficients + i * q, q * sizeof *padded);
    }
    int status = padded ? ml_point_weights(ml, padded, point, err) : -1;
    free(padded);
    return status;
}

/* Both points of a fit. bcd's W is lost. */
static int take_point(struct ml *ml, const struct ml_parameters *parameters,
                      const struct ml_interior_fit *fit, struct ml_point *point,
                      struct error *err) {
    size_t n = ml->rows.n, q = ml->rows.q, width = ml->bcd.store.width;
    double constant = ml->setup.bias * ml->setup.bias;
    bool free_bias = ml->setup.free_bias;
    point->dual = memory_array(ml_n_weights(ml) + q, sizeof *point->dual, "weights", err);
    if (!point->dual) {
        return -1;
    }
    double *beta = memory_zeros(n, width * sizeof(double), "dual variables", err);
    struct ml_kept *kept = ml->setup.keep ? &point->kept : NULL;
    if (!beta || ml_bias_beta(&fit->alphas, free_bias, width, beta, &point->gain, kept, err) < 0 ||
        ml_point_weights(ml, beta, point, err) < 0 || ml_point_scores(ml, point, err) < 0) {
        free(beta);
        return -1;
    }
    ml_point_size(ml, beta, point);
    free(beta);
    memcpy(point->dual, point->weights, ml_n_weights(ml) * sizeof *point->dual);
    for (size_t k = 0; k < q; k++) {
        double own = constant * point->residual[k];
        point->bias[k] = free_bias ? fit->bias[k] : own;
        point->dual[ml_n_weights(ml) + k] = free_bias ? 0 : own;
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
    scale_point(ml, parameters, point);
    return ml_point_certify(ml, parameters, point, err) < 0 ? -1
                                                            : stretch(ml, parameters, point, err);
}

static int solve_interior(struct ml *ml, const struct ml_parameters *parameters, struct ml_run *run,
                          struct ml_point *point, struct error *err) {
    const double stricter = 0.1, part = 0.9, tiny = 1e-13;
    double least = tiny * parameters->cost * (double)ml->rows.n_everywhere; /* of the loss at 0 */
    struct monitor_run after;
    const struct monitor monitor = monitor_after(&after, run->monitor, run->iterations, 0);
    after.primal = point->bounds.primal;
    after.dual = point->bounds.dual;
    double epsilon = part * parameters->epsilon;
    bool tied = true;
    if (ml_interior_start(ml->interior, parameters->loss, parameters->cost, err) < 0) {
        return -1;
    }
    for (int round = 0; round < ML_POLISH_ROUNDS; round++) {
        struct ml_interior_fit fit;
        struct ml_point found;
        ml_interior_run(ml->interior, tied, epsilon, least, &monitor, &fit);
        if (ml_point_create(&found, ml, err) < 0) {
            return -1;
        }
        if (take_point(ml, parameters, &fit, &found, err) < 0) {
            ml_point_free(&found);
            return -1;
        }
        run->iterations = after.before + fit.iterations;
        run->stop = fit.stop;
        ml_point_join(point, &found);
        ml_point_free(&found);
        if (stop_limited(fit.stop) || ml_is_certified(point, parameters->epsilon) ||
            (fit.stop && !fit.tied)) {
            break;
        }
        if (fit.stop) {
            tied = false;
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
                               ml->setup.free_bias, err) < 0) {
            return -1;
        }
        if (!ml->interior) {
            ml->interior_work = INFINITY;
        }
    }
    return 0;
}

int ml_finish(struct ml *ml, const struct ml_parameters *parameters, struct ml_run *run,
              struct ml_point *point, bool *possible, struct error *err) {
    if (want_interior(ml, err) < 0) {
        return -1;
    }
    *possible = ml->interior;
    if (!ml->interior) {
        return 0;
    }
    if (solve_interior(ml, parameters, run, point, err) < 0) {
        return -1;
    }
    return ml->problem->gram || ml->bcd.cost == 0
               ? 0
               : ml_store_rebuild(&ml->bcd.store, ml->bcd.beta, err);
}
