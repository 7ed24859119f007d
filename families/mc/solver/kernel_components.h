/* Fits with kernel matrices that fall apart (methods/parts.h): without a constant feature each part
 * is a problem of its own, with the same classes. */
#ifndef FAMILIES_MC_SOLVER_KERNEL_COMPONENTS_H
#define FAMILIES_MC_SOLVER_KERNEL_COMPONENTS_H

#include "common/base/error.h"
#include "families/mc/solver/kernel_descent.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"
#include "methods/connected_components.h"

#include <stdbool.h>

/* Fills parts, for the caller to free, with those of the task's kernel matrix; one or none where it
 * does not fall apart, or is fitted as a whole for its size, a constant feature, values that are
 * given, or ranks that share it. Returns 1 where there was no time to tell. Fails for lack of
 * memory. */
int mc_kernel_parts_find(struct parts *parts, const struct mc_task *task,
                         const struct monitor *monitor, struct error *err);

/* Solves part by part, from nothing, as far as the monitor lets it; it is told the bounds of the
 * whole. What that comes to is certified, and the last solution of `kernel`, the task's. The caller
 * calls mc_fit_free. */
int mc_kernel_parts_run(const struct parts *parts, struct mc_kernel *kernel,
                        const struct mc_task *task, const struct mc_goal *goal,
                        const struct monitor *monitor, struct mc_fit *fit, struct error *err);

#endif
