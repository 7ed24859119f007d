/* The policy of mc: which algorithm runs when, under which work limit, and what follows when it
 * stalls. Work is in the unit of fit/work.h. */
#ifndef FAMILIES_MC_SOLVER_POLICY_H
#define FAMILIES_MC_SOLVER_POLICY_H

#include "common/base/error.h"
#include "families/mc/solver/kernel_descent.h"
#include "families/mc/solver/linear_descent.h"
#include "families/mc/solver/mc.h"
#include "families/mc/solver/reformulation.h"
#include "families/mc/solver/task.h"
#include "fit/monitor.h"
#include "fit/policy.h"

#include <stdbool.h>

/* The solvers of a task, which are warm-started from one cost to the next. */
struct mc_solvers {
    const struct mc_task *task;
    struct mc_linear *linear;               /* NULL before the first use */
    struct mc_reformulation *reformulation; /* NULL before the first use */
    /* kernels, once `measured`: features of the reformulation; 0: it does not apply */
    size_t n_explicit;
    bool measured;
    struct mc_kernel_descent *kernel_descent; /* NULL before the first use */
};

/* Frees what the solvers of the task hold, not the task; empty ones too. */
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

/* The convergence rate of a gap over about the later half of the work so far. */
struct mc_rate {
    double mark;    /* work at the start of that half */
    double earlier; /* gap at the start of that half; INFINITY at first */
};

/* Predicts the work until the gap is `target`, at constant rate; INFINITY if it did not fall. */
double mc_rate_needed(const struct mc_rate *rate, double work, double gap, double target);

/* Moves the start of the half to here if the work has doubled since it. */
void mc_rate_update(struct mc_rate *rate, double work, double gap);

/* Work of coordinate descent with kernels, after an evaluation of its bounds. */
struct mc_descent_work {
    double set, all;   /* used so far: for this working set; in all */
    double needed;     /* predicted until the target gap */
    double active_set; /* of an active-set iteration; INFINITY: impossible */
    double fallback;   /* of ADMM; INFINITY: impossible */
};

/* Why the sweeps over a working set ended. */
enum mc_set_end {
    MC_SET_RUNNING, /* they go on */
    MC_SET_SOLVED,
    MC_SET_LIMITED,       /* limit of sweeps or time */
    MC_SET_TO_ACTIVE_SET, /* an active-set iteration would cost less */
    MC_SET_TO_ADMM        /* ADMM would cost less */
};

/* Whether they end after a sweep, to hand over. */
enum mc_set_end mc_policy_after_sweep(const struct mc_descent_work *work);

/* Whether ADMM follows after a working set or an active-set iteration. Here `active_set` is the
 * work of all those iterations so far, and `needed` is for the whole problem. */
bool mc_policy_after_set(const struct mc_descent_work *work);

/* Work of ADMM, after an evaluation of its bounds. */
struct mc_admm_work {
    double admm, active_set; /* used so far */
    double evaluation;       /* until the next evaluation */
    double needed;           /* predicted until the target gap */
    double now, later; /* of an active-set iteration: now; predicted after the next evaluation */
};

/* Whether active-set iterations start from the iterate. */
bool mc_policy_starts_active_set(const struct mc_admm_work *work);

#endif
