/* The family top, classification at the top: the tables of its trainer and of its predictor. */
#ifndef FAMILIES_TOP_TOP_H
#define FAMILIES_TOP_TOP_H

#include "driver/family.h"

extern const struct family top_family;
extern const struct predictor top_predictor;

#endif
