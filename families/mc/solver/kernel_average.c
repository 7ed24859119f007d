/* The primal point of joint steps. That at W(alpha) alternates between two sides of the optimum. So
 * it is an average: after each step the best point between the last average and W(alpha), which is
 * worth one or two steps. */
#include "common/base/array.h"
#include "common/base/memory.h"
#include "families/mc/solver/kernel_descent_private.h"
#include "fit/score_map.h"

#include <stdlib.h>
#include <string.h>

enum { TRIALS = 12 }; /* of the search for the average, each of which leaves 2/3 of an interval */

/* The average, and the point scale B that is averaged with it. */
struct segment {
    struct mc_kernel_descent *descent;
    const double *S;                 /* (n, k) scores of the average U */
    double old_norm, product, norm2; /* |U|^2, <U, scale B>, |scale B|^2 */
};

/* The primal at U + t (scale B - U). */
static double primal_at(const struct segment *segment, double t) {
    struct mc_kernel_descent *descent = segment->descent;
    size_t k = descent->k;
    double loss = 0, now = t * descent->scale;
    for (size_t i = 0; i < descent->n; i++) {
        size_t y = descent->task->y[i];
        for (size_t c = 0; c < k; c++) {
            descent->s[c] = (1 - t) * segment->S[i * k + c] + now * descent->F[i * k + c];
        }
        loss += descent->row_cap[i] * mc_loss(&descent->task->shape, y, descent->s);
    }
    double norm2 = (1 - t) * (1 - t) * segment->old_norm + 2 * t * (1 - t) * segment->product +
                   t * t * segment->norm2;
    return norm2 / 2 + loss;
}

int mc_kernel_start_average(struct mc_kernel_descent *descent, const float *W, struct error *err) {
    const struct landmarks *landmarks = &descent->landmarks;
    size_t k = descent->k, m = landmarks->width, size = descent->n * k;
    struct score_map map;
    double *b = memory_array(m, k * sizeof *b, "an average", err);
    descent->average = b ? memory_zeros(size, 2 * sizeof *b, "an average", err) : NULL;
    double *U = descent->average, *S = U ? U + size : NULL;
    for (size_t a = 0; U && a < m; a++) {
        for (size_t c = 0; c < k; c++) {
            b[a * k + c] = (double)W[c * m + a];
        }
    }
    if (!U || landmarks_expand(landmarks, b, k, err) < 0 ||
        score_map_create(&map, descent->task->problem, err) < 0) {
        free(b);
        return -1;
    }
    for (size_t a = 0; a < m; a++) {
        memcpy(U + landmarks->row[a] * k, b + a * k, k * sizeof *b);
    }
    free(b);
    int status = map.rough(&map, U, k, S, err);
    score_map_free(&map);
    if (status < 0) {
        return -1;
    }
    const struct segment segment = {.descent = descent, .S = S, .old_norm = array_dot(U, S, size)};
    descent->average_primal = primal_at(&segment, 0);
    return 0;
}

/* The t between 0 and 1 of the lowest primal, which is convex. */
static double find_lowest(const struct segment *segment) {
    double low = 0, high = 1;
    for (int trial = 0; trial < TRIALS; trial++) {
        double third = (high - low) / 3;
        if (primal_at(segment, low + third) < primal_at(segment, high - third)) {
            high -= third;
        } else {
            low += third;
        }
    }
    return (low + high) / 2;
}

int mc_kernel_average(struct mc_kernel_descent *descent, struct error *err) {
    size_t size = descent->n * descent->k;
    bool first = !descent->average;
    if (first) {
        descent->average = memory_zeros(size, 2 * sizeof(double), "an average", err);
    }
    if (!descent->average) {
        return -1;
    }
    double *U = descent->average, *S = U + size, scale = descent->scale;
    const struct segment segment = {.descent = descent,
                                    .S = S,
                                    .old_norm = array_dot(U, S, size),
                                    .product = scale * array_dot(U, descent->F, size),
                                    .norm2 = scale * scale * descent->squared_norm};
    double t = first ? 1 : find_lowest(&segment), value = primal_at(&segment, t);
    if (!first && value > descent->average_primal) { /* by the precision of t */
        t = 0;
        value = descent->average_primal;
    }
    for (size_t j = 0; j < size; j++) {
        U[j] += t * (scale * descent->B[j] - U[j]);
        S[j] += t * (scale * descent->F[j] - S[j]);
    }
    descent->average_primal = value;
    return 0;
}
