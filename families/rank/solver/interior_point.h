/* The end of a fit of few rows, by interior points: where cutting planes or Newton's method on
 * smoothed listed gain too little, because C is large, features have units of their own or rows are
 * nearly equal.
 *
 * The listed of methods/interior_point.h are the preferences, listed; the features are those of
 * linear problems, or the rows of a factor of the kernel matrix, K = F F'. With L the Laplacian of
 * the preferences weighted by theta, a step factors I + F'L F. Adding a number to the features of a
 * group's rows changes no margin: they are centred, so that little cancels in L F, groups that have
 * equal rows as one. Only rows that differ count (families/rank/solver/listed_pairs.h). */
#ifndef FAMILIES_RANK_SOLVER_INTERIOR_POINT_H
#define FAMILIES_RANK_SOLVER_INTERIOR_POINT_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/pairs.h"
#include "families/rank/solver/proof_points.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/score_map.h"

#include <stdbool.h>

struct rank_interior;

/* Lists and factors. reach (map->n): of each score, see certify_reach. weight (map->n): of each
 * score where scores are margins of pairs (exterior products); NULL: scores are of rows. *interior is
 * NULL where it does not fit, or where the kernel shows to be not positive semidefinite. Borrows
 * all. */
int rank_interior_create(struct rank_interior **interior, const struct problem *problem,
                         const struct score_map *map, const struct rank_pairs *pairs,
                         const double *reach, const double *weight, struct error *err);
void rank_interior_free(struct rank_interior *interior);

/* Whether a run can start at weights: not where the features are a factor's and the weights are
 * those of linear problems. */
bool rank_interior_has_warm_start(const struct rank_interior *interior);

/* Makes the next run start afresh: at the map's `weights` of a primal point; NULL: at none. */
int rank_interior_start(struct rank_interior *interior, bool squared, double cost,
                        const double *weights, struct error *err);

/* Goes on until the gap is epsilon, or P - D is epsilon times `least`, as far as running sums can
 * tell. tied: the primal point has the coefficients of a dual point, the one whose primal is
 * lowest, no larger than C; else those which the factor of the matrix stands on, that make the
 * interior point's own weights. The caller ends with fit_free. */
int rank_interior_run(struct rank_interior *interior, bool tied, double epsilon, double least,
                      const struct monitor *monitor, struct fit *fit, struct error *err);

/* Adds the dual point of the last run to points, alpha of each pair; scores are of rows. */
int rank_interior_points(struct rank_interior *interior, struct rank_points *points,
                         struct error *err);

#endif
