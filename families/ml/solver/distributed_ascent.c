/* Sums local steps over processes and searches along them (distributed_ascent.h). */
#include "families/ml/solver/distributed_ascent.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

static size_t n_weights(const struct ml_ascent *ascent) {
    return (size_t)ascent->problem->data->n_features * ascent->store.width;
}

int ml_distributed_create(struct ml_distributed **distributed, const struct ml_ascent *ascent,
                          struct error *err) {
    struct ml_distributed *made = memory_zeros(1, sizeof *made, "a distributed fit", err);
    *distributed = made;
    if (!made) {
        return -1;
    }
    size_t n = ascent->rows->n, width = ascent->store.width, weights = n_weights(ascent);
    made->block = ARRAYS_CREATE("a distributed fit", err, ARRAYS(weights, double, &made->W),
                                ARRAYS(width, double, &made->total),
                                ARRAYS(weights + width + 2, double, &made->step),
                                ARRAYS(n * width, double, &made->beta, &made->alpha_scores),
                                ARRAYS(n, double, &made->conjugate),
                                ARRAYS((size_t)ascent->alpha_start[n], double, &made->alpha),
                                ARRAYS(n, unsigned char, &made->visited));
    if (!made->block) {
        return -1;
    }
    rounds_plan(&made->plan, ascent->rows->cluster, ascent->sweep_work, (double)(weights + width));
    return 0;
}

void ml_distributed_free(struct ml_distributed *distributed) {
    if (distributed) {
        free(distributed->block);
        free(distributed);
    }
}

void ml_distributed_start(struct ml_distributed *distributed, const struct ml_ascent *ascent) {
    size_t n = ascent->rows->n, width = ascent->store.width;
    memcpy(distributed->beta, ascent->beta, n * width * sizeof(double));
    memcpy(distributed->conjugate, ascent->conjugate, n * sizeof(double));
    memcpy(distributed->alpha, ascent->alpha, (size_t)ascent->alpha_start[n] * sizeof(double));
    if (ascent->alpha_scores) {
        memcpy(distributed->alpha_scores, ascent->alpha_scores, n * width * sizeof(double));
    }
}

void ml_distributed_begin(struct ml_distributed *distributed, struct ml_ascent *ascent) {
    memcpy(distributed->W, ascent->store.W, n_weights(ascent) * sizeof(double));
    memcpy(distributed->total, ascent->total, ascent->store.width * sizeof(double));
    ascent->store.damping = distributed->plan.factor;
}

/* ---- the dual along the summed steps ---- */

/* Adds row i's part of the derivative at 0 and of the curvature. The conjugates of stored alphas
 * are quadratic; those of other blocks are bounded by the chord. */
static void add_row(const struct ml_distributed *distributed, const struct ml_ascent *ascent,
                    size_t i, double *slope, double *curvature) {
    struct ml_block block = ml_ascent_block(ascent, i);
    size_t width = ascent->store.width;
    const double *to = ascent->beta + i * width, *from = distributed->beta + i * width;
    for (uint32_t p = 0; p < block.n_relevant; p++) {
        *slope += to[block.relevant[p]] - from[block.relevant[p]];
    }
    double squares = 0;
    for (uint64_t j = ascent->alpha_start[i];
         block.loss != ML_HINGE && j < ascent->alpha_start[i + 1]; j++) {
        double change = ascent->alpha[j] - distributed->alpha[j];
        squares += change != 0 ? change * (change / (4 * block.lambda)) : 0; /* lambda may be 0 */
    }
    *slope -= ascent->conjugate[i] - distributed->conjugate[i] - squares;
    *curvature += 2 * squares;
}

/* Sums the steps of all processes, and derivative and curvature of the dual along them. */
static void sum_steps(struct ml_distributed *distributed, struct ml_ascent *ascent,
                      const uint32_t *order, size_t n, double *slope, double *curvature) {
    size_t weights = n_weights(ascent), width = ascent->store.width;
    double *step = distributed->step, *total = step + weights, *sums = total + width;
    for (size_t k = 0; k < weights; k++) {
        step[k] = (ascent->store.W[k] - distributed->W[k]) / ascent->store.damping;
    }
    for (size_t k = 0; k < width; k++) {
        total[k] = (ascent->total[k] - distributed->total[k]) / ascent->store.damping;
    }
    sums[0] = sums[1] = 0;
    for (size_t t = 0; t < n; t++) {
        size_t i = order ? order[t] : t;
        if (!distributed->visited[i]) {
            add_row(distributed, ascent, i, &sums[0], &sums[1]);
            distributed->visited[i] = 1;
        }
    }
    cluster_sum(ascent->rows->cluster, step, weights + width + 2);
    *slope = sums[0] - array_dot(distributed->W, step, weights) -
             array_dot(ascent->offset, total, width) -
             ascent->constant_squared * array_dot(distributed->total, total, width);
    *curvature = sums[1] + array_dot(step, step, weights) +
                 ascent->constant_squared * array_dot(total, total, width);
}

/* ---- the line search ---- */

/* Sets to = from + theta (to - from) and from = to; both (n). */
static void interpolate(double theta, double *to, double *from, size_t n) {
    for (size_t k = 0; k < n; k++) {
        to[k] = theta < 1 ? from[k] + theta * (to[k] - from[k]) : to[k];
        from[k] = to[k];
    }
}

static void update_row(struct ml_distributed *distributed, struct ml_ascent *ascent, size_t i,
                       double theta) {
    struct ml_block block = ml_ascent_block(ascent, i);
    size_t width = ascent->store.width;
    uint64_t first = ascent->alpha_start[i], end = ascent->alpha_start[i + 1];
    interpolate(theta, ascent->beta + i * width, distributed->beta + i * width, width);
    interpolate(theta, ascent->alpha + first, distributed->alpha + first, (size_t)(end - first));
    interpolate(theta, ascent->conjugate + i, distributed->conjugate + i, 1);
    if (ascent->alpha_scores) {
        interpolate(theta, ascent->alpha_scores + i * width, distributed->alpha_scores + i * width,
                    width);
    }
    if (block.loss != ML_HINGE && end > first) {
        double squares = 0;
        for (uint64_t j = first; j < end; j++) {
            double alpha = ascent->alpha[j];
            squares += alpha > 0 ? alpha * (alpha / (4 * block.lambda)) : 0;
        }
        ascent->conjugate[i] = distributed->conjugate[i] = squares;
    }
}

void ml_distributed_end(struct ml_distributed *distributed, struct ml_ascent *ascent,
                        const uint32_t *order, size_t n) {
    size_t weights = n_weights(ascent), width = ascent->store.width;
    double slope, curvature;
    sum_steps(distributed, ascent, order, n, &slope, &curvature);
    double theta = rounds_step_length(&distributed->plan, slope, curvature);
    memcpy(ascent->store.W, distributed->W, weights * sizeof(double));
    memcpy(ascent->total, distributed->total, width * sizeof(double));
    array_add(ascent->store.W, theta, distributed->step, weights);
    array_add(ascent->total, theta, distributed->step + weights, width);
    for (size_t t = 0; t < n; t++) {
        size_t i = order ? order[t] : t;
        if (distributed->visited[i]) {
            update_row(distributed, ascent, i, theta);
            distributed->visited[i] = 0;
        }
    }
    ascent->store.damping = 1;
}
