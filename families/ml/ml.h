/* The family ml, multi-label Rank-SVM: the tables of its trainer and of its predictor. */
#ifndef FAMILIES_ML_ML_H
#define FAMILIES_ML_ML_H

#include "driver/family.h"

extern const struct family ml_family;
extern const struct predictor ml_predictor;

#endif
