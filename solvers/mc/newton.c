#include "solvers/mc/newton.h"

#include "common/base/array.h"
#include "common/base/dispatch.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "solvers/mc/risk.h"
#include "solvers/mc/smooth.h"
#include "solvers/methods/cholesky.h"
#include "solvers/methods/linesearch.h"
#include "solvers/methods/score_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STALL_STEPS = 25 }; /* steps without a better gap: rounding has the last word */

/* The smoothing: where it starts, how far it goes down in one step at the least and at the most
 * (the latter when the last step down needed no correction), and where it ends. */
static const double MU_FIRST = 1, MU_CAREFUL = 0.3, MU_BOLD = 0.01, MU_LEAST = 1e-9;
/* Accuracy of the line search, relative to what the step promises and to what is wanted: a small
 * gain of the primal can be a large one of the dual. */
static const double LINE = 1e-3, LINE_WANTED = 1e-4;

struct newton {
    const struct mc_task *task;
    struct mc_smooth smooth;
    struct risk risk;
    struct score_map map;
    double cost, epsilon;
    size_t n, k, d, size;               /* rows, classes, features with the constant one, d k */
    double *w, *gradient, *step, *dual; /* (d, k) */
    double *s, *g, *q, *trial;          /* (n, k) */
    double *H;                          /* (size, size), index class * d + feature; lower half */
    double *x;                          /* (d) a row */
    double *right;                      /* (size) */
    size_t *term;                       /* (k) */
    double norm, value, residual;       /* |w|^2, smooth risk, half of |gradient|^2 */
};

/* H[a d + f][b d + g] += weight x_f x_g for all f and g (the lower half's blocks: a >= b). */
DISPATCH static void add_outer(double *restrict H, size_t size, size_t a, size_t b, double weight,
                               const double *restrict x, size_t d) {
    for (size_t f = 0; f < d; f++) {
        double value = weight * x[f];
        double *row = H + (a * d + f) * size + b * d;
        for (size_t g = 0; value != 0 && g < d; g++) {
            row[g] += value * x[g];
        }
    }
}

/* Adds one row's curvature, factor S x x'. */
static void add_curvature(struct newton *newton, size_t y, size_t n_terms, bool capped,
                          double factor) {
    const struct mc_shape *shape = &newton->task->shape;
    bool relative = shape->form->relative;
    size_t n_classes = n_terms, *term = newton->term;
    if (relative) {
        term[n_classes++] = y; /* never a term itself */
    }
    double n = (double)n_terms, square = factor * shape->margin * shape->margin;
    for (size_t e = 0; e < n_classes; e++) {
        for (size_t h = 0; h <= e; h++) {
            /* b_p = e_p - e_y, or sigma_p e_p up to its sign */
            size_t a = term[e], b = term[h];
            double value;
            if (relative && a == y) {
                value = b == y ? n - (capped ? n : 0) : -1 + (capped ? 1 : 0);
            } else {
                double sign = !relative && (a == y) != (b == y) ? -1 : 1;
                value = (a == b ? 1 : 0) - (capped ? sign / n : 0);
            }
            if (value != 0) {
                add_outer(newton->H, newton->size, a > b ? a : b, a > b ? b : a, square * value,
                          newton->x, newton->d);
            }
        }
    }
}

/* S becomes P S P, P taking off means over classes. Needs and leaves both halves. */
static void centre_hessian(struct newton *newton) {
    size_t k = newton->k, d = newton->d, size = newton->size;
    for (size_t i = 0; i < size; i++) {
        for (size_t j = i + 1; j < size; j++) {
            newton->H[i * size + j] = newton->H[j * size + i];
        }
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < size; i++) {
            for (size_t f = 0; f < d; f++) {
                double sum = 0;
                for (size_t c = 0; c < k; c++) {
                    sum +=
                        side ? newton->H[(c * d + f) * size + i] : newton->H[i * size + c * d + f];
                }
                for (size_t c = 0; c < k; c++) {
                    size_t at = side ? (c * d + f) * size + i : i * size + c * d + f;
                    newton->H[at] -= sum / (double)k;
                }
            }
        }
    }
}

/* step = -(I + C/mu S)^-1 gradient, with the terms in the band of mu = `band`. */
static int newton_step(struct newton *newton, double band, struct error *err) {
    const struct mc_task *task = newton->task;
    size_t k = newton->k, d = newton->d, size = newton->size;
    memset(newton->H, 0, size * size * sizeof *newton->H);
    for (size_t i = 0; i < newton->n; i++) {
        bool capped;
        size_t n = mc_smooth_band(&newton->smooth, band, task->y[i], newton->s + i * k,
                                  newton->term, &capped);
        if (n == 0 || (capped && n == 1 && task->shape.form->relative)) {
            continue;
        }
        data_row_dense(task->problem->data, i, d - 1, newton->x);
        newton->x[d - 1] = task->bias;
        add_curvature(newton, task->y[i], n, capped,
                      newton->cost * task->share[task->y[i]] / newton->smooth.mu);
    }
    if (task->shape.form->centred) {
        centre_hessian(newton);
    }
    for (size_t j = 0; j < size; j++) {
        newton->H[j * size + j] += 1;
    }
    for (size_t c = 0; c < k; c++) {
        for (size_t f = 0; f < d; f++) {
            newton->right[c * d + f] = -newton->gradient[f * k + c];
        }
    }
    if (cholesky_factor(newton->H, size) < 0) {
        return error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
    }
    cholesky_solve(newton->H, size, newton->right);
    for (size_t c = 0; c < k; c++) {
        for (size_t f = 0; f < d; f++) {
            newton->step[f * k + c] = newton->right[c * d + f];
        }
    }
    return 0;
}

/* Values at w: the smooth risk with its gradient, and the bounds of the true problem. */
static int evaluate(struct newton *newton, double *primal, double *dual, struct error *err) {
    double offset;
    newton->value = newton->risk.cut(&newton->smooth, newton->s, newton->g, &offset);
    if (newton->map.adjoint(&newton->map, newton->g, newton->dual, err)) {
        return -1;
    }
    for (size_t j = 0; j < newton->size; j++) {
        newton->dual[j] *= -newton->cost;
        newton->gradient[j] = newton->w[j] - newton->dual[j];
    }
    newton->norm = array_dot(newton->w, newton->w, newton->size);
    newton->residual = array_dot(newton->gradient, newton->gradient, newton->size) / 2;
    *primal = newton->norm / 2 + newton->cost * newton->smooth.loss;
    *dual = newton->cost * offset - array_dot(newton->dual, newton->dual, newton->size) / 2;
    return isfinite(*primal) ? 0
                             : error_set(err, ERROR_RUNTIME,
                                         "scores overflow: scale the data or "
                                         "lower the cost");
}

/* Goes along the step to the minimum. */
static int line(struct newton *newton, double wanted, struct error *err) {
    size_t size = newton->size, m = newton->n * newton->k;
    if (newton->map.scores(&newton->map, newton->step, newton->q, err)) {
        return -1;
    }
    struct linesearch search = {.risk = &newton->risk,
                                .cost = newton->cost,
                                .s = newton->s,
                                .d = newton->q,
                                .norm = newton->norm,
                                .mixed = array_dot(newton->w, newton->step, size),
                                .curvature = array_dot(newton->step, newton->step, size),
                                .value = newton->value,
                                .slope = array_dot(newton->g, newton->q, m),
                                .first = 1,
                                .trial = newton->trial,
                                .g = newton->g};
    double promise = -array_dot(newton->gradient, newton->step, size) / 2;
    struct linesearch_result found =
        linesearch_minimise(&search, fmin(LINE * promise, LINE_WANTED * wanted));
    array_add(newton->w, found.theta, newton->step, size);
    return newton->map.scores(&newton->map, newton->w, newton->s, err);
}

/* Lowers mu by `factor` at most, not below what the gap that is wanted needs; the gradient becomes
 * that of the new mu with the band of the old one. */
static int lower_mu(struct newton *newton, double factor, double gap, double wanted,
                    struct error *err) {
    double band = newton->smooth.mu, offset;
    double enough = 0.3 * wanted / (gap - newton->residual);
    newton->smooth.mu = fmax(band * fmin(fmax(factor, enough), MU_CAREFUL), MU_LEAST);
    mc_smooth_follow(&newton->smooth, band, newton->s, newton->g);
    if (newton->map.adjoint(&newton->map, newton->g, newton->gradient, err)) {
        return -1;
    }
    for (size_t j = 0; j < newton->size; j++) {
        newton->gradient[j] = newton->w[j] + newton->cost * newton->gradient[j];
    }
    newton->residual = array_dot(newton->gradient, newton->gradient, newton->size) / 2;
    newton->value = newton->risk.cut(&newton->smooth, newton->s, newton->g, &offset);
    return 0;
}

static int iterate(struct newton *newton, const struct monitor *monitor, struct mc_fit *fit,
                   struct error *err) {
    double best_dual = 0, best_gap = INFINITY, factor = MU_CAREFUL;
    int stalled = 0;
    bool lowered = false;
    fit->primal = INFINITY;
    for (;;) {
        double primal, dual;
        if (evaluate(newton, &primal, &dual, err)) {
            return -1;
        }
        if (primal < fit->primal) {
            fit->primal = primal;
            memcpy(fit->weights, newton->w, newton->size * sizeof *newton->w);
        }
        fit->dual = best_dual = fmax(best_dual, dual);
        double gap = fit->primal - best_dual, wanted = newton->epsilon * fit->primal;
        if (gap_reached(fit->primal, best_dual, newton->epsilon)) {
            return 0;
        }
        fit->iterations++;
        fit->reason = monitor_check(monitor, fit->iterations, fit->primal, best_dual);
        if (fit->reason) {
            return 0;
        }
        stalled = gap < best_gap * (1 - 1e-4) ? 0 : stalled + 1;
        best_gap = fmin(best_gap, gap);
        bool smooth_enough = newton->residual < 0.5 * (primal - dual);
        if (stalled >= STALL_STEPS || (smooth_enough && newton->smooth.mu <= MU_LEAST)) {
            fit->reason = STOP_ROUNDING;
            return 0;
        }
        double band = newton->smooth.mu;
        if (smooth_enough) {
            factor = lowered ? fmax(factor * MU_CAREFUL, MU_BOLD) : MU_CAREFUL;
            if (lower_mu(newton, factor, primal - dual, wanted, err)) {
                return -1;
            }
        }
        lowered = smooth_enough;
        if (newton_step(newton, band, err) || line(newton, wanted, err)) {
            return -1;
        }
    }
}

static int allocate(struct newton *newton, struct mc_fit *fit, struct error *err) {
    size_t size = newton->size, m = newton->n * newton->k;
    newton->w = memory_zeros(size, sizeof(double), "weights", err);
    newton->gradient = memory_array(size, sizeof(double), "weights", err);
    newton->step = memory_array(size, sizeof(double), "weights", err);
    newton->dual = memory_array(size, sizeof(double), "weights", err);
    newton->right = memory_array(size, sizeof(double), "weights", err);
    newton->s = memory_array(m, sizeof(double), "scores", err);
    newton->g = memory_array(m, sizeof(double), "scores", err);
    newton->q = memory_array(m, sizeof(double), "scores", err);
    newton->trial = memory_array(m, sizeof(double), "scores", err);
    newton->H = memory_array(size, size * sizeof(double), "Hessian", err);
    newton->x = memory_array(newton->d, sizeof(double), "a row", err);
    newton->term = memory_array(newton->k + 1, sizeof(size_t), "a row", err);
    fit->weights = memory_array(size, sizeof(double), "weights", err);
    fit->bias =
        newton->task->bias > 0 ? memory_array(newton->k, sizeof(double), "bias", err) : NULL;
    bool all = newton->w && newton->gradient && newton->step && newton->dual && newton->right &&
               newton->s && newton->g && newton->q && newton->trial && newton->H && newton->x &&
               newton->term && fit->weights && (newton->task->bias <= 0 || fit->bias);
    return all && mc_smooth_create(&newton->smooth, newton->task, err) == 0 ? 0 : -1;
}

static void release(struct newton *newton) {
    free(newton->w);
    free(newton->gradient);
    free(newton->step);
    free(newton->dual);
    free(newton->right);
    free(newton->s);
    free(newton->g);
    free(newton->q);
    free(newton->trial);
    free(newton->H);
    free(newton->x);
    free(newton->term);
    mc_smooth_free(&newton->smooth);
    score_map_free(&newton->map);
}

int mc_newton_solve(const struct mc_task *task, const struct mc_goal *goal, const double *start,
                    double mu, const struct monitor *monitor, struct mc_fit *fit,
                    struct error *err) {
    size_t k = task->shape.k, d = (size_t)task->problem->data->n_features + 1;
    struct newton newton = {.task = task,
                            .cost = goal->cost,
                            .epsilon = goal->epsilon,
                            .n = task->n,
                            .k = k,
                            .d = d,
                            .size = d * k};
    *fit = (struct mc_fit){0};
    int status = allocate(&newton, fit, err);
    if (status == 0) {
        newton.smooth.mu = fmin(fmax(mu, MU_LEAST), MU_FIRST);
        newton.risk = mc_smooth_risk(&newton.smooth);
        if (start) {
            memcpy(newton.w, start, newton.size * sizeof *start);
        }
        status = mc_map_create(&newton.map, task, err);
    }
    if (status == 0) {
        status = newton.map.scores(&newton.map, newton.w, newton.s, err);
    }
    if (status == 0) {
        status = iterate(&newton, monitor, fit, err);
    }
    for (size_t c = 0; status == 0 && fit->bias && c < k; c++) {
        fit->bias[c] = task->bias * fit->weights[(d - 1) * k + c];
    }
    release(&newton);
    if (status < 0) {
        mc_fit_free(fit);
    }
    return status;
}
