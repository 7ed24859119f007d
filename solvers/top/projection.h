/* Euclidean projections onto the feasible sets of the duals of classification at the top.
 *
 * Each finds the point (alpha, beta[, delta]) of the set that is nearest to the one given, in
 * place; entries i with bound[i] = 0 and j with cap_rate[j] = 0 are not part of it and become 0.
 * The multiplier of sum alpha = sum beta, and the level of the caps, are found by bisection to the
 * last bit or so: O(n) each. */
#ifndef SOLVERS_TOP_PROJECTION_H
#define SOLVERS_TOP_PROJECTION_H

#include <stddef.h>

/* 0 <= alpha <= bound (INFINITY: none), sum alpha = sum beta, 0 <= beta_j <= cap_rate_j sum alpha;
 * the rates sum to 1 at least. */
void top_projection_mean(double *alpha, const double *bound, double *beta, const double *cap_rate,
                         size_t n);

/* 0 <= alpha <= bound, sum alpha = sum beta, 0 <= beta_j <= cap_rate_j delta, delta >= 0. Returns
 * delta, and is nearest in delta too. */
double top_projection_level(double *alpha, const double *bound, double *beta,
                            const double *cap_rate, double delta, size_t n);

/* 0 <= alpha <= bound, 0 <= beta where cap_rate > 0, sum alpha = sum beta. */
void top_projection_free(double *alpha, const double *bound, double *beta, const double *cap_rate,
                         size_t n);

#endif
