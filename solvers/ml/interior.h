/* The interior point for multi-label problems with few unknowns: features times labels for linear
 * kernels, rank of the kernel matrix times labels for the others.
 *
 * The hinges are the pairs (i, p, r). Their systems J + A' diag(theta) A are sums over pairs of
 * theta x_i x_i' at the blocks of labels p and r: for each two labels one product of the rows that
 * have just one of them. A kernel matrix is factored, K = F F', and the rows of F are features;
 * so is that of linear products where features are more than rows. Adding the same to all labels'
 * scores changes nothing: the last label's weights are held at 0 while a system is solved, which
 * takes a label off. */
#ifndef SOLVERS_ML_INTERIOR_H
#define SOLVERS_ML_INTERIOR_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "solvers/methods/monitor.h"
#include "solvers/ml/fit.h"
#include "solvers/ml/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a fit takes, in operations of plain loops; INFINITY where it is not possible: too many
 * unknowns, or pairs. */
double ml_interior_work(const struct problem *problem, const struct ml_rows *rows);

/* Whether one is possible that takes of the kernel matrix, positive semidefinite, but what is worth
 * it: see `least`. */
bool ml_interior_reduces(const struct problem *problem, const struct ml_rows *rows);

/* Features for the problem's rows with a loss, made once for all costs and losses. bias: the value
 * of a constant feature, 0: none; free_bias: one that the norm does not count. least: what may be
 * left of the diagonal of a matrix of products; more than rounding makes fewer features. *interior
 * is NULL where there are no features, or too many, or the kernel shows to be not positive
 * semidefinite. Borrows problem and rows. */
struct ml_interior;
int ml_interior_create(struct ml_interior **interior, const struct problem *problem,
                       const struct ml_rows *rows, double bias, bool free_bias, double least,
                       struct error *err);
void ml_interior_free(struct ml_interior *interior);

/* What a fit of it takes. */
double ml_interior_own_work(const struct ml_interior *interior);

/* Makes the next run start afresh, for this loss and cost. */
int ml_interior_start(struct ml_interior *interior, enum ml_loss loss, double cost,
                      struct error *err);

/* Goes on until the relative gap is epsilon, or P - D is epsilon times `least`. tied: with the
 * weights of the dual point, as long as they are accurate enough: its coefficients are few, and no
 * larger than lambda. Else with coefficients of the rows that a factor of the matrix stands on,
 * which make the primal point's own weights. */
void ml_interior_run(struct ml_interior *interior, bool tied, double epsilon, double least,
                     const struct monitor *monitor, struct ml_fit *fit);

#endif
