/* Linear problems of few rows and many weights by the algorithms of kernels: the dual over the
 * matrix X X' of the rows' products. */
#ifndef FAMILIES_MC_SOLVER_LINEAR_DUAL_H
#define FAMILIES_MC_SOLVER_LINEAR_DUAL_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

/* The problem with X X' as its kernel matrix, and its solvers. */
struct mc_linear_dual;

/* Estimated work, in the unit of fit/work.h; INFINITY: it does not apply, as there are more than
 * 4,096 rows, or they are distributed, or ADMM does not fit into the memory for kernels. */
double mc_linear_dual_work(const struct mc_task *task);

/* For a linear task, which is borrowed. The caller calls mc_linear_dual_free. */
int mc_linear_dual_create(struct mc_linear_dual **dual, const struct mc_task *task,
                          struct error *err);
void mc_linear_dual_free(struct mc_linear_dual *dual);

/* Solves by the policy of kernels, and certifies the linear weights of its two points. fit: as of
 * mc_run. */
int mc_linear_dual_solve(struct mc_linear_dual *dual, const struct mc_goal *goal,
                         const struct monitor *monitor, struct mc_fit *fit, struct error *err);

#endif
