/* Functions of pairs of points, with features phi_p x phi_q - phi_q x phi_p: sums of b (p, q), skew
 * in p and q, with the kernel 2 (K_pu K_qv - K_pv K_qu). With S the skew matrix of the coefficients
 * b, the margins of pairs are F = 2 K S K, and |f|^2 is the sum of b F. */
#ifndef CHECK_PAIR_FUNCTION_H
#define CHECK_PAIR_FUNCTION_H

#include "check/ball.h"
#include "check/points.h"
#include "common/base/error.h"
#include "common/base/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The coefficient b of two points. */
struct point_pair {
    uint32_t p, q;
    struct ball b;
};

struct pair_kernel {
    const struct points *points;
    struct threads *threads;
    /* (n_all, n_all), times 2^half_unit, since features of pairs are products (task.h) */
    struct ball *K;
};

/* Evaluates the kernel matrix. Borrows both. The caller calls pair_kernel_free, also on failure. */
int pair_kernel_create(struct pair_kernel *kernel, const struct points *points,
                       struct threads *threads, struct error *err);
void pair_kernel_free(struct pair_kernel *kernel);

/* A visitor of margins: F (n_all) are the margins of training row i with those points that `wants`
 * accepts; the others are 0. Rows come in any order, from several threads. */
struct margin_visitor {
    void *context;
    bool (*wants)(void *context, size_t i, size_t p);
    void (*visit)(void *context, size_t i, const struct ball *F);
};

/* *norm = |f|^2 of the function of the pairs. The pairs are sorted, and those of equal rows merged;
 * *n_pairs becomes their number. visitor: NULL if margins are not needed. slope: NULL, or (n_all),
 * 0 at first, the derivative of |f|^2 / 2 with respect to a shift of the diagonal of K at each
 * point: S_p'K S_p. */
int pair_function_evaluate(const struct pair_kernel *kernel, struct point_pair *pair,
                           size_t *n_pairs, const struct margin_visitor *visitor, struct ball *norm,
                           struct ball *slope, struct error *err);

/* The increase of |f|^2, of the pairs that pair_function_evaluate has left, if the diagonal of K is
 * raised by shift (n_all). */
struct ball pair_function_increase(const struct pair_kernel *kernel, const struct point_pair *pair,
                                   size_t n_pairs, const struct ball *slope, const double *shift);

#endif
