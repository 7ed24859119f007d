/* The Hessian of losses by the weights W, (k, d) class by class, for the linear systems of Newton's
 * method and the interior-point method: I + sum over the rows x of S (x) x x', S (k, k) a row's
 * curvature by its scores. */
#ifndef FAMILIES_MC_SOLVER_HESSIAN_H
#define FAMILIES_MC_SOLVER_HESSIAN_H

#include "families/mc/solver/task.h"

#include <stddef.h>
#include <stdint.h>

/* A product weight x x' of a pair of classes. */
struct mc_hessian_term {
    uint32_t high, low; /* classes, high >= low */
    uint32_t row;       /* of x in the block */
    double weight;
};

struct mc_hessian {
    const struct mc_task *task;
    size_t k, d, size;
    double *H;                            /* (size, size), size = k d; the lower half */
    double *rows;                         /* (BLOCK_ROWS, d) rows of the block */
    struct mc_hessian_term *term, *order; /* (max_terms) as they came; pair by pair */
    size_t *start;                        /* (pairs + 1) terms of each pair of classes in order */
    double *work;                         /* (workers, 2 BLOCK_ROWS d) */
    size_t n_rows, n_terms, max_terms;
    void *block; /* all arrays except H */
};

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

/* Completes H, all processes. If scores are centred, H becomes P H P, where P subtracts the mean
 * over classes. If they are, or if margins are relative, adding the same vector to all classes of W
 * changes no loss; the minimiser has no such component. In these directions H is singular, and the
 * 1 of |W|^2 / 2 would be lost to rounding. So they get the mean of the diagonal as curvature,
 * which does not change the solution. The upper half of H is work. */
void mc_hessian_end(struct mc_hessian *hessian);

#endif
