/* One row of the multi-label problem: its loss, its dual block, and exact steps in that block.
 *
 * A row has the relevant labels Y of q, scores s (q) and weight lambda. Its loss is
 *   lambda sum_{p in Y, r not in Y} l(1 - (s_p - s_r)),   l(x) = max(0, x) or max(0, x)^2.
 * Its dual block beta (q) has beta_p = sum_r alpha_pr for p in Y and beta_r = -sum_p alpha_pr for
 * the others, with 0 <= alpha_pr <= lambda (hinge) or 0 <= alpha_pr (squared hinge). Its part of
 * the dual is
 *   sum_{p in Y} beta_p - conjugate,   conjugate = 0 or sum alpha_pr^2 / (4 lambda).
 * If beta changes by d, the row's own scores change by k d with k = k(x, x) >= 0. Let a and b be
 * the scores without the row's own part, a less 1. For fixed other rows the best beta minimises
 *   1/2 sum_p (u_p - a_p)^2 + 1/2 sum_r (v_r - b_r)^2 + k lambda sum_pr l(v_r - u_p)
 * over u = s_p - 1 and v = s_r, and beta_p = (u_p - a_p) / k, beta_r = (v_r - b_r) / k. */
#ifndef FAMILIES_ML_SOLVER_BLOCK_H
#define FAMILIES_ML_SOLVER_BLOCK_H

#include "common/base/error.h"

#include <stdint.h>

enum ml_loss { ML_HINGE, ML_SQUARED_HINGE };

struct ml_block {
    enum ml_loss loss;
    uint32_t q, n_relevant;   /* 0 < n_relevant < q */
    const uint32_t *relevant; /* (n_relevant) ascending */
    double lambda;
};

/* Work space of one thread, for rows of up to q labels. */
struct ml_scratch;
int ml_scratch_create(struct ml_scratch **scratch, uint32_t q, struct error *err);
void ml_scratch_free(struct ml_scratch *scratch);

/* Loss at scores s (q). O(q log q), or the number of pairs where one side is small. */
double ml_block_loss(const struct ml_block *block, const double *s, struct ml_scratch *scratch);

/* The loss, and vertex (q) = minus a subgradient: the beta of alpha = lambda l'(1 - (s_p - s_r)).
 * For the hinge it is a vertex of the block's polytope, with alpha = 0 where a margin is exactly 1.
 * *conjugate is that of this alpha. */
double ml_block_vertex(const struct ml_block *block, const double *s, double *vertex,
                       double *conjugate, struct ml_scratch *scratch);

/* Sum of beta (q) over the relevant labels. */
double ml_block_linear(const struct ml_block *block, const double *beta);

/* Steps. Both take the scores s (q), which include the row's own part, and do not change them, and
 * beta (q), the present block. They write the new block to beta and its conjugate to *conjugate,
 * and return the largest change of an entry of beta.
 *
 * pairs: `passes` sweeps of exact steps in single alpha. The caller stores alpha (n_relevant, q -
 * n_relevant), row-major. exact: the best beta, in O(q log q) for the hinge, and as much for each
 * Newton step of the squared hinge. */
double ml_block_pairs(const struct ml_block *block, double k, const double *s, double *alpha,
                      int passes, double *beta, double *conjugate, struct ml_scratch *scratch);
double ml_block_exact(const struct ml_block *block, double k, const double *s, double *beta,
                      double *conjugate, struct ml_scratch *scratch);

/* Some alpha (n_relevant, q - n_relevant), row-major, of a hinge block's beta. */
void ml_block_hinge_alpha(const struct ml_block *block, const double *beta, double *alpha,
                          struct ml_scratch *scratch);

/* The alpha of a squared hinge block at scores s (q): 2 lambda max(0, 1 - s_p + s_r). */
void ml_block_squared_alpha(const struct ml_block *block, const double *s, double *alpha);

#endif
