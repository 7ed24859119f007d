/* Which algorithm of ml runs when (solvers/methods/policy.h). Private to solvers/ml and tests. */
#ifndef SOLVERS_ML_POLICY_H
#define SOLVERS_ML_POLICY_H

#include "solvers/methods/policy.h"

extern const struct policy ml_policy;

#endif
