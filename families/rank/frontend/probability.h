/* Probabilities of preferences: P(i before j) = 1 / (1 + exp(-slope (s_i - s_j))).
 *
 * This is Platt's sigmoid (Platt 1999; Lin, Lin and Weng 2007) for pairs. It has a slope and no
 * offset: the margin of (j,i) is minus that of (i,j), so P(i before j) + P(j before i) = 1 requires
 * an offset of 0. It suffices to fit the margins of preferred pairs, all of class +1, as their
 * mirror images of class -1 add the same terms. Platt's smoothed targets for N examples of each
 * class are (N+1)/(N+2) and 1/(N+2); the fit is
 *     min over a of F(a) = sum_m log(1 + exp(-a m)) + a m / (N + 2),
 *     F' = sum m (1/(N+2) - q),   F'' = sum m^2 q (1 - q),   q = 1 / (1 + exp(a m)),
 * which has a finite minimum even if all margins are positive. The algorithm is Newton's method
 * with a line search; each iteration costs O(n). */
#ifndef FAMILIES_RANK_FRONTEND_PROBABILITY_H
#define FAMILIES_RANK_FRONTEND_PROBABILITY_H

#include "driver/family.h"

#include <stdint.h>

/* Fits the slope to the margins of pairs of rows with different targets, of the same query and held
 * out by the same fold: to all of them, or to a random sample if they are many. -1 if there is no
 * such pair. */
int rank_probability_slope(double *slope, const struct held_out *folds, size_t n_folds,
                           uint64_t seed, struct error *err);

/* Fits the slope to the margins m[0..n) of preferred pairs. They must come from models that were
 * not trained on these pairs. -1 if n = 0 or a margin is not finite. The slope is 0 if all margins
 * are 0, and negative if most pairs are in the wrong order. Its standard error is 1/sqrt(F''), so a
 * random sample of about 10^5 pairs is as good as all of them. */
int sigmoid_fit(double *slope, const double *margin, size_t n, struct error *err);

/* The probability of a margin. */
double sigmoid_probability(double slope, double margin);

#endif
