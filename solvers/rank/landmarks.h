/* A preconditioner for (I + c L K) in the inner product of K: exact on the span of a few kernel
 * functions, the identity across it.
 *
 * Landmarks S are the pivots of an incomplete Cholesky factorisation of K (Fine & Scheinberg, JMLR
 * 2001), K ~ Psi Psi' with Psi = K_nS T^-T, T T' = K_SS. On the functions that they span, in the
 * orthonormal basis that Psi's columns are, the map is M = I + c Psi' L Psi: the Hessian of a
 * linear problem with features Psi. Then B = I + E_S T^-T (M^-1 - I) Psi' is self-adjoint and
 * positive in the inner product of K. */
#ifndef SOLVERS_RANK_LANDMARKS_H
#define SOLVERS_RANK_LANDMARKS_H

#include "common/base/error.h"
#include "common/data/data.h"
#include "solvers/methods/score_map.h"
#include "solvers/rank/laplacian.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct landmarks {
    size_t m;
    struct data psi; /* (n, m) dense */
    uint32_t *pivot; /* (m) */
    double *T;       /* (m, m) lower */
    double *M;       /* (m, m) Cholesky factor */
    double *v, *u;   /* (m) work */
    struct threads *threads;
};

/* Chooses at most `most` landmarks of the map's rows, fewer when they leave less than 1e-5 of
 * the diagonal unexplained. The map must have `column`. The caller calls landmarks_free. */
int landmarks_create(struct landmarks *landmarks, const struct score_map *map, size_t most,
                     struct error *err);
void landmarks_free(struct landmarks *landmarks);

/* Forms and factors M for the Laplacian at hand and c = factor. *found = false if rounding leaves
 * no factor. */
int landmarks_update(struct landmarks *landmarks, const struct rank_laplacian *laplacian,
                     double factor, bool *found, struct error *err);

/* z (n) = B residual (n). */
int landmarks_apply(struct landmarks *landmarks, const double *residual, double *z,
                    struct error *err);

#endif
