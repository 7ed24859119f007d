/* Newton's method for the nuclear norm in an augmented Lagrangian: the method of multipliers with
 * semismooth Newton steps (Wu, Li & Sun, arXiv 2412.08023, 2024). With the constraint W = S, its
 * multipliers Y0, |Y0|_op <= T, and multipliers alpha0 of the dual, an outer iteration solves
 *
 *   min over W, b of  1/2 |W|^2 + min over S of T |S|_* + <Y0, W - S> + rho/2 |W - S|^2
 *                     + sum_i max over a in [0, C_i] of a u_i - mu/(2 C_i) (a - alpha0_i)^2,
 *   u_i = 1 - y_i (<W, X_i> + b).
 *
 * These are proximal steps on the dual. Their fixed points solve the problem at any mu and rho, so
 * neither must go to its limit, and the systems stay well-conditioned. alpha = C clip(alpha0/C +
 * u/mu, 0, 1) is feasible and becomes the next alpha0; the next multipliers are Y = Y0 + rho (W -
 * S). b is minimised out. The Hessian is I plus terms of the rows with alpha strictly inside [0, C]
 * and of the singular values above T/rho (spectral.h). The squared hinge has a u - a^2 / (4 C_i) in
 * place of a u, over a >= 0, and alpha = (alpha0 mu + C u) / (mu + 1/2) or 0. T = 0 is the binary
 * SVM (binary.h): S = W and P = I, without Y and rho. A step costs a system (newton_system.h), a
 * few passes over the rows and, for T > 0, a few SVDs. */
#ifndef FAMILIES_SMM_SOLVER_NEWTON_H
#define FAMILIES_SMM_SOLVER_NEWTON_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "fit/monitor.h"

#include <stddef.h>

/* A solver for these rows, which are borrowed; each has the cells of a matrix (height, width), or
 * height = width = 0: the problems have no nuclear norm. */
struct smm_newton;
int smm_newton_create(struct smm_newton **newton, const struct binary_rows *rows, size_t height,
                      size_t width, struct error *err);
void smm_newton_free(struct smm_newton *newton);

/* The next solve starts from zero, as the first does. */
void smm_newton_forget(struct smm_newton *newton);

/* The next solve starts at W (d), the dual variables alpha (n) and ten times this mu, but at most
 * its own first one: the solution of a similar problem, and its
 * smm_newton_mu. The arrays are borrowed until then. */
void smm_newton_start(struct smm_newton *newton, const double *W, const double *alpha, double mu);

/* The mu of the last solve's end. */
double smm_newton_mu(const struct smm_newton *newton);

/* Solves to a relative gap of epsilon. Unless a start is given, it continues from the last solve,
 * which must have been of the same loss and tau. All processes. fit, whose w and alpha are the
 * caller's arrays, comes with a dual point, or -INFINITY for its bound, and gets the best W and
 * alpha, each with its bound; fit->reason is 0 if epsilon is reached. Fails if memory runs out, or
 * if scores overflow. */
int smm_newton_solve(struct smm_newton *newton, const struct binary_loss *loss, double tau,
                     double epsilon, const struct monitor *monitor, struct binary_fit *fit,
                     struct error *err);

#endif
