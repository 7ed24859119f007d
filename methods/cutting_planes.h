/* Cutting-plane method for min 1/2 |f|^2 + C R(s): OCAS (Franc & Sonnenburg, "Optimized cutting
 * plane algorithm for large-scale risk minimization", JMLR 2009) for any convex risk and any
 * kernel.
 *
 * A cutting plane is a subgradient g_t of R with its offset o_t. A maps weights to scores
 * (fit/score_map.h). With weights mu_t of the p planes, the master problem
 *   D = max C sum mu_t o_t - C^2/2 |A' sum mu_t g_t|^2 over the simplex
 * gives a lower bound on the optimum and the function f = -C A' sum mu_t g_t. An exact line search
 * leads from the best function so far towards f, and the next plane is computed at a point between
 * the new best function and f. Planes do not depend on C, so they are used for the next C too.
 *
 * Cost per iteration: some evaluations of the risk, one product each with A and with A', and the
 * master problem over the planes, O(p^3). */
#ifndef METHODS_CUTTING_PLANES_H
#define METHODS_CUTTING_PLANES_H

#include "common/base/error.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/risk.h"
#include "fit/score_map.h"

/* The planes found so far, and the best iterate. */
struct cutting_planes;

/* Creates the zero plane (R >= 0) and the plane at f = 0. Borrows map and risk; risk->n = map->n.
 * The caller calls cutting_planes_free. */
int cutting_planes_create(struct cutting_planes **planes, const struct score_map *map,
                          const struct risk *risk, struct error *err);
void cutting_planes_free(struct cutting_planes *planes);

/* Solves to a relative gap of epsilon, starting from the planes and the best iterate of earlier
 * calls. The caller frees fit with fit_free. */
int cutting_planes_solve(struct cutting_planes *planes, double cost, double epsilon,
                         const struct monitor *monitor, struct fit *fit, struct error *err);

/* Calls visit for each plane that has positive weight mu_t in the last solve's dual point and a
 * record (fit/risk.h), with weight = cost mu_t; cost is that of the last solve. */
void cutting_planes_visit_dual(const struct cutting_planes *planes, double cost,
                               void (*visit)(void *context, double weight, const void *record),
                               void *context);

#endif
