/* Coordinate ascent as published for these duals (Mácha, Adam, Šmídl: "Nonlinear classifiers for
 * ranking problems based on kernelized SVM", 2020): from a random feasible point, sweeps over
 * random first entries, each with the best second one by the closed form of the pair's step. A step
 * costs O(n), a sweep O(n^2). (The published starting point is the projection of a random point.)
 *
 * It moves pairs only. If several beta are at their cap no pair can move the cap, and it stalls
 * away from the optimum (tau-fpl, patmat with the hinge). It is an independent second solver for
 * tests and comparison, and reports its true gap. */
#ifndef FAMILIES_TOP_SOLVER_PUBLISHED_ASCENT_H
#define FAMILIES_TOP_SOLVER_PUBLISHED_ASCENT_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/top/solver/risk.h"
#include "fit/fit.h"
#include "fit/monitor.h"
#include "fit/score_map.h"

#include <stdint.h>

/* Solves min 1/2 |f|^2 + cost risk to the relative gap epsilon, or until sweeps make no progress,
 * in one process; not for svm. The caller calls fit_free. */
int top_cd_solve(const struct problem *problem, const struct score_map *map, struct top_risk *risk,
                 double cost, double epsilon, uint64_t seed, const struct monitor *monitor,
                 struct fit *fit, struct error *err);

#endif
