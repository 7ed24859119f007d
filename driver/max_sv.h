/* Kernel models of limited size (--max-sv): f = sum of at most N coefficients times kernels at
 * training rows, the landmarks, or at other points.
 *
 * The landmarks are support vectors of the full fit: of those drawn at random the first pivots of a
 * Cholesky factorisation (common/kernel/landmarks.h). With the rbf kernel they then move to where
 * they can best reproduce the scores of the full fit (methods/reduced_set.h). Over the span of the
 * points the problem is linear, and the family's solvers for the linear kernel solve it. The bounds
 * are those of the full problem: the primal of the coefficients that are returned, and the dual
 * point of the full fit. */
#ifndef DRIVER_MAX_SV_H
#define DRIVER_MAX_SV_H

#include "driver/family.h"

/* What a smaller model lost. */
struct max_sv_loss {
    bool reduced;       /* false: the model is that of the full fit, the rest is not set */
    double full_primal; /* the primal of the full fit */
    size_t full_vectors, max_vectors; /* its support vectors; N of --max-sv */
};

/* Solves an open problem by the family. With --max-sv and more support vectors than that, the
 * solution is then replaced as above. It has converged if both fits have: its gap is that of the
 * full problem, and no criterion. Fails like the family's solve, and (ERROR_RUNTIME) if the
 * kernel matrix is not known to be positive semidefinite. `loss` may be NULL. */
int max_sv_solve(const struct family *family, void *state, const struct problem *problem,
                 struct point point, const struct monitor *monitor, struct solution *solution,
                 struct max_sv_loss *loss, struct error *err);

#endif
