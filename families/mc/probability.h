/* Probabilities of classes: the softmax of scores times one scale a > 0,
 *   p_c = exp(a s_c) / sum_j exp(a s_j),
 * fitted to out-of-fold scores. With one scale for all the most probable class is the predicted
 * one, whatever the data. */
#ifndef FAMILIES_MC_PROBABILITY_H
#define FAMILIES_MC_PROBABILITY_H

#include "common/base/error.h"
#include "common/data/labels.h"
#include "common/model/model.h"
#include "driver/family.h"

#include <stdbool.h>
#include <stddef.h>

/* p (k) of scores (k). */
void mc_probability(double scale, const double *scores, size_t k, double *p);

/* The scale that minimises the log loss: rows with labels from `labels`, the model's, and scores of
 * folds, whose own classes are those that occur in the rows that a fold does not hold out. */
int mc_probability_fit(double *scale, const struct held_out *folds, size_t n_folds,
                       const struct labels *labels, struct error *err);

#define MC_PROBABILITY_KEY "probability-scale"
/* Reads the model's line of that key: *calibrated is whether it is there, *scale its number, 1 if
 * not. Fails where it is no number above 0. */
int mc_probability_read(const struct model *model, bool *calibrated, double *scale,
                        struct error *err);

#endif
