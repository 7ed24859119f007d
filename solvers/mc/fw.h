/* Conditional gradients on the multi-class dual: the second solver. */
#ifndef SOLVERS_MC_FW_H
#define SOLVERS_MC_FW_H

#include "common/base/error.h"
#include "solvers/mc/task.h"
#include "solvers/methods/monitor.h"

/* Solves from alpha = 0 and certifies W(alpha). All ranks. The caller calls mc_fit_free. */
int mc_fw_solve(const struct mc_task *task, const struct mc_goal *goal,
                const struct monitor *monitor, struct mc_fit *fit, struct error *err);

#endif
