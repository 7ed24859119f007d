/* The Hessian of losses by the weights W, (k, d) class by class, for the linear systems of Newton's
 * method and the interior-point method: I + sum over the rows x of S (x) x x', S (k, k) a row's
 * curvature by its scores.
 *
 * For sums of absolute margins S is diagonal before centring, and H block diagonal: a matrix A_c
 * (d, d) for each class, but for centred scores of few weights. If scores are centred, the weights
 * of all classes sum to 0, with multipliers v (d): w_c = A_c^-1 (g_c - v), where
 * (sum A_c^-1) v = sum A_c^-1 g_c. */
#ifndef FAMILIES_MC_SOLVER_HESSIAN_H
#define FAMILIES_MC_SOLVER_HESSIAN_H

#include "families/mc/solver/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A product weight x x' of a pair of classes. */
struct mc_hessian_term {
    uint32_t high, low; /* classes, high >= low */
    uint32_t row;       /* of x in the batch */
    double weight;
};

struct mc_hessian {
    const struct mc_task *task;
    size_t k, d, n_pairs;   /* pairs of classes that have terms */
    size_t n_blocks, order; /* of the diagonal: k of order d, or one of order k d */
    double *H;              /* (n_blocks, order, order); the lower halves */
    double *sum, *inverse;  /* (d, d) sum of A_c^-1, factored, and work; empty if H is one block, or
                               scores are not centred */
    double *vector;         /* (workers, order) work */
    double *rows;           /* (max_rows, d) rows of the batch */
    struct mc_hessian_term *term, *by_pair; /* (max_terms) as they came; sorted */
    size_t *start; /* (n_pairs + 1) terms of each pair of classes in by_pair */
    double *work;  /* (workers, 2 CHUNK d) */
    size_t n_rows, n_terms, max_rows, max_terms;
    void *block; /* all arrays except H */
};

/* The largest d for which the matrix has a reasonable size: 2,048 weights in a block, 2^24 numbers
 * (134 MB) in all. */
size_t mc_hessian_max_features(const struct mc_shape *shape);

/* The work of its factorisation (fit/work.h). */
double mc_hessian_factor_work(const struct mc_shape *shape, double d);

/* Borrows task; rows have at most d features with the constant one. Fails if memory is short. The
 * caller calls mc_hessian_free, also after a failure. */
int mc_hessian_create(struct mc_hessian *hessian, const struct mc_task *task, size_t d,
                      struct error *err);
void mc_hessian_free(struct mc_hessian *hessian);

/* H = 0, for rows of d features, at most as many as at creation. */
void mc_hessian_begin(struct mc_hessian *hessian, size_t d);

/* Adds the row x (d), copied, of class y, whose loss has terms of the classes class[0..n), all
 * different, and not y if margins are relative. S = sum_p theta_p b_p b_p', and if joint less
 * (sum_p theta_p b_p)(sum_p theta_p b_p)' / (rest + sum_p theta_p), with b_p the derivative of term
 * p's slack by the scores before centring; theta (n) and rest are 0 or more. */
void mc_hessian_add(struct mc_hessian *hessian, const double *x, size_t y, const uint32_t *class,
                    size_t n, const double *theta, bool joint, double rest);

/* Completes H, all processes. If H is one block and scores are centred, H becomes P H P, where P
 * subtracts the mean over classes. If they are, or if margins are relative, adding the same vector
 * to all classes of W changes no loss; the minimiser has no such component. In these directions H
 * is singular, and the 1 of |W|^2 / 2 would be lost to rounding. So they get the mean of the
 * diagonal as curvature, which does not change the solution. The upper halves of H are work. */
void mc_hessian_end(struct mc_hessian *hessian);

/* Factors H, with a ridge if that is allowed and rounding requires one (cholesky_regularised); the
 * sum of inverses, which is rounded more, always may have one. Returns -1 if H is not numerically
 * positive definite. */
int mc_hessian_factor(struct mc_hessian *hessian, bool ridge);

/* x (k, d) = H^-1 x, in the space of centred weights if scores are centred. */
void mc_hessian_solve(struct mc_hessian *hessian, double *x);

#endif
