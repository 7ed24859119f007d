/* Multi-class SVMs with few weights by an interior point (methods/interior_point.h): what ends
 * where coordinate descent crawls and Newton's method on smoothed losses drowns in rounding, at a
 * large C or with features in units of their own. Kernels have the features of a factor of their
 * matrix (methods/row_features_dd.h), where rows are few.
 *
 * The hinges are the terms of the rows, v = m_c, alone or, where the largest counts, in a group for
 * each row. A step factors a matrix of the weights. */
#ifndef FAMILIES_MC_SOLVER_INTERIOR_POINT_H
#define FAMILIES_MC_SOLVER_INTERIOR_POINT_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

/* The work of a typical run, in multiplications of a plain loop; INFINITY where it is too large to
 * be tried. */
double mc_interior_work(const struct mc_task *task);

/* Solves from nothing. *possible is false, and nothing is done, where a kernel is not positive
 * semidefinite. The caller calls mc_fit_free. */
int mc_interior_solve(const struct mc_task *task, const struct mc_goal *goal,
                      const struct monitor *monitor, struct mc_fit *fit, bool *possible,
                      struct error *err);

#endif
