/* Multi-class SVMs with few weights by a primal-dual predictor-corrector interior-point method
 * (methods/interior_point.h): the fallback where coordinate descent stalls and rounding stops
 * Newton's method, at large C or with features of very different units. With a kernel and few rows,
 * the features are the rows of a factor of the kernel matrix (methods/row_features_dd.h).
 *
 * Each term of a row is a hinge with v = m_c; if the loss is a maximum, the hinges of a row form a
 * group. An iteration forms and factors the matrix of the weights (hessian.h). */
#ifndef FAMILIES_MC_SOLVER_INTERIOR_POINT_H
#define FAMILIES_MC_SOLVER_INTERIOR_POINT_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

/* The work of a typical run (fit/work.h); INFINITY if it would be too large. */
double mc_interior_work(const struct mc_task *task);

/* Solves from zero. If a kernel is not positive semidefinite, *possible is false and nothing is
 * done. The caller calls mc_fit_free. */
int mc_interior_solve(const struct mc_task *task, const struct mc_goal *goal,
                      const struct monitor *monitor, struct mc_fit *fit, bool *possible,
                      struct error *err);

#endif
