/* The tables of the families, defined by their trainers, predictors and measures. A program passes
 * its own to driver/program.h. */
#ifndef FAMILIES_SHARED_TABLES_H
#define FAMILIES_SHARED_TABLES_H

#include "driver/family.h"
#include "driver/program.h"

extern const struct family rank_family, top_family, mc_family, ml_family, smm_family;
extern const struct predictor rank_predictor, top_predictor, mc_predictor, ml_predictor,
    smm_predictor;
extern const struct measures rank_measures, top_measures, mc_measures, ml_measures, smm_measures;
extern const struct program rank_candidates;

#endif
