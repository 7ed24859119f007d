/* Probabilities of preferences, from scores of rows that the scoring models have not seen. */
#ifndef FAMILIES_RANK_PROBABILITY_H
#define FAMILIES_RANK_PROBABILITY_H

#include "driver/family.h"

#include <stdint.h>

/* Fits the slope of sigmoid.h to the margins of pairs of rows with different targets, of
 * the same query and held out by the same fold: all of them, or a sample by the seed if they are
 * very many. No such pair is an error. */
int rank_probability_slope(double *slope, const struct held_out *folds, size_t n_folds,
                           uint64_t seed, struct error *err);

#endif
