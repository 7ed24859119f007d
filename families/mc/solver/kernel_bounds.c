/* Coefficients, scores, bounds and certificates of the kernel solvers. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "families/mc/solver/certify.h"
#include "families/mc/solver/kernel_descent_private.h"
#include "families/mc/solver/rescaling.h"
#include "fit/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* b (k) = the coefficients of row i's alpha, which is scaled to be feasible. */
static void row_coefficients(struct mc_kernel_descent *descent, size_t i, double *b) {
    const struct mc_task *task = descent->task;
    double cap = descent->row_cap[i];
    double sum = task->shape.form->simplex ? mc_alpha_sum(&descent->alpha, i) : 0;
    if (sum > cap) { /* by rounding; relative to a small cost this would show in the gap */
        mc_alpha_scale(&descent->alpha, i, cap / sum);
    }
    mc_alpha_load(&descent->alpha, i, descent->row);
    mc_centred_coefficients(&task->shape, task->y[i], descent->row, b);
}

void mc_kernel_coefficients(struct mc_kernel_descent *descent) {
    for (size_t i = 0; i < descent->n; i++) {
        row_coefficients(descent, i, descent->B + i * descent->k);
    }
}

/* The losses of all rows at theta F, for mc_line. */
static double losses(void *context, double theta, double *slope) {
    const struct mc_kernel_descent *descent = context;
    const struct mc_task *task = descent->task;
    double loss = 0;
    *slope = 0;
    for (size_t i = 0; i < descent->n; i++) {
        size_t y = task->y[i];
        double along;
        loss += descent->row_cap[i] *
                mc_loss_along(&task->shape, y, descent->F + i * descent->k, theta, &along);
        *slope += descent->row_cap[i] * along;
    }
    return loss;
}

void mc_kernel_primal(struct mc_kernel_descent *descent, double epsilon) {
    struct mc_line line = {
        .squared_norm = descent->squared_norm, .losses = losses, .context = descent};
    double target = descent->dual / (1 - epsilon);
    descent->scale = mc_rescale(&line, target, &descent->primal);
}

/* Evaluates both bounds from F = K B. */
static int bounds(struct mc_kernel_descent *descent, double epsilon, struct error *err) {
    const struct mc_task *task = descent->task;
    double sum = 0;
    descent->squared_norm = array_dot(descent->B, descent->F, descent->n * descent->k);
    for (size_t i = 0; i < descent->n; i++) {
        sum += descent->q[i] > 0 ? mc_alpha_sum(&descent->alpha, i)
                                 : descent->row_cap[i] * mc_max_alpha_sum(&task->shape);
    }
    descent->dual = sum - descent->squared_norm / 2;
    mc_kernel_primal(descent, epsilon);
    return isfinite(descent->primal) ? 0 : stop_overflow(err);
}

/* ---- coefficients and scores ---- */

/* Lists the rows at which F is not updated yet, and resets the marks. The caller frees the list. */
static uint32_t *list_outdated(struct mc_kernel_descent *descent, size_t *n, struct error *err) {
    uint32_t *rows = memory_array(descent->n, sizeof *rows, "rows", err);
    *n = 0;
    for (size_t i = 0; rows && i < descent->n; i++) {
        if (!descent->updated[i]) {
            rows[(*n)++] = (uint32_t)i;
        }
        descent->updated[i] = false;
    }
    return rows;
}

/* Updates B and F = K B to alpha. */
static int update_scores(struct mc_kernel_descent *descent, struct error *err) {
    size_t k = descent->k, m = 0, n;
    double square = descent->task->bias * descent->task->bias;
    uint32_t *rows = list_outdated(descent, &n, err);
    double *change =
        rows ? memory_array(descent->n, k * sizeof *change, "coefficients", err) : NULL;
    memset(descent->s, 0, k * sizeof *descent->s); /* the sum of the changes */
    for (size_t i = 0; change && i < descent->n; i++) {
        double *b = descent->B + i * k, *row = change + m * k;
        row_coefficients(descent, i, descent->u);
        if (memcmp(descent->u, b, k * sizeof *b) == 0) {
            continue;
        }
        for (size_t c = 0; c < k; c++) {
            row[c] = descent->u[c] - b[c];
        }
        array_add(descent->s, square, row, k);
        memcpy(b, descent->u, k * sizeof *b);
        descent->set[m++] = (uint32_t)i;
    }
    for (size_t i = 0; change && square > 0 && i < descent->n; i++) {
        array_add(descent->F + i * k, 1, descent->s, k);
    }
    int status = change ? 0 : -1;
    if (status == 0 && m > 0) {
        status = column_cache_multiply(descent->columns, descent->set, m, change, k,
                                       n < descent->n ? rows : NULL, n, descent->F, err);
    }
    free(rows);
    free(change);
    return status;
}

int mc_kernel_refresh(struct mc_kernel_descent *descent, double epsilon, struct error *err) {
    return update_scores(descent, err) < 0 ? -1 : bounds(descent, epsilon, err);
}

/* ---- certificates ---- */

/* Returns the contribution of the constant feature to the scores of coefficients U (n, k), (k);
 * NULL without one, or without memory. */
static double *bias_of(const struct mc_kernel_descent *descent, const double *U,
                       struct error *err) {
    size_t k = descent->k;
    double square = descent->task->bias * descent->task->bias;
    double *bias = descent->task->bias > 0 ? memory_zeros(k, sizeof *bias, "bias", err) : NULL;
    for (size_t j = 0; bias && j < descent->n * k; j++) {
        bias[j % k] += square * U[j];
    }
    return bias;
}

/* Points to certify: multiples of U as primal points, alpha as the dual point. */
struct points {
    const double *U, *bias;  /* (n, k) coefficients, (k) their constant feature or NULL */
    const double *dual_bias; /* (k) constant feature of B or NULL */
    const double *scores; /* (2, n, k) exact scores of U and of B, without the constant feature */
    double *scaled;       /* (n, k) work */
};

/* Sets the fit's weights and bias to scale times those of U. */
static int set_weights(const struct mc_kernel_descent *descent, const struct points *points,
                       double scale, struct mc_fit *fit, struct error *err) {
    size_t size = descent->n * descent->k;
    free(fit->weights);
    free(fit->bias);
    fit->weights = memory_array(size, sizeof(double), "coefficients", err);
    fit->bias = points->bias ? memory_array(descent->k, sizeof(double), "bias", err) : NULL;
    if (!fit->weights || (points->bias && !fit->bias)) {
        return -1;
    }
    array_multiple(fit->weights, scale, points->U, size);
    for (size_t c = 0; points->bias && c < descent->k; c++) {
        fit->bias[c] = scale * points->bias[c];
    }
    return 0;
}

/* Certifies scale U as primal point. */
static int certify_scaled(const struct mc_kernel_descent *descent, const struct points *points,
                          double scale, struct mc_fit *fit, struct error *err) {
    size_t size = descent->n * descent->k;
    const struct mc_dual dual = {.alpha = &descent->alpha,
                                 .weights = descent->B,
                                 .bias = points->dual_bias,
                                 .exact = {points->scaled, points->scores + size},
                                 .q = descent->q,
                                 .target_gap = descent->epsilon,
                                 .compute_scaling = true};
    array_multiple(points->scaled, scale, points->scores, size);
    return set_weights(descent, points, scale, fit, err) < 0
               ? -1
               : mc_certify(descent->task, descent->cost, &dual, fit, err);
}

/* Improves the certified primal of scale U by a larger multiple of U. Margins that are short by
 * rounding cost C times that; a W that is longer by as much costs next to nothing. */
static int rescale(const struct mc_kernel_descent *descent, const struct points *points,
                   double scale, struct mc_fit *fit, struct error *err) {
    struct certificate first = fit->certificate;
    if (!(first.scaling > 1 && first.gap > descent->epsilon)) {
        return 0;
    }
    int status = certify_scaled(descent, points, scale * first.scaling, fit, err);
    if (status == 0 && !(fit->certificate.primal < first.primal)) {
        certify_take_better_dual(&first, &fit->certificate);
        fit->certificate = first;
        return set_weights(descent, points, scale, fit, err);
    }
    certify_take_better_dual(&fit->certificate, &first);
    return status;
}

/* scores (2, n, k) = the exact scores of U (n, k) and of B, in one product. */
static int exact_scores(const struct mc_kernel_descent *descent, const double *U, double *scores,
                        struct error *err) {
    size_t k = descent->k, size = descent->n * k;
    if (U == descent->B) {
        int status = descent->map.exact(&descent->map, U, k, scores, err);
        memcpy(scores + size, scores, size * sizeof *scores);
        return status;
    }
    return score_map_exact_two(&descent->map, U, descent->B, k, scores, scores + size, err);
}

int mc_kernel_certify_point(struct mc_kernel_descent *descent, const double *U, double scale,
                            const double *scores, struct mc_fit *fit, struct error *err) {
    size_t size = descent->n * descent->k;
    double *bias = bias_of(descent, U, err), *dual_bias = bias_of(descent, descent->B, err);
    double *work = memory_array(scores ? size : 3 * size, sizeof *work, "scores", err);
    bool made = work && (descent->task->bias == 0 || (bias && dual_bias));
    int status = made ? 0 : -1;
    if (made && !scores) {
        status = exact_scores(descent, U, work + size, err);
        scores = work + size;
    }
    for (size_t j = 0; status == 0 && j < size; j++) {
        descent->F[j] = scores[size + j] + (dual_bias ? dual_bias[j % descent->k] : 0);
    }
    const struct points points = {U, bias, dual_bias, scores, work};
    status = status < 0 || certify_scaled(descent, &points, scale, fit, err) < 0 ||
                     rescale(descent, &points, scale, fit, err) < 0
                 ? -1
                 : 0;
    free(work);
    free(bias);
    free(dual_bias);
    return status;
}

int mc_kernel_certify(struct mc_kernel_descent *descent, struct mc_fit *fit, struct error *err) {
    double own = descent->primal;
    bool averaged = descent->average && descent->average_primal <= own;
    mc_kernel_coefficients(descent);
    int status = mc_kernel_certify_point(descent, averaged ? descent->average : descent->B,
                                         averaged ? 1 : descent->scale, NULL, fit, err);
    status = status < 0 ? -1 : bounds(descent, descent->epsilon, err);
    if (descent->stores_double) { /* else the difference is due to float */
        fit->certificate.solver_rounding = fmax(0, fit->certificate.primal - own);
    }
    return status;
}
