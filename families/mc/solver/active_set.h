/* Multi-class SVMs with a kernel by a primal active-set method for the dual's quadratic program
 * (Nocedal & Wright, "Numerical Optimization", section 16.5; blocks of constraints change at once),
 * in double. It takes over where coordinate descent converges slowly.
 *
 * The free set of an iteration has the variables strictly between their bounds, and those at a
 * bound that would gain by leaving it. The iteration maximises the dual over the free set by Newton
 * steps; a variable that meets a bound is fixed there. The dual never falls, and the number of
 * iterations hardly depends on the cost or the condition number of the kernel matrix. An iteration
 * costs a Cholesky factorisation of the order of the free set, and an update for each variable that
 * is fixed. */
#ifndef FAMILIES_MC_SOLVER_ACTIVE_SET_H
#define FAMILIES_MC_SOLVER_ACTIVE_SET_H

#include "common/base/error.h"
#include "families/mc/solver/alpha.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"

#include <stdbool.h>

/* Number of independent subproblems: k if the classes are not coupled, else 1. */
size_t mc_active_subproblems(const struct mc_shape *shape);

/* The usual limit of free variables of a subproblem, whose matrix then has 134 MB; after ADMM of
 * low rank up to twice that. */
enum { MC_ACTIVE_MAX = 4096 };

/* An active-set iteration, with the cube of its free variables in multiplications, may cost so many
 * times the work of ADMM, since a single one may reach the optimum. */
static const double MC_ACTIVE_RATIO = 4;

/* Near an optimum few variables leave their bounds: the limit of these over the free ones. */
static const double MC_ACTIVE_MAX_FREED = 0.1;

struct mc_active;

/* A solver for the rows of a task with a kernel matrix. Borrows task. */
int mc_active_create(struct mc_active **active, const struct mc_task *task, struct error *err);
void mc_active_free(struct mc_active *active);

/* Arguments and results of an iteration. */
struct mc_active_iteration {
    const double *row_cap; /* (n) C of each row */
    const double *q;       /* (n) K_ii with the constant feature; rows with 0 are left out */
    const double *F; /* (n, k) scores at alpha; a constant may be added to each row if margins are
                          relative or centred */
    struct mc_alpha *alpha;
    size_t max; /* free variables of a subproblem */
    bool few; /* free at most MC_ACTIVE_MAX_FREED times as many variables at a bound as are between
                 theirs, those with the largest gains; else as many as max allows */
    const struct monitor *monitor;
    double gain;   /* out: increase of the dual, up to rounding */
    size_t size;   /* out: free variables at the start */
    bool too_many; /* out: a subproblem has more than max variables between their bounds,
                     and was skipped */
};

/* One iteration: improves alpha, or leaves it if nothing can be gained. F is not updated. */
int mc_active_iterate(struct mc_active *active, struct mc_active_iteration *iteration,
                      struct error *err);

#endif
