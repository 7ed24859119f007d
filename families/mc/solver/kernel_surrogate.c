/* ADMM on a low-rank surrogate, for kernel matrices that are too large for ADMM: K is replaced by a
 * randomly pivoted incomplete Cholesky factorisation (Chen et al. 2025) plus a diagonal
 * (common/kernel/low_rank.h). At the surrogate's optimum, to a few digits, nearly all variables are
 * at the same bounds as at the optimum of the problem itself, so few active-set iterations are
 * needed from there. An iteration costs 2 n m k multiplications for m columns. */
#include "common/base/memory.h"
#include "families/mc/solver/kernel_admm_private.h"
#include "fit/work.h"

#include <math.h>
#include <stdlib.h>

enum {
    MAX_COLUMNS = 768,        /* of the surrogate */
    ROWS_PER_COLUMN = 8,      /* minimal rows for each column */
    EVALUATION_INTERVAL = 25, /* iterations between evaluations */
    MIN_EVALUATIONS = 4,      /* evaluations, minimum */
    MAX_EVALUATIONS = 16,     /* and maximum */
    COMPARED_EVALUATIONS = 2, /* evaluations over which the change is measured */
    TYPICAL_ITERATIONS = 120  /* typical iterations, for the work */
};

/* Columns are added until the trace of the residual is TARGET_RESIDUAL of the whole. If it is more
 * than MAX_RESIDUAL at the end, the surrogate is not used. */
static const double TARGET_RESIDUAL = 3e-5, MAX_RESIDUAL = 0.02;
/* The iteration ends when the number of free variables falls by less than this part. */
static const double MAX_DECREASE = 0.1;
/* Multiplications of all active-set iterations, over the cube of the maximal free variables. */
static const double ACTIVE_SET_WORK = 1;

static struct low_rank_goal goal_of(const struct mc_kernel_descent *descent) {
    size_t max = descent->n / ROWS_PER_COLUMN;
    return (struct low_rank_goal){.max_rank = max < MAX_COLUMNS ? max : MAX_COLUMNS,
                                  .residual = TARGET_RESIDUAL,
                                  .k = descent->k,
                                  .seed = descent->task->seed};
}

double mc_kernel_surrogate_work(const struct mc_kernel_descent *descent) {
    struct low_rank_goal goal = goal_of(descent);
    size_t bytes = descent->task->problem->cache_bytes;
    double n = (double)descent->n, k = (double)descent->k, max = (double)goal.max_rank;
    double max_free = MC_ACTIVE_MAX;
    bool fits = admm_fits(descent->n, descent->k, &goal, bytes);
    double work = n * max * (max + 2 * TYPICAL_ITERATIONS * k) +
                  ACTIVE_SET_WORK * max_free * max_free * max_free;
    return descent->definite && fits ? work_blas3(work) : INFINITY;
}

/* Computes the surrogate of K, without the constant feature. */
static int fill_surrogate(struct mc_admm *admm, struct error *err) {
    const struct mc_task *task = admm->descent->task;
    double *diagonal = memory_array(admm->n, sizeof *diagonal, "a diagonal", err);
    for (size_t i = 0; diagonal && i < admm->n; i++) {
        diagonal[i] = fmax(0, admm->descent->q[i] - task->bias * task->bias);
    }
    int status = diagonal ? admm_fill_surrogate(&admm->method, task->problem->gram,
                                                task->problem->rows, diagonal, err)
                          : -1;
    free(diagonal);
    return status;
}

/* Iterates until the number of free variables hardly changes. */
static int iterate(struct mc_admm *admm, const struct monitor *monitor, uint64_t *evaluations) {
    const struct mc_kernel_descent *descent = admm->descent;
    double n_free[MAX_EVALUATIONS + 1] = {0};
    for (*evaluations = 0; *evaluations < MAX_EVALUATIONS;) {
        for (int t = 0; t < EVALUATION_INTERVAL && !monitor_past_deadline(monitor); t++) {
            if (admm_iterate(&admm->method) < 0) {
                return -1;
            }
        }
        ++*evaluations;
        n_free[*evaluations] = mc_admm_count_free(admm);
        if (monitor_check(monitor, *evaluations, descent->primal, descent->dual) ||
            (*evaluations >= MIN_EVALUATIONS && n_free[*evaluations] <= MC_ACTIVE_MAX &&
             n_free[*evaluations] >=
                 (1 - MAX_DECREASE) * n_free[*evaluations - COMPARED_EVALUATIONS])) {
            break;
        }
    }
    return 0;
}

int mc_kernel_surrogate(struct mc_kernel_descent *descent, const struct mc_goal *goal,
                        const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct low_rank_goal low = goal_of(descent);
    struct mc_admm admm;
    uint64_t evaluations = 0;
    *fit = (struct mc_fit){0};
    int status =
        mc_admm_create(&admm, descent, &low, err) < 0 || fill_surrogate(&admm, err) < 0 ? -1 : 0;
    if (status == 0 && low_rank_remaining_trace(&admm.method.low) <= MAX_RESIDUAL &&
        mc_admm_start(&admm) == 0 && iterate(&admm, monitor, &evaluations) == 0) {
        descent->from_surrogate = true;
        status = mc_admm_get_alpha(&admm, &descent->alpha, err) < 0
                     ? -1
                     : mc_kernel_refresh(descent, goal->epsilon, err);
    }
    mc_admm_free(&admm);
    if (status == 0) {
        status = mc_kernel_solve(descent, goal, monitor, fit, err);
        descent->from_surrogate = false;
    }
    fit->iterations += evaluations;
    return status;
}
