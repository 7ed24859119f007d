/* The families, selected by a byte of the input. */
#ifndef TESTS_FUZZ_FAMILIES_H
#define TESTS_FUZZ_FAMILIES_H

#include "families/shared/tables.h"

enum { FUZZ_FAMILIES = 5 };

static const struct family *const fuzz_families[FUZZ_FAMILIES] = {
    &rank_family, &top_family, &mc_family, &ml_family, &smm_family};
static const struct predictor *const fuzz_predictors[FUZZ_FAMILIES] = {
    &rank_predictor, &top_predictor, &mc_predictor, &ml_predictor, &smm_predictor};

#endif
