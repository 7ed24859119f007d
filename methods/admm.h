/* Operator splitting for duals of kernel machines with several outputs (the alternating direction
 * method of multipliers; Boyd et al., "Distributed optimization and statistical learning via the
 * alternating direction method of multipliers", Foundations and Trends in Machine Learning 3,
 * 2011):
 *
 *   min over U (n, k) of 1/2 <U, K U> + sum_i g_i(u_i)   [, the columns of U adding up to 0],
 *
 *   U = rho (K + rho I)^-1 (Z - W) [- (K + rho I)^-1 1 b'],    V = r U + (1 - r) Z,
 *   z_i = argmin g_i(z) + rho/2 |z - (v_i + w_i)|^2,           W = V + W - Z.
 *
 * One Cholesky factor serves all columns and iterations, however ill-conditioned K is and whatever
 * scale the g_i have: the number of iterations depends on them a little, and on n and k hardly.
 * Where K is too large for one, few columns and a diagonal stand in for it (low_rank.h), and the
 * optimum is that of a problem nearby.
 * Z and W are functions of Z + W, whose fixed-point iteration is accelerated (anderson.h). Z
 * is feasible; U, whose scores K U [+ 1 b'] = rho (Z - W - U) are there for nothing, is near the
 * primal optimum. */
#ifndef METHODS_ADMM_H
#define METHODS_ADMM_H

#include "common/base/error.h"
#include "common/base/threads.h"
#include "common/kernel/gram.h"
#include "common/kernel/low_rank.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed for the life of the splitting. */
struct splitting_problem {
    size_t n, k;
    bool free_bias; /* columns of U add up to 0, for which b is the multiplier; not with low */
    const struct low_rank_goal *low; /* of what stands in for K; NULL: nothing does */
    struct threads *threads;
    void *context;
    /* z (k), that of row i before, becomes argmin g_i(z) + rho/2 |z - c|^2; c (k). Any rows at
     * once. */
    void (*step)(void *context, size_t i, size_t worker, double rho, const double *c, double *z);
};

struct splitting {
    struct splitting_problem problem;
    double rho;
    double *K;             /* (n, n) K in the upper half, without its diagonal; below a factor */
    struct low_rank low;   /* in place of K, which is NULL then */
    double *block;         /* all arrays of doubles but K */
    double *diagonal;      /* (n) of K */
    double *U, *Z, *W, *S; /* (n, k); S: the scores of U, with b */
    double *bias;          /* (k) b, or 0 */
    double *spread;        /* (n) (K + rho I)^-1 1, with a free bias; */
    double spread_sum;     /* the sum of it */
    double *before;        /* (workers, k) */
    struct anderson *anderson;         /* of Z + W; NULL: there is no room */
    double *Y;                         /* (n, k) Z + W */
    struct splitting_residuals *parts; /* of tasks */
    unsigned since, wait; /* iterations since rho was looked at, and those to the next time */
    size_t factored;      /* since rho was changed */
};

/* Whether K's factor, or what stands in for K (NULL: nothing does), and the sequences of n rows and
 * k columns may be held, where the kernel matrix has so many bytes. */
bool splitting_fits(size_t n, size_t k, const struct low_rank_goal *low, size_t cache_bytes);

/* Room for a matrix K, for the caller to fill: K (n, n) in its upper half; none where something
 * stands in for it. Z and W are 0. The caller ends with splitting_free. */
int splitting_create(struct splitting *splitting, const struct splitting_problem *problem,
                     struct error *err);
void splitting_free(struct splitting *splitting);

/* K = that of the rows (n) of gram, NULL: its first n, in double whatever it keeps: scores are then
 * the certificate's. */
int splitting_fill(struct splitting *splitting, const struct gram *gram, const uint32_t *rows,
                   struct error *err);

/* What stands in for K, whose diagonal (n) is given, as above. */
int splitting_fill_low(struct splitting *splitting, const struct gram *gram, const uint32_t *rows,
                       const double *diagonal, struct error *err);

/* K += constant, 0 or more. From Z, the caller's, and scores S (n, k) of it: rho by their ratio, W
 * what the scores ask for. diagonal (n): that of K with the constant, where it is known better;
 * NULL: as it is. -1 where K + rho I has no factor (no error is set): K is not positive
 * semidefinite. */
int splitting_start(struct splitting *splitting, double constant, const double *diagonal,
                    const double *scores);

/* One iteration, accelerated, and where U and Z tell that rho is out, another rho. -1 as above. */
int splitting_iterate(struct splitting *splitting);

/* out (n, k) = K in, where K is held; not of the sequences U and S at once. */
void splitting_product(const struct splitting *splitting, const double *in, double *out);

#endif
