/* Kernel matrices with several connected components (methods/connected_components.h): up to entries
 * next to 0 the matrix is block diagonal, and without a constant feature each component is a
 * problem of its own, with the same classes. */
#ifndef FAMILIES_MC_SOLVER_KERNEL_COMPONENTS_H
#define FAMILIES_MC_SOLVER_KERNEL_COMPONENTS_H

#include "common/base/error.h"
#include "families/mc/solver/kernel_descent.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"
#include "methods/connected_components.h"

#include <stdbool.h>

/* Fills *components, which the caller frees (components_free), with the components of the task's
 * kernel matrix. There is one or none if the matrix is connected, too small or too large,
 * precomputed, distributed, or has a constant feature. Returns 1 if the time limit was reached
 * first, -1 if memory is short. */
int mc_kernel_components_find(struct components *components, const struct mc_task *task,
                              const struct monitor *monitor, struct error *err);

/* Solves component by component, each from zero, until a limit of the monitor, which gets the
 * bounds of the whole problem. Certifies the joint point, and sets it as the last solution of
 * `descent`. The caller calls mc_fit_free. */
int mc_kernel_components_solve(const struct components *components,
                               struct mc_kernel_descent *descent, const struct mc_task *task,
                               const struct mc_goal *goal, const struct monitor *monitor,
                               struct mc_fit *fit, struct error *err);

#endif
