/* The generalised Hessian of the nuclear norm in an augmented Lagrangian (newton.h). At
 * B = U diag(t) V', with f(t) = max(t - threshold, 0) and D the derivative of the singular value
 * thresholding S = U diag(f(t)) V', the Hessian of
 *
 *   1/2 |W|^2 + min over S of  rho threshold |S|_* + rho/2 |B - S|^2      is  P = I + rho (I - D).
 *
 * In the coordinates G = U'HV, D multiplies the symmetric part of the pair (a, c), c != a, by (f(a)
 * - f(c))/(t_a - t_c), and the antisymmetric part by (f(a) + f(c))/(t_a + t_c). Where only the
 * longer of the two sides has an index c, the factor is f(a)/t_a (Lewis & Sendov, Set-Valued
 * Analysis 2005; Jiang, Sun & Toh, Math. Programming Computation 2014). So P^-1 differs from I/(1 +
 * rho) only in pairs with one of the r singular values above the threshold. A decomposition costs
 * O(height width k), a product with P^-1 as much. */
#ifndef FAMILIES_SMM_SOLVER_SPECTRAL_H
#define FAMILIES_SMM_SOLVER_SPECTRAL_H

#include "common/base/error.h"

#include <stddef.h>

struct smm_spectral {
    size_t height, width, k, r; /* k = min(height, width); r singular values above the threshold */
    double rho, threshold;
    double *U, *t, *Vt;       /* (height, k), (k) descending, (k, width) */
    double *G, *left, *right; /* work */
    void *block;              /* all arrays */
};

/* Allocates. The caller calls smm_spectral_free. */
int smm_spectral_create(struct smm_spectral *spectral, size_t height, size_t width,
                        struct error *err);
void smm_spectral_free(struct smm_spectral *spectral);

/* Decomposes B (height, width). */
int smm_spectral_find(struct smm_spectral *spectral, const double *B, double rho, double threshold,
                      struct error *err);

/* S (height, width), its nuclear norm and its squared Frobenius norm. */
void smm_spectral_threshold(const struct smm_spectral *spectral, double *S, double *nuclear_norm,
                            double *squared_norm);

/* out (height, width) = P^-1 H. */
void smm_spectral_inverse(struct smm_spectral *spectral, const double *H, double *out);

/* The features z of a matrix X (height, width), with z'z = <X, (P^-1 - I/(1 + rho)) X>, and
 * accordingly for products of two matrices; their number; and the doubles of work that they
 * need. */
size_t smm_spectral_features(const struct smm_spectral *spectral);
size_t smm_spectral_feature_work(const struct smm_spectral *spectral);
void smm_spectral_describe(const struct smm_spectral *spectral, const double *X, double *z,
                           double *work);

#endif
