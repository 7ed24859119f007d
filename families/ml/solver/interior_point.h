/* The interior point for multi-label problems with few unknowns: features times labels for linear
 * kernels, rank of the kernel matrix times labels for the others.
 *
 * The hinges are the pairs (i, p, r). Their systems J + A' diag(theta) A are sums over pairs of
 * theta x_i x_i' at the blocks of labels p and r: for each two labels one product of the rows that
 * have just one of them. A kernel matrix is factored, K = F F', and the rows of F are features;
 * so is that of linear products where features are more than rows. Adding the same to all labels'
 * scores changes nothing: the last label's weights are held at 0 while a system is solved, which
 * takes a label off. */
#ifndef FAMILIES_ML_SOLVER_INTERIOR_POINT_H
#define FAMILIES_ML_SOLVER_INTERIOR_POINT_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/label_sets.h"
#include "families/ml/solver/points.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a fit takes, in operations of plain loops; INFINITY where it is not possible: too many
 * unknowns, or pairs. */
double ml_interior_work(const struct problem *problem, const struct ml_rows *rows);

/* Features for the problem's rows with a loss, made once for all costs and losses. bias: the value
 * of a constant feature, 0: none; free_bias: one that the norm does not count. *interior is NULL
 * where there are no features, or the kernel shows to be not positive semidefinite.
 * Borrows problem and rows. */
struct ml_interior;
int ml_interior_create(struct ml_interior **interior, const struct problem *problem,
                       const struct ml_rows *rows, double bias, bool free_bias, struct error *err);
void ml_interior_free(struct ml_interior *interior);

/* Makes the next run start afresh, for this loss and cost. */
int ml_interior_start(struct ml_interior *interior, enum ml_loss loss, double cost,
                      struct error *err);

/* Goes on until the relative gap is epsilon, or P - D is epsilon times `least`. Where F
 * is a factor the weights are those of the dual point, whose coefficients are few, and no larger
 * than lambda. */
void ml_interior_run(struct ml_interior *interior, double epsilon, double min_scale,
                     const struct monitor *monitor, struct ml_fit *fit);

#endif
