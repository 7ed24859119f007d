/* Newton's system of kernel RankSVM, (I + c L K) x = r, for few distinct rows: the
 * matrix K in double, and a preconditioner close to its preconditioner, where conjugate gradients converge
 * slowly because C is large and float has too few digits of K.
 *
 * K is that of the distinct rows, D its diagonal and K~ = K + shift D, which has a Cholesky
 * factor. With (I + c L K)^-1 = I - c L (I + c K L)^-1 K,
 *     B = I - c L (K~^-1 + c L)^-1 K~^-1 K
 * is the preconditioner but for the shift, and self-adjoint and positive in the inner product of K
 * whatever the shift is. K~ is inverted once; each L takes one Cholesky factorisation. */
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

/* How many rows of the data differ, at most, as far as the matrix at hand knows; 0: no kernel that
 * is known to be positive semidefinite, too many rows (2,896 are always taken, 16,384 where the
 * problem's cache has room for them), or too many pairs. */
size_t rank_preconditioner_rows(const struct problem *problem, const struct rank_pairs *pairs);

/* Evaluates K and inverts, where rank_preconditioner_rows is not 0. *preconditioner is NULL where no shift that
 * is small makes K a factor. Fails when memory is short. Borrows problem and pairs; the caller ends
 * with rank_preconditioner_free. */
int rank_preconditioner_create(struct rank_preconditioner **preconditioner,
                               const struct problem *problem, const struct rank_pairs *pairs,
                               struct error *err);
void rank_preconditioner_free(struct rank_preconditioner *preconditioner);

/* About how many nanoseconds of one thread it takes to make it, and a few factorisations. */
double rank_preconditioner_work(const struct rank_preconditioner *preconditioner);

/* The map of the problem's rows by the matrix in double. */
const struct score_map *rank_preconditioner_map(const struct rank_preconditioner *preconditioner);

/* Factors for c = factor and the laplacian, whose band was set at scores s (n). False if rounding
 * leaves no factor. */
bool rank_preconditioner_update(struct rank_preconditioner *preconditioner,
                                const struct rank_laplacian *laplacian, const double *s,
                                double factor);

/* z (n) = B residual (n), by the last update, whose laplacian this is. */
void rank_preconditioner_apply(const struct rank_preconditioner *preconditioner,
                               const struct rank_laplacian *laplacian, const double *residual,
                               double *z);

#endif
