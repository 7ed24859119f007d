/* Probabilities of preferences: P(i before j) = 1 / (1 + exp(-slope (s_i - s_j))).
 *
 * Platt's sigmoid (Platt 1999; Lin, Lin and Weng 2007) for pairs. It has a slope and no offset:
 * the margin of (j,i) is minus that of (i,j), and P(i before j) + P(j before i) = 1 holds for
 * every margin only without one. So it suffices to fit margins of preferred pairs, all of class
 * +1: their mirror images, of class -1, would add the same terms again. Platt's smoothed targets
 * for N examples of each class are (N+1)/(N+2) and 1/(N+2); the fit is
 *     min over a of F(a) = sum_m log(1 + exp(-a m)) + a m / (N + 2),
 *     F' = sum m (1/(N+2) - q),   F'' = sum m^2 q (1 - q),   q = 1 / (1 + exp(a m)),
 * which has a finite minimum even when all margins are positive. */
#ifndef FAMILIES_RANK_FRONTEND_PROBABILITY_H
#define FAMILIES_RANK_FRONTEND_PROBABILITY_H

#include "driver/family.h"

#include <stdint.h>

/* Fits the slope to the margins of pairs of rows with different targets, of
 * the same query and held out by the same fold: all of them, or a sample by the seed if they are
 * very many. No such pair is an error. */
int rank_probability_slope(double *slope, const struct held_out *folds, size_t n_folds,
                           uint64_t seed, struct error *err);

/* Fits the slope to margins m[0..n) of preferred pairs, which must come from models that were not
 * trained on these pairs. n = 0 or a margin that is not finite is an error. The slope is 0 when
 * all margins are 0, and negative when the pairs are mostly the wrong way round. Its standard
 * error is 1/sqrt(F''), so a random sample of some 10^5 pairs serves as well as all of them. */
int sigmoid_fit(double *slope, const double *margin, size_t n, struct error *err);

/* The probability of a margin. */
double sigmoid_probability(double slope, double margin);

#endif
