/* Dual points for proofs: by the scores of cutting planes and of Newton's method, or pair by pair
 * (proof_points.h). */
#include "families/rank/solver/proof_points.h"

#include "common/base/memory.h"
#include "common/base/order.h"

#include <stdlib.h>
#include <string.h>

void rank_points_clear(struct rank_points *points, size_t n) {
    for (size_t t = 0; t < points->n_points; t++) {
        free(points->point[t].scores);
    }
    free(points->point);
    free(points->pair);
    *points = (struct rank_points){.n = n};
}

int rank_points_add(struct rank_points *points, double weight, double smoothing,
                    const double *scores, struct error *err) {
    size_t n = points->n_points;
    double *copy = memory_array(points->n, sizeof *copy, "a dual point", err);
    if (!copy || memory_grow(&points->point, memory_room(0, n), n + 1, sizeof *points->point,
                             "a dual point", err) < 0) {
        free(copy);
        return -1;
    }
    memcpy(copy, scores, points->n * sizeof *copy);
    points->point[n] = (struct rank_point){weight, smoothing, copy};
    points->n_points++;
    return 0;
}

int rank_points_add_pair(struct rank_points *points, uint32_t better, uint32_t worse, double alpha,
                         struct error *err) {
    size_t n = points->n_pairs;
    if (memory_grow(&points->pair, memory_room(0, n), n + 1, sizeof *points->pair, "a dual point",
                    err) < 0) {
        return -1;
    }
    points->pair[points->n_pairs++] = (struct rank_pair){better, worse, alpha};
    return 0;
}

static int compare_pairs(const void *a, const void *b) {
    const struct rank_pair *x = a, *y = b;
    int order = order_integers(x->better, y->better);
    return order ? order : order_integers(x->worse, y->worse);
}

void rank_points_sort(struct rank_points *points) {
    if (points->n_pairs > 0) {
        qsort(points->pair, points->n_pairs, sizeof *points->pair, compare_pairs);
    }
}
