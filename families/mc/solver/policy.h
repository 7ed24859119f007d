/* The policy of mc: which algorithm solves a multi-class problem when, under which work limit, and
 * what follows when it stalls. Work is in multiplications of a plain loop. */
#ifndef FAMILIES_MC_SOLVER_POLICY_H
#define FAMILIES_MC_SOLVER_POLICY_H

#include "common/base/error.h"
#include "families/mc/solver/kernel_descent.h"
#include "families/mc/solver/linear_descent.h"
#include "families/mc/solver/mc.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"
#include "fit/policy.h"
#include "methods/connected_components.h"

#include <stdbool.h>

/* The solvers of a task, with what they keep from one cost to the next. */
struct mc_solvers {
    const struct mc_task *task;
    struct mc_linear *linear; /* NULL before the first use, as the next */
    struct mc_kernel *kernel;
    bool searched;           /* the connected components are known */
    struct parts components; /* of the kernel matrix; none of one that is solved by itself */
};

void mc_solvers_free(struct mc_solvers *solvers);

/* The state of the portfolio loop. */
struct mc_state {
    struct mc_solvers *solvers;
    enum mc_method method;
    double cost, epsilon;
    struct mc_fit *fit; /* the best iterate; empty at first */
};

extern const struct policy mc_policy;

/* Solves by the algorithms of the policy. The caller calls mc_fit_free. */
int mc_policy_solve(struct mc_state *state, const struct monitor *monitor, struct error *err);

/* ---- handovers within a row of the policy ---- */

/* The convergence rate of a gap, over the later half of the work done so far, about. */
struct mc_rate {
    double mark;    /* work when that half began */
    double earlier; /* the gap then; INFINITY at first */
};

/* Work that is still needed until the gap has fallen to `target`, if it goes on as it did; INFINITY
 * if it did not fall. */
double mc_rate_needed(const struct mc_rate *rate, double work, double gap, double target);

/* Begins the next half when the work so far has doubled. */
void mc_rate_update(struct mc_rate *rate, double work, double gap);

/* Work of a coordinate descent with kernels when its bounds have been evaluated. */
struct mc_descent_work {
    double set, all;   /* used so far, for the working set and in all */
    double needed;     /* to the target gap of the working set, at its convergence rate */
    double active_set; /* of an active-set iteration; INFINITY: none can be */
    double fallback;   /* of ADMM; the same */
};

enum mc_handover { MC_STAY, MC_TO_ACTIVE_SET, MC_TO_ADMM };

/* What goes on after a sweep over a working set. */
enum mc_handover mc_policy_after_sweep(const struct mc_descent_work *work);

/* Whether ADMM goes on after a working set or an active-set iteration: `active_set` is the work of
 * all those iterations, the rest as above, of the whole problem. */
bool mc_policy_after_set(const struct mc_descent_work *work);

/* Work of ADMM when its bounds have been evaluated. */
struct mc_admm_work {
    double admm, active_set; /* used so far */
    double evaluation;       /* to the next evaluation */
    double needed;           /* to the target gap, at its convergence rate */
    double now, later;       /* of an active-set iteration now, and after the next evaluation */
};

/* Whether active-set iterations start from the iterate. */
bool mc_policy_starts_active_set(const struct mc_admm_work *work);

#endif
