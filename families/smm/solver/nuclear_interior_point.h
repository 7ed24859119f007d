/* The interior point for the nuclear norm, where Newton's method stalls: features in mixed units,
 * small T.
 *
 * T |W|_* is the least T/2 (tr P + tr Q) over S = [P W; W' Q] >= 0 (semidefinite), whose dual has
 * Y = 1/2 [T -Z; -Z' T] >= 0, that is |Z|_op <= T, and W + Z = M = sum_i alpha_i y_i X_i. Their
 * product, S Y = mu, is linearised in the form dS = mu Y^-1 - S - sym(S dY Y^-1) (Helmberg, Rendl,
 * Vanderbei & Wolkowicz, SIAM J. Optim. 1996; Kojima, Shindoh & Hara 1997; Monteiro 1997), whose
 * corner dW = lack + Q dZ has an operator Q of four Kronecker products, formed on all cells. */
#ifndef FAMILIES_SMM_SOLVER_NUCLEAR_INTERIOR_POINT_H
#define FAMILIES_SMM_SOLVER_NUCLEAR_INTERIOR_POINT_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "fit/monitor.h"

#include <stdbool.h>

/* Whether all rows are in this process, and few enough, and their cells. */
bool smm_nuclear_interior_possible(const struct smm_matrices *matrices);

/* Solves to a relative gap of epsilon, afresh; fit has w and alpha of the caller, and gets bounds
 * as far as running sums can tell. */
int smm_nuclear_interior(const struct smm_matrices *matrices, const struct binary_loss *loss,
                         double tau, double epsilon, const struct monitor *monitor,
                         struct binary_fit *fit, struct error *err);

#endif
