/* The primal-dual interior-point method (methods/interior_point.h: Mehrotra's predictor-corrector)
 * for RankSVM with few distinct rows. It is the fallback where cutting planes or Newton's method on
 * the smoothed hinge converge slowly, because C is large, features have very different units or
 * rows are nearly equal.
 *
 * The loss terms are the listed preferences of distinct rows (listed_pairs.h). The features are
 * those of a linear problem, or the rows of a factor of the kernel matrix, K = F F'. An iteration
 * factors I + F'L F, where L is the Laplacian of the preferences with weights theta. Adding a
 * constant to a feature of all rows of a group changes no margin, so features are centred in each
 * group, and less cancels in L F; groups that share duplicate rows are centred as one. Cost per
 * iteration: O(n^3 + n m^2) for n rows and m features. */
#ifndef FAMILIES_RANK_SOLVER_INTERIOR_POINT_H
#define FAMILIES_RANK_SOLVER_INTERIOR_POINT_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/listed_pairs.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/score_map.h"

#include <stdbool.h>

struct rank_interior;

/* Computes the features. listed: the preferences. norm_bound (map->n): feature-norm bound of each
 * score (certify_norm_bounds). *interior is NULL if there are no preferences, the problem is too
 * large or the kernel proves to be not positive semidefinite. Borrows all arguments. -1 if memory
 * is short. */
int rank_interior_create(struct rank_interior **interior, const struct problem *problem,
                         const struct score_map *map, const struct rank_listed *listed,
                         const double *norm_bound, struct error *err);
void rank_interior_free(struct rank_interior *interior);

/* Whether a run can warm-start: not with features of a factor and weights of a linear problem. */
bool rank_interior_has_warm_start(const struct rank_interior *interior);

/* The next run starts anew: at the map's `weights` of a primal point, or at zero if NULL. */
int rank_interior_start(struct rank_interior *interior, bool squared, double cost,
                        const double *weights, struct error *err);

/* Iterates until the gap is epsilon, by running sums. from_dual: the primal point is recovered from
 * the dual (w = A'alpha), with the best dual-feasible alpha found; else the method's own primal
 * point is written with coefficients of the pivot rows of the factor. Fills fit; the caller calls
 * fit_free. */
int rank_interior_run(struct rank_interior *interior, bool from_dual, double epsilon,
                      const struct monitor *monitor, struct fit *fit, struct error *err);

/* (n_pairs) the dual point of the last run, alpha of each listed preference. Borrowed. */
const double *rank_interior_alpha(const struct rank_interior *interior);

#endif
