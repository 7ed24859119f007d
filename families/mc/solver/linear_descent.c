/* Dual block coordinate descent for linear multi-class SVMs: the solver, its certificate and the
 * switch from float to double. The loops that depend on the type of W are in linear_descent_real.h,
 * linear_sweep_real.h, linear_bounds_real.h and linear_distributed_real.h, compiled for both. */
#include "families/mc/solver/linear_descent.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/dispatch.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/threads.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/row_sampling.h"
#include "fit/convergence_rate.h"
#include "fit/work.h"
#include "methods/distributed_ascent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MC_MAX_ROOT_STEPS = 60, /* iterations of a root search */
    MC_TASK_ROWS = 512,     /* rows of a task of the evaluation */
    MC_FEW_CLASSES = 64,    /* with more classes, only those whose alpha changed are updated */
    MC_TIME_CHECK_WORK = 1 << 26, /* products between two checks of the time, some 50 ms */
    MC_PREFETCH_ROWS = 2,         /* rows by which data are prefetched, */
    MC_MAX_PREFETCH = 256,        /* at most so many values of each */
    MC_MEAN_SWEEPS = 8,           /* sweeps over which W is averaged, */
    MC_MEAN_PART = 4,             /* if W has at most 1/4 of the entries of the data */
    FEW_SWEEPS = 3,               /* sweeps over few classes after each full one */
    /* A descent stalls after so many sweeps, plus a quarter of those so far, without PROGRESS of
     * the gap. Double follows float: with 200, 20 newsgroups with ats at C = 100 take 442 sweeps
     * instead of 234. In double, 400 rows of 2,000 features on three processes need more than 50.
     */
    float_PATIENCE = 50,
    double_PATIENCE = 5000,
    MIN_FEATURES = 8 /* features of a task that computes a part of W(alpha) */
};

/* Relative decrease of the gap that counts as progress. */
static const double PROGRESS = 0.02;

/* Over-relaxation: step length over that of the exact step. The dual rises below 2. With 1 letter
 * and mnist10k at C = 1 take 51 and 398 sweeps instead of 43 and 367. */
static const double OVER_RELAXATION = 1.4;

/* Float is used down to this gap. With W in float the gap stalls near 2e-6, with many classes and
 * features near 3e-5. */
static const double FLOAT_GAP = 2e-5;

/* Products that a certificate may cost after the time limit: about half a second. */
static const double MAX_LATE_WORK = 5e8;

/* Candidates for the primal point (linear_bounds_real.h): W, and the mean of W over the last
 * sweeps. */
enum mc_point { MC_LAST, MC_MEAN, MC_POINTS };

/* Why a descent ended. */
enum end { RUNNING, REACHED, STOPPED, STALLED, SLOW, OVERFLOWED };

struct mc_linear {
    const struct mc_task *task;
    struct mc_shape shape;
    const struct data *data;
    size_t n, n_features;
    const uint32_t *y;
    double bias;
    double *q;          /* (n) |x|^2 with the constant feature */
    double *row_cap;    /* (n) C of each row */
    uint32_t *identity; /* (n_features) 0, 1, ..: columns, if rows are dense */
    void *block;        /* these arrays and the next */
    uint32_t *changed;  /* (k) work */
    double *u, *to;     /* (k) work */
    double cost;        /* C of alpha; 0 before the first solve */
    struct mc_alpha alpha;
    struct mc_sampling sampling;
    double target;                /* target gap of the descent */
    double final_target;          /* and of the solve */
    double primal, dual;          /* bounds of the last evaluation, for the monitor */
    uint64_t sweeps;              /* of this solve */
    struct convergence_rate rate; /* of this solve, in sweeps */
    double *weights;     /* (n_features + 1, k) a primal point other than W(alpha); or NULL */
    bool has_own_primal; /* the primal point is `weights`, else W(alpha) */

    /* distributed rows: */
    struct cluster *cluster;
    struct mc_alpha before; /* alpha at the start of this round, */
    struct mc_alpha last;   /* and of the last round, if a round is a whole sweep */
    unsigned char *seen;    /* (n) rows that are counted already */
    struct rounds rounds;
    enum end end;
    enum stop_reason limit; /* when STOPPED */
};

/* Row i, with columns if it is dense, too. */
static inline struct stored_row mc_linear_row(const struct mc_linear *linear, size_t i) {
    struct stored_row row = data_stored(linear->data, i);
    row.column = row.column ? row.column : linear->identity;
    return row;
}

/* The linear part of the dual, over all processes. */
static double mc_linear_sum(const struct mc_linear *linear) {
    double sum = 0;
    for (size_t i = 0; i < linear->n; i++) {
        sum += linear->q[i] > 0 ? mc_alpha_sum(&linear->alpha, i)
                                : linear->row_cap[i] * mc_max_alpha_sum(&linear->shape);
    }
    return cluster_total(linear->cluster, sum);
}

/* Whether rows have lists of classes with nonzero alpha, over which there are sweeps of their
 * own. */
static bool mc_linear_has_lists(const struct mc_linear *linear) {
    return linear->shape.form->relative && linear->alpha.list;
}

/* ---- distributed rounds ---- */

/* Increase of the sum of alpha since the start of the round, over the rows order[0..n), where rows
 * may be repeated; order NULL: rows 0..n. */
static double mc_linear_alpha_gain(struct mc_linear *linear, const uint32_t *order, size_t n) {
    double sum = 0;
    for (size_t t = 0; t < n; t++) {
        size_t i = order ? order[t] : t;
        if (!linear->seen[i]) {
            sum += mc_alpha_sum(&linear->alpha, i) - mc_alpha_sum(&linear->before, i);
            linear->seen[i] = 1;
        }
    }
    for (size_t t = 0; t < n; t++) {
        linear->seen[order ? order[t] : t] = 0;
    }
    return sum;
}

/* Extrapolates the alpha of a row by `extrapolation` times its last change, clipped to its feasible
 * set. Returns 1 if it was clipped, with u (k) = the coefficients of the clipped less the unclipped
 * point; else 0. */
static int mc_linear_extrapolate(struct mc_linear *linear, size_t i, double extrapolation,
                                 struct error *err) {
    size_t k = linear->shape.k, y = linear->y[i];
    double cap = linear->row_cap[i], sum = 0, scale;
    double *from = linear->u, *to = linear->to;
    bool clipped = false, moved = false;
    mc_alpha_load(&linear->last, i, from);
    mc_alpha_load(&linear->before, i, to);
    for (size_t c = 0; c < k; c++) {
        moved = moved || to[c] != from[c];
        from[c] = to[c] + extrapolation * (to[c] - from[c]);
        to[c] = fmin(fmax(from[c], 0), cap);
        sum += to[c];
    }
    if (!moved) {
        return 0;
    }
    scale = linear->shape.form->simplex && sum > cap ? cap / sum : 1;
    for (size_t c = 0; c < k; c++) {
        to[c] *= scale;
        from[c] = to[c] - from[c];
        clipped = clipped || from[c] != 0;
    }
    if (mc_alpha_store(&linear->alpha, i, to, err) < 0) {
        return -1;
    }
    memcpy(to, from, k * sizeof *to);
    mc_coefficients(&linear->shape, y, to, linear->u);
    return clipped;
}

/* Sets the alpha of these rows to start + theta (alpha - start), start being that of the round, and
 * starts the next round there. */
static int mc_linear_apply_step(struct mc_linear *linear, double theta, const uint32_t *order,
                                size_t n, struct error *err) {
    size_t k = linear->shape.k;
    double *from = linear->u, *to = linear->to;
    for (size_t t = 0; t < n; t++) {
        size_t i = order ? order[t] : t;
        mc_alpha_load(&linear->before, i, from);
        if (linear->rounds.parts == 1 && mc_alpha_store(&linear->last, i, from, err) < 0) {
            return -1;
        }
        mc_alpha_load(&linear->alpha, i, to);
        if (theta < 1) {
            for (size_t c = 0; c < k; c++) { /* stays between the two despite rounding */
                double x = from[c] + theta * (to[c] - from[c]);
                to[c] = fmin(fmax(x, fmin(from[c], to[c])), fmax(from[c], to[c]));
            }
            if (mc_alpha_store(&linear->alpha, i, to, err) < 0) {
                return -1;
            }
        }
        if (mc_alpha_store(&linear->before, i, to, err) < 0) {
            return -1;
        }
    }
    return 0;
}

#define REAL float
#define SIGNED int32_t
#define NAME(x) float_##x
#include "families/mc/solver/linear_descent_real.h"
#undef REAL
#undef SIGNED
#undef NAME

#define REAL double
#define SIGNED int64_t
#define NAME(x) double_##x
#include "families/mc/solver/linear_descent_real.h"
#undef REAL
#undef SIGNED
#undef NAME

static int create_rounds(struct mc_linear *linear, struct error *err) {
    linear->seen = memory_zeros(linear->n, 1, "a round", err);
    size_t weights = (linear->n_features + (size_t)1) * linear->shape.k;
    double sweep = 2 * (double)data_values(linear->data) * (double)linear->shape.k;
    rounds_plan(&linear->rounds, linear->cluster, sweep, (double)weights);
    size_t n = linear->n, k = linear->shape.k;
    return !linear->seen || mc_alpha_create(&linear->before, n, k, err) < 0 ||
                   mc_alpha_create(&linear->last, n, k, err) < 0
               ? -1
               : 0;
}

/* The mean of W is used only if it costs little compared to a sweep. */
static int create_weights(struct mc_linear *linear, struct error *err) {
    size_t k = linear->shape.k, rows = linear->n_features + (size_t)1;
    if (linear->cluster || rows * k > data_values(linear->data) / MC_MEAN_PART) {
        return 0;
    }
    linear->weights = memory_array(rows, k * sizeof *linear->weights, "weights", err);
    return linear->weights ? 0 : -1;
}

int mc_linear_create(struct mc_linear **linear, const struct mc_task *task, struct error *err) {
    struct mc_linear *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    const struct data *data = task->problem->data;
    made->task = task;
    made->shape = task->shape;
    made->data = data;
    made->cluster = task->problem->cluster;
    made->n = task->n;
    made->n_features = data->n_features;
    made->y = task->y;
    made->bias = task->bias;
    size_t n_identity = data->row_start ? 0 : made->n_features;
    made->block = ARRAYS_CREATE("rows", err, ARRAYS(made->n, double, &made->q, &made->row_cap),
                                ARRAYS(made->shape.k, uint32_t, &made->changed),
                                ARRAYS(made->shape.k, double, &made->u, &made->to),
                                ARRAYS(n_identity, uint32_t, &made->identity));
    if (!made->block || mc_alpha_create(&made->alpha, made->n, made->shape.k, err) < 0 ||
        mc_sampling_create(&made->sampling, made->n, task->seed, err) < 0) {
        mc_linear_free(made);
        return -1;
    }
    for (size_t f = 0; f < n_identity; f++) {
        made->identity[f] = (uint32_t)f;
    }
    for (size_t i = 0; i < made->n; i++) {
        struct stored_row row = mc_linear_row(made, i);
        double q = made->bias * made->bias;
        for (size_t t = 0; t < row.n; t++) {
            q += (double)row.value[t] * (double)row.value[t];
        }
        made->q[i] = q;
    }
    if ((made->cluster && create_rounds(made, err) < 0) || create_weights(made, err) < 0) {
        mc_linear_free(made);
        return -1;
    }
    *linear = made;
    return 0;
}

void mc_linear_free(struct mc_linear *linear) {
    if (!linear) {
        return;
    }
    free(linear->block);
    mc_alpha_free(&linear->alpha);
    mc_alpha_free(&linear->before);
    mc_alpha_free(&linear->last);
    free(linear->seen);
    free(linear->weights);
    mc_sampling_free(&linear->sampling);
    free(linear);
}

/* ---- the certificate ---- */

/* Scales rows down whose sum of alpha exceeds the cost by rounding to float. */
static void make_feasible(struct mc_linear *linear) {
    for (size_t i = 0; linear->shape.form->simplex && i < linear->n; i++) {
        double sum = mc_alpha_sum(&linear->alpha, i), cap = linear->row_cap[i];
        if (sum > cap) {
            mc_alpha_scale(&linear->alpha, i, cap / sum);
        }
    }
}

/* Computation of W(alpha) in parallel over ranges of features. Each entry is summed in the order of
 * the rows, so it does not depend on the ranges. */
struct weights {
    const struct mc_linear *linear;
    double *W; /* (n_features + 1, k) */
    size_t n_ranges;
    double *row;       /* (n_ranges, 2 k) alpha and coefficients of a row */
    uint32_t *classes; /* (n_ranges, k) classes with a nonzero coefficient */
};

/* Index of the row's first value whose feature is at least `feature`. */
static size_t find_feature(const struct stored_row *row, size_t feature) {
    size_t first = 0, end = row->n;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        bool below = row->column[middle] < feature;
        first = below ? middle + 1 : first;
        end = below ? end : middle;
    }
    return first;
}

static void weights_task(void *argument, size_t range, size_t worker) {
    const struct weights *weights = argument;
    const struct mc_linear *linear = weights->linear;
    size_t k = linear->shape.k;
    double *alpha = weights->row + 2 * k * range, *u = alpha + k;
    double *constant = weights->W + linear->n_features * k;
    uint32_t *classes = weights->classes + k * range;
    (void)worker;
    for (size_t i = 0; i < linear->n; i++) {
        if (linear->q[i] == 0 || mc_alpha_sum(&linear->alpha, i) == 0) {
            continue;
        }
        struct stored_row row = mc_linear_row(linear, i);
        size_t first = find_feature(&row, linear->n_features * range / weights->n_ranges);
        size_t end = find_feature(&row, linear->n_features * (range + 1) / weights->n_ranges),
               n = 0;
        struct stored_row values = {row.value + first, row.column + first, end - first};
        if (values.n == 0 && range > 0) {
            continue;
        }
        mc_alpha_load(&linear->alpha, i, alpha);
        mc_coefficients(&linear->shape, linear->y[i], alpha, u);
        for (size_t c = 0; c < k; c++) {
            classes[n] = (uint32_t)c;
            u[n] = u[c];
            n += u[c] != 0;
        }
        for (size_t e = 0; range == 0 && e < n; e++) {
            constant[classes[e]] += linear->bias * u[e];
        }
        double_add_outer_some(&values, weights->W, k, u, classes, n);
    }
}

/* Returns W(alpha) (n_features + 1, k), centred if the form is; NULL without memory. */
static double *exact_weights(const struct mc_linear *linear, struct error *err) {
    size_t k = linear->shape.k, d = linear->n_features;
    struct threads *threads = linear->task->problem->threads;
    size_t n_ranges = smaller(threads_count(threads), larger(1, d / MIN_FEATURES));
    double *W = memory_zeros(d + 1, k * sizeof *W, "weights", err);
    struct weights weights = {
        .linear = linear,
        .W = W,
        .n_ranges = n_ranges,
        .row = memory_array(n_ranges * k, 2 * sizeof *weights.row, "a block", err),
        .classes = memory_array(n_ranges * k, sizeof *weights.classes, "a block", err)};
    if (W && weights.row && weights.classes) {
        threads_run(threads, n_ranges, weights_task, &weights);
    } else {
        free(W);
        W = NULL;
    }
    free(weights.row);
    free(weights.classes);
    if (!W) {
        return NULL;
    }
    cluster_sum(linear->cluster, W, (d + 1) * k);
    for (size_t f = 0; linear->shape.form->centred && f <= d; f++) {
        double sum = 0;
        for (size_t c = 0; c < k; c++) {
            sum += W[f * k + c];
        }
        for (size_t c = 0; c < k; c++) {
            W[f * k + c] -= sum / (double)k;
        }
    }
    return W;
}

/* Whether the time limit has passed and a certificate (the scores of all rows, and a few passes
 * over alpha) would take too long. */
static bool is_too_late(const struct mc_linear *linear) {
    double work = (double)data_values(linear->data) + 8 * (double)linear->n;
    work = cluster_largest(linear->cluster, work * (double)linear->shape.k);
    return linear->end == STOPPED && linear->limit == STOP_TIME && work > MAX_LATE_WORK;
}

/* *bias (k) = the contribution of the constant feature to the scores; NULL without one. */
static int find_bias(const struct mc_linear *linear, const double *W, double **bias,
                     struct error *err) {
    size_t k = linear->shape.k, d = linear->n_features;
    *bias = linear->bias > 0 ? memory_array(k, sizeof **bias, "bias", err) : NULL;
    for (size_t c = 0; *bias && c < k; c++) {
        (*bias)[c] = linear->bias * W[d * k + c];
    }
    return linear->bias > 0 && !*bias ? -1 : 0;
}

/* Certifies alpha and the primal point, W(alpha) or linear->weights. */
static int certify(struct mc_linear *linear, struct mc_fit *fit, struct error *err) {
    size_t entries = (linear->n_features + (size_t)1) * linear->shape.k;
    mc_fit_free(fit);
    fit->iterations = linear->sweeps;
    if (is_too_late(linear)) {
        fit->unsolved = true;
        return 0;
    }
    make_feasible(linear);
    struct mc_dual dual = {.alpha = &linear->alpha, .q = linear->q};
    double *W = exact_weights(linear, err), *bias = NULL;
    if (W && linear->has_own_primal) {
        fit->weights = memory_array(entries, sizeof *W, "weights", err);
        if (!fit->weights || find_bias(linear, W, &bias, err) < 0) {
            free(W);
            return -1;
        }
        memcpy(fit->weights, linear->weights, entries * sizeof *W);
        dual.weights = W;
        dual.bias = bias;
    } else {
        fit->weights = W;
    }
    int status = fit->weights ? find_bias(linear, fit->weights, &fit->bias, err) : -1;
    status = status < 0 ? -1 : mc_certify(linear->task, linear->cost, &dual, fit, err);
    if (linear->has_own_primal) {
        free(W);
        free(bias);
    }
    return status;
}

/* ---- the solver ---- */

/* Scales alpha from the last cost to this one, and sets the caps. */
static void set_cost(struct mc_linear *linear, double cost) {
    for (size_t i = 0; linear->cost > 0 && linear->cost != cost && i < linear->n; i++) {
        mc_alpha_scale(&linear->alpha, i, cost / linear->cost);
    }
    array_multiple(linear->row_cap, cost, linear->task->row_weight, linear->n);
    if (linear->cost > 0 && !linear->shape.form->simplex) {
        mc_alpha_clip(&linear->alpha, linear->row_cap);
    }
    linear->cost = cost;
}

static enum stop_reason reason_of(const struct mc_linear *linear) {
    return linear->end == STOPPED   ? linear->limit
           : linear->end == STALLED ? STOP_ROUNDING
           : linear->end == REACHED ? STOP_REACHED
                                    : STOP_STALLED;
}

/* Descends in double, unless the descent in float has reached a limit: an mc_run. */
static int run_double(void *context, double epsilon, const struct monitor *monitor,
                      struct mc_fit *fit, struct error *err) {
    struct mc_linear *linear = context;
    bool stopped = linear->end == STOPPED || linear->end == SLOW;
    linear->target = epsilon;
    if ((!stopped && double_descend(linear, monitor, err) < 0) || certify(linear, fit, err) < 0) {
        return -1;
    }
    fit->reason = reason_of(linear);
    return 0;
}

/* Descends in float while that is precise enough, then in double. */
static int run(struct mc_linear *linear, const struct mc_goal *goal, const struct monitor *monitor,
               struct mc_fit *fit, struct error *err) {
    double epsilon = goal->epsilon;
    bool coarse = epsilon > FLOAT_GAP / 2;
    linear->target = coarse ? epsilon : FLOAT_GAP;
    if (float_descend(linear, monitor, err) < 0) {
        return -1;
    }
    if (coarse) {
        if (certify(linear, fit, err) < 0) {
            return -1;
        }
        fit->reason = reason_of(linear);
        if (linear->end == STOPPED || linear->end == SLOW ||
            gap_reached(fit->certificate.primal, fit->certificate.dual, epsilon)) {
            return 0;
        }
    }
    return mc_fit_tighten(run_double, linear, goal, monitor, fit, err);
}

static double sweep_work(const struct mc_linear *linear) {
    double values = cluster_total(linear->cluster, (double)data_values(linear->data));
    return work_blas2((double)linear->shape.k * (2 * values + 10 * (double)linear->task->n_all));
}

int mc_linear_solve(struct mc_linear *linear, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    *fit = (struct mc_fit){0};
    set_cost(linear, goal->cost);
    linear->rate = (struct convergence_rate){.other = goal->fallback_work / sweep_work(linear)};
    linear->final_target = goal->epsilon;
    linear->sweeps = 0;
    linear->primal = INFINITY;
    linear->dual = 0;
    linear->has_own_primal = false;
    mc_sampling_reset(&linear->sampling);
    if (run(linear, goal, monitor, fit, err) < 0) {
        mc_fit_free(fit);
        return -1;
    }
    return 0;
}
