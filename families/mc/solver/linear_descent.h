/* Linear multi-class SVMs by block coordinate descent on the dual: one exact step for all terms of
 * a row at a time, with W = W(alpha) at hand feature by feature, the classes side by side. */
#ifndef FAMILIES_MC_SOLVER_LINEAR_DESCENT_H
#define FAMILIES_MC_SOLVER_LINEAR_DESCENT_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

struct mc_linear;

/* Starts at alpha = 0. Borrows task. */
int mc_linear_create(struct mc_linear **linear, const struct mc_task *task, struct error *err);
void mc_linear_free(struct mc_linear *linear);

/* Solves from the last solution. The caller calls mc_fit_free. */
int mc_linear_solve(struct mc_linear *linear, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err);

#endif
