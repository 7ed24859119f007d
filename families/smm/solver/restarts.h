/* The starts of one machine of bounded rank (lowrank.h), each a descent of its own: the first from
 * the singular vectors of the SVM's W, more from random ones. The problem is not convex, and the
 * lowest end counts. */
#ifndef FAMILIES_SMM_SOLVER_RESTARTS_H
#define FAMILIES_SMM_SOLVER_RESTARTS_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "families/smm/solver/smm.h"
#include "fit/monitor.h"

/* What a machine's solver tells. */
struct smm_outcome {
    uint64_t iterations;
    bool converged;
    enum stop_reason reason; /* when not converged */
    bool unsolved;           /* W = 0 and alpha = 0, for there was no time */
};

struct smm_starts {
    const struct smm_matrices *matrices;
    const struct binary_loss *loss;
    const struct smm_parameters *parameters;
    size_t number; /* of the machine: its random starts are its own */
    const struct monitor *monitor;
    /* whose ranks have the same rows each, and to whom starts go; or NULL */
    struct cluster *distributed;
};

/* Goes from all starts, on several threads if there are several, or each from those that it takes,
 * if they are dealt to ranks, which all come to the same; on entry machine->Vt holds the right
 * singular vectors of the SVM's W, and dual a lower bound of the objective. The machine gets the W
 * of the lowest objective, the first of equals, and what there is to tell of the starts. */
int smm_starts_solve(const struct smm_starts *starts, struct smm_subproblem *subproblem,
                     struct smm_outcome *outcome, struct error *err);

#endif
