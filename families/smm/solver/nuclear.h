/* The support matrix machine with the nuclear norm:
 *
 *   min over W, b of  1/2 |W|_F^2 + T |W|_* + sum_i C_i l(1 - y_i (<W, X_i> + b))
 *   max over alpha of sum_i alpha_i - 1/2 |SVT_T(M)|_F^2,   M = sum_i alpha_i y_i X_i,
 *
 * alpha as in the binary SVM, SVT_T the matrix with its singular values lowered by T and cut at 0;
 * W = SVT_T(M) at the optimum. By Newton's method in an augmented Lagrangian (nuclear_newton.h) or
 * an interior-point method (nuclear_interior.h); policy.c says which runs when. */
#ifndef FAMILIES_SMM_SOLVER_NUCLEAR_H
#define FAMILIES_SMM_SOLVER_NUCLEAR_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"

/* Takes W with as few of its singular values as the gap allows, where that is a better primal point
 * or reaches the gap: the interior-point method has none that are 0. */
int smm_nuclear_truncate(const struct smm_matrices *matrices, const struct binary_loss *loss,
                         double tau, double epsilon, const double *W, struct binary_fit *fit,
                         struct error *err);

/* W = SVT_tau(A) for A (height, width), which may be W; *nuclear_norm and *square of it. */
int smm_nuclear_shrink(const double *A, size_t height, size_t width, double tau, double *W,
                       double *nuclear_norm, double *square, struct error *err);

#endif
