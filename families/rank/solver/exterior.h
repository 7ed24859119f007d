/* RankSVM on exterior products: the feature of a pair is phi_i x phi_j - phi_j x phi_i, the kernel
 * of two pairs 2 (K_iu K_jv - K_iv K_ju). A fit is a skew matrix S over the rows,
 * S = sum_p b_p (e_i e_j' - e_j e_i') over pairs p = (i, j), its margins are F = 2 K S K, and
 * |f|^2 = b'F: two matrix products an iteration, and never a matrix of pairs by pairs. */
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

/* Lists the preference pairs and evaluates the kernel matrix of the rows that they touch. Borrows
 * problem, whose gram must not be NULL, and pairs. */
int exterior_create(struct exterior **exterior, const struct problem *problem,
                    const struct rank_pairs *pairs, struct error *err);
void exterior_free(struct exterior *exterior);

/* Scores are the margins of the preference pairs; borrows exterior. */
struct score_map exterior_map(struct exterior *exterior);

/* The sum of max(0, 1 - margin), or of its square, over the pairs. */
struct risk exterior_risk(struct exterior *exterior, bool squared);

/* Exact scores are in double-double from now on, with what the matrix lacks in double if the cache
 * has room: at many times the cost, for where what is paid for rounding is not small beside the gap
 * that is asked for. */
int exterior_use_double_double(struct exterior *exterior, struct error *err);

/* For the certificate: weight (pairs) of each, its rows, and reach (pairs) from the reach of the
 * problem's rows: 2 (K_iu K_jv - K_iv K_ju) is at most 4 reach_i reach_j reach_u reach_v. The
 * factor is from that of their kernel (kernel_rounding), and for 2 K S K, two sums over the
 * rows. */
const double *exterior_weights(const struct exterior *exterior);
void exterior_norm_bounds(const struct exterior *exterior, const double *row_reach, double *reach,
                          struct certify_pair *rows);
double exterior_factor(const struct exterior *exterior, double row_factor);

/* The loss of scores s (pairs), each within error (pairs) of the true one: *value, and *rounding
 * such that the true loss is at most *value + *rounding. */
void exterior_loss(const struct exterior *exterior, bool squared, const double *s,
                   const double *error, double *value, double *rounding);

/* Makes b (pairs) a feasible dual point, alpha itself: *linear is its part of D, which is at most
 * *rounding less. */
void exterior_dual(const struct exterior *exterior, bool squared, double cost, double *b,
                   double *linear, double *rounding);

/* The fit b (pairs) as coefficients of row pairs u < v, which the caller frees. */
int exterior_coefficients(const struct exterior *exterior, const double *b,
                          struct pair_coefficient **coefficients, size_t *n, struct error *err);

/* The dual point b (pairs) as alpha of each preference, added to points. */
int exterior_points(const struct exterior *exterior, const double *b, struct rank_points *points,
                    struct error *err);

#endif
