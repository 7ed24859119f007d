/* ADMM, the alternating direction method of multipliers (an operator splitting), for duals of
 * kernel machines with several outputs (Boyd et al., "Distributed optimization and statistical
 * learning via the alternating direction method of multipliers", Foundations and Trends in Machine
 * Learning 3, 2011):
 *
 *   min over U (n, k) of 1/2 <U, K U> + sum_i g_i(u_i)   [, the columns of U adding up to 0],
 *
 *   U = rho (K + rho I)^-1 (Z - W) [- (K + rho I)^-1 1 b'],    V = r U + (1 - r) Z,
 *   z_i = argmin g_i(z) + rho/2 |z - (v_i + w_i)|^2,           W = V + W - Z.
 *
 * r is the over-relaxation. One Cholesky factor of K + rho I serves all columns and iterations. The
 * number of iterations depends little on the condition number of K and the scale of the g_i, and
 * hardly on n and k. If K is too large, it is replaced by a low-rank matrix plus a diagonal
 * (low_rank.h), and the optimum is that of this surrogate problem. Z and W are functions of Z + W,
 * whose fixed-point iteration is accelerated (anderson.h). Z is feasible. U is near the primal
 * optimum, and its scores K U [+ 1 b'] = rho (Z - W - U) cost nothing extra.
 *
 * Cost: O(n^3 / 3) for a factor, then O(n^2 k) per iteration; with a surrogate of rank m, O(n m^2)
 * and O(n m k). */
#ifndef METHODS_ADMM_H
#define METHODS_ADMM_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/kernel/low_rank.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The problem. Borrowed for the life of the solver. */
struct admm_problem {
    size_t n, k;
    bool free_bias; /* columns of U sum to 0, with multiplier b; not with a surrogate */
    const struct landmarks_goal *low; /* of a surrogate of K, with its constant; NULL: K itself */
    struct threads *threads;
    void *context;
    /* The proximal step of row i: z (k), on entry its last value, becomes argmin g_i(z) + rho/2 |z
     * - c|^2, c (k). Called for several rows at once, by different workers. */
    void (*step)(void *context, size_t i, size_t worker, double rho, const double *c, double *z);
};

struct admm {
    struct admm_problem problem;
    double rho;
    double *K;                    /* (n, n) K above the diagonal, the factor below */
    struct low_rank low;          /* the surrogate; K is then NULL */
    double *block;                /* all arrays of doubles except K */
    double *diagonal;             /* (n) of K */
    double *U, *Z, *W, *S;        /* (n, k); S: the scores of U, with b */
    double *bias;                 /* (k) b; 0 without a free bias */
    double *spread;               /* (n) (K + rho I)^-1 1, with a free bias */
    double spread_sum;            /* sum of its entries */
    double *before;               /* (workers, k) last z of a row */
    struct anderson *anderson;    /* acceleration of Z + W; NULL if n < 4 k */
    double *Y;                    /* (n, k) Z + W */
    struct admm_residuals *parts; /* (tasks) sums over their rows */
    unsigned since, wait;         /* iterations since rho was last checked, and between checks */
};

/* Whether K's factor or the surrogate (low, NULL: none) and the arrays (n, k)
 * fit into memory, with cache_bytes for the kernel matrix. */
bool admm_fits(size_t n, size_t k, const struct landmarks_goal *low, size_t cache_bytes);

/* Allocates the solver with Z = W = 0. The caller then fills the upper half of K (n, n), or `low`
 * by low_rank_create, with the constant in its diagonal, and ends with admm_free. */
int admm_create(struct admm *admm, const struct admm_problem *problem, struct error *err);
void admm_free(struct admm *admm);

/* Adds a constant, 0 or more, to K; a surrogate has it. Then sets rho and W from Z, which the
 * caller has set, and from scores (n, k) = K Z [+ 1 b']. diagonal (n): a more accurate diagonal of
 * K, the constant included; NULL: K's own. Returns -1, without an error set, if K + rho I has no
 * factor: K is not positive semidefinite. */
int admm_start(struct admm *admm, double constant, const double *diagonal, const double *scores);

/* One accelerated iteration. Adapts rho if the residuals are unbalanced. Returns -1 as above. */
int admm_iterate(struct admm *admm);

/* out (n, k) = K in; not with a surrogate. `in` and `out` must not overlap. */
void admm_product(const struct admm *admm, const double *in, double *out);

#endif
