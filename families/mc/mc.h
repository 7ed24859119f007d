/* The family mc, multi-class SVMs: the tables of its trainer and of its predictor. */
#ifndef FAMILIES_MC_MC_H
#define FAMILIES_MC_MC_H

#include "driver/family.h"

extern const struct family mc_family;
extern const struct predictor mc_predictor;

#endif
