/* The policy of ml: which algorithm runs when (fit/policy.h). Private to this folder and its
 * tests. */
#ifndef FAMILIES_ML_SOLVER_POLICY_H
#define FAMILIES_ML_SOLVER_POLICY_H

#include "fit/policy.h"

extern const struct policy ml_policy;

#endif
