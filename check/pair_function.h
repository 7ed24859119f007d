/* Functions of pairs of points, of features phi_p x phi_q - phi_q x phi_p: sum of b (p, q), skew in
 * p and q, with the kernel 2 (K_pu K_qv - K_pv K_qu). With S the skew matrix of the b's the margins
 * of pairs are F = 2 K S K, and |f|^2 = sum of b F. */
#ifndef CHECK_PAIR_FUNCTION_H
#define CHECK_PAIR_FUNCTION_H

#include "check/ball.h"
#include "check/points.h"
#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* b of two points. */
struct point_pair {
    uint32_t p, q;
    struct ball b;
};

struct pair_kernel {
    const struct points *points;
    struct threads *threads;
    struct ball *K; /* (n_all, n_all), times 2^half_unit: features of pairs are products (task.h) */
};

/* Evaluates the kernel matrix. Borrows both. The caller calls pair_kernel_free. */
int pair_kernel_create(struct pair_kernel *kernel, const struct points *points,
                       struct threads *threads, struct error *err);
void pair_kernel_free(struct pair_kernel *kernel);

/* What pair_function_evaluate hands over: F (n_all) of training row i with those points that
 * `wants`, the others are 0. Rows come in any order, from many threads. */
struct margin_visitor {
    void *context;
    bool (*wants)(void *context, size_t i, size_t p);
    void (*visit)(void *context, size_t i, const struct ball *F);
};

/* *norm = |f|^2 of the pairs' function. The pairs are put in order, those of equal rows as one:
 * *n_pairs are left. visitor: NULL if margins are not wanted. slope: NULL, or (n_all) what a raise
 * of K's diagonal at each point adds to half of |f|^2, to first order: S_p'K S_p. */
int pair_function_evaluate(const struct pair_kernel *kernel, struct point_pair *pair,
                           size_t *n_pairs, const struct margin_visitor *visitor, struct ball *norm,
                           struct ball *slope, struct error *err);

/* What |f|^2 of the pairs that pair_function_evaluate has left grows by if the diagonal of K, as
 * the rows have it, is raised by shift (n_all). */
struct ball pair_function_lift(const struct pair_kernel *kernel, const struct point_pair *pair,
                               size_t n_pairs, const struct ball *slope, const double *shift);

#endif
