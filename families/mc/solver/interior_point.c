/* The problem as methods/interior_point.h takes it, and certificates of its points. */
#include "families/mc/solver/interior_point.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/threads.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/hessian.h"
#include "fit/work.h"
#include "methods/interior_point.h"
#include "methods/row_features_dd.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_HINGES = 1 << 22,     /* a dozen numbers each: 400 MB; */
    MAX_KERNEL_HINGES = 2048, /* with kernels, whose factor is computed in double-double */
    MAX_VALUES = 1 << 25,     /* of the dense rows */
    FEW_WEIGHTS = 512,        /* up to which larger margins are tried */
    TYPICAL_STEPS = 25        /* iterations, for the work */
};

/* Weights are (k, d) here, class by class, the constant feature last. */
struct mc_interior {
    const struct mc_task *task;
    const struct mc_goal *goal;
    const struct mc_shape *shape;
    struct row_features own; /* kernels: features of the rows, with the constant feature */
    size_t n, k, d, n_hinges;
    double *X;             /* (n, d) */
    uint32_t *row, *class; /* (n_hinges) of each hinge */
    uint32_t *first;       /* (n + 1) hinges of each row */
    double *cost;          /* (hinges or groups) */
    double *margin; /* (n) margin of each row, by which its X is divided and its cost multiplied */
    double *S;      /* (n, k) scores or coefficients */
    double *alpha, *u; /* (k), (k) work */
    double *a, *w;     /* (n_hinges), (k d) work */
    struct mc_hessian hessian;
    void *block; /* all arrays */
    struct interior *interior;
    struct interior_fit fit;
};

/* ---- callbacks of the interior-point method ---- */

static void scores(void *context, const double *w, double *v) {
    struct mc_interior *mc = context;
    /* S = X W' */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)mc->n, (int)mc->k, (int)mc->d, 1,
                mc->X, (int)mc->d, w, (int)mc->d, 0, mc->S, (int)mc->k);
    for (size_t i = 0; i < mc->n; i++) {
        mc_slacks(mc->shape, mc->task->y[i], mc->S + i * mc->k, mc->u);
        for (size_t j = mc->first[i]; j < mc->first[i + 1]; j++) {
            v[j] = 1 - mc->u[mc->class[j]];
        }
    }
}

/* alpha (k) = the alpha of row i, from those of the hinges. */
static void load_alpha(const struct mc_interior *mc, size_t i, const double *a, double *alpha) {
    memset(alpha, 0, mc->k * sizeof *alpha);
    for (size_t j = mc->first[i]; j < mc->first[i + 1]; j++) {
        alpha[mc->class[j]] = a[j];
    }
}

static void adjoint(void *context, const double *a, double *g) {
    struct mc_interior *mc = context;
    size_t k = mc->k;
    for (size_t i = 0; i < mc->n; i++) {
        load_alpha(mc, i, a, mc->alpha);
        mc_centred_coefficients(mc->shape, mc->task->y[i], mc->alpha, mc->S + i * k);
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)k, (int)mc->d, (int)mc->n, 1, mc->S,
                (int)k, mc->X, (int)mc->d, 0, g, (int)mc->d);
    cluster_sum(mc->task->problem->cluster, g, k * mc->d);
}

static int factor_groups(void *context, const double *theta, const double *rest) {
    struct mc_interior *mc = context;
    mc_hessian_begin(&mc->hessian, mc->d);
    for (size_t i = 0; i < mc->n; i++) {
        size_t first = mc->first[i];
        mc_hessian_add(&mc->hessian, mc->X + i * mc->d, mc->task->y[i], mc->class + first,
                       mc->first[i + 1] - first, theta + first, mc->shape->form->simplex,
                       rest ? rest[i] : 0);
    }
    mc_hessian_end(&mc->hessian);
    return mc_hessian_factor(&mc->hessian, true);
}

static int factor(void *context, const double *theta) {
    return factor_groups(context, theta, NULL);
}

static void solve(void *context, double *x) {
    struct mc_interior *mc = context;
    mc_hessian_solve(&mc->hessian, x);
}

/* ---- creation ---- */

static size_t count_terms(const struct mc_shape *shape) {
    return (shape->form->others ? shape->k - 1 : 0) + (shape->form->own ? 1 : 0);
}

double mc_interior_work(const struct mc_task *task) {
    const struct problem *problem = task->problem;
    double n = (double)task->n_all, k = (double)task->shape.k, pairs = k * (k + 1) / 2;
    double d = problem->gram ? n : (double)problem->data->n_features + (task->bias > 0 ? 1 : 0);
    if (d > (double)mc_hessian_max_features(&task->shape) || n * d > MAX_VALUES ||
        n * k > (problem->gram ? MAX_KERNEL_HINGES : MAX_HINGES)) {
        return INFINITY;
    }
    double blocks = task->shape.form->simplex ? pairs : task->shape.form->relative ? 3 * k : k / 2;
    return TYPICAL_STEPS *
           (work_blas3(n * d * d * blocks) + mc_hessian_factor_work(&task->shape, d) +
            work_scalar(20 * n * d * k + 5 * n * pairs + 2 * n * d * blocks));
}

static void release(struct mc_interior *mc) {
    interior_close(mc->interior);
    row_features_free(&mc->own);
    mc_hessian_free(&mc->hessian);
    free(mc->block);
}

static int allocate(struct mc_interior *mc, struct error *err) {
    size_t n = mc->n, k = mc->k, d = mc->d, m = mc->n_hinges;
    mc->block = ARRAYS_CREATE(
        "hinges", err, ARRAYS(n * d, double, &mc->X), ARRAYS(m, uint32_t, &mc->row, &mc->class),
        ARRAYS(n + 1, uint32_t, &mc->first), ARRAYS(larger(n, m), double, &mc->cost),
        ARRAYS(k * d, double, &mc->w), ARRAYS(n, double, &mc->margin),
        ARRAYS(n * k, double, &mc->S), ARRAYS(m, double, &mc->a),
        ARRAYS(k, double, &mc->alpha, &mc->u));
    return mc->block ? mc_hessian_create(&mc->hessian, mc->task, d, err) : -1;
}

static void fill_row(const struct mc_interior *mc, size_t i, double *row) {
    const struct mc_task *task = mc->task;
    size_t features = task->problem->data->n_features;
    if (task->problem->gram) {
        memcpy(row, mc->own.F + i * mc->d, mc->d * sizeof *row);
        return;
    }
    data_row_dense(task->problem->data, i, features, row);
    if (task->bias > 0) {
        row[features] = task->bias;
    }
}

/* Opens the interior-point method at the rows' margins: C max(0, m - z) = C m max(0, 1 - z / m). */
static int start(struct mc_interior *mc, double cost, struct error *err) {
    const struct mc_task *task = mc->task;
    bool simplex = mc->shape->form->simplex;
    for (size_t i = 0; i < mc->n; i++) {
        double own = cost * task->row_weight[i] * mc->margin[i];
        fill_row(mc, i, mc->X + i * mc->d);
        for (size_t f = 0; mc->margin[i] != 1 && f < mc->d; f++) {
            mc->X[i * mc->d + f] /= mc->margin[i];
        }
        for (size_t j = mc->first[i]; j < mc->first[i + 1]; j++) {
            mc->cost[simplex ? i : j] = own;
        }
    }
    const struct interior_problem problem = {.cluster = task->problem->cluster,
                                             .n = mc->n_hinges,
                                             .dimension = mc->k * mc->d,
                                             .cost = mc->cost,
                                             .group = simplex ? mc->row : NULL,
                                             .n_groups = mc->n,
                                             .context = mc,
                                             .scores = scores,
                                             .adjoint = adjoint,
                                             .factor = factor,
                                             .factor_groups = factor_groups,
                                             .solve = solve};
    return interior_open(&mc->interior, &problem, err);
}

static int create(struct mc_interior *mc, double cost, struct error *err) {
    size_t j = 0;
    if (allocate(mc, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < mc->n; i++) {
        mc->margin[i] = 1;
        mc->first[i] = (uint32_t)j;
        for (size_t c = 0; c < mc->k; c++) {
            if (mc_is_term(mc->shape, mc->task->y[i], c)) {
                mc->row[j] = (uint32_t)i;
                mc->class[j++] = (uint32_t)c;
            }
        }
    }
    mc->first[mc->n] = (uint32_t)j;
    return start(mc, cost, err);
}

/* ---- the fit ---- */

/* bias (k) = the contribution of the constant feature of coefficients W (n, k). */
static void set_bias(const struct mc_interior *mc, const double *W, double *bias) {
    double square = mc->task->bias * mc->task->bias;
    for (size_t c = 0; bias && c < mc->k; c++) {
        bias[c] = 0;
        for (size_t i = 0; i < mc->n; i++) {
            bias[c] += square * W[i * mc->k + c];
        }
    }
}

/* W = the weights w (k, d), linear as (n_features + 1, k), kernels as coefficients (n, k); bias (k)
 * = the contribution of the constant feature to the scores. */
static int take_weights(struct mc_interior *mc, const double *w, double *W, double *bias,
                        struct error *err) {
    size_t k = mc->k, d = mc->d, features = mc->task->problem->data->n_features;
    if (mc->task->problem->gram) {
        for (size_t c = 0; c < k; c++) {
            if (row_features_coefficients(&mc->own, w + c * d, mc->S, err) < 0) {
                return -1;
            }
            for (size_t i = 0; i < mc->n; i++) {
                W[i * k + c] = mc->S[i];
            }
        }
        set_bias(mc, W, bias);
        return 0;
    }
    memset(W + features * k, 0, k * sizeof *W);
    for (size_t c = 0; c < k; c++) {
        for (size_t f = 0; f < d; f++) {
            W[f * k + c] = w[c * d + f];
        }
        if (bias) {
            bias[c] = mc->task->bias * W[features * k + c];
        }
    }
    return 0;
}

/* mc->a and alpha = the best dual point, scaled so that the sums of a group are at most its
 * cost. */
static int take_alpha(struct mc_interior *mc, struct mc_alpha *alpha, struct error *err) {
    bool simplex = mc->shape->form->simplex;
    memcpy(mc->a, mc->fit.alpha, mc->n_hinges * sizeof *mc->a);
    for (size_t i = 0; i < mc->n; i++) {
        double sum = 0;
        for (size_t j = mc->first[i]; j < mc->first[i + 1]; j++) {
            sum += mc->a[j];
        }
        double factor = simplex && sum > mc->cost[i] ? mc->cost[i] / sum : 1;
        for (size_t j = mc->first[i]; j < mc->first[i + 1]; j++) {
            mc->a[j] *= factor / mc->margin[i];
        }
        load_alpha(mc, i, mc->a, mc->alpha);
        if (mc_alpha_store(alpha, i, mc->alpha, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Certifies `factor` times the best weights. */
static int certify_rescaled(struct mc_interior *mc, double cost, double factor,
                            const struct mc_dual *dual, struct mc_fit *fit, struct error *err) {
    array_multiple(mc->w, factor, mc->fit.w, mc->k * mc->d);
    return take_weights(mc, mc->w, fit->weights, fit->bias, err) < 0
               ? -1
               : mc_certify(mc->task, cost, dual, fit, err);
}

/* Certifies the best points. W (n_features + 1, k), or (n, k), and bias (k) are work, for W(alpha).
 * If the rounding of scores at the margin costs much, a larger multiple of the weights is tried,
 * with margins beyond the rounding error. Without it 90 rows with a quadratic kernel, -B 1, ww, C =
 * 1e6 and one feature of 200 end at a gap of 1e-5, not 1e-6. */
static int certify_points(struct mc_interior *mc, double cost, double epsilon, double *W,
                          double *bias, struct mc_fit *fit, struct error *err) {
    struct mc_alpha alpha;
    struct mc_dual dual = {.alpha = &alpha,
                           .weights = W,
                           .bias = fit->bias ? bias : NULL,
                           .target_gap = epsilon,
                           .compute_scaling = true};
    int status = mc_alpha_create(&alpha, mc->n, mc->k, err) < 0 ? -1 : take_alpha(mc, &alpha, err);
    if (status == 0) {
        adjoint(mc, mc->a, mc->w);
        if (mc->task->problem->gram) { /* S are its coefficients */
            memcpy(W, mc->S, mc->n * mc->k * sizeof *W);
            set_bias(mc, W, dual.bias ? bias : NULL);
        } else {
            status = take_weights(mc, mc->w, W, bias, err);
        }
        status = status < 0 ? -1 : certify_rescaled(mc, cost, 1, &dual, fit, err);
        const struct certificate *found = &fit->certificate;
        double factor = found->scaling, primal = found->primal;
        if (status == 0 && factor > 1) {
            status = certify_rescaled(mc, cost, factor, &dual, fit, err);
        }
        if (status == 0 && found->primal > primal) {
            status = certify_rescaled(mc, cost, 1, &dual, fit, err);
        }
    }
    mc_alpha_free(&alpha);
    return status;
}

static int certify(struct mc_interior *mc, struct mc_fit *fit, struct error *err) {
    const struct problem *problem = mc->task->problem;
    size_t k = mc->k, rows = problem->gram ? mc->n : (size_t)problem->data->n_features + 1;
    bool constant = mc->task->bias > 0;
    double *W = memory_array(rows + 1, k * sizeof *W, "weights", err);
    fit->weights = memory_array(rows, k * sizeof *fit->weights, "weights", err);
    fit->bias = constant ? memory_array(k, sizeof *fit->bias, "bias", err) : NULL;
    int status =
        W && fit->weights && (!constant || fit->bias)
            ? certify_points(mc, mc->goal->cost, mc->goal->epsilon, W, W + rows * k, fit, err)
            : -1;
    free(W);
    return status;
}

static int run(void *context, double epsilon, const struct monitor *monitor, struct mc_fit *fit,
               struct error *err) {
    struct mc_interior *mc = context;
    interior_run(mc->interior, epsilon, 0, monitor, &mc->fit);
    fit->iterations = mc->fit.iterations;
    fit->reason = mc->fit.stop;
    if (certify(mc, fit, err) < 0) {
        return -1;
    }
    fit->certificate.solver_rounding = fmax(0, fit->certificate.primal - mc->fit.primal);
    return 0;
}

/* The sum over rows of the largest coefficient of W (n, k) times the row's norm bound. */
static double size_of(const struct mc_interior *mc, const double *W) {
    const double *norm = certify_norm_bounds(mc->task->certify);
    double sum = 0;
    for (size_t i = 0; i < mc->n; i++) {
        sum += array_largest(W + i * mc->k, mc->k) * norm[i];
    }
    return sum;
}

/* Another fit, with margins that exceed 1 by `part` of each row's norm bound. *size = size_of its
 * coefficients. Joins it to the fit. */
static int fit_with_margin(struct mc_interior *mc, const struct mc_goal *goal, double part,
                           const struct monitor *monitor, double *size, struct mc_fit *fit,
                           struct error *err) {
    const double *norm = certify_norm_bounds(mc->task->certify);
    struct mc_fit other = {0};
    for (size_t i = 0; i < mc->n; i++) {
        mc->margin[i] = 1 + part * norm[i];
    }
    if (start(mc, goal->cost, err) < 0) {
        return -1;
    }
    interior_run(mc->interior, goal->epsilon, 0, monitor, &mc->fit);
    other.iterations = mc->fit.iterations;
    if (certify(mc, &other, err) < 0) {
        mc_fit_free(&other);
        return -1;
    }
    *size = size_of(mc, other.weights);
    enum stop_reason reason = stop_limited(mc->fit.stop) ? mc->fit.stop : fit->reason;
    mc_fit_join(fit, &other);
    fit->reason = fit->certificate.gap <= goal->epsilon ? STOP_REACHED : reason;
    return 0;
}

/* Fits with larger margins and smaller coefficients, while the gap is too large. Rounding of the
 * coefficients changes the score of row i by some units of sum_j |b_j| |x_j| |x_i|, which is much
 * if rows span decades. An optimum with margins that are larger by that costs little more, and
 * rounding takes no margin below 1. If rows are nearly equal, large coefficients of opposite signs
 * separate them; with the features of the first pivots alone they are smaller. */
static int fit_larger_margins(struct mc_interior *mc, const struct mc_goal *goal,
                              const struct monitor *monitor, struct mc_fit *fit,
                              struct error *err) {
    static const double part[] = {0, 1e-12, 1e-8, 1e-4, 1};
    static const double units[] = {0.1, 1, 10, 100};
    double size = size_of(mc, fit->weights);
    for (size_t p = 0; p < sizeof part / sizeof *part; p++) {
        row_features_truncate(&mc->own, part[p]);
        bool fewer = mc->own.m < mc->d;
        mc->d = mc->own.m;
        if (fewer && fit_with_margin(mc, goal, 0, monitor, &size, fit, err) < 0) {
            return -1;
        }
        for (size_t u = 0; (fewer || p == 0) && u < sizeof units / sizeof *units; u++) {
            double own = size;
            if (!(fit->certificate.gap > goal->epsilon) || stop_limited(fit->reason)) {
                return 0;
            }
            if (fit_with_margin(mc, goal, units[u] * DBL_EPSILON * size, monitor, &own, fit, err) <
                0) {
                return -1;
            }
        }
    }
    return 0;
}

/* Computes the rows' features of a kernel. *possible is false if it has none. */
static int make_features(struct mc_interior *mc, bool *possible, struct error *err) {
    static const struct row_groups none = {0};
    const struct mc_task *task = mc->task;
    struct problem problem = *task->problem;
    struct score_map map;
    problem.constant = task->bias;
    if (score_map_create(&map, &problem, err) < 0) {
        return -1;
    }
    int status = row_features_create(&mc->own, &problem, &map, &none,
                                     certify_norm_bounds(task->certify), possible, err);
    score_map_free(&map);
    mc->d = *possible ? mc->own.m : 0;
    return status;
}

int mc_interior_solve(const struct mc_task *task, const struct mc_goal *goal,
                      const struct monitor *monitor, struct mc_fit *fit, bool *possible,
                      struct error *err) {
    struct mc_interior mc = {
        .task = task, .goal = goal, .shape = &task->shape, .n = task->n, .k = task->shape.k};
    mc.d = task->problem->data->n_features + (size_t)(task->bias > 0);
    mc.n_hinges = task->n * count_terms(&task->shape);
    *fit = (struct mc_fit){0};
    *possible = true;
    int status = task->problem->gram ? make_features(&mc, possible, err) : 0;
    if (status == 0 && *possible) {
        status = create(&mc, goal->cost, err) < 0
                     ? -1
                     : mc_fit_tighten(run, &mc, goal, monitor, fit, err);
    }
    bool few = task->problem->gram && *possible && mc.k * mc.d <= FEW_WEIGHTS;
    if (status == 0 && few && fit->certificate.gap > goal->epsilon && !stop_limited(fit->reason)) {
        status = fit_larger_margins(&mc, goal, monitor, fit, err);
    }
    if (status < 0) {
        mc_fit_free(fit);
    }
    release(&mc);
    return status;
}
