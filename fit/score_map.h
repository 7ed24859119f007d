/* The map from weights to scores, behind one small table: what a solver asks of the data.
 *
 * Weights are w in R^d for the linear kernel (primal: f(x) = w'x) and the coefficients b in R^n of
 * f = sum_i b_i k(x_i, .) for the others. Scores are s_i = f(x_i). With A the map, A' its adjoint
 * and r a vector over the scores, |A'r|^2 = r'K r, K = A A'. The constant feature of a problem that
 * has one is the last of w; and to the other kernels its square is added. */
#ifndef FIT_SCORE_MAP_H
#define FIT_SCORE_MAP_H

#include "common/base/error.h"
#include "common/kernel/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct score_map {
    size_t n;         /* scores */
    size_t dimension; /* weights */
    bool primal;      /* weights are w, with |f|^2 = w'w; else b, with |f|^2 = b's and A'r = r */
    void *context;
    struct cluster
        *cluster; /* the problem's: then n is of this rank's rows, and `adjoint` is for all
                                ranks, a sum over them; or NULL */
    struct threads *threads;

    /* s (n) = A weights (dimension). */
    int (*scores)(const struct score_map *map, const double *weights, double *s, struct error *err);
    /* weights (dimension) = A' r (n). */
    int (*adjoint)(const struct score_map *map, const double *r, double *weights,
                   struct error *err);
    /* s (n, n_outputs) row-major = A weights (dimension, n_outputs), everything in double and from
     * the data: what a certificate is computed with. */
    int (*exact)(const struct score_map *map, const double *weights, size_t n_outputs, double *s,
                 struct error *err);
    /* The same at rows at[0..n_at), which ascend, alone, of kernels whose matrix is in float; else
     * NULL. Half of the work is saved where these are all rows with weights. */
    int (*exact_at)(const struct score_map *map, const double *weights, size_t n_outputs,
                    const uint32_t *at, size_t n_at, double *s, struct error *err);
    /* diagonal (n) of K, as accurate as `scores`; NULL when weights are w. */
    int (*diagonal)(const struct score_map *map, double *diagonal, struct error *err);
    void (*release)(struct score_map *map);
};

/* The map of a problem's rows, linear or kernel. Borrows problem; the caller releases it with
 * score_map_free. */
int score_map_create(struct score_map *map, const struct problem *problem, struct error *err);
void score_map_free(struct score_map *map);

/* s (n, n_outputs) row-major = A weights (dimension, n_outputs) by `scores`, output by output: the
 * `exact` of maps whose scores are in double anyway. */
int score_map_each(const struct score_map *map, const double *weights, size_t n_outputs, double *s,
                   struct error *err);

#endif
