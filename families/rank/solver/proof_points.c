#include "families/rank/solver/proof_points.h"

#include "common/base/memory.h"

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
    if (memory_grow(&points->point, points->room, n + 1, sizeof *points->point, "a dual point",
                    err) < 0) {
        return -1;
    }
    points->room = memory_room(points->room, n + 1);
    double *copy = memory_array(points->n, sizeof *copy, "a dual point", err);
    if (!copy) {
        return -1;
    }
    memcpy(copy, scores, points->n * sizeof *copy);
    points->point[points->n_points++] = (struct rank_point){weight, smoothing, copy};
    return 0;
}

int rank_points_add_pair(struct rank_points *points, uint32_t better, uint32_t worse, double alpha,
                         struct error *err) {
    size_t n = points->n_pairs;
    if (memory_grow(&points->pair, points->pair_room, n + 1, sizeof *points->pair, "a dual point",
                    err) < 0) {
        return -1;
    }
    points->pair_room = memory_room(points->pair_room, n + 1);
    points->pair[points->n_pairs++] = (struct rank_pair){better, worse, alpha};
    return 0;
}

static int compare_pairs(const void *a, const void *b) {
    const struct rank_pair *x = a, *y = b;
    return x->better != y->better ? (x->better > y->better) - (x->better < y->better)
                                  : (x->worse > y->worse) - (x->worse < y->worse);
}

void rank_points_sort(struct rank_points *points) {
    if (points->n_pairs > 0) {
        qsort(points->pair, points->n_pairs, sizeof *points->pair, compare_pairs);
    }
}
