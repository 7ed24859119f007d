#include "families/mc/solver/linear_descent.h"

#include "common/base/dispatch.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/base/threads.h"
#include "common/kernel/linear.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/row_sampling.h"
#include "fit/convergence_rate.h"
#include "methods/distributed_ascent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MC_MOST_PASSES = 60,    /* of a root */
    MC_TASK_ROWS = 512,     /* rows of a task of evaluation */
    MC_FEW_CLASSES = 64,    /* more are looked through for those that changed */
    MC_UNWATCHED = 1 << 26, /* products between two looks at the clock, some 50 ms */
    MC_AHEAD = 6,
    MC_ROWS_AHEAD = 2, /* whose values are fetched, MC_VALUES_AHEAD of each at the most */
    MC_VALUES_AHEAD = 256,
    MC_MEAN_SWEEPS = 8,  /* over which the mean of W is taken, */
    MC_MEAN_PART = 4,    /* where W has at most that part of the entries of the data */
    FEW_SWEEPS = 3,      /* over few classes, after each full one */
    NEAR_PART = 16,      /* near the end a part of the sweeps so far without progress is enough */
    float_PATIENCE = 50, /* sweeps, and a quarter of those so far, without PROGRESS of the gap: */
    double_PATIENCE = 5000, /* float is left soon, for progress in double can be slow */
    LEAST_FEATURES = 8      /* of a part of W(alpha) that is summed by itself */
};

static const double PROGRESS = 0.02;

/* The mean of W is looked at when the gap is below that times the one aimed at. */
static const double NEAR_MEAN = 10;

/* How far a step goes of the way to its maximum. */
static const double FARTHER = 1.4;

/* Of the sampling. Sweeps on mnist10k to 1e-3 and 1e-6 are 743 and 2453 with 0.05 and 0.2, as
 * kernels have them, 409 and 1169 with these; letter and news20 are alike with both. */
static const float LEAST = 0.1F, RATE = 0.1F;

/* The gap at which W in float is no longer good enough: it stalls near 2e-6, where there are many
 * classes and features near 3e-5: so a gap below NEAR that stands still is left for double soon. */
static const double FLOAT_GAP = 2e-5, NEAR = 2e-4;

/* Products that a certificate may cost when time is up: some half of a second. */
static const double LATE_WORK = 5e8;

/* A point of the primal: see bounds_real.h. */
enum mc_point { MC_LAST, MC_MEAN, MC_MIDWAY, MC_POINTS };

/* How a descent ended. */
enum end { RUNNING, REACHED, STOPPED, STALLED, GIVEN_UP, OVERFLOWED };

struct mc_row {
    const uint32_t *column;
    const float *value;
    size_t n;
};

struct mc_linear {
    const struct mc_task *task;
    struct mc_shape shape;
    const struct data *data;
    size_t n, n_features;
    const uint32_t *y;
    double bias;
    double *q;          /* (n) |x|^2 */
    double *cap;        /* (k) C of a row of each class */
    uint32_t *identity; /* (n_features) columns of a dense row; NULL if rows are sparse */
    uint32_t *changed;  /* (k) work */
    double *u, *to;     /* (k) work */
    double cost;        /* alpha is for; 0 before the first solve */
    struct mc_alpha alpha;
    struct mc_sampling sampling;
    double aim;            /* gap to descend to */
    double primal, dual;   /* bounds of the last evaluation, to tell */
    double near;           /* gap below which there is little patience */
    uint64_t sweeps, most; /* of this solve, and at the most */
    double *weights; /* (n_features + 1, k) the primal point, if it stands apart; NULL: never */
    bool apart;      /* from W(alpha) */

    /* of a problem whose rows are spread: */
    struct cluster *cluster;
    struct mc_alpha before; /* alpha where the round began, */
    struct mc_alpha last;   /* and where the one before it did, if rounds are whole sweeps */
    unsigned char *seen;    /* (n) rows that are looked at */
    struct rounds rounds;
    enum end end;
    enum stop_reason limit; /* when STOPPED */
};

static inline struct mc_row mc_linear_row(const struct mc_linear *linear, size_t i) {
    const struct data *data = linear->data;
    if (!data->row_start) {
        return (struct mc_row){linear->identity, data->value + i * data->n_features,
                               data->n_features};
    }
    uint64_t first = data->row_start[i];
    return (struct mc_row){data->column + first, data->value + first,
                           (size_t)(data->row_start[i + 1] - first)};
}

/* The linear part of the dual, of all ranks. */
static double mc_linear_sum(const struct mc_linear *linear) {
    double sum = 0;
    for (size_t i = 0; i < linear->n; i++) {
        sum += linear->q[i] > 0 ? mc_alpha_sum(&linear->alpha, i)
                                : linear->cap[linear->y[i]] * mc_most(&linear->shape);
    }
    return cluster_total(linear->cluster, sum);
}

/* True if sweeps over the classes that a row has at hand are worth it. */
static bool mc_linear_few(const struct mc_linear *linear) {
    return linear->shape.form->relative && linear->alpha.list;
}

/* ---- rounds of ranks ---- */

/* What the sum of alpha has risen by since the round began, in the rows order[0..n), which may be
 * there more than once; order NULL: 0..n. */
static double mc_linear_gained(struct mc_linear *linear, const uint32_t *order, size_t n) {
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

/* Takes the alpha of a row `ahead` of its last way further, as far as that is feasible. Returns 1,
 * and in u (k) the coefficients of what is cut off, negative, if any is; else 0. */
static int mc_linear_ahead(struct mc_linear *linear, size_t i, double ahead, struct error *err) {
    size_t k = linear->shape.k, y = linear->y[i];
    double cap = linear->cap[y], sum = 0, scale;
    double *from = linear->u, *to = linear->to;
    bool cut = false, moved = false;
    mc_alpha_load(&linear->last, i, from);
    mc_alpha_load(&linear->before, i, to);
    for (size_t c = 0; c < k; c++) {
        moved = moved || to[c] != from[c];
        from[c] = to[c] + ahead * (to[c] - from[c]);
        to[c] = fmin(fmax(from[c], 0), cap);
        sum += to[c];
    }
    if (!moved) {
        return 0;
    }
    scale = linear->shape.form->maximum && sum > cap ? cap / sum : 1;
    for (size_t c = 0; c < k; c++) {
        to[c] *= scale;
        from[c] = to[c] - from[c];
        cut = cut || from[c] != 0;
    }
    if (mc_alpha_store(&linear->alpha, i, to, err) < 0) {
        return -1;
    }
    memcpy(to, from, k * sizeof *to);
    mc_coefficients(&linear->shape, y, to, linear->u);
    return cut;
}

/* Takes the alpha of these rows theta of their way on from where the round began, and begins the
 * next one there. */
static int mc_linear_settle(struct mc_linear *linear, double theta, const uint32_t *order, size_t n,
                            struct error *err) {
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
            for (size_t c = 0; c < k; c++) { /* between the two, rounding or not */
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

/* Sweeps without progress of the gap after which a descent, begun at sweep `start`, stalls. */
static uint64_t patience(const struct mc_linear *linear, double gap, uint64_t least,
                         uint64_t start) {
    uint64_t so_far = linear->sweeps - start;
    return gap < linear->near ? so_far / NEAR_PART + 1 : least + so_far / 4;
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

/* A mean of W that costs little beside a sweep. */
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
    made->q = memory_array(made->n, sizeof(double), "norms", err);
    made->cap = memory_array(made->shape.k, sizeof(double), "costs", err);
    made->changed = memory_array(made->shape.k, sizeof(uint32_t), "a block", err);
    made->u = memory_array(made->shape.k, 2 * sizeof(double), "a block", err);
    made->to = made->u ? made->u + made->shape.k : NULL;
    if (!data->row_start) {
        made->identity = memory_array(made->n_features, sizeof(uint32_t), "columns", err);
    }
    if (!made->q || !made->cap || !made->changed || !made->u ||
        (!data->row_start && !made->identity) ||
        mc_alpha_create(&made->alpha, made->n, made->shape.k, err) < 0 ||
        mc_sampling_create(&made->sampling, made->n, LEAST, RATE, task->seed, err) < 0) {
        mc_linear_free(made);
        return -1;
    }
    for (size_t f = 0; made->identity && f < made->n_features; f++) {
        made->identity[f] = (uint32_t)f;
    }
    for (size_t i = 0; i < made->n; i++) {
        struct mc_row row = mc_linear_row(made, i);
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
    free(linear->q);
    free(linear->cap);
    free(linear->identity);
    free(linear->changed);
    free(linear->u);
    mc_alpha_free(&linear->alpha);
    mc_alpha_free(&linear->before);
    mc_alpha_free(&linear->last);
    free(linear->seen);
    free(linear->weights);
    mc_sampling_free(&linear->sampling);
    free(linear);
}

/* ---- the certificate ---- */

/* Rounding to float may have taken a row's sum over its cost. */
static void make_feasible(struct mc_linear *linear) {
    for (size_t i = 0; linear->shape.form->maximum && i < linear->n; i++) {
        double sum = mc_alpha_sum(&linear->alpha, i), cap = linear->cap[linear->y[i]];
        if (sum > cap) {
            mc_alpha_scale(&linear->alpha, i, cap / sum);
        }
    }
}

/* W(alpha), by parts of the features: an entry is the same sum whatever its part. */
struct weights {
    const struct mc_linear *linear;
    double *W; /* (n_features + 1, k) */
    size_t parts;
    double *row;       /* (parts, 2 k) a row's alpha and coefficients */
    uint32_t *classes; /* (parts, k) those with a coefficient */
};

/* First of the row's values whose feature is not below. */
static size_t find_feature(const struct mc_row *row, size_t feature) {
    size_t first = 0, end = row->n;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        bool below = row->column[middle] < feature;
        first = below ? middle + 1 : first;
        end = below ? end : middle;
    }
    return first;
}

static void weights_task(void *argument, size_t part, size_t worker) {
    const struct weights *weights = argument;
    const struct mc_linear *linear = weights->linear;
    size_t k = linear->shape.k;
    double *alpha = weights->row + 2 * k * part, *u = alpha + k;
    double *constant = weights->W + linear->n_features * k;
    uint32_t *classes = weights->classes + k * part;
    (void)worker;
    for (size_t i = 0; i < linear->n; i++) {
        if (linear->q[i] == 0 || mc_alpha_sum(&linear->alpha, i) == 0) {
            continue;
        }
        struct mc_row row = mc_linear_row(linear, i);
        size_t first = find_feature(&row, linear->n_features * part / weights->parts);
        size_t end = find_feature(&row, linear->n_features * (part + 1) / weights->parts), n = 0;
        struct mc_row piece = {row.column + first, row.value + first, end - first};
        if (piece.n == 0 && part > 0) {
            continue;
        }
        mc_alpha_load(&linear->alpha, i, alpha);
        mc_coefficients(&linear->shape, linear->y[i], alpha, u);
        for (size_t c = 0; c < k; c++) {
            classes[n] = (uint32_t)c;
            u[n] = u[c];
            n += u[c] != 0;
        }
        for (size_t e = 0; part == 0 && e < n; e++) {
            constant[classes[e]] += linear->bias * u[e];
        }
        double_scatter_some(&piece, weights->W, k, u, classes, n);
    }
}

/* W (n_features + 1, k) = W(alpha). */
static double *exact_weights(const struct mc_linear *linear, struct error *err) {
    size_t k = linear->shape.k, d = linear->n_features;
    struct threads *threads = linear->task->problem->threads;
    size_t parts = smaller(threads_count(threads), larger(1, d / LEAST_FEATURES));
    double *W = memory_zeros(d + 1, k * sizeof *W, "weights", err);
    struct weights weights = {
        .linear = linear,
        .W = W,
        .parts = parts,
        .row = memory_array(parts * k, 2 * sizeof *weights.row, "a block", err),
        .classes = memory_array(parts * k, sizeof *weights.classes, "a block", err)};
    if (W && weights.row && weights.classes) {
        threads_run(threads, parts, weights_task, &weights);
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

/* Whether time is up, and what a certificate costs is more than is left: scores of all rows, and a
 * few passes over alpha. */
static bool is_too_late(const struct mc_linear *linear) {
    double work = (double)data_values(linear->data) + 8 * (double)linear->n;
    work = cluster_largest(linear->cluster, work * (double)linear->shape.k);
    return linear->end == STOPPED && linear->limit == STOP_TIME && work > LATE_WORK;
}

/* *bias (k) = the part of the constant feature of W in the scores; NULL without one. */
static int find_bias(const struct mc_linear *linear, const double *W, double **bias,
                     struct error *err) {
    size_t k = linear->shape.k, d = linear->n_features;
    *bias = linear->bias > 0 ? memory_array(k, sizeof **bias, "bias", err) : NULL;
    for (size_t c = 0; *bias && c < k; c++) {
        (*bias)[c] = linear->bias * W[d * k + c];
    }
    return linear->bias > 0 && !*bias ? -1 : 0;
}

/* Both bounds in double, from the weights as they will stand in the model: W(alpha), which is the
 * dual point, or the point that stands apart from it. */
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
    if (W && linear->apart) {
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
    status = status < 0 ? -1 : mc_certify(linear->task, linear->cost, &dual, NULL, fit, err);
    if (linear->apart) {
        free(W);
        free(bias);
    }
    return status;
}

/* ---- the solver ---- */

/* Alpha of the last cost, taken to this one. */
static void set_cost(struct mc_linear *linear, double cost) {
    for (size_t i = 0; linear->cost > 0 && linear->cost != cost && i < linear->n; i++) {
        mc_alpha_scale(&linear->alpha, i, cost / linear->cost);
    }
    for (size_t c = 0; c < linear->shape.k; c++) {
        linear->cap[c] = cost * linear->task->weight[c];
    }
    if (linear->cost > 0 && !linear->shape.form->maximum) {
        mc_alpha_clip(&linear->alpha, linear->y, linear->cap);
    }
    linear->cost = cost;
}

static enum stop_reason reason_of(const struct mc_linear *linear) {
    return linear->end == STOPPED   ? linear->limit
           : linear->end == STALLED ? STOP_ROUNDING
           : linear->end == REACHED ? STOP_REACHED
                                    : STOP_STALLED;
}

/* In double, unless the descent in float has been stopped. */
static int run_double(void *context, double epsilon, const struct monitor *monitor,
                      struct mc_fit *fit, struct error *err) {
    struct mc_linear *linear = context;
    bool stopped = linear->end == STOPPED || linear->end == GIVEN_UP;
    linear->aim = epsilon;
    linear->near = 0;
    if ((!stopped && double_descend(linear, monitor, err) < 0) || certify(linear, fit, err) < 0) {
        return -1;
    }
    fit->reason = reason_of(linear);
    return 0;
}

/* In float as far as it goes, then in double. */
static int run(struct mc_linear *linear, const struct mc_goal *goal, const struct monitor *monitor,
               struct mc_fit *fit, struct error *err) {
    double epsilon = goal->epsilon;
    bool coarse = epsilon > FLOAT_GAP / 2;
    linear->near = coarse ? 0 : NEAR;
    linear->aim = !coarse ? FLOAT_GAP : epsilon > 4 * FLOAT_GAP ? epsilon - FLOAT_GAP / 8 : epsilon;
    if (float_descend(linear, monitor, err) < 0) {
        return -1;
    }
    if (coarse) {
        if (certify(linear, fit, err) < 0) {
            return -1;
        }
        fit->reason = reason_of(linear);
        if (linear->end == STOPPED || linear->end == GIVEN_UP ||
            gap_reached(fit->primal, fit->dual, epsilon)) {
            return 0;
        }
    }
    return mc_fit_tighten(run_double, linear, goal, monitor, fit, err);
}

int mc_linear_solve(struct mc_linear *linear, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    *fit = (struct mc_fit){0};
    set_cost(linear, goal->cost);
    linear->most = goal->most ? goal->most : UINT64_MAX;
    linear->sweeps = 0;
    linear->primal = INFINITY;
    linear->dual = 0;
    linear->apart = false;
    mc_sampling_reset(&linear->sampling);
    if (run(linear, goal, monitor, fit, err) < 0) {
        mc_fit_free(fit);
        return -1;
    }
    return 0;
}
