/* The family smm, support matrix machines: the tables of its trainer and of its predictor. */
#ifndef FAMILIES_SMM_SMM_H
#define FAMILIES_SMM_SMM_H

#include "driver/family.h"

extern const struct family smm_family;
extern const struct predictor smm_predictor;

#endif
