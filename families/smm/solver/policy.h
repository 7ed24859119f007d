/* The policy of smm: which algorithm solves one binary subproblem, when and for how long. */
#ifndef FAMILIES_SMM_SOLVER_POLICY_H
#define FAMILIES_SMM_SOLVER_POLICY_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "families/smm/solver/nuclear_newton.h"
#include "fit/monitor.h"
#include "fit/policy.h"

#include <stdbool.h>

/* One solve of a binary subproblem; all is borrowed. */
struct smm_state {
    const struct smm_matrices *matrices;
    struct binary *svm;                /* on the rows */
    struct smm_nuclear_newton *newton; /* NULL: without the nuclear norm, */
    double tau;                        /* whose weight this is */
    const struct binary_loss *loss;
    bool lowrank;          /* the rank of W is bounded */
    double epsilon;        /* target gap of the fit's bounds, which are those of running sums */
    bool failed;           /* Newton's gap was the target's, and the certificate's was not */
    double *W, *alpha;     /* (cells), (n) best iterate */
    struct binary_fit fit; /* of the last solve: its bounds, bias and stop reason */
};

extern const struct policy smm_policy;

/* Solves as the policy says; W, alpha and fit have the best iterate. */
int smm_policy_solve(struct smm_state *state, const struct monitor *monitor, struct error *err);

#endif
