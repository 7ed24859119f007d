/* The support matrix machine with the nuclear norm:
 *
 *   min over W, b of  1/2 |W|_F^2 + T |W|_* + sum_i C_i l(1 - y_i (<W, X_i> + b))
 *   max over alpha of sum_i alpha_i - 1/2 |SVT_T(M)|_F^2,   M = sum_i alpha_i y_i X_i,
 *
 * alpha as in the binary SVM, SVT_T the matrix with its singular values lowered by T and cut at 0;
 * W = SVT_T(M) at the optimum. By Newton's method in an augmented Lagrangian (nuclear_newton.h), an
 * interior-point method (nuclear_interior.h), or ADMM on W = S: the W step is a binary SVM with
 * margins moved by what the multiplier and S say, and its alphas are feasible for the dual above:
 * each iteration has a gap. policy.c says which runs when. */
#ifndef SOLVERS_SMM_NUCLEAR_H
#define SOLVERS_SMM_NUCLEAR_H

#include "common/base/error.h"
#include "solvers/methods/monitor.h"
#include "solvers/smm/binary.h"
#include "solvers/smm/maps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The iterates of ADMM, which the next point of a path of T or C starts from. Borrows matrices and
 * svm, which solves on the rows themselves. */
struct smm_nuclear;
int smm_nuclear_create(struct smm_nuclear **nuclear, const struct smm_matrices *matrices,
                       struct binary *svm, struct error *err);
void smm_nuclear_free(struct smm_nuclear *nuclear);

/* ---- a solve: fit, whose alpha is the solver's until the next, and W (height, width) have the best
 * iterate. Margins of loss are not used. ---- */

/* Begins it at W = 0 and alpha = 0. */
void smm_nuclear_begin(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                       double *W, struct binary_fit *fit);

/* Newton's method, and whether it has just ended at this loss and tau. */
bool smm_nuclear_newton_ended(const struct smm_nuclear *nuclear, const struct binary_loss *loss,
                              double tau);
int smm_nuclear_newton(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                       double epsilon, const struct monitor *monitor, double *W,
                       struct binary_fit *fit, struct error *err);

/* ADMM, and once, when it converges so slowly that the interior-point method, of `other` operations
 * (INFINITY: none), takes less work, that. */
int smm_nuclear_admm(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                     double epsilon, double other, const struct monitor *monitor, double *W,
                     struct binary_fit *fit, struct error *err);

/* The interior-point method, and the operations that it takes; INFINITY: it cannot solve it. */
double smm_nuclear_interior_cost(const struct smm_nuclear *nuclear);
int smm_nuclear_finish(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                       double epsilon, const struct monitor *monitor, double *W,
                       struct binary_fit *fit, struct error *err);

/* W = SVT_tau(A) for A (height, width), which may be W; *nuclear_norm and *square of it. */
int smm_nuclear_shrink(const double *A, size_t height, size_t width, double tau, double *W,
                       double *nuclear_norm, double *square, struct error *err);

#endif
