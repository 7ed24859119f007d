/* The bounds of the kernel engine: coefficients and scores of alpha, and what they prove. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "solvers/mc/certify.h"
#include "solvers/mc/kernel_private.h"
#include "solvers/mc/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less of the gap that is wanted is not worth a better multiple of W. */
static const double LEAST_GAIN = 0.1;

/* b (k) = the coefficients of row i's alpha, which is made feasible, with the mean taken off. */
static void take_coefficients(struct mc_kernel *kernel, size_t i, double *b) {
    const struct mc_task *task = kernel->task;
    size_t k = kernel->k;
    double mean = 0, cap = kernel->cap[task->y[i]];
    double sum = task->shape.form->maximum ? mc_alpha_sum(&kernel->alpha, i) : 0;
    if (sum > cap) { /* by rounding: at a small cost it is more than the gap allows */
        mc_alpha_scale(&kernel->alpha, i, cap / sum);
    }
    mc_alpha_load(&kernel->alpha, i, kernel->row);
    mc_coefficients(&task->shape, task->y[i], kernel->row, b);
    for (size_t c = 0; task->shape.form->centred && c < k; c++) {
        mean += b[c] / (double)k;
    }
    for (size_t c = 0; c < k; c++) {
        b[c] -= mean;
    }
}

void mc_kernel_coefficients(struct mc_kernel *kernel) {
    for (size_t i = 0; i < kernel->n; i++) {
        take_coefficients(kernel, i, kernel->B + i * kernel->k);
    }
}

/* Losses of all rows at theta F, of a line. */
static double losses(void *context, double theta, double *slope) {
    const struct mc_kernel *kernel = context;
    const struct mc_task *task = kernel->task;
    double loss = 0;
    *slope = 0;
    for (size_t i = 0; i < kernel->n; i++) {
        size_t y = task->y[i];
        double along;
        loss += kernel->cap[y] *
                mc_loss_along(&task->shape, y, kernel->F + i * kernel->k, theta, &along);
        *slope += kernel->cap[y] * along;
    }
    return loss;
}

/* The primal at a good multiple of W, from F and norm. */
static void set_primal(struct mc_kernel *kernel, double epsilon) {
    struct mc_line line = {.norm = kernel->norm, .losses = losses, .context = kernel};
    double wanted = kernel->dual / (1 - epsilon);
    kernel->scale = mc_scale(&line, wanted, LEAST_GAIN * (wanted - kernel->dual), &kernel->primal);
}

/* Both bounds from F = K B. */
static int bounds(struct mc_kernel *kernel, double epsilon, struct error *err) {
    const struct mc_task *task = kernel->task;
    double sum = 0;
    kernel->norm = array_dot(kernel->B, kernel->F, kernel->n * kernel->k);
    for (size_t i = 0; i < kernel->n; i++) {
        sum += kernel->q[i] > 0 ? mc_alpha_sum(&kernel->alpha, i)
                                : kernel->cap[task->y[i]] * mc_most(&task->shape);
    }
    kernel->dual = sum - kernel->norm / 2;
    set_primal(kernel, epsilon);
    return isfinite(kernel->primal)
               ? 0
               : error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
}

int mc_kernel_refresh(struct mc_kernel *kernel, double epsilon, struct error *err) {
    size_t k = kernel->k, m = 0;
    double square = kernel->task->bias * kernel->task->bias;
    for (size_t i = 0; i < kernel->n; i++) {
        take_coefficients(kernel, i, kernel->u);
        if (memcmp(kernel->u, kernel->B + i * k, k * sizeof *kernel->u) != 0) {
            kernel->set[m++] = (uint32_t)i;
        }
    }
    double *change = memory_array(m, k * sizeof *change, "coefficients", err);
    if (!change) {
        return -1;
    }
    memset(kernel->s, 0, k * sizeof *kernel->s);
    for (size_t a = 0; a < m; a++) {
        double *b = kernel->B + kernel->set[a] * k;
        take_coefficients(kernel, kernel->set[a], kernel->u);
        for (size_t c = 0; c < k; c++) {
            change[a * k + c] = kernel->u[c] - b[c];
            kernel->s[c] += square * change[a * k + c];
        }
        memcpy(b, kernel->u, k * sizeof *b);
    }
    for (size_t j = 0; square > 0 && j < kernel->n * k; j++) {
        kernel->F[j] += kernel->s[j % k];
    }
    int status =
        m == 0 ? 0 : columns_multiply(kernel->columns, kernel->set, m, change, k, kernel->F, err);
    free(change);
    return status < 0 ? -1 : bounds(kernel, epsilon, err);
}

/* The part of the constant feature in the scores of B, (k); NULL without one, or without memory. */
static double *bias_of(const struct mc_kernel *kernel, struct error *err) {
    size_t k = kernel->k;
    double square = kernel->task->bias * kernel->task->bias;
    double *bias = kernel->task->bias > 0 ? memory_zeros(k, sizeof *bias, "bias", err) : NULL;
    for (size_t j = 0; bias && j < kernel->n * k; j++) {
        bias[j % k] += square * kernel->B[j];
    }
    return bias;
}

/* The fit's weights and bias: scale times B and `bias`. */
static int set_weights(const struct mc_kernel *kernel, const double *bias, struct mc_fit *fit,
                       struct error *err) {
    size_t size = kernel->n * kernel->k;
    fit->weights = memory_array(size, sizeof(double), "coefficients", err);
    fit->bias = bias ? memory_array(kernel->k, sizeof(double), "bias", err) : NULL;
    if (!fit->weights || (bias && !fit->bias)) {
        return -1;
    }
    for (size_t j = 0; j < size; j++) {
        fit->weights[j] = kernel->scale * kernel->B[j];
    }
    for (size_t c = 0; bias && c < kernel->k; c++) {
        fit->bias[c] = kernel->scale * bias[c];
    }
    return 0;
}

/* With scores (2, n, k) to work in: those of alpha serve for both points. */
static int certify_scores(struct mc_kernel *kernel, const double *bias, double *scores,
                          struct mc_fit *fit, struct error *err) {
    const struct mc_task *task = kernel->task;
    size_t size = kernel->n * kernel->k;
    struct mc_dual dual = {.alpha = &kernel->alpha,
                           .weights = kernel->B,
                           .bias = bias,
                           .exact = {scores, scores + size},
                           .q = kernel->q};
    if (kernel->map.exact(&kernel->map, kernel->B, kernel->k, scores + size, err) < 0) {
        return -1;
    }
    for (size_t j = 0; j < size; j++) {
        scores[j] = kernel->scale * scores[size + j];
        kernel->F[j] = scores[size + j] + (bias ? bias[j % kernel->k] : 0);
    }
    for (size_t i = 0; i < kernel->n; i++) {
        dual.linear += kernel->q[i] > 0 ? mc_alpha_sum(&kernel->alpha, i)
                                        : kernel->cap[task->y[i]] * mc_most(&task->shape);
    }
    return mc_certify(task, kernel->cost, &dual, NULL, fit, err);
}

int mc_kernel_certify(struct mc_kernel *kernel, double epsilon, struct mc_fit *fit,
                      struct error *err) {
    size_t size = kernel->n * kernel->k;
    mc_kernel_coefficients(kernel);
    double *bias = bias_of(kernel, err);
    double *scores = memory_array(size, 2 * sizeof *scores, "scores", err);
    int status = scores && (bias || kernel->task->bias == 0) &&
                         set_weights(kernel, bias, fit, err) == 0 &&
                         certify_scores(kernel, bias, scores, fit, err) == 0
                     ? bounds(kernel, epsilon, err)
                     : -1;
    free(scores);
    free(bias);
    return status;
}
