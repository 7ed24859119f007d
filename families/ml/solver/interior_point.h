/* The interior-point method (methods/interior_point.h) for multi-label problems with few unknowns:
 * features times labels, or rank of the kernel matrix times labels.
 *
 * The hinges are the pairs (i, p, r). Their systems J + A' diag(theta) A are sums over pairs of
 * theta x_i x_i' in the blocks of labels p and r, so each two labels need one product, of the rows
 * that have exactly one of them. A kernel matrix is factored, K = F F', and the rows of F are
 * features; so is the matrix of linear products if there are more features than rows. Adding the
 * same number to all labels' scores changes nothing, so the last label's weights are fixed at 0 in
 * a system. An iteration costs O(pairs m^2) for the system and O((m q)^3 / 3) for its Cholesky
 * factorisation. */
#ifndef FAMILIES_ML_SOLVER_INTERIOR_POINT_H
#define FAMILIES_ML_SOLVER_INTERIOR_POINT_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/ml/solver/fallback_fit.h"
#include "families/ml/solver/label_sets.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>

/* Limit of the unknowns: the system then has 134 MB. */
enum { ML_INTERIOR_MAX_UNKNOWNS = 4096 };

/* Estimated operations of a fit (fit/work.h). INFINITY if it does not apply: too many unknowns or
 * pairs. */
double ml_interior_work(const struct problem *problem, const struct ml_rows *rows);

/* Builds the features of the rows with a loss, once for all costs and losses. bias: value of a
 * constant feature, 0: none; free_bias: one that the norm does not include. *interior is NULL if
 * there are no features, or too many, or the kernel proves not to be positive semidefinite. Borrows
 * problem and rows. */
struct ml_interior;
int ml_interior_create(struct ml_interior **interior, const struct problem *problem,
                       const struct ml_rows *rows, double bias, bool free_bias, struct error *err);
void ml_interior_free(struct ml_interior *interior);

/* The next run starts from zero, for this loss and cost; if one for the same has stalled
 * since they last changed, with damped steps. */
int ml_interior_start(struct ml_interior *interior, enum ml_loss loss, double cost,
                      struct error *err);

/* Continues until P - D <= epsilon max(P, min_scale). If F is a factor, the fit has no weights of
 * its own: those of the dual point have sparse coefficients, bounded by lambda. */
void ml_interior_run(struct ml_interior *interior, double epsilon, double min_scale,
                     const struct monitor *monitor, struct ml_fit *fit);

#endif
