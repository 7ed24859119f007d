/* Multi-class SVMs with a kernel: block coordinate descent on working sets of rows.
 *
 * The scores F (n, k) of all rows tell what an exact step of each row would gain; the rows that
 * would gain most, with those whose alpha is neither 0 nor at its bounds, make a working set S,
 * larger each time. On K_SS steps are cheap, for a step only changes the scores of S in the few
 * classes that it touches. Then F takes the columns of K whose coefficients changed. Where sweeps
 * over S gain little, rounds of the active-set method (active.h) take their place, or where more
 * variables are free than that holds operator splitting (kernel_split.c), or rounds from the
 * optimum of a problem nearby (kernel_approach.c). */
#ifndef FAMILIES_MC_SOLVER_KERNEL_DESCENT_H
#define FAMILIES_MC_SOLVER_KERNEL_DESCENT_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

struct mc_kernel;

/* Starts at alpha = 0. Borrows task. */
int mc_kernel_create(struct mc_kernel **kernel, const struct mc_task *task, struct error *err);
void mc_kernel_free(struct mc_kernel *kernel);

/* Whether the last solution was left where operator splitting would be faster. */
bool mc_kernel_is_slow(const struct mc_kernel *kernel);

/* The same for a problem with few columns in place of the kernel matrix, then as mc_kernel_solve
 * goes on from there, which leaves to operator splitting what that would do faster. The caller
 * calls mc_fit_free. */
int mc_kernel_approach(struct mc_kernel *kernel, const struct mc_goal *goal,
                       const struct monitor *monitor, struct mc_fit *fit, struct error *err);

/* Operator splitting, from the last solution at its cost. The caller calls mc_fit_free. */
int mc_kernel_split(struct mc_kernel *kernel, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err);

/* Work of operator splitting, in multiplications of a sweep; INFINITY where it cannot be: for its
 * memory, or a kernel that is not positive semidefinite. */
double mc_kernel_split_work(const struct mc_kernel *kernel);

/* The same by way of a problem nearby. */
double mc_kernel_approach_work(const struct mc_kernel *kernel);

/* Solves from the last solution. Where that is slow it ends early, and says so. The caller calls
 * mc_fit_free. */
int mc_kernel_solve(struct mc_kernel *kernel, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err);

/* Makes alpha (n rows), feasible at the cost, the last solution, and certifies weights (n, k),
 * coefficients, and it, of a task without a constant feature. The caller calls mc_fit_free. */
int mc_kernel_take(struct mc_kernel *kernel, const struct mc_goal *goal, const double *weights,
                   const struct mc_alpha *alpha, struct mc_fit *fit, struct error *err);

#endif
