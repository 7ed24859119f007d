/* Trials whose numbers cover the ranges of double and float. */
#ifndef TESTS_OPTIMA_WIDE_GENERATE_H
#define TESTS_OPTIMA_WIDE_GENERATE_H

#include "tests/optima/trial.h"

/* Generates the wide trial of a seed: features over 40 decades, or with a single outlier, or
 * denormal; C over 300 decades, weights over 12. */
void wide_generate(struct trial *trial, uint64_t seed);

#endif
