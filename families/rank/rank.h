/* The family rank, scores that order the rows of a query: the tables of its trainer and of its
 * predictor. */
#ifndef FAMILIES_RANK_RANK_H
#define FAMILIES_RANK_RANK_H

#include "driver/family.h"

extern const struct family rank_family;
extern const struct predictor rank_predictor;

#endif
