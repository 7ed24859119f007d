/* RankSVM on pair features phi_i x phi_j - phi_j x phi_i (exterior products). The kernel of pairs
 * (i, j) and (u, v) is 2 (K_iu K_jv - K_iv K_ju). A fit is a skew-symmetric matrix S = sum_p b_p
 * (e_i e_j' - e_j e_i') over pairs p = (i, j); its margins are F = 2 K S K at the pairs, and |f|^2
 * = b'F. Cost per iteration: two products of matrices of rows by rows. The kernel matrix of pairs
 * by pairs is never formed. */
#ifndef FAMILIES_RANK_SOLVER_EXTERIOR_H
#define FAMILIES_RANK_SOLVER_EXTERIOR_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/pairs.h"
#include "families/rank/solver/proof_points.h"
#include "fit/certify.h"
#include "fit/risk.h"
#include "fit/score_map.h"

struct exterior;

/* Lists the preference pairs and evaluates the kernel matrix of their rows. Borrows problem, whose
 * gram must not be NULL, and pairs. -1 if the cache or memory is too small. */
int exterior_create(struct exterior **exterior, const struct problem *problem,
                    const struct rank_pairs *pairs, struct error *err);
void exterior_free(struct exterior *exterior);

/* The map whose scores are the margins of the preference pairs. Borrows exterior. */
struct score_map exterior_map(struct exterior *exterior);

/* The sum over the pairs of weight max(0, 1 - margin), or of its square. Borrows exterior. */
struct risk exterior_risk(struct exterior *exterior, bool squared);

/* Evaluates margins for certificates in double-double from now on, with the low-order part of the
 * kernel matrix if the cache has room for it. This costs many times more: it is for rounding-error
 * bounds that are not small beside the target gap. */
int exterior_use_double_double(struct exterior *exterior, struct error *err);

/* For the certificate: the weight (pairs) of each pair; its two rows and its feature-norm bound
 * (pairs), from the norm bounds of the rows, since |2 (K_iu K_jv - K_iv K_ju)| <= 4 norm_i norm_j
 * norm_u norm_v; and the rounding-error factor of margins, from that of the rows' kernel
 * (kernel_rounding) and of the two sums over rows in 2 K S K. */
const double *exterior_weights(const struct exterior *exterior);
void exterior_norm_bounds(const struct exterior *exterior, const double *row_norm_bound,
                          double *norm_bound, struct certify_pair *rows);
double exterior_factor(const struct exterior *exterior, double row_factor);

/* The loss at margins s (pairs), each within error (pairs) of the true one: the true loss is at
 * most *value + *rounding. */
void exterior_loss(const struct exterior *exterior, bool squared, const double *s,
                   const double *error, double *value, double *rounding);

/* Projects b (pairs) onto the dual-feasible set, as alpha. *linear is the linear part of the dual
 * objective; the true value is at least *linear - *rounding. */
void exterior_dual(const struct exterior *exterior, bool squared, double cost, double *b,
                   double *linear, double *rounding);

/* The fit b (pairs) as n coefficients of row pairs u < v, an array that the caller frees. */
int exterior_coefficients(const struct exterior *exterior, const double *b,
                          struct pair_coefficient **coefficients, size_t *n, struct error *err);

/* Adds the dual point b (pairs) to points, one alpha for each preference. */
int exterior_points(const struct exterior *exterior, const double *b, struct rank_points *points,
                    struct error *err);

#endif
