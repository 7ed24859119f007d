/* Which algorithm solves a RankSVM problem when: the policy table and the work limits of its rows.
 *
 * With a kernel and --solver auto, many rows start with landmarks (low-rank); else the hinge starts
 * with cutting planes and the squared hinge with newton. If these converge slowly and the kernel is
 * positive semidefinite, newton-direct follows. The interior-point method comes last, and only up
 * to 2,896 distinct rows. newton-direct takes up to 2,896 distinct rows, or 16,384 if they fit into
 * the cache (newton_preconditioner.h). It needs a kernel that is known to be positive semidefinite,
 * so a sigmoid kernel has no fallback solver above 2,896 distinct rows. */
#ifndef FAMILIES_RANK_SOLVER_POLICY_H
#define FAMILIES_RANK_SOLVER_POLICY_H

#include "families/rank/solver/rank_private.h"
#include "fit/policy.h"

#include <stdint.h>

/* Products with the kernel matrix, of one column, for which a time limit leaves time after the
 * approximate problem. The certificate is one product of two columns, which takes 1.5 of these. */
static const double RANK_CERTIFICATE_PRODUCTS = 1.5;

extern const struct policy rank_policy; /* its state is a struct rank_fitting */

/* Maximal iterations of an algorithm, and steps of conjugate gradients in one of its runs; 0: no
 * limit. With kernels, cutting planes and Newton's method may take about as long as the fallback
 * solver that follows them. */
uint64_t rank_iteration_limit(const struct rank_fitting *fitting, enum algorithm algorithm);

#endif
