/* Points of the multi-label problem: their weights, scores, feasibility and certificate. */
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "families/ml/solver/certify.h"
#include "families/ml/solver/ml_private.h"
#include "families/ml/solver/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_ROWS = 256, TASK_LABELS = 64 }; /* rows, or labels, of a task */

void ml_point_free(struct ml_point *point) {
    free(point->weights);
    free(point->bias);
    free(point->scores);
    free(point->feasibility);
    free(point->residual);
    free(point->dual);
    ml_proof_point_free(&point->proof);
    *point = (struct ml_point){0};
}

size_t ml_n_weights(const struct ml *ml) {
    return (ml->problem->gram ? ml->rows.n_all : ml->problem->data->n_features) * ml->rows.q;
}

int ml_point_create(struct ml_point *point, const struct ml *ml, struct error *err) {
    size_t q = ml->rows.q;
    *point = (struct ml_point){
        .certificate = {.primal = INFINITY, .gap = INFINITY},
        .weights =
            threads_zeros(ml->problem->threads, ml_n_weights(ml), sizeof(double), "weights", err),
        .bias = memory_zeros(q, sizeof(double), "weights", err),
        .scores = memory_array(ml->rows.n_all, q * sizeof(double), "scores", err),
        .feasibility =
            memory_zeros(ml->rows.n_all, sizeof(struct ml_feasibility), "a certificate", err),
        .residual = memory_zeros(q, sizeof(double), "a certificate", err)};
    if (point->weights && point->bias && point->scores && point->feasibility && point->residual) {
        return 0;
    }
    ml_point_free(point);
    return -1;
}

static struct ml_feasibility feasibility_of(const struct ml_block *block, const double *beta) {
    double above = 0, below = 0, wrong = 0, max_above = 0, max_below = 0, sum = 0, total = 0;
    for (uint32_t k = 0, next = 0; k < block->q; k++) {
        bool relevant = next < block->n_relevant && block->relevant[next] == k;
        double size = relevant ? beta[k] : -beta[k], good = size > 0 ? size : 0;
        next += relevant;
        total += beta[k];
        sum += fabs(size);
        wrong += good - size;
        *(relevant ? &above : &below) += good;
        double *max_product = relevant ? &max_above : &max_below;
        *max_product = good > *max_product ? good : *max_product;
    }
    double min_side = fmin(above, below);
    return (struct ml_feasibility){.sum = sum,
                                   .infeasibility = fabs(total) + 2 * wrong,
                                   .max_product =
                                       min_side > 0 ? max_above * max_below / min_side : 0};
}

/* The part of a row's sum that no alpha in [0, lambda] can carry from relevant labels to the others
 * (Gale, Pacific J. Math. 1957): the largest deficit over cuts, of which the j-th has the j largest
 * beta_p on one side and sum_r min(|beta_r|, j lambda) on the other. list (2 q) is work. */
static double excess_over_lambda(const struct ml_block *block, const double *beta,
                                 struct ml_sort *list) {
    struct ml_sort *others = list + block->n_relevant, *merge = list + block->q;
    uint32_t n = 0, m = 0;
    double sum = 0, excess = 0, filled = 0;
    for (uint32_t k = 0; k < block->q; k++) {
        bool relevant = n < block->n_relevant && block->relevant[n] == k;
        if (relevant) {
            list[n++].key = fmax(0, beta[k]);
        } else {
            others[m++].key = fmax(0, -beta[k]);
        }
    }
    ml_sort(list, n, merge);
    ml_sort(others, m, merge);
    uint32_t n_saturated = m; /* others whose |beta_r| is above j lambda */
    for (uint32_t j = 1; j <= n; j++) {
        double each = j * block->lambda;
        while (n_saturated > 0 && others[n_saturated - 1].key <= each) {
            filled += others[--n_saturated].key;
        }
        sum += list[j - 1].key;
        excess = fmax(excess, sum - filled - n_saturated * each);
    }
    return excess;
}

struct feasibility_tasks {
    const struct ml *ml;
    double cost;
    const double *beta; /* (n, width) */
    struct ml_point *point;
    struct ml_sort *list; /* (workers, 2 q) */
};

static void feasibility_task(void *argument, size_t task, size_t worker) {
    const struct feasibility_tasks *tasks = argument;
    const struct ml_rows *rows = &tasks->ml->rows;
    size_t width = tasks->ml->ascent.store.width, first = task * TASK_ROWS;
    for (size_t i = first, end = smaller(first + TASK_ROWS, rows->n); i < end; i++) {
        const double *beta = tasks->beta + i * width;
        struct ml_block block = ml_rows_block(rows, i, ML_HINGE, tasks->cost);
        struct ml_feasibility *feasibility = &tasks->point->feasibility[rows->row[i]];
        *feasibility = feasibility_of(&block, beta);
        feasibility->excess =
            feasibility->max_product > block.lambda
                ? excess_over_lambda(&block, beta, tasks->list + worker * 2 * rows->q)
                : 0;
    }
}

/* A task takes some labels and all rows, so sums do not depend on the threads. */
static void residual_task(void *argument, size_t task, size_t worker) {
    const struct feasibility_tasks *tasks = argument;
    const struct ml_rows *rows = &tasks->ml->rows;
    size_t width = tasks->ml->ascent.store.width, first = task * TASK_LABELS;
    size_t end = smaller(first + TASK_LABELS, rows->q);
    double *residual = tasks->point->residual;
    (void)worker;
    memset(residual + first, 0, (end - first) * sizeof *residual);
    for (size_t i = 0; i < rows->n; i++) {
        for (size_t k = first; k < end; k++) {
            residual[k] += tasks->beta[i * width + k];
        }
    }
}

int ml_point_feasibility(const struct ml *ml, double cost, const double *beta,
                         struct ml_point *point, struct error *err) {
    struct threads *threads = ml->problem->threads;
    size_t q = ml->rows.q, workers = threads_count(threads);
    struct feasibility_tasks tasks = {
        ml, cost, beta, point,
        memory_array(workers * q, 2 * sizeof(struct ml_sort), "a certificate", err)};
    if (!tasks.list) {
        return -1;
    }
    threads_run(threads, (ml->rows.n + TASK_ROWS - 1) / TASK_ROWS, feasibility_task, &tasks);
    threads_run(threads, (q + TASK_LABELS - 1) / TASK_LABELS, residual_task, &tasks);
    cluster_sum(ml->rows.cluster, point->residual, q);
    free(tasks.list);
    return 0;
}

double ml_point_linear(const struct ml *ml, const double *beta) {
    double linear = 0;
    for (size_t i = 0; i < ml->rows.n; i++) {
        struct ml_block block = ml_rows_block(&ml->rows, i, ML_HINGE, 1);
        linear += ml_block_linear(&block, beta + i * ml->ascent.store.width);
    }
    return cluster_total(ml->rows.cluster, linear);
}

void ml_point_weights(const struct ml *ml, const double *beta, struct ml_point *point) {
    const struct ml_store *store = &ml->ascent.store;
    size_t q = ml->rows.q;
    if (!ml->problem->gram) {
        ml_store_adjoint(store, beta, q, point->weights);
        return;
    }
    for (size_t i = 0; i < ml->rows.n; i++) {
        memcpy(point->weights + ml->rows.row[i] * q, beta + i * store->width, q * sizeof *beta);
    }
}

int ml_point_dual(struct ml *ml, double cost, const struct ml_alphas *alphas,
                  struct ml_point *point, struct error *err) {
    size_t width = ml->ascent.store.width;
    struct ml_proof_point *proof = ml->setup.keep ? &point->proof : NULL;
    double *beta = memory_zeros(ml->rows.n, width * sizeof *beta, "dual variables", err);
    int status =
        beta ? ml_bias_beta(alphas, ml->setup.free_bias, width, beta, &point->linear, proof, err)
             : -1;
    if (status == 0) {
        ml_point_weights(ml, beta, point);
        status = ml_point_feasibility(ml, cost, beta, point, err);
    }
    free(beta);
    return status;
}

int ml_point_scores(struct ml *ml, struct ml_point *point, struct error *err) {
    return ml->map.exact(&ml->map, point->weights, ml->rows.q, point->scores, err);
}

int ml_point_separate_dual(struct ml *ml, struct ml_point *point, struct error *err) {
    size_t n = ml_n_weights(ml), q = ml->rows.q, scores = ml->problem->gram ? n : 0;
    point->dual = memory_array(n + q + scores, sizeof *point->dual, "weights", err);
    if (!point->dual) {
        return -1;
    }
    memcpy(point->dual, point->weights, n * sizeof *point->dual);
    for (size_t k = 0; k < q; k++) { /* a free bias is not part of the dual point */
        point->dual[n + k] = ml->setup.free_bias ? 0 : point->bias[k];
    }
    return scores > 0 ? ml->map.exact(&ml->map, point->dual, q, point->dual + n + q, err) : 0;
}

int ml_point_certify(struct ml *ml, const struct ml_parameters *parameters, struct ml_point *point,
                     struct error *err) {
    bool biased = ml->setup.bias > 0 || ml->setup.free_bias;
    const struct certify_function f = {
        .weights = point->weights, .bias = biased ? point->bias : NULL, .exact = point->scores};
    struct certify_function g = f;
    if (point->dual) {
        const double *bias = point->dual + ml_n_weights(ml);
        g = (struct certify_function){.weights = point->dual,
                                      .bias = biased ? bias : NULL,
                                      .exact = ml->problem->gram ? bias + ml->rows.q : NULL};
    }
    const struct ml_claim claim = {.rows = &ml->rows,
                                   .loss = parameters->loss,
                                   .cost = parameters->cost,
                                   .epsilon = parameters->epsilon,
                                   .f = &f,
                                   .g = &g,
                                   .feasibility = point->feasibility,
                                   .residual = ml->setup.free_bias ? point->residual : NULL,
                                   .linear = point->linear,
                                   .scratch = ml->ascent.scratch[0]};
    return ml_certify(ml->certify, &claim, &point->certificate, err);
}

bool ml_gap_reached(const struct ml_point *point, double epsilon) {
    return point->certificate.gap <= epsilon;
}

void ml_point_merge(struct ml_point *point, struct ml_point *found) {
    if (!point->weights || found->certificate.primal < point->certificate.primal) {
        struct ml_point worse = *point;
        *point = *found;
        *found = worse;
    }
    if (found->certificate.certified && found->certificate.dual > point->certificate.dual) {
        struct ml_proof_point worse = point->proof;
        point->proof = found->proof;
        found->proof = worse;
    }
    certify_take_better_dual(&point->certificate, &found->certificate);
}
