/* Multi-class SVMs with a kernel: dual block coordinate descent on working sets of rows.
 *
 * Decomposition (Joachims, "Making large-scale SVM learning practical", 1999), with large working
 * sets. From the scores F (n, k) of all rows follows the gain of an exact step in each row. The
 * rows with the largest gains and rows with free alpha make a working set S, which grows from one
 * set to the next. Sweeps over S use the matrix K_SS; a step costs |S| multiplications for each
 * class whose coefficient changes. Then F is updated by the columns of K whose coefficients
 * changed, n multiplications for each and each class.
 *
 * Rows in numbers far beyond a working set, which change each other's scores, take joint steps
 * first (kernel_joint.c): sweeps over all rows on a low-rank model of K, and one product with K.
 *
 * If sweeps converge slowly, active-set iterations (active_set.h) replace them. If the active set
 * would be too large, the fit is left to ADMM (kernel_admm.c), or to ADMM on a low-rank surrogate
 * and active-set iterations from its optimum (kernel_surrogate.c); policy.c decides. */
#ifndef FAMILIES_MC_SOLVER_KERNEL_DESCENT_H
#define FAMILIES_MC_SOLVER_KERNEL_DESCENT_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

struct mc_kernel_descent;

/* A solver at alpha = 0. Borrows task. */
int mc_kernel_create(struct mc_kernel_descent **descent, const struct mc_task *task,
                     struct error *err);
void mc_kernel_free(struct mc_kernel_descent *descent);

/* Whether the last run stopped because ADMM would be faster. */
bool mc_kernel_is_slow(const struct mc_kernel_descent *descent);

/* Solves the low-rank surrogate by ADMM, then runs mc_kernel_solve from there, with active-set
 * iterations first. Afterwards mc_kernel_is_slow says whether ADMM would be faster. The caller
 * calls mc_fit_free. */
int mc_kernel_surrogate(struct mc_kernel_descent *descent, const struct mc_goal *goal,
                        const struct monitor *monitor, struct mc_fit *fit, struct error *err);

/* Solves by ADMM, warm-started from the last solution, which must be of the same cost. The caller
 * calls mc_fit_free. */
int mc_kernel_admm(struct mc_kernel_descent *descent, const struct mc_goal *goal,
                   const struct monitor *monitor, struct mc_fit *fit, struct error *err);

/* Work of ADMM (fit/work.h); INFINITY if it needs more memory than cache_bytes for the kernel
 * matrix allow. */
double mc_admm_work(size_t n_rows, size_t n_classes, size_t cache_bytes);

/* The same for the descent's problem; INFINITY if the kernel is not positive semidefinite. */
double mc_kernel_admm_work(const struct mc_kernel_descent *descent);

/* Work of the surrogate and the active-set iterations after it; INFINITY as above. */
double mc_kernel_surrogate_work(const struct mc_kernel_descent *descent);

/* Solves, warm-started from the last solution. Stops early if ADMM would be faster
 * (mc_kernel_is_slow). The caller calls mc_fit_free. */
int mc_kernel_solve(struct mc_kernel_descent *descent, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err);

#endif
