/* Which algorithm solves a RankSVM problem when: the table, and the limits of its rows. */
#ifndef FAMILIES_RANK_SOLVER_POLICY_H
#define FAMILIES_RANK_SOLVER_POLICY_H

#include "families/rank/solver/rank_private.h"
#include "fit/policy.h"

#include <stdint.h>

extern const struct policy rank_policy; /* its state is a struct rank_fitting */

/* Iterations that the row of an algorithm has: those of cutting planes and of Newton's method with
 * kernels take about as long as the fallback solver. 0: no limit. */
uint64_t rank_iteration_limit(const struct rank_fitting *fitting, enum algorithm algorithm);

/* Steps of conjugate gradients that Newton's method has, where its iterations are limited. */
uint64_t rank_gradient_limit(const struct rank_fitting *fitting);

#endif
