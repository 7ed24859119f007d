/* The support matrix machine with the nuclear norm:
 *
 *   min over W, b of  1/2 |W|_F^2 + T |W|_* + sum_i C_i l(1 - y_i (<W, X_i> + b))
 *   max over alpha of sum_i alpha_i - 1/2 |SVT_T(M)|_F^2,   M = sum_i alpha_i y_i X_i,
 *
 * alpha as in the binary SVM, SVT_T the matrix with its singular values lowered by T and cut at 0;
 * W = SVT_T(M) at the optimum. Newton's method in an augmented Lagrangian (nuclear_newton.h), where
 * all rows are here. Where that ends by rounding, and over ranks, ADMM on W = S: the W step is a
 * binary SVM with margins moved by what the multiplier and S say, and its alphas are feasible for
 * the dual above: each iteration has a gap. Where its pace is slow, the interior point takes
 * over. */
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

struct smm_nuclear_fit {
    double bias, primal, dual; /* of running sums */
    const double *alpha;       /* (n) of the dual bound; the solver's, until it solves again */
    uint64_t iterations;
    enum stop_reason reason; /* when not converged */
};

/* Solves to a relative gap of epsilon; W (height, width) gets the better of S and SVT_T(M). The
 * margins of loss are not used. */
int smm_nuclear_solve(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                      double epsilon, const struct monitor *monitor, double *W,
                      struct smm_nuclear_fit *fit, struct error *err);

/* The interior point alone, where there may be one: for what smm_nuclear_solve takes for solved, by
 * bounds that rounding has brought together or past one another, and the certificate does not. */
int smm_nuclear_finish(struct smm_nuclear *nuclear, const struct binary_loss *loss, double tau,
                       double epsilon, const struct monitor *monitor, double *W,
                       struct smm_nuclear_fit *fit, struct error *err);
bool smm_nuclear_may_finish(const struct smm_nuclear *nuclear);

/* W = SVT_tau(A) for A (height, width), which may be W; *nuclear_norm and *square of it. */
int smm_nuclear_shrink(const double *A, size_t height, size_t width, double tau, double *W,
                       double *nuclear_norm, double *square, struct error *err);

#endif
