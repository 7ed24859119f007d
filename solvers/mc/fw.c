#include "solvers/mc/fw.h"

#include "common/base/memory.h"
#include "solvers/mc/certify.h"
#include "solvers/mc/risk.h"
#include "solvers/methods/conditional.h"

#include <stdlib.h>

/* The dual point. */
struct point {
    const struct mc_task *task;
    double cost;
    double *alpha;  /* (n, k) */
    double *vertex; /* (k) of the row at hand */
};

static void join(void *context, const double *s, const double *plane, double step) {
    struct point *point = context;
    const struct mc_task *task = point->task;
    size_t k = task->shape.k;
    (void)plane;
    for (size_t i = 0; i < task->n; i++) {
        size_t y = task->y[i];
        double *row = point->alpha + i * k;
        mc_vertex(&task->shape, y, point->cost * task->weight[y], s + i * k, point->vertex);
        for (size_t c = 0; c < k; c++) {
            row[c] += step * (point->vertex[c] - row[c]);
        }
    }
}

/* The part of the constant feature in the scores. */
static int set_bias(const struct mc_task *task, struct mc_fit *fit, struct error *err) {
    size_t k = task->shape.k;
    if (task->bias <= 0) {
        return 0;
    }
    fit->bias = memory_zeros(k, sizeof(double), "bias", err);
    if (!fit->bias) {
        return -1;
    }
    const double *last = fit->weights + (size_t)task->problem->data->n_features * k;
    for (size_t c = 0; !task->problem->gram && c < k; c++) {
        fit->bias[c] = task->bias * last[c];
    }
    for (size_t j = 0; task->problem->gram && j < task->n * k; j++) {
        fit->bias[j % k] += task->bias * task->bias * fit->weights[j];
    }
    return 0;
}

/* fit->weights = W(alpha), and dual = alpha, whose rows become their u(alpha). */
static int take_alpha(const struct score_map *map, const struct point *point, struct mc_alpha *dual,
                      struct mc_fit *fit, struct error *err) {
    const struct mc_task *task = point->task;
    size_t k = task->shape.k;
    for (size_t i = 0; i < task->n; i++) {
        double *row = point->alpha + i * k, mean = 0;
        if (mc_alpha_store(dual, i, row, err) < 0) {
            return -1;
        }
        mc_coefficients(&task->shape, task->y[i], row, point->vertex);
        for (size_t c = 0; task->shape.form->centred && c < k; c++) {
            mean += point->vertex[c] / (double)k;
        }
        for (size_t c = 0; c < k; c++) {
            row[c] = point->vertex[c] - mean;
        }
    }
    fit->weights = memory_array(map->dimension, sizeof(double), "weights", err);
    return fit->weights ? map->adjoint(map, point->alpha, fit->weights, err) : -1;
}

static int certify(const struct score_map *map, const struct point *point, struct mc_fit *fit,
                   struct error *err) {
    const struct mc_task *task = point->task;
    struct mc_alpha alpha;
    const struct mc_dual dual = {.alpha = &alpha};
    int status = mc_alpha_create(&alpha, task->n, task->shape.k, err);
    if (status == 0) {
        status = take_alpha(map, point, &alpha, fit, err);
    }
    if (status == 0) {
        status = set_bias(task, fit, err);
    }
    if (status == 0) {
        status = mc_certify(task, point->cost, &dual, NULL, fit, err);
    }
    mc_alpha_free(&alpha);
    return status;
}

int mc_fw_solve(const struct mc_task *task, const struct mc_goal *goal,
                const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct score_map map;
    struct risk risk = mc_risk(task);
    size_t k = task->shape.k;
    *fit = (struct mc_fit){0};
    if (mc_map_create(&map, task, err) < 0) {
        return -1;
    }
    struct point point = {.task = task,
                          .cost = goal->cost,
                          .alpha = memory_zeros(task->n, k * sizeof(double), "dual variables", err),
                          .vertex = memory_array(k, sizeof(double), "dual variables", err)};
    const struct conditional how = {
        .cost = goal->cost, .epsilon = goal->epsilon, .context = &point, .join = join};
    struct fit found = {0};
    int status = point.alpha && point.vertex
                     ? conditional_solve(&map, &risk, &how, monitor, &found, err)
                     : -1;
    if (status == 0) {
        fit->iterations = found.iterations;
        fit->reason = found.reason;
        fit_free(&found);
        status = certify(&map, &point, fit, err);
    }
    if (status < 0) {
        mc_fit_free(fit);
    }
    free(point.alpha);
    free(point.vertex);
    score_map_free(&map);
    return status;
}
