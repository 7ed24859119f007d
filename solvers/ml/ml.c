#include "solvers/ml/ml.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/linear.h"
#include "solvers/methods/score_map.h"
#include "solvers/ml/bias.h"
#include "solvers/ml/fw.h"

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
    struct score_map map;
    double *scores; /* (n_all, q) of the last certificate */
};

/* A norm or a gap that is negative by more than this part of its terms is not so by rounding. */
static const double INDEFINITE = 1e-9;

/* What is certified: weights with a dual point. */
struct point {
    double *weights; /* linear: (n_features, q); kernel: (n_all, q) */
    double *bias;    /* (q) */
    double norm;     /* of the bias, as far as the norm counts it */
    double gain;     /* the linear part of D */
    struct ml_bounds bounds;
    bool indefinite; /* they show that the kernel is not positive semidefinite */
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
        status =
            ml_bcd_create(&made->bcd, problem, &made->rows, setup->step, setup->bias * setup->bias,
                          setup->free_bias, setup->shrinking, setup->seed, err);
    }
    if (status == 0) {
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

static int point_create(struct point *point, const struct ml *ml, struct error *err) {
    size_t rows = ml->problem->gram ? ml->rows.n_all : ml->problem->data->n_features;
    *point =
        (struct point){.weights = memory_zeros(rows, ml->rows.q * sizeof(double), "weights", err),
                       .bias = memory_zeros(ml->rows.q, sizeof(double), "weights", err)};
    if (point->weights && point->bias) {
        return 0;
    }
    free(point->weights);
    free(point->bias);
    *point = (struct point){0};
    return -1;
}

static void point_free(struct point *point) {
    free(point->weights);
    free(point->bias);
    *point = (struct point){0};
}

/* Rows of `width` numbers to rows of q, in their places: rows[i], or i when rows is NULL. */
static void unpad(const double *padded, size_t width, const uint32_t *rows, size_t n, size_t q,
                  double *out) {
    for (size_t i = 0; i < n; i++) {
        memcpy(out + (rows ? rows[i] : i) * q, padded + i * width, q * sizeof *out);
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
    size_t q = ml->rows.q, n_all = ml->rows.n_all;
    bool kernel = ml->problem->gram != NULL;
    size_t n_weights = (kernel ? n_all : ml->problem->data->n_features) * q;
    const double *other = kernel ? ml->scores : point->weights;
    double norm = point->norm + array_dot(point->weights, other, n_weights), terms = point->norm;
    for (size_t k = 0; k < n_weights; k++) {
        terms += fabs(point->weights[k] * other[k]);
    }
    for (size_t i = 0; i < n_all; i++) {
        array_add(ml->scores + i * q, 1, point->bias, q);
    }
    double loss = 0;
    for (size_t i = 0; i < ml->rows.n; i++) {
        struct ml_block block = ml_rows_block(&ml->rows, i, parameters->loss, parameters->cost);
        loss += ml_block_loss(&block, ml->scores + ml->rows.row[i] * q, ml->bcd.scratch[0]);
    }
    point->bounds = (struct ml_bounds){0.5 * norm + loss, point->gain - 0.5 * norm};
    double excess = point->bounds.dual - point->bounds.primal;
    point->indefinite = norm < -INDEFINITE * terms || excess > INDEFINITE * (terms + loss);
    return isfinite(point->bounds.primal) && isfinite(point->bounds.dual)
               ? 0
               : error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
}

static bool is_reached(const struct ml_bounds *bounds, double epsilon) {
    return gap_reached(bounds->primal, bounds->dual, epsilon);
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
    point->gain = bcd_gain(bcd);
    point->norm = bcd->constant * array_dot(bcd->total, bcd->total, q);
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
        if (run->stop || point->indefinite || is_reached(&point->bounds, parameters->epsilon)) {
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
    if (bcd->constant > 0) {
        point->norm = array_dot(point->bias, point->bias, q) / bcd->constant;
    }
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
static int certify_free(struct ml *ml, const struct ml_parameters *parameters, struct point *point,
                        struct error *err) {
    struct ml_bcd *bcd = &ml->bcd;
    size_t n = ml->rows.n, q = ml->rows.q, width = bcd->store.width;
    double *beta = memory_array(n, width * sizeof(double), "dual variables", err);
    int status = beta ? ml_bias_balance(bcd, beta, &point->gain, err) : -1;
    if (status == 0) {
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
    bcd->constant = rho;
    run->epsilon = fmax(loose, part * parameters->epsilon);
    while (failed < MOST_FAILED) {
        uint64_t before = run->iterations;
        run->least = before + 1;
        if (ml_bcd_run(bcd, run, err) < 0) {
            return -1;
        }
        struct ml_bounds bounds = bounds_without_prox(bcd, &run->bounds);
        shift_bias(bcd);
        if (run->stop || is_reached(&bounds, parameters->epsilon) || failed + 1 == MOST_FAILED) {
            if (certify_free(ml, parameters, point, err) < 0) {
                return -1;
            }
            bounds = point->bounds;
        }
        if (run->stop || is_reached(&bounds, parameters->epsilon)) {
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
    if (ml_bcd_start(&ml->bcd, parameters->loss, parameters->cost, err) < 0) {
        return -1;
    }
    return (ml->setup.free_bias ? solve_free : solve_bcd)(ml, parameters, run, point, err);
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
    *solution = (struct solution){.n_outputs = ml->rows.q,
                                  .weights = point.weights,
                                  .primal = point.bounds.primal,
                                  .dual = point.bounds.dual,
                                  .iterations = run.iterations};
    solution->gap = point.indefinite ? NAN : gap_relative(point.bounds.primal, point.bounds.dual);
    solution->certified = !point.indefinite;
    solution->converged = is_reached(&point.bounds, parameters->epsilon);
    if (!solution->converged) {
        solution->reason = run.stop ? run.stop : STOP_PRECISION;
    }
    if (point.indefinite) {
        solution->dual = 0;
        solution->converged = false;
        solution->reason = stop_limited(run.stop) ? run.stop : STOP_INDEFINITE;
    }
    if (ml->setup.bias > 0 || ml->setup.free_bias) {
        solution->bias = point.bias;
        point.bias = NULL;
    }
    free(point.bias);
    return 0;
}
