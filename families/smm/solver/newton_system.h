/* The Newton systems over the rows of a band: for d (m), X the band's rows and P = I, or P of
 * spectral.h for the nuclear norm, the least over p and b of
 *
 *   g'p + 1/2 p'P p + 1/2 sum_i (<X_i, p> + b)^2 / d_i,     p = -P^-1 (g + X'x),
 *   (diag(d) + X P^-1 X') x = b 1 - X P^-1 g,   1'x = 0.
 *
 * Where that is less work the matrix of m rows is formed and factored: P^-1 is I/(1 + rho) and a
 * matrix whose rank is the number of the features, so products of rows are kept from one system to
 * the next, and those of features are added. Else p comes by conjugate gradients, with P^-1 before
 * them. Distributed over processes, each takes the rows of the band of all and factors the same
 * matrix; products of conjugate gradients are sums over processes. */
#ifndef FAMILIES_SMM_SOLVER_NEWTON_SYSTEM_H
#define FAMILIES_SMM_SOLVER_NEWTON_SYSTEM_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/spectral.h"
#include "fit/monitor.h"

#include <stddef.h>
#include <stdint.h>

struct newton_system;

/* The caller calls newton_system_free. Borrows rows. All ranks, here and below. */
int newton_system_create(struct newton_system **system, const struct binary_rows *rows,
                         struct error *err);
void newton_system_free(struct newton_system *system);

/* Gives back the memory of kept rows and products. */
void newton_system_release(struct newton_system *system);

/* step (cells) = p for the gradient g (cells), P of spectral (NULL: I) and the rows band[0..m) of
 * this process, which ascend, with their d. Where it is late (monitor) what has been found of it.
 * Fails for lack of memory. */
int newton_system_solve(struct newton_system *system, struct smm_spectral *spectral,
                        const uint32_t *band, size_t m, const double *d, const double *gradient,
                        double *step, const struct monitor *monitor, struct error *err);

#endif
