/* The Newton systems over the rows where the loss is curved. For m such rows X (m, cells) with
 * inverse curvatures d (m), and P = I, or the P of spectral.h for the nuclear norm, the step
 * minimises over p and b
 *
 *   g'p + 1/2 p'P p + 1/2 sum_i (<X_i, p> + b)^2 / d_i;     p = -P^-1 (g + X'x),
 *   (diag(d) + X P^-1 X') x = b 1 - X P^-1 g,   1'x = 0.
 *
 * Three ways solve it; the estimated work decides:
 *
 * - The m x m matrix is formed and factored, O(m^2 cells + m^3 / 3): P^-1 is I/(1 + rho) plus a
 *   matrix whose rank is the number of spectral features, so products of rows are cached between
 *   systems and those of features are added.
 * - For P = I, the matrix I + X'D^-1 X of centred rows, O(m cells^2 + cells^3 / 3).
 * - Conjugate gradients preconditioned with P^-1, one pass over the rows per step, which are
 *   rounded to bytes (quantised_rows.h) where that pays and the curvature along p, with the data,
 *   confirms it.
 *
 * If rows are distributed, all processes factor the same matrix, that of the gathered rows or a sum
 * over all; conjugate gradients sum over processes. */
#ifndef FAMILIES_SMM_SOLVER_NEWTON_SYSTEM_H
#define FAMILIES_SMM_SOLVER_NEWTON_SYSTEM_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/spectral.h"
#include "fit/monitor.h"

#include <stddef.h>
#include <stdint.h>

struct newton_system;

/* Borrows rows. The caller calls newton_system_free. All processes, here and below. */
int newton_system_create(struct newton_system **system, const struct binary_rows *rows,
                         struct error *err);
void newton_system_free(struct newton_system *system);

/* Frees the cached rows, their products and the matrix of features. */
void newton_system_release(struct newton_system *system);

/* Computes in step (cells) the p for the gradient g (cells), the P of spectral (NULL: I), and the
 * curved rows row[0..m) of this process, ascending, with their d; scores (n): X p of the rows of
 * this process. *cg_passes: products of conjugate gradients with the curved rows, in units of a
 * pass over all rows; 0 if the matrix was factored. If the deadline of the monitor passes, step has
 * the conjugate-gradient iterate of that time. Fails if memory runs out. */
int newton_system_solve(struct newton_system *system, struct smm_spectral *spectral,
                        const uint32_t *row, size_t m, const double *d, const double *gradient,
                        double *step, double *scores, double *cg_passes,
                        const struct monitor *monitor, struct error *err);

#endif
