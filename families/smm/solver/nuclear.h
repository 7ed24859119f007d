/* The support matrix machine with the nuclear norm:
 *
 *   min over W, b of  1/2 |W|_F^2 + T |W|_* + sum_i C_i l(1 - y_i (<W, X_i> + b))
 *   max over alpha of sum_i alpha_i - 1/2 |SVT_T(M)|_F^2,   M = sum_i alpha_i y_i X_i,
 *
 * with alpha as in the binary SVM. SVT_T, singular value thresholding, lowers the singular values
 * by T and cuts them at 0 (Cai, Candes & Shen, SIAM J. Optim. 2010); W = SVT_T(M) at the optimum.
 * Solved by Newton's method in an augmented Lagrangian (newton.h) or by an interior-point
 * method (nuclear_interior_point.h), as policy.c decides. Each function here costs an SVD, O(height
 * width k), per evaluation. */
#ifndef FAMILIES_SMM_SOLVER_NUCLEAR_H
#define FAMILIES_SMM_SOLVER_NUCLEAR_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"

/* Truncates W to as few singular values as the gap allows, for the interior-point method leaves
 * none at exactly 0. Updates the fit if the result reaches the gap or has the lower primal. */
int smm_nuclear_truncate(const struct smm_matrices *matrices, const struct binary_loss *loss,
                         double tau, double epsilon, const double *W, struct binary_fit *fit,
                         struct error *err);

/* W = SVT_tau(A) for A (height, width), which may be W; and W's nuclear norm and squared Frobenius
 * norm. */
int smm_nuclear_threshold(const double *A, size_t height, size_t width, double tau, double *W,
                          double *nuclear_norm, double *squared_norm, struct error *err);

#endif
