/* Problems in another form, solved by the policy of that form:
 *
 * - linear problems of few rows and many weights as kernel problems: the dual over the matrix X X'
 *   of the rows' products;
 * - kernel problems whose matrix has a small rank as linear problems (explicit_features.h). */
#ifndef FAMILIES_MC_SOLVER_REFORMULATION_H
#define FAMILIES_MC_SOLVER_REFORMULATION_H

#include "common/base/error.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

/* The problem in the other form, and its solvers. */
struct mc_reformulation;

/* Estimated work of a linear task as a kernel problem, in the unit of fit/work.h; INFINITY: it does
 * not apply, as there are more than 4,096 rows, or they are distributed, or ADMM does not fit into
 * the memory for kernels. */
double mc_reformulation_work(const struct mc_task *task);

/* *size = the number of features of a kernel task as a linear problem; 0: it does not apply, as the
 * matrix has a larger rank, or steps of Newton's method are not cheap with so many
 * (mc_newton_cheap_features): kernel algorithms are then as fast. */
int mc_reformulation_size(const struct mc_task *task, size_t *size, struct error *err);

/* For a linear task, size 0, or a kernel task with so many features; the task is borrowed. The
 * caller calls mc_reformulation_free. */
int mc_reformulation_create(struct mc_reformulation **form, const struct mc_task *task, size_t size,
                            struct error *err);
void mc_reformulation_free(struct mc_reformulation *form);

/* Solves by the policy of the other form, and certifies the task's own weights of its two points.
 * fit: as of mc_run; empty if the features are not exact. */
int mc_reformulation_solve(struct mc_reformulation *form, const struct mc_goal *goal,
                           const struct monitor *monitor, struct mc_fit *fit, struct error *err);

#endif
