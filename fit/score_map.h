/* The linear map A from weights to scores, as a function table: the only access of solvers to the
 * data.
 *
 * Weights are w in R^d for the linear kernel (`primal`: f(x) = w'x), and the coefficients b in R^n
 * of f = sum_i b_i k(x_i, .) for other kernels. Scores are s_i = f(x_i). With the adjoint A' and a
 * vector r over the scores, |A'r|^2 = r'K r, K = A A'. The weight of a problem's constant feature
 * is the last entry of w; to other kernels the square of the feature is added. */
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
    /* Of the problem. n is then the number of rows of this process, and `adjoint` is a sum over
     * processes, which all call it. NULL: one process. */
    struct cluster *cluster;
    struct threads *threads;

    /* s (n) = A weights (dimension). */
    int (*scores)(const struct score_map *map, const double *weights, double *s, struct error *err);
    /* weights (dimension) = A' r (n). */
    int (*adjoint)(const struct score_map *map, const double *r, double *weights,
                   struct error *err);
    /* s (n, n_outputs) row-major = A weights (dimension, n_outputs), in double and from the data.
     * Certificates use these scores. */
    int (*exact)(const struct score_map *map, const double *weights, size_t n_outputs, double *s,
                 struct error *err);
    /* The same with kernel values in float. */
    int (*rough)(const struct score_map *map, const double *weights, size_t n_outputs, double *s,
                 struct error *err);
    /* diagonal (n) of K, as accurate as `scores`; NULL if weights are w. */
    int (*diagonal)(const struct score_map *map, double *diagonal, struct error *err);
    void (*release)(struct score_map *map);
};

/* The map of a problem's rows, linear or kernel. Borrows problem; the caller ends with
 * score_map_free. */
int score_map_create(struct score_map *map, const struct problem *problem, struct error *err);
void score_map_free(struct score_map *map);

/* weights (n) = r (n): the adjoint of kernel maps, in the inner product <x, y>_K = x'K y of
 * coefficients. */
int score_map_copy(const struct score_map *map, const double *r, double *weights,
                   struct error *err);

/* s (n, n_outputs) row-major = A weights (dimension, n_outputs) by `scores`, output by output. It
 * is the `exact` of maps whose scores are in double already. */
int score_map_each(const struct score_map *map, const double *weights, size_t n_outputs, double *s,
                   struct error *err);

/* s (n, n_outputs) and s_two (n, n_outputs) = A weights and A weights_two (dimension, n_outputs)
 * by `exact`, in one product. */
int score_map_exact_two(const struct score_map *map, const double *weights,
                        const double *weights_two, size_t n_outputs, double *s, double *s_two,
                        struct error *err);

#endif
