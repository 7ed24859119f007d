/* Sums over the preference pairs for the certificate, in long double (extended precision) and with
 * bounds of their rounding errors. Scores are taken relative to the middle of their group's range,
 * so that little cancels. The solvers' sums in double (pairs.h) are many times faster and lose
 * digits where scores are large beside the margins. Cost: O(n log n), or one operation for each
 * pair if there are few. */
#ifndef FAMILIES_RANK_SOLVER_EXTENDED_SUMS_H
#define FAMILIES_RANK_SOLVER_EXTENDED_SUMS_H

#include "common/base/error.h"
#include "families/rank/solver/pairs.h"

#include <stdbool.h>

/* How much errors of margins, each within slack, may change a sum of losses over pairs of total
 * weight `weight` that is `sum`. For squares, sum w (u + slack)^2 is bounded by the Cauchy-Schwarz
 * inequality. */
double rank_loss_perturbation(double slack, double weight, bool squared, double sum);

/* *value = the sum over pairs of weight l(1 - (s_i - s_j)) at scores s (n), l the hinge or its
 * square. It is within *rounding of the true sum. -1 if memory is short. */
int rank_extended_loss(struct rank_pairs *pairs, const double *s, bool squared, double *value,
                       double *rounding, struct error *err);

/* Rounds s (n) and *mu, from which a dual point will be made, to multiples of a power of 2, and
 * returns that. It is coarse enough for the sums over the pairs of a row to be exact: with large
 * features, rounding errors of these sums would exceed the dual bound. Returns 0 and rounds nothing
 * if the power is not small beside mu, or if pairs have relative weights. Every process must call
 * it. */
double rank_extended_round(const struct rank_pairs *pairs, double *s, double *mu);

/* The dual point at scores s (n), divided by C: alpha = clip(u / mu, 0, 1) of each pair, or 2
 * max(0, u) for the squared hinge (mu = 0), u = 1 - (s_i - s_j). grid: the result of
 * rank_extended_round for s and mu; 0: they are not rounded. coefficient (n) = A'alpha. Each
 * coefficient is within *unit times the total weight of the row's pairs, plus slack (n). *linear =
 * sum alpha, or sum alpha - alpha^2 / 4, within *rounding. -1 if memory is short. */
int rank_extended_dual(struct rank_pairs *pairs, const double *s, double mu, double grid,
                       double *coefficient, double *slack, double *unit, double *linear,
                       double *rounding, struct error *err);

#endif
