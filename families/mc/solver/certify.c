/* The loss with its rounding-error bound, the checks of alpha, and the certificate. */
#include "families/mc/solver/certify.h"

#include "common/base/memory.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A remainder of the gap of this part of the rounding-error bounds is negligible. */
static const double NEGLIGIBLE = 0.1;

/* Scores that are evaluated together. */
enum { BLOCK_SCORES = 1 << 18 };

struct loss {
    const struct mc_task *task;
    double cost;
};

/* A summary of a row's slacks. */
struct slacks {
    double high, sum; /* over the terms: the largest, the sum of the positive ones */
    double unit;      /* bound of the error of each, from the errors of the scores */
};

static struct slacks row_slacks(const struct mc_shape *shape, size_t y, const double *s,
                                double error, double *u) {
    size_t k = shape->k;
    double largest = 0, slope = 2 * fmax(1, shape->margin);
    struct slacks slacks = {.high = -INFINITY};
    mc_slacks(shape, y, s, u);
    for (size_t c = 0; c < k; c++) {
        double size = fabs(s[c]);
        largest = size > largest ? size : largest; /* fmax would be a call */
        if (c == y ? shape->form->own : shape->form->others) {
            slacks.high = u[c] > slacks.high ? u[c] : slacks.high;
            slacks.sum += u[c] <= 0 ? 0 : u[c]; /* keeps NaN */
        }
    }
    slacks.unit = slope * error + ((double)k + 8) * DBL_EPSILON * (1 + slope * largest);
    return slacks;
}

static int evaluate_loss(void *context, size_t first, size_t n, const double *s,
                         const double *error, double *value, double *rounding, struct error *err) {
    const struct loss *loss = context;
    const struct mc_shape *shape = &loss->task->shape;
    size_t k = shape->k;
    double max = mc_max_alpha_sum(shape), worst = 0;
    double *slack = memory_array(k, sizeof *slack, "a certificate", err);
    *value = *rounding = 0;
    for (size_t i = 0; slack && i < n; i++) {
        size_t y = loss->task->y[first + i];
        double weight = loss->cost * loss->task->row_weight[first + i];
        struct slacks slacks = row_slacks(shape, y, s + i * k, error[i], slack);
        bool highest = shape->form->simplex && !isnan(slacks.sum);
        *value += weight * (highest ? fmax(slacks.high, 0) : slacks.sum);
        /* else the loss is 0 in spite of the errors */
        *rounding += slacks.high + slacks.unit > 0 ? weight * max * slacks.unit : 0;
        worst = fmax(worst, slacks.high + slacks.unit);
    }
    *rounding += (double)n * DBL_EPSILON * *value;
    *rounding += worst > 0 ? (double)n * (max * (worst + 1) + 3) * CERTIFY_UNDERFLOW : 0;
    free(slack);
    return slack ? 0 : -1;
}

/* K_ii of the rows, (n), or their norm bounds. Where this is 0, the maximal alpha counts. */
static const double *diagonal_of(const struct mc_task *task, const struct mc_dual *dual) {
    return dual->q ? dual->q : certify_norm_bounds(task->certify);
}

/* Rounding-error bounds of the rows' coefficients, (n), by |u(alpha)| <= 2 M sum alpha. A row whose
 * K_ii has underflowed has its maximal alpha in the linear part, but no coefficients; so its error
 * is as large as these can be, which adds nothing to the bound if its kernel values are 0. */
static double *find_rounding(const struct mc_task *task, double cost, const struct mc_dual *dual,
                             struct error *err) {
    double max = mc_max_alpha_sum(&task->shape), width = 2 * fmax(1, task->shape.margin);
    double unit = ((double)task->shape.k + 8) * DBL_EPSILON;
    double *error = memory_array(task->n, sizeof *error, "a certificate", err);
    const double *own = diagonal_of(task, dual);
    size_t n_used = 0;
    for (size_t i = 0; error && i < task->n; i++) {
        error[i] = width * mc_alpha_sum(dual->alpha, i);
        n_used += error[i] > 0;
    }
    struct cluster *cluster = task->problem->cluster;
    if (!task->problem->gram) {
        unit += certify_coefficient_rounding(cluster_count(cluster, n_used) +
                                             cluster_size(cluster) - 1);
    }
    for (size_t i = 0; error && i < task->n; i++) {
        double cap = cost * task->row_weight[i];
        error[i] = unit * error[i];
        error[i] += 2 * width * (max + 1) * CERTIFY_UNDERFLOW;
        error[i] += !(own[i] > 0) ? width * cap * max : 0;
    }
    return error;
}

/* How far a row's alpha (k) exceeds its cap, relative to it; INFINITY if scaling cannot make it
 * feasible. */
static double find_excess(const struct mc_shape *shape, size_t y, double cap, const double *alpha) {
    double sum = 0, highest = 0;
    for (size_t c = 0; c < shape->k; c++) {
        if (!(alpha[c] >= 0) || (alpha[c] > 0 && !mc_is_term(shape, y, c))) {
            return INFINITY;
        }
        sum += alpha[c];
        highest = fmax(highest, alpha[c]);
    }
    highest = shape->form->simplex ? sum : highest;
    return highest > cap ? (highest - cap) / cap : 0;
}

/* *linear = the sum of alpha, *excess = the largest excess, over the rows of all processes. */
static int sum_alpha(const struct mc_task *task, double cost, const struct mc_dual *dual,
                     double *linear, double *excess, struct error *err) {
    const struct mc_alpha *alpha = dual->alpha;
    const double *own = diagonal_of(task, dual);
    double *row = memory_array(task->shape.k, sizeof *row, "a certificate", err), sum = 0;
    *excess = 0;
    for (size_t i = 0; row && i < task->n; i++) {
        double cap = cost * task->row_weight[i];
        if (own[i] > 0) {
            mc_alpha_load(alpha, i, row);
            *excess = fmax(*excess, find_excess(&task->shape, task->y[i], cap, row));
            sum += mc_alpha_sum(alpha, i);
        } else {
            sum += cap * mc_max_alpha_sum(&task->shape);
        }
    }
    free(row);
    *linear = cluster_total(task->problem->cluster, sum);
    *excess = cluster_largest(task->problem->cluster, *excess);
    return row ? 0 : -1;
}

void mc_dual_coefficients(const struct mc_task *task, const struct mc_alpha *alpha, double *U,
                          double *bias, double *alpha_row) {
    size_t k = task->shape.k;
    double square = task->bias * task->bias;
    memset(bias, 0, k * sizeof *bias);
    for (size_t i = 0; i < task->n; i++) {
        mc_alpha_load(alpha, i, alpha_row);
        mc_centred_coefficients(&task->shape, task->y[i], alpha_row, U + i * k);
        for (size_t c = 0; c < k; c++) {
            bias[c] += square * U[i * k + c];
        }
    }
}

double mc_zero_loss(const struct mc_task *task, double cost) {
    struct certify_total total = {0};
    for (size_t i = 0; i < task->n; i++) {
        certify_total_add(&total, task->row_weight[i], mc_max_alpha_sum(&task->shape));
    }
    certify_total_over_processes(&total, task->problem->cluster);
    return certify_total_times(&total, cost);
}

/* Stores the dual point in the fit. Rows with K_ii = 0 get their maximal alpha, see
 * mc_max_alpha_sum. */
static int keep_alpha(const struct mc_task *task, double cost, const struct mc_dual *dual,
                      struct mc_fit *fit, struct error *err) {
    const struct mc_shape *shape = &task->shape;
    const struct mc_alpha *alpha = dual->alpha;
    const double *own = diagonal_of(task, dual);
    mc_alpha_free(&fit->alpha);
    double *row = memory_array(2 * shape->k, sizeof *row, "dual variables", err);
    int status = row ? mc_alpha_create(&fit->alpha, task->n, shape->k, err) : -1;
    for (size_t i = 0; status == 0 && i < task->n; i++) {
        if (own[i] > 0) {
            mc_alpha_load(alpha, i, row);
        } else {
            for (size_t c = 0; c < shape->k; c++) {
                row[shape->k + c] = 0; /* scores */
            }
            mc_vertex(shape, task->y[i], cost * task->row_weight[i], row + shape->k, row);
        }
        status = mc_alpha_store(&fit->alpha, i, row, err);
    }
    free(row);
    return status;
}

int mc_certify(const struct mc_task *task, double cost, const struct mc_dual *dual,
               struct mc_fit *fit, struct error *err) {
    size_t k = task->shape.k;
    assert(dual->weights || !fit->points);
    double *error = find_rounding(task, cost, dual, err);
    if (!error || (task->keep && keep_alpha(task, cost, dual, fit, err) < 0)) {
        free(error);
        return -1;
    }
    struct certify_function f = {
        .weights = fit->weights, .points = fit->points, .bias = fit->bias, .exact = dual->exact[0]};
    struct certify_function g = {.weights = dual->weights ? dual->weights : fit->weights,
                                 .bias = dual->weights ? dual->bias : fit->bias};
    g.error = error;
    g.exact = dual->exact[1];
    /* by the rounding of costs and sums, rows may exceed their caps by `unit`. Scaling them down
     * costs that part of the linear part, which is at least half of |g|^2 whenever D > 0 */
    double terms = (double)(task->n_all + cluster_size(task->problem->cluster) - 1);
    double row_unit = 3 * ((double)k + 4) * DBL_EPSILON,
           unit = row_unit + (terms + 4) * DBL_EPSILON;
    double linear, excess;
    if (sum_alpha(task, cost, dual, &linear, &excess, err) < 0) {
        free(error);
        return -1;
    }
    unit += excess > row_unit ? excess : 0;
    linear = unit < 1 ? linear : 0; /* else D = 0, the trivial bound */
    double under = (terms + 4) * (mc_max_alpha_sum(&task->shape) + 2) *
                   CERTIFY_UNDERFLOW; /* underflow of costs */
    struct loss loss = {task, cost};
    const struct certify_family family = {.context = &loss,
                                          .block = 1 + BLOCK_SCORES / k,
                                          .loss = evaluate_loss,
                                          .linear = linear,
                                          .linear_rounding = linear > 0 ? unit * linear + under : 0,
                                          .zero_primal = mc_zero_loss(task, cost),
                                          .target_gap = dual->target_gap,
                                          .compute_scaling = dual->compute_scaling};
    int status = certify_bounds(task->certify, k, &f, &g, &family, &fit->certificate, err);
    free(error);
    return status;
}

bool mc_is_rounding(const struct certificate *certificate, double rounding) {
    double rest = certificate->primal - certificate->dual - rounding;
    return certificate->certified && rest <= NEGLIGIBLE * rounding;
}
