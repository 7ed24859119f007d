/* Newton's method for the nuclear norm, in an augmented Lagrangian (Wu, Li & Sun, arXiv 2412.08023,
 * 2024; the method of multipliers with semismooth Newton steps). For W = S, with multipliers Y0 of
 * |Y0|_op <= T and alpha0 of the dual, the rounds
 *
 *   min over W, b of  1/2 |W|^2 + min over S of T |S|_* + <Y0, W - S> + rho/2 |W - S|^2
 *                     + sum_i max over a in [0, C_i] of a u_i - mu/(2 C_i) (a - alpha0_i)^2,
 *   u_i = 1 - y_i (<W, X_i> + b),
 *
 * are proximal steps on the dual, whose fixed points solve the problem itself at any mu and rho: so
 * these need not go to their limits, and the systems stay well-conditioned. alpha = C clip(alpha0/C
 * + u/mu, 0, 1) is feasible, and Y = Y0 + rho (W - S): the next multipliers. b is minimised out.
 * Only rows of the band, where alpha is inside, and the singular values over T/rho enter the
 * Hessian other than through I (spectral.h). The squared hinge is smooth, and has no alpha0 or
 * mu. */
#ifndef FAMILIES_SMM_SOLVER_NUCLEAR_NEWTON_H
#define FAMILIES_SMM_SOLVER_NUCLEAR_NEWTON_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "fit/monitor.h"

#include <stdbool.h>

/* A solver for these rows, borrowed. */
struct smm_nuclear_newton;
int smm_nuclear_newton_create(struct smm_nuclear_newton **newton,
                              const struct smm_matrices *matrices, struct error *err);
void smm_nuclear_newton_free(struct smm_nuclear_newton *newton);

/* Solves to a relative gap of epsilon, from where the last solve ended if it was of that loss
 * and tau, else afresh. All ranks. The fit, whose w and alpha are
 * the caller's, gets the best W and alpha, each with its bound; its reason is 0 if epsilon is
 * reached. */
int smm_nuclear_newton_solve(struct smm_nuclear_newton *newton, const struct binary_loss *loss,
                             double tau, double epsilon, const struct monitor *monitor,
                             struct binary_fit *fit, struct error *err);

#endif
