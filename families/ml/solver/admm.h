/* Operator splitting (methods/admm.h) on the multi-label dual, whose rows have an
 * exact step: what finishes fits whose rows times labels are too many for the interior point. */
#ifndef FAMILIES_ML_SOLVER_ADMM_H
#define FAMILIES_ML_SOLVER_ADMM_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/label_sets.h"
#include "families/ml/solver/points.h"
#include "fit/monitor.h"

#include <stdbool.h>

/* What a fit takes, in operations of plain loops, with a kernel that is positive semidefinite;
 * INFINITY where it is not possible: rows that are spread, a matrix of more than half of the memory
 * for the kernel's. */
double ml_admm_work(const struct problem *problem, const struct ml_rows *rows);

/* Where it starts: betas and their scores (rows->n, width), without what a bias adds. */
struct ml_admm_start {
    const double *beta, *scores;
    size_t width;
};

/* constant: added to K, the square of the constant feature's value; free_bias: one that the norm
 * does not count, and then constant is 0. *split is NULL where K shows to be not positive
 * semidefinite. Borrows problem and rows. The caller ends with ml_admm_free. */
struct ml_admm;
int ml_admm_create(struct ml_admm **admm, const struct problem *problem,
                    const struct ml_rows *rows, enum ml_loss loss, double cost, double constant,
                    bool free_bias, const struct ml_admm_start *start, struct error *err);
void ml_admm_free(struct ml_admm *admm);

/* Goes on until the relative gap is epsilon, or P - D is epsilon times `least`. */
void ml_admm_run(struct ml_admm *admm, double epsilon, double min_scale,
                  const struct monitor *monitor, struct ml_fit *fit);

#endif
