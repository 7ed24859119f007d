/* Conditional gradient method (Frank & Wolfe 1956; Jaggi, ICML 2013) on the dual of min 1/2 |f|^2 +
 * C R(s), R a sum of hinges, in score space. The vertex that the linear oracle returns is a cutting
 * plane of R.
 *
 * The dual point is stored as its weights f and its offset e. The conditional-gradient gap towards
 * the plane at its scores equals P(f) - D exactly. A run stalls if its gap
 * falls more slowly than about iterations^-1/3, or by less than a tenth in 250,000 iterations. The
 * method is slow but independent of the cutting planes, and tests compare other solvers with it.
 *
 * Cost per iteration: one product each with A and A', and one evaluation of the risk. */
#ifndef METHODS_CONDITIONAL_GRADIENT_H
#define METHODS_CONDITIONAL_GRADIENT_H

#include "common/base/error.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/risk.h"
#include "fit/score_map.h"

#include <stdbool.h>

struct conditional {
    double cost;
    double epsilon;
    bool diminishing; /* steps 2/(k+2) instead of the exact line search */
    bool decay; /* stop at h_k / h_0 <= epsilon (published rule) instead of the relative gap */
};

/* Solves from f = 0. The caller frees fit with fit_free. */
int conditional_gradient_solve(const struct score_map *map, const struct risk *risk,
                               const struct conditional *how, const struct monitor *monitor,
                               struct fit *fit, struct error *err);

#endif
