/* The engines for the convex formulations of classification at the top, each with what it keeps
 * from one solve to the next: smo, cutting planes, coordinate ascent, interior points; and the
 * first two in turn, of the linear svm coordinate descent in place of smo. Where rows are spread
 * over ranks only cutting planes, interior points and coordinate descent.
 *
 * Where smo or cutting planes have done the work of a solve by interior points, or gain nothing
 * more, interior points finish: smo crawls where C is large or features are unscaled. */
#ifndef SOLVERS_TOP_ENGINES_H
#define SOLVERS_TOP_ENGINES_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "solvers/methods/bundle.h"
#include "solvers/methods/fit.h"
#include "solvers/methods/monitor.h"
#include "solvers/methods/score_map.h"
#include "solvers/top/descent.h"
#include "solvers/top/risk.h"
#include "solvers/top/smo.h"
#include "solvers/top/top.h"

#include <stdint.h>

/* Of one risk. The caller fills what comes first, and makes the risk. */
struct top_engines {
    const struct problem *problem;
    const struct score_map *map;
    double values;        /* of the linear kernel: those of all rows, of all ranks */
    const double *length; /* (n) sqrt(k(x, x)) of the rows, at least, and little more */
    struct top_risk risk;
    bool misled; /* by rounding: planes are tried no more, interior points go by features too */
    /* made at first use */
    struct risk table;
    struct bundle *bundle;
    struct top_smo *smo;
    struct top_descent *descent;
};

/* Releases what was made at first use, and the risk; the problem and the map stay the caller's.
 * What is all zeros is allowed. */
void top_engines_free(struct top_engines *engines);

/* Solves at the parameters, but to `epsilon`. The monitor sees iterations counted on from `before`.
 * The fit has weights, alpha and beta, and what the engine believes of its bounds. The caller calls
 * fit_free. */
int top_engines_solve(struct top_engines *engines, const struct top_parameters *parameters,
                      double epsilon, uint64_t before, const struct monitor *monitor,
                      struct fit *fit, struct error *err);

#endif
