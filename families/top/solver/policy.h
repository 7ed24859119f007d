/* The algorithms for classification at the top, and the policy that runs them: time slices of those
 * with cheap iterations, then the interior-point method. The algorithms keep their last solutions
 * for warm starts. Over processes only cutting planes, the interior-point method and coordinate
 * descent apply. */
#ifndef FAMILIES_TOP_SOLVER_POLICY_H
#define FAMILIES_TOP_SOLVER_POLICY_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/coordinate_descent.h"
#include "families/top/solver/linear_form.h"
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

/* The algorithms of one risk. The caller sets the first members and makes the risk. */
struct top_algorithms {
    const struct problem *problem;
    const struct score_map *map, *plain; /* plain: without the constant feature */
    double values; /* linear kernel: stored feature values of all rows, over all processes */
    const double *norm_bound; /* (n) bounds of sqrt(k(x, x)), see certify_norm_bounds */
    /* the certificate has not confirmed a gap at all, by rounding: no cutting planes or coordinate
     * descent; that, or it has not done so twice: no smo and working sets with kernels */
    bool certificate_failed, missed_twice;
    double *reserved_seconds; /* of a time limit, for the end of a run of smo */
    struct top_risk risk;
    /* created at first use */
    struct risk risk_functions;
    struct cutting_planes *planes;
    struct top_smo *smo;
    struct top_descent *descent;
    struct top_linear_form *linear;
    /* kernels, once `measured`: features of the linear form; 0: it does not apply */
    size_t n_explicit;
    bool measured;
};

/* Releases the algorithms and the risk, not the problem and the map. A zeroed struct is allowed. */
void top_algorithms_free(struct top_algorithms *algorithms);

/* Solves at the parameters to the gap `epsilon`. The monitor's iteration count starts at `before`.
 * The fit has weights, alpha and beta, and the algorithms' own bounds, which are not certified. The
 * caller calls fit_free. */
int top_algorithms_solve(struct top_algorithms *algorithms, const struct top_parameters *parameters,
                         double epsilon, uint64_t before, const struct monitor *monitor,
                         struct fit *fit, struct error *err);

#endif
