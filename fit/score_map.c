/* Score maps of linear problems (products with the data) and of kernels (products with the Gram
 * matrix). */
#include "fit/score_map.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/kernel/linear.h"

#include <stdlib.h>
#include <string.h>

int score_map_each(const struct score_map *map, const double *weights, size_t n_outputs, double *s,
                   struct error *err) {
    size_t n = map->n, d = map->dimension;
    double *column = memory_array(n + d, sizeof *column, "scores", err);
    int status = column ? 0 : -1;
    for (size_t k = 0; status == 0 && k < n_outputs; k++) {
        for (size_t j = 0; j < d; j++) {
            column[j] = weights[j * n_outputs + k];
        }
        status = map->scores(map, column, column + d, err);
        for (size_t i = 0; status == 0 && i < n; i++) {
            s[i * n_outputs + k] = column[d + i];
        }
    }
    free(column);
    return status;
}

int score_map_exact_two(const struct score_map *map, const double *weights,
                        const double *weights_two, size_t n_outputs, double *s, double *s_two,
                        struct error *err) {
    size_t d = map->dimension, n = map->n, row = n_outputs * sizeof(double);
    double *b = memory_array(2 * (d + n), row, "scores", err);
    double *both = b ? b + 2 * d * n_outputs : NULL;
    for (size_t j = 0; b && j < d; j++) {
        memcpy(b + 2 * j * n_outputs, weights + j * n_outputs, row);
        memcpy(b + (2 * j + 1) * n_outputs, weights_two + j * n_outputs, row);
    }
    int status = b ? map->exact(map, b, 2 * n_outputs, both, err) : -1;
    for (size_t i = 0; status == 0 && i < n; i++) {
        memcpy(s + i * n_outputs, both + 2 * i * n_outputs, row);
        memcpy(s_two + i * n_outputs, both + (2 * i + 1) * n_outputs, row);
    }
    free(b);
    return status;
}

/* ---- the constant feature ---- */

/* s (n, n_outputs) += constant times `last` (n_outputs), the weights of the constant feature. */
static void add_constant(const struct score_map *map, double constant, const double *last,
                         size_t n_outputs, double *s) {
    for (size_t i = 0; constant > 0 && i < map->n; i++) {
        for (size_t k = 0; k < n_outputs; k++) {
            s[i * n_outputs + k] += constant * last[k];
        }
    }
}

/* ---- linear ---- */

static int linear_map_exact(const struct score_map *map, const double *weights, size_t n_outputs,
                            double *s, struct error *err) {
    (void)err;
    const struct problem *problem = map->context;
    size_t d = problem->data->n_features;
    linear_scores(problem->data, weights, d, n_outputs, s, map->threads);
    add_constant(map, problem->constant, weights + d * n_outputs, n_outputs, s);
    return 0;
}

static int linear_map_scores(const struct score_map *map, const double *weights, double *s,
                             struct error *err) {
    return linear_map_exact(map, weights, 1, s, err);
}

static int linear_map_adjoint(const struct score_map *map, const double *r, double *weights,
                              struct error *err) {
    const struct problem *problem = map->context;
    if (problem->constant > 0) {
        weights[problem->data->n_features] = problem->constant * array_sum(r, map->n);
    }
    if (linear_adjoint(problem->data, r, weights, map->threads, err) < 0) {
        return -1;
    }
    cluster_sum(map->cluster, weights, map->dimension);
    return 0;
}

/* ---- kernels ---- */

/* A view of some rows of the whole kernel matrix, with buffers over all its rows. */
struct gram_view {
    const struct problem *problem;
    size_t size;   /* rows of the whole matrix */
    double *all_b; /* (size) coefficients, zero outside the view */
    double *all_s; /* (size) scores */
};

/* s (n) = K weights, without the constant feature. */
static int multiply(const struct score_map *map, const double *weights, double *s,
                    struct error *err) {
    const struct gram_view *view = map->context;
    const struct problem *problem = view->problem;
    if (!problem->rows) {
        return gram_product(problem->gram, weights, s, map->threads, err);
    }
    for (size_t i = 0; i < map->n; i++) {
        view->all_b[problem->rows[i]] = weights[i];
    }
    if (gram_product(problem->gram, view->all_b, view->all_s, map->threads, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < map->n; i++) {
        s[i] = view->all_s[problem->rows[i]];
    }
    return 0;
}

static int gram_map_scores(const struct score_map *map, const double *weights, double *s,
                           struct error *err) {
    const struct gram_view *view = map->context;
    double constant = view->problem->constant;
    if (multiply(map, weights, s, err) < 0) {
        return -1;
    }
    double last = constant > 0 ? constant * array_sum(weights, map->n) : 0;
    add_constant(map, constant, &last, 1, s);
    return 0;
}

int score_map_copy(const struct score_map *map, const double *r, double *weights,
                   struct error *err) {
    (void)err;
    memcpy(weights, r, map->n * sizeof *weights);
    return 0;
}

/* gram_exact_scores or gram_float_scores */
typedef int gram_multiply(const struct gram *gram, const double *b, size_t k, double *s,
                          struct threads *threads, struct error *err);

/* s = K weights, without the constant feature. */
static int multiply_columns(const struct score_map *map, const double *weights, size_t n_outputs,
                            gram_multiply *scores, double *s, struct error *err) {
    const struct gram_view *view = map->context;
    const struct problem *problem = view->problem;
    if (!problem->rows) {
        return scores(problem->gram, weights, n_outputs, s, map->threads, err);
    }
    double *b = memory_zeros(view->size, n_outputs * sizeof *b, "coefficients", err);
    double *full = b ? memory_array(view->size, n_outputs * sizeof *full, "scores", err) : NULL;
    int status = full ? 0 : -1;
    if (full) {
        for (size_t i = 0; i < map->n; i++) {
            memcpy(b + problem->rows[i] * n_outputs, weights + i * n_outputs,
                   n_outputs * sizeof *b);
        }
        status = scores(problem->gram, b, n_outputs, full, map->threads, err);
    }
    for (size_t i = 0; status == 0 && i < map->n; i++) {
        memcpy(s + i * n_outputs, full + problem->rows[i] * n_outputs, n_outputs * sizeof *s);
    }
    free(full);
    free(b);
    return status;
}

/* s += constant^2 times the sums of the weights. */
static void add_square(const struct score_map *map, double constant, const double *weights,
                       size_t n_outputs, double *s) {
    for (size_t k = 0; constant > 0 && k < n_outputs; k++) {
        double sum = 0;
        for (size_t i = 0; i < map->n; i++) {
            sum += weights[i * n_outputs + k];
        }
        for (size_t i = 0; i < map->n; i++) {
            s[i * n_outputs + k] += constant * constant * sum;
        }
    }
}

static int gram_map_columns(const struct score_map *map, const double *weights, size_t n_outputs,
                            gram_multiply *scores, double *s, struct error *err) {
    const struct problem *problem = ((const struct gram_view *)map->context)->problem;
    if (gram_is_double(problem->gram)) {
        return score_map_each(map, weights, n_outputs, s, err);
    }
    if (multiply_columns(map, weights, n_outputs, scores, s, err) < 0) {
        return -1;
    }
    add_square(map, problem->constant, weights, n_outputs, s);
    return 0;
}

static int gram_map_exact(const struct score_map *map, const double *weights, size_t n_outputs,
                          double *s, struct error *err) {
    const struct problem *problem = ((const struct gram_view *)map->context)->problem;
    double start = clock_seconds();
    int status = gram_map_columns(map, weights, n_outputs, gram_exact_scores, s, err);
    stopwatch_add(gram_is_double(problem->gram) ? NULL : problem->certify_time,
                  clock_seconds() - start);
    return status;
}

static int gram_map_rough(const struct score_map *map, const double *weights, size_t n_outputs,
                          double *s, struct error *err) {
    return gram_map_columns(map, weights, n_outputs, gram_float_scores, s, err);
}

static int gram_map_diagonal(const struct score_map *map, double *diagonal, struct error *err) {
    (void)err;
    const struct gram_view *view = map->context;
    const struct kernel_rows *rows = gram_rows(view->problem->gram);
    for (size_t i = 0; i < map->n; i++) {
        size_t row = view->problem->rows ? view->problem->rows[i] : i;
        diagonal[i] = kernel_value(rows, row, rows, row);
    }
    add_constant(map, view->problem->constant, &view->problem->constant, 1, diagonal);
    return 0;
}

static void gram_map_release(struct score_map *map) {
    struct gram_view *view = map->context;
    if (view) {
        free(view->all_b);
        free(view->all_s);
        free(view);
        map->context = NULL;
    }
}

int score_map_create(struct score_map *map, const struct problem *problem, struct error *err) {
    *map = (struct score_map){
        .n = problem->n,
        .dimension = (size_t)problem->data->n_features + (problem->constant > 0),
        .primal = true,
        .context = (void *)(uintptr_t)problem,
        .cluster = problem->cluster,
        .threads = problem->threads,
        .scores = linear_map_scores,
        .adjoint = linear_map_adjoint,
        .exact = linear_map_exact,
        .rough = linear_map_exact,
    };
    if (!problem->gram) {
        return 0;
    }
    struct gram_view *view = memory_zeros(1, sizeof *view, "a kernel view", err);
    if (!view) {
        return -1;
    }
    view->problem = problem;
    view->size = gram_size(problem->gram);
    map->dimension = problem->n;
    map->primal = false;
    map->context = view;
    map->scores = gram_map_scores;
    map->adjoint = score_map_copy;
    map->exact = gram_map_exact;
    map->rough = gram_map_rough;
    map->release = gram_map_release;
    map->diagonal = gram_map_diagonal;
    if (problem->rows) {
        view->all_b = memory_zeros(view->size, sizeof *view->all_b, "coefficients", err);
        view->all_s = memory_array(view->size, sizeof *view->all_s, "scores", err);
        if (!view->all_b || !view->all_s) {
            gram_map_release(map);
            return -1;
        }
    }
    return 0;
}

void score_map_free(struct score_map *map) {
    if (map->release) {
        map->release(map);
        map->release = NULL;
    }
}
