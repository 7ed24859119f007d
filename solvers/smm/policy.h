/* The policy of smm: which algorithm solves one binary subproblem, when and for how long. */
#ifndef SOLVERS_SMM_POLICY_H
#define SOLVERS_SMM_POLICY_H

#include "common/base/error.h"
#include "solvers/methods/monitor.h"
#include "solvers/methods/policy.h"
#include "solvers/smm/binary.h"
#include "solvers/smm/nuclear.h"

#include <stdbool.h>
#include <stddef.h>

/* One solve of a binary subproblem; all is borrowed. */
struct smm_state {
    struct binary *svm;          /* on the rows */
    struct smm_nuclear *nuclear; /* NULL: without the nuclear norm, */
    double tau;                  /* whose weight this is */
    const struct binary_loss *loss;
    bool lowrank;   /* the rank of W is bounded */
    double epsilon; /* target gap of the fit's bounds, which are those of running sums */
    bool failed;    /* the certificate's gap stays above it, though these bounds reached it */
    double *W;      /* (cells) best iterate */
    size_t cells;
    struct binary_fit fit; /* of the last solve: its bounds, dual point and stop reason */
    bool stalled;          /* every algorithm has ended */
};

extern const struct policy smm_policy;

/* Solves as the policy says; W and fit have the best iterate. */
int smm_policy_solve(struct smm_state *state, const struct monitor *monitor, struct error *err);

/* Whether a solve whose certificate failed can be repeated by another algorithm. */
bool smm_policy_can_finish(const struct smm_state *state);

#endif
