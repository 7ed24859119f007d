/* Linear multi-class SVMs by dual block coordinate descent (Keerthi et al., "A sequential dual
 * method for large scale multi-class linear SVMs", KDD 2008; for these formulations Dogan,
 * Glasmachers & Igel 2016). A block is the alpha of one row; its step is exact (row_step_real.h). W
 * = W(alpha) is maintained, (features, classes). A sweep costs two multiplications for each value
 * of the data and class. */
#ifndef FAMILIES_MC_SOLVER_LINEAR_DESCENT_H
#define FAMILIES_MC_SOLVER_LINEAR_DESCENT_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

struct mc_linear;

/* A solver at alpha = 0. Borrows task. */
int mc_linear_create(struct mc_linear **linear, const struct mc_task *task, struct error *err);
void mc_linear_free(struct mc_linear *linear);

/* Solves, warm-started from the last solution. The caller calls mc_fit_free. */
int mc_linear_solve(struct mc_linear *linear, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err);

#endif
