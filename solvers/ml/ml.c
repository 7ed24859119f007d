#include "solvers/ml/ml.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/linear.h"
#include "solvers/methods/score_map.h"
#include "solvers/ml/bias.h"
#include "solvers/ml/certify.h"
#include "solvers/ml/fw.h"
#include "solvers/ml/interior.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POLISH_ROUNDS = 6 /* certificates before the precision is given up */
};

struct ml {
    const struct problem *problem;
    struct ml_setup setup;
    struct ml_rows rows;
    struct ml_bcd bcd;
    struct ml_interior *interior; /* when it was first wanted */
    double interior_work;         /* INFINITY: it cannot be had */
    struct score_map map;
    struct certify *certify;
    double *scores; /* (n_all, q) of the last certificate */
};

/* What is certified: weights, and the function of a dual point. */
struct point {
    double *weights;  /* linear: (n_features, q); kernel: (n_all, q) */
    double *bias;     /* (q) */
    double gain;      /* the linear part of D */
    double rounding;  /* relative, of the dual point beyond a few units */
    double *size;     /* (n_all) sum of |beta_ik| of each row */
    double *residual; /* (q) sum of beta over rows */
    double *dual; /* weights of the dual point's function, and then its bias (q); NULL: weights */
    struct certificate certificate;
    struct ml_bounds bounds; /* of it */
};

int ml_create(struct ml **ml, const struct problem *problem, const struct ml_setup *setup,
              struct error *err) {
    struct ml *made = memory_zeros(1, sizeof *made, "a problem", err);
    if (!made) {
        return -1;
    }
    made->problem = problem;
    made->setup = *setup;
    int status = ml_rows_create(&made->rows, problem, err);
    if (status == 0) {
        status = score_map_create(&made->map, problem, err);
    }
    if (status == 0) {
        status = certify_create(&made->certify, problem, &made->map, setup->bias, err);
    }
    if (status == 0) {
        status =
            ml_bcd_create(&made->bcd, problem, &made->rows, setup->step, setup->bias * setup->bias,
                          setup->free_bias, setup->shrinking, setup->seed, err);
    }
    if (status == 0) {
        made->interior_work = ml_interior_work(problem, &made->rows);
        made->scores = memory_array(made->rows.n_all, made->rows.q * sizeof(double), "scores", err);
        status = made->scores ? 0 : -1;
    }
    if (status < 0) {
        ml_free(made);
        return -1;
    }
    *ml = made;
    return 0;
}

void ml_free(struct ml *ml) {
    if (!ml) {
        return;
    }
    if (ml->bcd.problem) {
        ml_bcd_free(&ml->bcd);
    }
    ml_interior_free(ml->interior);
    certify_free(ml->certify);
    score_map_free(&ml->map);
    ml_rows_free(&ml->rows);
    free(ml->scores);
    free(ml);
}

const struct ml_rows *ml_get_rows(const struct ml *ml) {
    return &ml->rows;
}

const double *ml_get_scores(const struct ml *ml) {
    return ml->scores;
}

/* ---- certificates ---- */

static void point_free(struct point *point) {
    free(point->weights);
    free(point->bias);
    free(point->size);
    free(point->residual);
    free(point->dual);
    *point = (struct point){0};
}

/* Numbers in the weights of a point. */
static size_t n_weights(const struct ml *ml) {
    return (ml->problem->gram ? ml->rows.n_all : ml->problem->data->n_features) * ml->rows.q;
}

static int point_create(struct point *point, const struct ml *ml, struct error *err) {
    size_t q = ml->rows.q;
    *point =
        (struct point){.weights = memory_zeros(n_weights(ml), sizeof(double), "weights", err),
                       .bias = memory_zeros(q, sizeof(double), "weights", err),
                       .size = memory_zeros(ml->rows.n_all, sizeof(double), "a certificate", err),
                       .residual = memory_zeros(q, sizeof(double), "a certificate", err)};
    if (point->weights && point->bias && point->size && point->residual) {
        return 0;
    }
    point_free(point);
    return -1;
}

/* Rows of `width` numbers to rows of q, in their places: rows[i], or i when rows is NULL. */
static void unpad(const double *padded, size_t width, const uint32_t *rows, size_t n, size_t q,
                  double *out) {
    for (size_t i = 0; i < n; i++) {
        memcpy(out + (rows ? rows[i] : i) * q, padded + i * width, q * sizeof *out);
    }
}

/* The sizes of beta (rows.n, width), and its sums. */
static void set_size(const struct ml *ml, const double *beta, struct point *point) {
    size_t q = ml->rows.q, width = ml->bcd.store.width;
    memset(point->residual, 0, q * sizeof *point->residual);
    for (size_t i = 0; i < ml->rows.n; i++) {
        double sum = 0;
        for (size_t k = 0; k < q; k++) {
            sum += fabs(beta[i * width + k]);
            point->residual[k] += beta[i * width + k];
        }
        point->size[ml->rows.row[i]] = sum;
    }
}

/* The weights that beta (rows.n, width) makes. */
static int set_weights(struct ml *ml, const double *beta, struct point *point, struct error *err) {
    struct ml_store *store = &ml->bcd.store;
    if (ml->problem->gram) {
        unpad(beta, store->width, ml->rows.row, ml->rows.n, ml->rows.q, point->weights);
        return 0;
    }
    if (ml_store_rebuild(store, beta, err) < 0) {
        return -1;
    }
    unpad(store->W, store->width, NULL, ml->problem->data->n_features, ml->rows.q, point->weights);
    return 0;
}

/* Scores without bias, in double and from the data. */
static int compute_scores(struct ml *ml, const struct point *point, struct error *err) {
    return ml->map.exact(&ml->map, point->weights, ml->rows.q, ml->scores, err);
}

/* Both bounds, from compute_scores; adds the bias to the scores. */
static int certify(struct ml *ml, const struct ml_parameters *parameters, struct point *point,
                   struct error *err) {
    size_t q = ml->rows.q;
    bool biased = ml->setup.bias > 0 || ml->setup.free_bias;
    const struct certify_function f = {
        .weights = point->weights, .bias = biased ? point->bias : NULL, .exact = ml->scores};
    struct certify_function g = f;
    if (point->dual) {
        g = (struct certify_function){.weights = point->dual,
                                      .bias = biased ? point->dual + n_weights(ml) : NULL};
    }
    const struct ml_claim claim = {.rows = &ml->rows,
                                   .loss = parameters->loss,
                                   .cost = parameters->cost,
                                   .f = &f,
                                   .g = &g,
                                   .size = point->size,
                                   .residual = ml->setup.free_bias ? point->residual : NULL,
                                   .linear = point->gain,
                                   .rounding = point->rounding,
                                   .scratch = ml->bcd.scratch[0]};
    if (ml_certify(ml->certify, &claim, &point->certificate, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < ml->rows.n_all; i++) {
        array_add(ml->scores + i * q, 1, point->bias, q);
    }
    point->bounds = (struct ml_bounds){point->certificate.primal, point->certificate.dual};
    return 0;
}

static bool is_reached(const struct ml_bounds *bounds, double epsilon) {
    return gap_reached(bounds->primal, bounds->dual, epsilon);
}

static bool is_certified(const struct point *point, double epsilon) {
    return point->certificate.gap <= epsilon;
}

/* The linear part of D at bcd's point. */
static double bcd_gain(const struct ml_bcd *bcd) {
    double gain = 0;
    for (size_t i = 0; i < bcd->rows->n; i++) {
        struct ml_block block = ml_bcd_block(bcd, i);
        const double *beta = bcd->beta + i * bcd->store.width;
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            gain += beta[block.relevant[p]];
        }
        gain -= bcd->conjugate[i];
    }
    return gain;
}

/* The exact scores take the place of those that sweeps have added up. */
static void refresh(struct ml *ml) {
    struct ml_store *store = &ml->bcd.store;
    size_t q = ml->rows.q;
    for (size_t i = 0; store->S && i < ml->rows.n; i++) {
        memcpy(store->S + i * store->width, ml->scores + ml->rows.row[i] * q, q * sizeof(double));
    }
}

/* ---- block coordinate ascent ---- */

static int certify_bcd(struct ml *ml, const struct ml_parameters *parameters, struct point *point,
                       struct error *err) {
    struct ml_bcd *bcd = &ml->bcd;
    size_t q = ml->rows.q;
    if (set_weights(ml, bcd->beta, point, err) < 0 || compute_scores(ml, point, err) < 0) {
        return -1;
    }
    refresh(ml);
    set_size(ml, bcd->beta, point);
    point->gain = bcd_gain(bcd);
    for (size_t k = 0; k < q; k++) {
        point->bias[k] = bcd->constant * bcd->total[k];
    }
    return certify(ml, parameters, point, err);
}

static int solve_bcd(struct ml *ml, const struct ml_parameters *parameters, struct ml_run *run,
                     struct point *point, struct error *err) {
    run->epsilon = parameters->epsilon;
    for (int round = 0; round < POLISH_ROUNDS; round++) {
        if (ml_bcd_run(&ml->bcd, run, err) < 0 || certify_bcd(ml, parameters, point, err) < 0) {
            return -1;
        }
        if (run->stop || run->yields || !point->certificate.certified ||
            is_certified(point, parameters->epsilon)) {
            break;
        }
        run->epsilon *= 0.7; /* the scores are exact now, and go on from there */
    }
    return 0;
}

/* ---- conditional gradient ---- */

static int solve_fw(struct ml *ml, const struct ml_parameters *parameters, struct ml_run *run,
                    struct point *point, struct error *err) {
    struct ml_bcd *bcd = &ml->bcd;
    struct ml_store *store = &bcd->store;
    size_t q = ml->rows.q, n = ml->rows.n, width = store->width;
    struct fit fit;
    if (ml_fw_solve(store, bcd->constant, parameters->cost, parameters->epsilon, run->monitor, &fit,
                    err) < 0) {
        return -1;
    }
    bcd->cost = 0; /* the store is not bcd's any more */
    run->iterations = fit.iterations;
    run->stop = fit.reason;
    point->gain = fit.dual_offset;
    if (ml->problem->gram) {
        unpad(fit.weights, width, ml->rows.row, n, q, point->weights);
        for (size_t i = 0; i < n; i++) {
            array_add(point->bias, bcd->constant, fit.weights + i * width, q);
        }
    } else {
        size_t d = ml->problem->data->n_features;
        unpad(fit.weights, width, NULL, d, q, point->weights);
        array_add(point->bias, ml->setup.bias, fit.weights + d * width, q);
    }
    for (size_t i = 0; i < n; i++) { /* at most; lambda times the pairs is the cost */
        point->size[ml->rows.row[i]] = 2 * parameters->cost;
    }
    point->rounding = 4 * DBL_EPSILON * ((double)fit.iterations + 4);
    fit_free(&fit);
    return compute_scores(ml, point, err) < 0 ? -1 : certify(ml, parameters, point, err);
}

/* ---- free bias ---- */

/* One proximal step: b takes over what the constant feature has given, centred, for the scores do
 * not change when the same is added to all labels. */
static void shift_bias(struct ml_bcd *bcd) {
    size_t q = bcd->rows->q;
    double mean = 0;
    for (size_t k = 0; k < q; k++) {
        bcd->offset[k] += bcd->constant * bcd->total[k];
        mean += bcd->offset[k] / (double)q;
    }
    for (size_t k = 0; k < q; k++) {
        bcd->offset[k] -= mean;
    }
}

/* The point with a dual that has sums of 0, near bcd's, and bcd's next bias. W is bcd's again. */
static int certify_balanced(struct ml *ml, const struct ml_parameters *parameters,
                            struct point *point, struct error *err) {
    struct ml_bcd *bcd = &ml->bcd;
    size_t n = ml->rows.n, q = ml->rows.q, width = bcd->store.width;
    const struct ml_alphas alphas = ml_bcd_alphas(bcd);
    double *beta = memory_array(n, width * sizeof(double), "dual variables", err);
    int status = beta ? ml_bias_beta(&alphas, true, width, beta, &point->gain, err) : -1;
    if (status == 0) {
        set_size(ml, beta, point);
        status = set_weights(ml, beta, point, err);
    }
    free(beta);
    if (status < 0 || compute_scores(ml, point, err) < 0) {
        return -1;
    }
    memcpy(point->bias, bcd->offset, q * sizeof(double));
    if (certify(ml, parameters, point, err) < 0) {
        return -1;
    }
    return ml->problem->gram ? 0 : ml_store_rebuild(&bcd->store, bcd->beta, err);
}

/* The bounds as far as they can be told without a dual point that has sums of 0: bcd's bounds
 * without what the proximal term adds to them. b is the bias of the step, before it is shifted. */
static struct ml_bounds bounds_without_prox(const struct ml_bcd *bcd,
                                            const struct ml_bounds *bounds) {
    size_t q = bcd->rows->q;
    double proximal = 0.5 * bcd->constant * array_dot(bcd->total, bcd->total, q);
    return (struct ml_bounds){bounds->primal - proximal,
                              bounds->dual + proximal + array_dot(bcd->total, bcd->offset, q)};
}

/* The first rho: a part of the mean of K's diagonal. */
static double first_rho(const struct ml *ml) {
    const double share = 0.3;
    double sum = 0;
    for (size_t i = 0; i < ml->rows.n; i++) {
        sum += ml->bcd.store.diagonal[i];
    }
    return sum > 0 ? share * sum / (double)ml->rows.n : 1;
}

/* Each step is solved to a part of the gap that there is. Where it takes no more than a sweep or
 * two and does not bring much, b has far to go, and rho grows. */
static int solve_free(struct ml *ml, const struct ml_parameters *parameters, struct ml_run *run,
                      struct point *point, struct error *err) {
    const double loose = 0.01, part = 0.2, growth = 3, most = 1e6;
    enum { QUICK = 2, MOST_FAILED = 50 };
    struct ml_bcd *bcd = &ml->bcd;
    double rho = first_rho(ml), best = INFINITY;
    int failed = 0;
    struct pace pace = run->pace;
    bcd->constant = rho;
    run->epsilon = fmax(loose, part * parameters->epsilon);
    while (failed < MOST_FAILED) {
        uint64_t before = run->iterations;
        run->least = before + 1;
        run->pace = (struct pace){.other = pace.other};
        if (ml_bcd_run(bcd, run, err) < 0) {
            return -1;
        }
        struct ml_bounds bounds = bounds_without_prox(bcd, &run->bounds);
        double open = gap_relative(bounds.primal, bounds.dual);
        run->yields = run->yields || pace_slow(&pace, run->work, open, parameters->epsilon);
        shift_bias(bcd);
        bool end = is_reached(&bounds, parameters->epsilon);
        if (run->stop || run->yields || end || failed + 1 == MOST_FAILED) {
            if (certify_balanced(ml, parameters, point, err) < 0) {
                return -1;
            }
            bounds = point->bounds;
            end = is_certified(point, parameters->epsilon);
        }
        if (run->stop || run->yields || end) {
            break;
        }
        double reached = gap_relative(bounds.primal, bounds.dual);
        bool slow = reached > 0.5 * best;
        failed = reached < 0.99 * best ? 0 : failed + 1;
        best = fmin(best, reached);
        if (slow && run->iterations - before <= QUICK && bcd->constant < most * rho) {
            bcd->constant *= growth;
        }
        run->epsilon = fmin(part * reached, run->epsilon) * (slow ? 0.5 : 1);
    }
    return 0;
}

/* ---- interior point ---- */

/* The loss at t times the scores, those of ml->scores being without bias, and bias_t times the bias;
 * *slope gets that of both together. */
static double scaled_loss(const struct ml *ml, const struct ml_parameters *parameters,
                          const double *bias, double t, double bias_t, double *slope) {
    size_t q = ml->rows.q;
    double loss = 0, conjugate, *s = ml->bcd.s, *vertex = ml->bcd.old;
    *slope = 0;
    for (size_t i = 0; i < ml->rows.n; i++) {
        struct ml_block block = ml_rows_block(&ml->rows, i, parameters->loss, parameters->cost);
        const double *from = ml->scores + ml->rows.row[i] * q;
        for (size_t k = 0; k < q; k++) {
            s[k] = t * from[k] + bias_t * bias[k];
        }
        loss += ml_block_vertex(&block, s, vertex, &conjugate, ml->bcd.scratch[0]);
        *slope -= array_dot(vertex, from, q) + array_dot(vertex, bias, q);
    }
    return loss;
}

/* The t near 1 where norm t^2 / 2 and the loss at t times the scores are least together. */
static double best_scale(const struct ml *ml, const struct ml_parameters *parameters,
                         const double *bias, double norm) {
    enum { HALVINGS = 60 };
    const double ulp = 4e-16, most = 0.5;
    double low = 1, high = 1, slope;
    scaled_loss(ml, parameters, bias, 1, 1, &slope);
    bool too_short = slope + norm < 0;
    for (double step = too_short ? ulp : -ulp; fabs(step) < most; step *= 2) {
        double t = 1 + step;
        *(too_short ? &high : &low) = t;
        scaled_loss(ml, parameters, bias, t, t, &slope);
        if ((slope + t * norm < 0) != too_short) {
            break;
        }
        *(too_short ? &low : &high) = t;
    }
    for (int k = 0; k < HALVINGS && high - low > ulp; k++) {
        double t = low + (high - low) / 2;
        scaled_loss(ml, parameters, bias, t, t, &slope);
        *(slope + t * norm < 0 ? &low : &high) = t;
    }
    return high;
}

/* Multiplies weights and ml->scores by the best factor: where C is large, margins that rounding has
 * left an ulp short of 1 cost more than weights that are longer by that much. That is 0 where the
 * free bias alone is as good. */
static void scale_point(struct ml *ml, const struct ml_parameters *parameters,
                        struct point *point) {
    size_t q = ml->rows.q, n_all = ml->rows.n_all;
    bool free_bias = ml->setup.free_bias;
    const double *other = ml->problem->gram ? ml->scores : point->weights;
    double norm = array_dot(point->weights, other, n_weights(ml)), slope;
    if (ml->setup.bias > 0) {
        norm += array_dot(point->bias, point->bias, q) / (ml->setup.bias * ml->setup.bias);
    }
    double t = best_scale(ml, parameters, point->bias, norm), bias_t = t;
    double primal = t * t * norm / 2 + scaled_loss(ml, parameters, point->bias, t, t, &slope);
    if (scaled_loss(ml, parameters, point->bias, 0, free_bias ? 1 : 0, &slope) <= primal) {
        t = 0;
        bias_t = free_bias ? 1 : 0;
    }
    for (size_t k = 0; k < n_weights(ml); k++) {
        point->weights[k] *= t;
    }
    for (size_t k = 0; k < n_all * q; k++) {
        ml->scores[k] *= t;
    }
    for (size_t k = 0; k < q; k++) {
        point->bias[k] *= bias_t;
    }
}

/* The weights that coefficients (rows.n, q) make. bcd's W is lost. */
static int set_coefficients(struct ml *ml, const double *coefficients, struct point *point,
                            struct error *err) {
    size_t n = ml->rows.n, q = ml->rows.q, width = ml->bcd.store.width;
    double *padded = memory_zeros(n, width * sizeof(double), "weights", err);
    for (size_t i = 0; padded && i < n; i++) {
        memcpy(padded + i * width, coefficients + i * q, q * sizeof *padded);
    }
    int status = padded ? set_weights(ml, padded, point, err) : -1;
    free(padded);
    return status;
}

/* Both points of a fit. bcd's W is lost. */
static int take_point(struct ml *ml, const struct ml_parameters *parameters,
                      const struct ml_interior_fit *fit, struct point *point, struct error *err) {
    size_t n = ml->rows.n, q = ml->rows.q, width = ml->bcd.store.width;
    double constant = ml->setup.bias * ml->setup.bias;
    bool free_bias = ml->setup.free_bias;
    point->dual = memory_array(n_weights(ml) + q, sizeof *point->dual, "weights", err);
    if (!point->dual) {
        return -1;
    }
    double *beta = memory_zeros(n, width * sizeof(double), "dual variables", err);
    if (!beta || ml_bias_beta(&fit->alphas, free_bias, width, beta, &point->gain, err) < 0 ||
        set_weights(ml, beta, point, err) < 0 || compute_scores(ml, point, err) < 0) {
        free(beta);
        return -1;
    }
    set_size(ml, beta, point);
    free(beta);
    memcpy(point->dual, point->weights, n_weights(ml) * sizeof *point->dual);
    for (size_t k = 0; k < q; k++) {
        double own = constant * point->residual[k];
        point->bias[k] = free_bias ? fit->bias[k] : own;
        point->dual[n_weights(ml) + k] = free_bias ? 0 : own;
    }
    if (fit->weights || fit->coefficients) {
        memcpy(point->bias, fit->bias, q * sizeof *point->bias);
        if (fit->weights) {
            memcpy(point->weights, fit->weights, n_weights(ml) * sizeof *point->weights);
        } else if (set_coefficients(ml, fit->coefficients, point, err) < 0) {
            return -1;
        }
        if (compute_scores(ml, point, err) < 0) {
            return -1;
        }
    }
    scale_point(ml, parameters, point);
    return certify(ml, parameters, point, err);
}

/* The better primal and the better dual of the two become point's, the other primal found's. */
static void take_better(struct point *point, struct point *found) {
    if (found->certificate.primal < point->certificate.primal) {
        struct point worse = *point;
        *point = *found;
        *found = worse;
    }
    certify_join(&point->certificate, &found->certificate);
    point->bounds = (struct ml_bounds){point->certificate.primal, point->certificate.dual};
}

/* point is certified already, or has a primal of infinity and a dual of 0. */
static int solve_interior(struct ml *ml, const struct ml_parameters *parameters, struct ml_run *run,
                          struct point *point, struct error *err) {
    const double stricter = 0.1, part = 0.9, tiny = 1e-13;
    double least = tiny * parameters->cost * (double)ml->rows.n; /* of the loss at 0 */
    struct monitor_run after;
    const struct monitor monitor = monitor_after(&after, run->monitor, run->iterations, 0);
    after.primal = point->bounds.primal;
    after.dual = point->bounds.dual;
    double epsilon = part * parameters->epsilon;
    bool tied = true;
    if (ml_interior_start(ml->interior, parameters->loss, parameters->cost, err) < 0) {
        return -1;
    }
    for (int round = 0; round < POLISH_ROUNDS; round++) {
        struct ml_interior_fit fit;
        struct point found;
        ml_interior_run(ml->interior, tied, epsilon, least, &monitor, &fit);
        if (point_create(&found, ml, err) < 0) {
            return -1;
        }
        if (take_point(ml, parameters, &fit, &found, err) < 0) {
            point_free(&found);
            return -1;
        }
        run->iterations = after.before + fit.iterations;
        run->stop = fit.stop;
        take_better(point, &found);
        point_free(&found);
        if (stop_limited(fit.stop) || is_certified(point, parameters->epsilon) ||
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

/* ---- solving ---- */

static int check(const struct ml *ml, const struct ml_parameters *parameters, struct error *err) {
    if (parameters->method == ML_FW && parameters->loss != ML_HINGE) {
        return error_set(err, ERROR_USAGE, "solver fw: the hinge loss only, for its dual is a box");
    }
    if (parameters->method == ML_FW && ml->setup.free_bias) {
        return error_set(err, ERROR_USAGE, "solver fw: not with a free bias");
    }
    return 0;
}

static int solve(struct ml *ml, const struct ml_parameters *parameters, struct ml_run *run,
                 struct point *point, struct error *err) {
    if (parameters->method == ML_FW) {
        return solve_fw(ml, parameters, run, point, err);
    }
    bool interior = parameters->method == ML_INTERIOR, bcd = parameters->method == ML_BCD;
    if (!interior) {
        run->pace.other = bcd ? INFINITY : ml->interior_work;
        if (ml_bcd_start(&ml->bcd, parameters->loss, parameters->cost, err) < 0 ||
            (ml->setup.free_bias ? solve_free : solve_bcd)(ml, parameters, run, point, err) < 0) {
            return -1;
        }
        if (bcd || run->stop || is_certified(point, parameters->epsilon)) {
            return 0;
        }
    } else {
        point->certificate = (struct certificate){.primal = INFINITY, .gap = INFINITY};
        point->bounds = (struct ml_bounds){INFINITY, 0};
    }
    if (want_interior(ml, err) < 0) {
        return -1;
    }
    if (!ml->interior) {
        return interior ? error_set(err, ERROR_RUNTIME,
                                    "solver interior: too many features, rows or labels, or a "
                                    "kernel that is not positive semidefinite")
                        : 0;
    }
    if (solve_interior(ml, parameters, run, point, err) < 0) {
        return -1;
    }
    return ml->problem->gram || ml->bcd.cost == 0
               ? 0
               : ml_store_rebuild(&ml->bcd.store, ml->bcd.beta, err);
}

int ml_solve(struct ml *ml, const struct ml_parameters *parameters, const struct monitor *monitor,
             struct solution *solution, struct error *err) {
    *solution = (struct solution){0};
    struct ml_run run = {.monitor = monitor};
    struct point point;
    if (check(ml, parameters, err) < 0 || point_create(&point, ml, err) < 0) {
        return -1;
    }
    if (solve(ml, parameters, &run, &point, err) < 0) {
        point_free(&point);
        return -1;
    }
    *solution = (struct solution){
        .n_outputs = ml->rows.q, .weights = point.weights, .iterations = run.iterations};
    certify_conclude(&point.certificate, parameters->epsilon, run.stop ? run.stop : STOP_ROUNDING,
                     solution);
    if (point.certificate.worse) {
        memset(point.weights, 0, n_weights(ml) * sizeof *point.weights);
        memset(point.bias, 0, ml->rows.q * sizeof *point.bias);
        memset(ml->scores, 0, ml->rows.n_all * ml->rows.q * sizeof *ml->scores);
    }
    point.weights = NULL;
    if (ml->setup.bias > 0 || ml->setup.free_bias) {
        solution->bias = point.bias;
        point.bias = NULL;
    }
    point_free(&point);
    return 0;
}
