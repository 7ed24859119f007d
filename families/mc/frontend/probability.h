/* Probabilities of classes: the softmax of scores times one scale a > 0,
 *   p_c = exp(a s_c) / sum_j exp(a s_j),
 * fitted to out-of-fold scores. With one scale for all the most probable class is the predicted
 * one, whatever the data.
 *
 * The fit is by maximum likelihood with Platt's smoothed targets (Platt 1999), for k classes: of a
 * row of a class with N rows (N + 1)/(N + 2) is the target of its class, and the others share
 * 1/(N + 2) evenly; with two classes these are Platt's. The cross-entropy
 *   F(a) = sum_i log sum_c exp(a d_ic) - a sum_c d_ic / ((k - 1)(N_i + 2)),
 * d_ic = s_ic - s_iy, then has a finite minimum also if all rows are on the right side. */
#ifndef FAMILIES_MC_FRONTEND_PROBABILITY_H
#define FAMILIES_MC_FRONTEND_PROBABILITY_H

#include "common/data/labels.h"
#include "driver/family.h"

/* p (k) = the probabilities for scores (k). */
void mc_probability(double scale, const double *scores, size_t k, double *p);

/* *scale = the minimiser of F over the held-out rows of all folds. labels: the model's. The classes
 * of a fold's scores are those of the rows that it does not hold out. */
int mc_probability_fit(double *scale, const struct held_out *folds, size_t n_folds,
                       const struct labels *labels, struct error *err);

#define MC_PROBABILITY_KEY "probability-scale"
/* Reads the scale from the model's header: *calibrated tells whether the key is there; *scale is
 * its value, else 1. Fails if it is not a number above 0. */
int mc_probability_read(const struct model *model, bool *calibrated, double *scale,
                        struct error *err);

#endif
