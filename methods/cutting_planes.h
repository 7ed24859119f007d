/* Cutting-plane method for min 1/2 |f|^2 + C R(s): OCAS (Franc & Sonnenburg, "Optimized cutting
 * plane algorithm for large-scale risk minimization", JMLR 2009) for any convex risk and any
 * kernel.
 *
 * A cutting plane is a subgradient g_t of R with its offset o_t. The master problem
 *   D = max C sum mu_t o_t - C^2/2 |A' sum mu_t g_t|^2 over the simplex
 * gives a lower bound on the optimum and a function f. An exact line search leads from the best f
 * so far towards it, and the next plane is computed between the two. Planes do not depend on C, so
 * they are used for the next C too.
 *
 * Cost per iteration: some evaluations of the risk, one product of A and A' each, and the master
 * problem over the planes, O(p^3). */
#ifndef METHODS_CUTTING_PLANES_H
#define METHODS_CUTTING_PLANES_H

#include "common/base/error.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/risk.h"
#include "fit/score_map.h"

struct bundle;

/* Starts with the zero plane and that at f = 0. Borrows map and risk; risk->n = map->n. */
int bundle_create(struct bundle **bundle, const struct score_map *map, const struct risk *risk,
                  struct error *err);
void bundle_free(struct bundle *bundle);

/* Solves to a relative gap of epsilon, starting from the planes and the best iterate of earlier
 * calls. The caller frees fit with fit_free. */
int bundle_solve(struct bundle *bundle, double cost, double epsilon, const struct monitor *monitor,
                 struct fit *fit, struct error *err);

/* Calls visit for each plane of the last solve's dual point, with its record and its weight cost
 * mu_t. */
void bundle_visit_dual(const struct bundle *bundle, double cost,
                       void (*visit)(void *context, double weight, const void *record),
                       void *context);

#endif
