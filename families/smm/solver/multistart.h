/* Multistart for one subproblem of bounded rank (alternation.h). The first start is from the
 * singular vectors of the SVM's W, others are random. The problem is not convex; the lowest
 * objective is kept. */
#ifndef FAMILIES_SMM_SOLVER_MULTISTART_H
#define FAMILIES_SMM_SOLVER_MULTISTART_H

#include "common/base/error.h"
#include "families/smm/solver/binary.h"
#include "families/smm/solver/matrix_rows.h"
#include "families/smm/solver/smm.h"
#include "fit/monitor.h"

/* What the solver of a subproblem reports. */
struct smm_outcome {
    uint64_t iterations;
    bool converged;
    enum stop_reason reason; /* when not converged */
    bool zero_only;          /* the zero solution, because time ran out */
};

struct smm_starts {
    const struct smm_matrices *matrices;
    const struct binary_loss *loss;
    const struct smm_parameters *parameters;
    size_t number; /* number of the subproblem: each has random starts of its own */
    const struct monitor *monitor;
    /* over whose processes starts are distributed; each has all rows. NULL: none */
    struct cluster *distributed;
};

/* Descends from all starts: on several threads if there are several starts, or distributed, with
 * the same result on all processes. On entry subproblem->Vt has the right singular vectors of the
 * SVM's W, and subproblem->dual a lower bound of the objective. The subproblem gets the W of the
 * lowest objective, the first of equals, and statistics of the starts. */
int smm_starts_solve(const struct smm_starts *starts, struct smm_subproblem *subproblem,
                     struct smm_outcome *outcome, struct error *err);

#endif
