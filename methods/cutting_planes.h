/* Cutting planes for min 1/2 |f|^2 + C R(s): OCAS (Franc & Sonnenburg, "Optimized cutting plane
 * algorithm for large-scale risk minimization", JMLR 2009) for any convex risk and any kernel.
 *
 * A plane is a subgradient g_t of R with its offset o_t. The best combination of planes,
 *   D = max C sum mu_t o_t - C^2/2 |A' sum mu_t g_t|^2 over the simplex,
 * bounds the optimum below; its f is joined to the best f so far by an exact line search, and the
 * next plane is cut between the two. Planes do not depend on C: they serve the next C too. */
#ifndef METHODS_CUTTING_PLANES_H
#define METHODS_CUTTING_PLANES_H

#include "common/base/error.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/risk.h"
#include "fit/score_map.h"

struct bundle;

/* Starts with no plane but the zero one. Borrows map and risk; risk->n = map->n. */
int bundle_create(struct bundle **bundle, const struct score_map *map, const struct risk *risk,
                  struct error *err);
void bundle_free(struct bundle *bundle);

/* Solves to a relative gap of epsilon, from the planes and the best point so far. The caller
 * calls fit_free. */
int bundle_solve(struct bundle *bundle, double cost, double epsilon, const struct monitor *monitor,
                 struct fit *fit, struct error *err);

/* Calls visit with the records of the planes in the last solve's dual point, and their weights
 * cost mu_t. */
void bundle_visit(const struct bundle *bundle, double cost,
                  void (*visit)(void *context, double weight, const void *record), void *context);

#endif
