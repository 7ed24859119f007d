/* The algorithms for classification at the top, and the policy that runs them: time slices of those
 * whose iterations are cheap, then the interior-point method. What an algorithm keeps from one
 * solve to the next is a warm start. Over processes only cutting planes, the interior-point method
 * and coordinate descent apply. */
#ifndef FAMILIES_TOP_SOLVER_POLICY_H
#define FAMILIES_TOP_SOLVER_POLICY_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/coordinate_descent.h"
#include "families/top/solver/risk.h"
#include "families/top/solver/smo.h"
#include "families/top/solver/top.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/policy.h"
#include "fit/score_map.h"
#include "methods/cutting_planes.h"

#include <stdbool.h>
#include <stdint.h>

extern const struct policy top_policy;

/* The algorithms of one risk. The caller fills what comes first, and makes the risk. */
struct top_algorithms {
    const struct problem *problem;
    const struct score_map *map;
    double values;            /* linear kernel: those of all rows, over all processes */
    const double *norm_bound; /* (n) of sqrt(k(x, x)), see certify_reach */
    bool certificate_failed;  /* rounding misleads cutting planes and coordinate descent */
    struct top_risk risk;
    /* made at first use */
    struct risk table;
    struct bundle *bundle;
    struct top_smo *smo;
    struct top_descent *descent;
};

/* Releases what was made at first use, and the risk; the problem and the map stay the caller's.
 * What is all zeros is allowed. */
void top_algorithms_free(struct top_algorithms *algorithms);

/* Solves at the parameters, but to `epsilon`. The monitor sees iterations counted on from `before`.
 * The fit has weights, alpha and beta, and what the algorithms believe of its bounds. The caller
 * calls fit_free. */
int top_algorithms_solve(struct top_algorithms *algorithms, const struct top_parameters *parameters,
                         double epsilon, uint64_t before, const struct monitor *monitor,
                         struct fit *fit, struct error *err);

#endif
