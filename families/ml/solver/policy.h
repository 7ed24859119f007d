/* Which algorithm of ml runs when (fit/policy.h). Private to solvers/ml and tests. */
#ifndef FAMILIES_ML_SOLVER_POLICY_H
#define FAMILIES_ML_SOLVER_POLICY_H

#include "fit/policy.h"

extern const struct policy ml_policy;

#endif
