/* A preconditioner for Newton's system of kernel RankSVM, (I + c L K) x = r, with few distinct
 * rows: for problems in which conjugate gradients converge slowly because C is large, and in which
 * the kernel matrix in float is too inaccurate.
 *
 * K is the matrix of the distinct rows in double, D its diagonal, and K~ = K + shift D has a
 * Cholesky factor. Since (I + c L K)^-1 = I - c L (I + c K L)^-1 K,
 *     B = I - c L (K~^-1 + c L)^-1 K~^-1 K
 * is the inverse up to the shift. For any shift it is self-adjoint and positive definite in the
 * inner product of K. K~ is inverted once; each L takes one Cholesky factorisation, O(m^3) for m
 * distinct rows. */
#ifndef FAMILIES_RANK_SOLVER_NEWTON_PRECONDITIONER_H
#define FAMILIES_RANK_SOLVER_NEWTON_PRECONDITIONER_H

#include "common/base/error.h"
#include "common/kernel/problem.h"
#include "families/rank/solver/laplacian.h"
#include "families/rank/solver/pairs.h"
#include "fit/score_map.h"

#include <stdbool.h>
#include <stddef.h>

struct rank_preconditioner;

/* Upper bound of the number of distinct rows of the data, from the duplicates that the kernel
 * matrix knows; 0: the preconditioner does not apply, because the kernel is not known to be
 * positive semidefinite, or there are too many rows (2,896 are always taken, 16,384 if the cache
 * has room for them) or pairs. */
size_t rank_preconditioner_rows(const struct problem *problem, const struct rank_pairs *pairs);

/* Evaluates K and inverts K~, if rank_preconditioner_rows is not 0. *preconditioner is NULL if no
 * small shift gives K~ a Cholesky factor. -1 if memory is short. Borrows problem and pairs. The
 * caller calls rank_preconditioner_free. */
int rank_preconditioner_create(struct rank_preconditioner **preconditioner,
                               const struct problem *problem, const struct rank_pairs *pairs,
                               struct error *err);
void rank_preconditioner_free(struct rank_preconditioner *preconditioner);

/* Bytes that the cache must have for the preconditioner of m distinct rows: one and a half times
 * those of a matrix in double. */
double rank_preconditioner_bytes(size_t m);

/* Estimated time of the inversion and a few factorisations for m distinct rows, in nanoseconds of
 * one thread. */
double rank_preconditioner_work(size_t m);

/* The map of the problem's rows with K in double. */
const struct score_map *rank_preconditioner_map(const struct rank_preconditioner *preconditioner);

/* Factors the system for c = factor and a Laplacian whose interval was set at scores s (n), or of a
 * smoothed region. False if rounding errors leave no factorisation. */
bool rank_preconditioner_update(struct rank_preconditioner *preconditioner,
                                const struct rank_laplacian *laplacian, const double *s,
                                double factor);

/* z (n) = B residual (n). laplacian: that of the last update. */
void rank_preconditioner_apply(const struct rank_preconditioner *preconditioner,
                               const struct rank_laplacian *laplacian, const double *residual,
                               double *z);

#endif
