/* ADMM on a low-rank surrogate, for kernel matrices that are too large for ADMM: K is replaced by a
 * pivoted incomplete Cholesky factorisation plus a diagonal (common/kernel/low_rank.h). At the
 * surrogate's optimum, to a few digits, nearly all variables are at the same bounds as at the
 * optimum of the problem itself, so few active-set iterations are needed from there. An iteration
 * costs 2 n m k multiplications for m columns. */
#include "common/base/memory.h"
#include "families/mc/solver/kernel_admm_private.h"
#include "fit/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_COLUMNS = 768,
    ROWS_PER_COLUMN = 8, /* minimum */
    LOOK = 25,           /* iterations between evaluations */
    LEAST_LOOKS = 4,     /* evaluations, minimum */
    MOST_LOOKS = 16,     /* and maximum */
    BACK = 2,            /* evaluations over which the change is measured */
    USUAL = 120          /* typical iterations, for the work */
};

/* Columns are added until the trace of the residual is ENOUGH of the whole. If it is more than
 * MOST_LEFT at the end, the surrogate is not used. */
static const double ENOUGH = 3e-5, MOST_LEFT = 0.02;
/* The iteration ends when the number of free variables falls by less than this part. */
static const double SETTLED = 0.1;
/* Multiplications of all active-set iterations, over the cube of the maximal free variables. */
static const double ROUNDS_WORK = 1;

static struct low_rank_goal goal_of(const struct mc_kernel *kernel) {
    size_t most = kernel->n / ROWS_PER_COLUMN;
    return (struct low_rank_goal){.most = most < MOST_COLUMNS ? most : MOST_COLUMNS,
                                  .enough = ENOUGH,
                                  .k = kernel->k,
                                  .seed = kernel->task->seed};
}

double mc_kernel_approach_work(const struct mc_kernel *kernel) {
    struct low_rank_goal goal = goal_of(kernel);
    size_t bytes = kernel->task->problem->cache_bytes;
    double n = (double)kernel->n, k = (double)kernel->k, most = (double)goal.most;
    double face = MC_ACTIVE_MOST;
    bool fits = splitting_fits(kernel->n, kernel->k, &goal, bytes);
    double work = n * most * (most + 2 * USUAL * k) + ROUNDS_WORK * face * face * face;
    return kernel->definite && fits ? work_blas3(work) : INFINITY;
}

/* Computes the surrogate of K, without the constant feature. */
static int fill(struct split *split, struct error *err) {
    const struct mc_task *task = split->kernel->task;
    double *diagonal = memory_array(split->n, sizeof *diagonal, "a diagonal", err);
    for (size_t i = 0; diagonal && i < split->n; i++) {
        diagonal[i] = fmax(0, split->kernel->q[i] - task->bias * task->bias);
    }
    int status = diagonal ? splitting_fill_low(&split->splitting, task->problem->gram,
                                               task->problem->rows, diagonal, err)
                          : -1;
    free(diagonal);
    return status;
}

/* Iterates until the number of free variables hardly changes. */
static int iterate(struct split *split, const struct monitor *monitor, uint64_t *looks) {
    const struct mc_kernel *kernel = split->kernel;
    double inside[MOST_LOOKS + 1] = {0};
    for (*looks = 0; *looks < MOST_LOOKS;) {
        for (int t = 0; t < LOOK && !monitor_late(monitor); t++) {
            if (splitting_iterate(&split->splitting) < 0) {
                return -1;
            }
        }
        ++*looks;
        inside[*looks] = mc_split_inside(split);
        if (monitor_check(monitor, *looks, kernel->primal, kernel->dual) ||
            (*looks >= LEAST_LOOKS && inside[*looks] <= MC_ACTIVE_MOST &&
             inside[*looks] >= (1 - SETTLED) * inside[*looks - BACK])) {
            break;
        }
    }
    return 0;
}

int mc_kernel_approach(struct mc_kernel *kernel, const struct mc_goal *goal,
                       const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct low_rank_goal low = goal_of(kernel);
    struct split split;
    uint64_t looks = 0;
    *fit = (struct mc_fit){0};
    int status = mc_split_create(&split, kernel, &low, err) < 0 || fill(&split, err) < 0 ? -1 : 0;
    if (status == 0 && low_rank_left(&split.splitting.low) <= MOST_LEFT &&
        mc_split_start(&split) == 0 && iterate(&split, monitor, &looks) == 0) {
        kernel->near = true;
        status = mc_split_get_alpha(&split, &kernel->alpha, err) < 0
                     ? -1
                     : mc_kernel_refresh(kernel, goal->epsilon, err);
    }
    mc_split_free(&split);
    if (status == 0) {
        status = mc_kernel_solve(kernel, goal, monitor, fit, err);
        kernel->near = false;
    }
    fit->iterations += looks;
    return status;
}
