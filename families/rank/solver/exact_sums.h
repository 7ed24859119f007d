/* Sums over the preference pairs for the certificate: in long double, of scores less their group's
 * middle, so that little cancels. The engines' sums (pairs.h) are many times faster and lose digits
 * where scores are large beside the margins. */
#ifndef FAMILIES_RANK_SOLVER_EXACT_SUMS_H
#define FAMILIES_RANK_SOLVER_EXACT_SUMS_H

#include "common/base/error.h"
#include "families/rank/solver/pairs.h"

#include <stdbool.h>
#include <stddef.h>

/* What errors of margins, each within slack, add to a sum over pairs of that weight that comes to
 * `sum`: of the squares (u + slack)^2 by Cauchy and Schwarz. */
double rank_loss_perturbation(double slack, double weight, bool squared, double sum);

/* *value = the sum over pairs of l(1 - (s_i - s_j)), weighted by group, l the hinge or its square,
 * for the scores s (n) as they are; it is within *rounding of the true sum. */
int rank_extended_loss(struct rank_pairs *pairs, const double *s, bool squared, double *value,
                       double *rounding, struct error *err);

/* Rounds s (n) and *mu, of which a dual point is to be made, to multiples of a power of 2, which is
 * returned: so coarse that the sums over the pairs of a row are exact, as they must be where
 * features are so large that what the sums lose would be all of the dual bound. 0, and nothing is
 * rounded, where that is coarse beside mu, or pairs have a worth of their own. All ranks. */
double rank_extended_round(const struct rank_pairs *pairs, double *s, double *mu);

/* A dual point from scores s (n), over C: alpha = clip(u / mu, 0, 1) of each pair, or 2 max(0, u)
 * for the squared hinge (mu = 0), u = 1 - (s_i - s_j). grid: what rank_extended_round has returned for
 * them; 0: scores are any. coefficient (n) = A'alpha, each within unit times the weight of the
 * row's pairs, where unit is returned in *unit, and slack (n) besides; *linear = sum alpha, or sum
 * alpha - alpha^2 / 4, within *rounding. */
int rank_extended_dual(struct rank_pairs *pairs, const double *s, double mu, double grid,
                       double *coefficient, double *slack, double *unit, double *linear,
                       double *rounding, struct error *err);

#endif
