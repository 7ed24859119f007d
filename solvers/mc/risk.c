#include "solvers/mc/risk.h"

#include "common/base/memory.h"
#include "common/kernel/gram.h"
#include "common/kernel/linear.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the risk ---- */

static double cut(void *context, const double *s, double *g, double *offset) {
    const struct mc_task *task = context;
    const struct mc_shape *shape = &task->shape;
    size_t k = shape->k;
    double value = 0;
    *offset = 0;
    for (size_t i = 0; i < task->n; i++) {
        size_t y = task->y[i];
        const double *score = s + i * k;
        double *row = g + i * k, sum = 0, mean = 0;
        value += task->weight[y] * mc_loss(shape, y, score);
        mc_vertex(shape, y, task->weight[y], score, row);
        for (size_t c = 0; c < k; c++) {
            sum += row[c];
        }
        *offset += sum;
        double own = shape->form->relative ? shape->margin * sum : row[y];
        if (shape->form->centred) {
            mean = (2 * row[y] - sum) / (double)k;
        }
        for (size_t c = 0; c < k; c++) {
            row[c] = shape->margin * row[c] + mean;
        }
        row[y] = mean - own;
    }
    double sums[] = {value, *offset};
    cluster_sum(task->problem->cluster, sums, 2);
    *offset = sums[1];
    return sums[0];
}

/* Sums of a few terms; weighted by class. */
static struct risk_rounding rounding(const void *context) {
    const struct mc_task *task = context;
    double k = (double)task->shape.k, most = mc_most(&task->shape), total = 0;
    double size = 2 * most * fmax(1, task->shape.margin);
    for (size_t i = 0; i < task->n; i++) {
        total += task->weight[task->y[i]] * most;
    }
    total = cluster_total(task->problem->cluster, total);
    double terms = (double)(task->n_all + cluster_size(task->problem->cluster) - 1);
    return (struct risk_rounding){(terms + k) * DBL_EPSILON * total, (k + 4) * DBL_EPSILON * size,
                                  size};
}

struct risk mc_risk(const struct mc_task *task) {
    return (struct risk){.n = task->n * task->shape.k,
                         .context = (void *)(uintptr_t)task,
                         .cut = cut,
                         .rounding = rounding};
}

/* ---- the map ---- */

static void add_constant(const struct mc_task *task, const double *constant, double *s) {
    size_t k = task->shape.k;
    for (size_t i = 0; i < task->n; i++) {
        for (size_t c = 0; c < k; c++) {
            s[i * k + c] += constant[c];
        }
    }
}

static int linear_scores_of(const struct score_map *map, const double *weights, double *s,
                            struct error *err) {
    (void)err;
    const struct mc_task *task = map->context;
    const struct data *data = task->problem->data;
    size_t k = task->shape.k;
    linear_scores(data, weights, data->n_features, k, s, map->threads);
    if (task->bias > 0) {
        const double *last = weights + data->n_features * k;
        for (size_t i = 0; i < task->n; i++) {
            for (size_t c = 0; c < k; c++) {
                s[i * k + c] += task->bias * last[c];
            }
        }
    }
    return 0;
}

/* W += value r', over the classes. */
static void add_row(double value, const double *r, size_t k, double *w) {
    for (size_t c = 0; c < k; c++) {
        w[c] += value * r[c];
    }
}

static int linear_adjoint_of(const struct score_map *map, const double *r, double *weights,
                             struct error *err) {
    (void)err;
    const struct mc_task *task = map->context;
    const struct data *data = task->problem->data;
    size_t k = task->shape.k, d = data->n_features;
    memset(weights, 0, (d + 1) * k * sizeof *weights);
    for (size_t i = 0; i < task->n; i++) {
        const double *row = r + i * k;
        size_t c = 0;
        while (c < k && row[c] == 0) {
            c++;
        }
        if (c == k) {
            continue;
        }
        size_t first = data->row_start ? (size_t)data->row_start[i] : i * d;
        size_t end = data->row_start ? (size_t)data->row_start[i + 1] : first + d;
        for (size_t t = first; t < end; t++) {
            size_t f = data->row_start ? data->column[t] : t - first;
            add_row((double)data->value[t], row, k, weights + f * k);
        }
        add_row(task->bias, row, k, weights + d * k);
    }
    cluster_sum(map->cluster, weights, (d + 1) * k);
    return 0;
}

/* constant (k) = bias^2 times the sum of the coefficients of each class. */
static void sum_coefficients(const struct mc_task *task, const double *b, double *constant) {
    size_t k = task->shape.k;
    memset(constant, 0, k * sizeof *constant);
    for (size_t i = 0; i < task->n; i++) {
        add_row(task->bias * task->bias, b + i * k, k, constant);
    }
}

static int kernel_scores_of(const struct score_map *map, const double *weights, double *s,
                            struct error *err) {
    const struct mc_task *task = map->context;
    const struct problem *problem = task->problem;
    size_t k = task->shape.k;
    double *constant = memory_array(k, sizeof *constant, "scores", err);
    if (!constant || gram_products(problem->gram, problem->rows, task->n, weights, k, s,
                                   map->threads, err) < 0) {
        free(constant);
        return -1;
    }
    if (task->bias > 0) {
        sum_coefficients(task, weights, constant);
        add_constant(task, constant, s);
    }
    free(constant);
    return 0;
}

static int kernel_adjoint_of(const struct score_map *map, const double *r, double *weights,
                             struct error *err) {
    (void)err;
    memcpy(weights, r, map->n * sizeof *weights);
    return 0;
}

static void release(struct score_map *map) {
    map->context = NULL;
}

int mc_map_create(struct score_map *map, const struct mc_task *task, struct error *err) {
    (void)err;
    size_t k = task->shape.k;
    bool linear = !task->problem->gram;
    *map = (struct score_map){
        .n = task->n * k,
        .dimension = linear ? ((size_t)task->problem->data->n_features + 1) * k : task->n * k,
        .primal = linear,
        .context = (void *)(uintptr_t)task,
        .cluster = task->problem->cluster,
        .threads = task->problem->threads,
        .scores = linear ? linear_scores_of : kernel_scores_of,
        .adjoint = linear ? linear_adjoint_of : kernel_adjoint_of,
        .release = release};
    return 0;
}
