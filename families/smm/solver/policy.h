/* The policy of smm: which algorithm solves a binary subproblem, and until when (fit/policy.h). */
#ifndef FAMILIES_SMM_SOLVER_POLICY_H
#define FAMILIES_SMM_SOLVER_POLICY_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "families/smm/solver/newton.h"
#include "fit/monitor.h"
#include "fit/policy.h"

#include <stdbool.h>

/* One solve of a binary subproblem; all pointers are borrowed. */
struct smm_state {
    const struct smm_matrices *matrices;
    struct smm_newton *newton;
    double tau; /* weight of the nuclear norm */
    const struct binary_loss *loss;
    bool lowrank;      /* the rank of W is bounded */
    double epsilon;    /* target gap of the running bounds, which are not certified */
    bool failed;       /* Newton's method stalled, or its certified gap did: do not run it again */
    double *W, *alpha; /* (cells), (n) best iterate */
    struct binary_fit fit; /* of the last solve: its bounds, bias and stop reason */
};

extern const struct policy smm_policy;

/* Solves as the policy says; W, alpha and fit have the best iterate. */
int smm_policy_solve(struct smm_state *state, const struct monitor *monitor, struct error *err);

#endif
