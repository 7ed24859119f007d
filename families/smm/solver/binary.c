/* Newton's method for the binary SVM on a smoothing path (binary.h). */
#include "families/smm/solver/binary.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/smm/solver/binary_bias.h"
#include "families/smm/solver/binary_private.h"
#include "fit/score_map.h"
#include "fit/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_HESSIAN = 3000 /* features of a factored Hessian, which then has 72 MB */
};

static const struct huber_schedule SCHEDULE = {.predictor_residual = 0.3,
                                               .default_factor = 0.1,
                                               .min_factor = 0.01,
                                               .max_factor = 0.5,
                                               .min_mu = 1e-10,
                                               .patience = 40,
                                               .max_residual = 0.9,
                                               .min_length = 0.1,
                                               .max_corrections = 8,
                                               .increase = 5};

/* The first mu is searched downwards from MU_FIRST after an earlier solution, upwards from w =
 * 0. */
static const double MU_FIRST = 1, MIN_FIRST_MU = 1e-6, MAX_FIRST_MU = 1e12;
static const double MU_DOWN = 0.1, MU_UP = 10;
/* gap, relative to the target, below which the exact bias is worth its sort */
static const double EXACT_GAP = 4;
static const double NEAR_GAP = 0.05; /* largest gap of a start that counts as near a solution */

/* ---- creation ---- */

static int allocate(struct binary *binary, struct error *err) {
    size_t n = binary->n, d = binary->d, side = binary->system ? 0 : d;
    const struct arrays arrays[] = {
        ARRAYS(n, double, &binary->s, &binary->alpha, &binary->signed_alpha, &binary->q,
               &binary->curvature, &binary->share, &binary->trial_s, &binary->trial_alpha),
        ARRAYS(2 * n, double, &binary->breaks),
        ARRAYS(d, double, &binary->x, &binary->v, &binary->gradient, &binary->step, &binary->mean),
        ARRAYS(n, uint32_t, &binary->curved),
        ARRAYS(binary_step_work(binary), double, &binary->work)};
    binary->block = arrays_create(arrays, sizeof arrays / sizeof arrays[0], "scores", err);
    binary->matrix = memory_array(side, side * sizeof(double), "a Hessian", err);
    return binary->block && binary->matrix ? 0 : -1;
}

int binary_create(struct binary **binary, const struct binary_rows *rows, struct error *err) {
    struct binary *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->rows = *rows;
    made->n = rows->n;
    made->d = rows->d;
    bool few_features = rows->d < cluster_count(rows->cluster, rows->n);
    if (((!few_features || rows->d > MAX_HESSIAN) &&
         newton_system_create(&made->system, &made->rows, err) < 0) ||
        allocate(made, err) < 0) {
        binary_free(made);
        return -1;
    }
    *binary = made;
    return 0;
}

void binary_free(struct binary *binary) {
    if (!binary) {
        return;
    }
    free(binary->block);
    free(binary->matrix);
    newton_system_free(binary->system);
    free(binary);
}

void binary_start(struct binary *binary, const double *w) {
    memcpy(binary->x, w, binary->d * sizeof *w);
    binary->started = true;
}

void binary_forget(struct binary *binary) {
    memset(binary->x, 0, binary->d * sizeof *binary->x);
    binary->b = 0;
    binary->started = false;
}

/* ---- the iterate ---- */

static double argument_of(const struct binary *binary, size_t i) {
    const struct binary_loss *loss = binary->loss;
    return 1 - loss->y[i] * (binary->s[i] + binary->b);
}

/* Both bounds at x, and the gradient of the smoothed problem. The primal uses the smoothed
 * problem's bias, which is cheaper; close to the target it uses the exact one. */
static int evaluate(void *context, const struct huber_path *path, struct huber_point *at,
                    struct error *err) {
    struct binary *binary = context;
    const struct binary_loss *loss = binary->loss;
    size_t n = binary->n;
    binary_scores(&binary->rows, binary->x, binary->s);
    binary->b = binary_smooth_bias(loss, NULL, binary->s, n, path->mu, binary->b, binary->alpha);
    binary->bias_slope = 0;
    double linear = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        double alpha = binary->alpha[i], u = fmax(argument_of(binary, i), 0);
        sum += loss->cost[i] * (loss->squared ? u * u : u);
        binary->signed_alpha[i] = loss->y[i] * alpha;
        linear += alpha;
        linear -= loss->squared ? alpha * (alpha / (4 * loss->cost[i])) : 0;
    }
    double sums[] = {linear, sum};
    cluster_sum(loss->cluster, sums, 2);
    linear = sums[0];
    sum = sums[1];
    if (binary_adjoint(&binary->rows, binary->signed_alpha, binary->v, err) < 0) {
        return -1;
    }
    binary->squared_norm = array_dot(binary->x, binary->x, binary->d);
    double dual_squared_norm = array_dot(binary->v, binary->v, binary->d);
    double mixed = array_dot(binary->v, binary->x, binary->d);
    at->residual = 0.5 * fmax(binary->squared_norm - 2 * mixed + dual_squared_norm, 0);
    at->primal = 0.5 * binary->squared_norm + sum;
    at->dual = linear - 0.5 * dual_squared_norm;
    if (!isfinite(at->primal) || !isfinite(at->dual)) {
        return stop_overflow(err);
    }
    double dual = fmax(path->dual, at->dual);
    if (path->piecewise_linear && !gap_reached(at->primal, dual, path->epsilon) &&
        gap_reached(at->primal, dual, EXACT_GAP * path->epsilon)) {
        binary_bias(loss, binary->s, n, binary->breaks, &sum);
        at->primal = fmin(at->primal, 0.5 * binary->squared_norm + sum);
    }
    return 0;
}

/* Finds the rows where the loss smoothed by `width` is curved, with the curvature of mu. */
static void find_curved_rows(struct binary *binary, double width, double mu) {
    const struct binary_loss *loss = binary->loss;
    double total = 0;
    binary->n_curved = 0;
    for (size_t i = 0; i < binary->n; i++) {
        double u = argument_of(binary, i);
        if (u > 0 && (loss->squared || u < width)) {
            double curvature = loss->cost[i] * (loss->squared ? 2 : 1 / width);
            size_t position = binary->n_curved++;
            binary->curvature[position] = curvature;
            binary->curved[position] = (uint32_t)i;
            total += curvature;
        }
    }
    total = cluster_total(loss->cluster, total);
    for (size_t k = 0; k < binary->n_curved; k++) {
        binary->share[k] = binary->curvature[k] / total;
        binary->curvature[k] *= width / mu;
    }
}

/* The gradient for the new mu with the curved rows of the old one, whose alphas may exceed C. */
static int lower_mu(void *context, double width, double mu, struct error *err) {
    struct binary *binary = context;
    const struct binary_loss *loss = binary->loss;
    binary->bias_slope = 0;
    for (size_t i = 0; i < binary->n; i++) {
        double u = argument_of(binary, i);
        double fraction = u <= 0 ? 0 : u >= width ? 1 : u / mu;
        binary->signed_alpha[i] = loss->y[i] * loss->cost[i] * fraction;
        binary->bias_slope -= binary->signed_alpha[i];
    }
    binary->bias_slope = cluster_total(loss->cluster, binary->bias_slope);
    return binary_adjoint(&binary->rows, binary->signed_alpha, binary->v, err);
}

static int newton_step(void *context, const struct huber_path *path, double width, bool *found,
                       struct error *err) {
    struct binary *binary = context;
    find_curved_rows(binary, width, path->mu);
    return binary_step(binary, found, err);
}

/* ---- line search ---- */

struct line {
    struct binary *binary;
    double mu;
    double mixed, square; /* <x, step>, |step|^2 */
};

/* Directional derivative of the smoothed problem at x + theta step, with the bias minimised out. */
static int line_derivative(void *context, double theta, double *derivative, struct error *err) {
    (void)err;
    const struct line *line = context;
    struct binary *binary = line->binary;
    const struct binary_loss *loss = binary->loss;
    double sum = 0;
    for (size_t i = 0; i < binary->n; i++) {
        binary->trial_s[i] = binary->s[i] + theta * binary->q[i];
    }
    binary_smooth_bias(loss, NULL, binary->trial_s, binary->n, line->mu, binary->b,
                       binary->trial_alpha);
    for (size_t i = 0; i < binary->n; i++) {
        sum += loss->y[i] * binary->trial_alpha[i] * binary->q[i];
    }
    sum = cluster_total(loss->cluster, sum);
    *derivative = line->mixed + theta * line->square - sum;
    return 0;
}

/* Moves along the step to where the derivative is nearly 0. */
static int line_search(void *context, const struct huber_path *path, bool *moved,
                       struct error *err) {
    struct binary *binary = context;
    struct line line = {.binary = binary,
                        .mu = path->mu,
                        .mixed = array_dot(binary->step, binary->x, binary->d),
                        .square = array_dot(binary->step, binary->step, binary->d)};
    double length;
    if (search_length(line_derivative, &line, NULL, &length, moved, err) < 0) {
        return -1;
    }
    if (length > 0) {
        array_add(binary->x, length, binary->step, binary->d);
    }
    return 0;
}

/* ---- the smoothing path ---- */

static void store_primal(void *context) {
    struct binary *binary = context;
    memcpy(binary->fit->w, binary->x, binary->d * sizeof *binary->x);
}

static void store_dual(void *context) {
    struct binary *binary = context;
    if (binary->fit->alpha) {
        memcpy(binary->fit->alpha, binary->alpha, binary->n * sizeof *binary->alpha);
    }
}

static void move(void *context, double length) {
    struct binary *binary = context;
    array_add(binary->x, length, binary->step, binary->d);
}

static const struct huber_steps STEPS = {.evaluate = evaluate,
                                         .store_primal = store_primal,
                                         .store_dual = store_dual,
                                         .lower_mu = lower_mu,
                                         .step = newton_step,
                                         .search = line_search,
                                         .move = move};

/* Near the solution of a similar problem the mu with the best dual bound is about right: with a
 * larger one the path first leads away, with a smaller one all rows change pieces. Otherwise the
 * path starts at w = 0 and a mu so large that alphas are small enough for a useful bound. At a
 * large C, Newton's method needs many more steps from mu = 1. */
static int choose_mu(struct binary *binary, struct huber_path *path, struct error *err) {
    double dual;
    if (binary->started) {
        if (huber_path_choose_mu(path, MU_FIRST, MU_DOWN, MIN_FIRST_MU, &dual, err) < 0) {
            return -1;
        }
        if (gap_reached(path->primal, dual, NEAR_GAP)) {
            return 0;
        }
        memset(binary->x, 0, binary->d * sizeof *binary->x);
    }
    return huber_path_choose_mu(path, MU_FIRST, MU_UP, MAX_FIRST_MU, &dual, err);
}

static int run(struct binary *binary, struct huber_path *path, struct error *err) {
    return path->piecewise_linear && choose_mu(binary, path, err) < 0 ? -1
                                                                      : huber_path_run(path, err);
}

int binary_solve(struct binary *binary, const struct binary_loss *loss, double epsilon,
                 const struct monitor *monitor, struct binary_fit *fit, struct error *err) {
    struct huber_path path = {.steps = &STEPS,
                              .context = binary,
                              .schedule = &SCHEDULE,
                              .monitor = monitor,
                              .epsilon = epsilon,
                              .piecewise_linear = !loss->squared,
                              .mu = MU_FIRST,
                              .primal = INFINITY,
                              .dual = -INFINITY};
    binary->loss = loss;
    binary->monitor = monitor;
    binary->fit = fit;
    int status = run(binary, &path, err);
    if (status == 0 && binary->started && path.reason && !stop_limited(path.reason)) {
        binary_forget(binary); /* the warm start stalled: restart from zero */
        status = run(binary, &path, err);
    }
    binary->started = true;
    if (status < 0) {
        return -1;
    }
    memcpy(binary->x, fit->w, binary->d * sizeof *binary->x);
    double sum, *s = binary->trial_s;
    binary_scores(&binary->rows, binary->x, s);
    fit->dual = path.dual;
    fit->iterations = path.iterations;
    fit->reason = path.reason;
    fit->bias = binary_bias(loss, s, binary->n, binary->breaks, &sum);
    fit->primal = 0.5 * array_dot(binary->x, binary->x, binary->d) + sum;
    fit->converged = gap_reached(fit->primal, fit->dual, epsilon);
    return 0;
}
