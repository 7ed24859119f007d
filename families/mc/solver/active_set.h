/* Multi-class SVMs by an active-set method on the dual, in double: what finishes a fit whose
 * coordinate descent gains little.
 *
 * A round takes the variables that are inside their bounds, and those that would gain by leaving
 * one, as the free ones; it goes towards the maximum over them, from bound to bound: where a
 * variable meets its bound it is fixed there, and the way goes on to the maximum over the others.
 * The dual never falls, and the number of rounds hardly depends on the cost or on the condition of
 * the kernel matrix. What it costs is a Cholesky factor of a matrix of the free variables. */
#ifndef FAMILIES_MC_SOLVER_ACTIVE_SET_H
#define FAMILIES_MC_SOLVER_ACTIVE_SET_H

#include "common/base/error.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

#include <stdbool.h>

/* How many problems there are: without effects between classes each is one of its own. */
size_t mc_active_parts(const struct mc_shape *shape);

/* Most free variables at a time. */
enum { MC_ACTIVE_MOST = 4096 };

/* Near an optimum few variables leave their bounds, over those inside. */
static const double MC_ACTIVE_MORE = 0.1;

struct mc_active;

/* For the rows of a task with a kernel matrix; borrows task. */
int mc_active_create(struct mc_active **active, const struct mc_task *task, struct error *err);
void mc_active_free(struct mc_active *active);

/* What a round is given, and what it tells. */
struct mc_round {
    const double *cap; /* (k) C of a row of each class */
    const double *q;   /* (n) K_ii with the constant feature; rows with 0 are left out */
    const double *F;   /* (n, k) scores at alpha, which may be off by a constant where margins are
                          relative or centred */
    struct mc_alpha *alpha;
    bool few; /* variables at a bound that are freed are at most MC_ACTIVE_MORE times those inside,
                 those that would gain most; else as many as it can take */
    const struct monitor *monitor;
    double gain;  /* out: by which the dual has risen, as far as it can tell */
    size_t size;  /* out: free variables at first */
    bool crowded; /* out: there were more inside their bounds than it can take: not all are done */
};

/* One round: alpha becomes better, or stays where nothing can be gained; F is then that of the old
 * one. */
int mc_active_run(struct mc_active *active, struct mc_round *round, struct error *err);

#endif
