/* The interior-point method (methods/interior_point.h) for the nuclear norm: the fallback solver
 * where Newton's method stalls, with features in mixed units or a small T.
 *
 * T |W|_* is the minimum of T/2 (tr P + tr Q) over S = [P W; W' Q] >= 0 (semidefinite). The dual
 * cone has Y = 1/2 [T -Z; -Z' T] >= 0, that is |Z|_op <= T, and W + Z = M = sum_i alpha_i y_i X_i.
 * The complementarity condition S Y = mu I is linearised as dS = mu Y^-1 - S - sym(S dY Y^-1), the
 * HKM direction (Helmberg, Rendl, Vanderbei & Wolkowicz, SIAM J. Optim. 1996; Kojima, Shindoh &
 * Hara 1997; Monteiro 1997). Its corner dW = residual + Q dZ has an operator Q of four Kronecker
 * products. Q is formed on all cells, so an iteration costs O(cells^3 + n cells^2). */
#ifndef FAMILIES_SMM_SOLVER_NUCLEAR_INTERIOR_POINT_H
#define FAMILIES_SMM_SOLVER_NUCLEAR_INTERIOR_POINT_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "fit/monitor.h"

#include <stdbool.h>

/* Whether all rows are in this process, and rows and cells are few enough. */
bool smm_nuclear_interior_possible(const struct smm_matrices *matrices);

/* Solves to a relative gap of epsilon, from zero. fit->w and fit->alpha are the caller's arrays;
 * the bounds are not certified. */
int smm_nuclear_interior(const struct smm_matrices *matrices, const struct binary_loss *loss,
                         double tau, double epsilon, const struct monitor *monitor,
                         struct binary_fit *fit, struct error *err);

#endif
