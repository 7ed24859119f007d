/* ADMM on a low-rank surrogate, for kernel matrices that are too large for ADMM: K is replaced by
 * the products of features by landmarks, plus a diagonal (common/kernel/low_rank.h). At the
 * surrogate's optimum, to a few digits, nearly all variables are at the same bounds as at the
 * optimum of the problem itself, so few active-set iterations are needed from there. An iteration
 * costs 2 n m k multiplications for m landmarks. */
#include "common/base/available.h"
#include "common/base/sizes.h"
#include "families/mc/solver/kernel_admm_private.h"
#include "fit/work.h"

#include <math.h>
#include <stdlib.h>

enum {
    MAX_LANDMARKS = 768,      /* of the surrogate */
    ROWS_PER_LANDMARK = 8,    /* minimal rows for each landmark */
    EVALUATION_INTERVAL = 25, /* iterations between evaluations */
    MIN_EVALUATIONS = 4,      /* evaluations, minimum */
    MAX_EVALUATIONS = 16,     /* and maximum */
    COMPARED_EVALUATIONS = 2, /* evaluations over which the change is measured */
    TYPICAL_ITERATIONS = 120  /* typical iterations, for the work */
};

/* A landmark is used if the others leave it at least MIN_PIVOT of the largest entry. If more than
 * MAX_RESIDUAL of the trace remains, the surrogate is not used. */
static const double MIN_PIVOT = 3e-5, MAX_RESIDUAL = 0.02;
/* The iteration ends when the number of free variables falls by less than this part. */
static const double MAX_DECREASE = 0.1;

static struct landmarks_goal goal_of(const struct mc_kernel_descent *descent) {
    size_t max = descent->n / ROWS_PER_LANDMARK;
    return (struct landmarks_goal){.m = max < MAX_LANDMARKS ? max : MAX_LANDMARKS,
                                   .constant = descent->task->bias,
                                   .seed = descent->task->seed,
                                   .min_pivot = MIN_PIVOT};
}

double mc_kernel_surrogate_work(const struct mc_kernel_descent *descent) {
    struct landmarks_goal goal = goal_of(descent);
    size_t bytes = descent->task->problem->cache_bytes;
    double n = (double)descent->n, k = (double)descent->k, max = (double)goal.m;
    double max_free = MC_ACTIVE_MAX;
    bool fits = admm_fits(descent->n, descent->k, &goal, bytes);
    double work = n * max * (max + 2 * TYPICAL_ITERATIONS * k) + max_free * max_free * max_free;
    return descent->definite && fits ? work_blas3(work) : INFINITY;
}

/* The part of the trace of K, without the constant feature, that the landmarks leave. */
static double remaining_trace(const struct mc_admm *admm) {
    const struct mc_kernel_descent *descent = admm->descent;
    double remaining = 0, trace = 0;
    for (size_t i = 0; i < admm->n; i++) {
        remaining += (double)admm->method.low.landmarks.rest[i];
        trace += descent->q[i] - descent->task->bias * descent->task->bias;
    }
    return trace > 0 ? remaining / trace : 1;
}

/* The limit of free variables of active-set iterations: MC_ACTIVE_MAX, or up to twice that if all
 * then cost at most MC_ACTIVE_RATIO times the iterations so far, and their matrix and that of their
 * rows take at most half as much memory as the kernel matrix may, and half of what is free. */
static size_t max_free(const struct mc_admm *admm, uint64_t evaluations) {
    const size_t limit = 2 * (size_t)MC_ACTIVE_MAX, bytes = 4 * sizeof(double);
    const struct problem *problem = admm->descent->task->problem;
    double memory = fmin((double)problem->cache_bytes, available_memory());
    double fits = sqrt(memory / (double)bytes);
    double work = 2 * (double)admm->n * (double)admm->method.low.landmarks.width * (double)admm->k *
                  EVALUATION_INTERVAL * (double)evaluations;
    double n_subproblems = (double)mc_active_subproblems(&admm->descent->task->shape);
    double pays = cbrt(MC_ACTIVE_RATIO * work / n_subproblems);
    return larger(MC_ACTIVE_MAX, smaller(limit, (size_t)fmin(fits, pays)));
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
        double now = n_free[++*evaluations] = mc_admm_count_free(admm);
        if (monitor_check(monitor, *evaluations, descent->primal, descent->dual)) {
            return 0;
        }
        if (*evaluations < MIN_EVALUATIONS) {
            continue;
        }
        /* the usual limit is preferred if the number will soon be below it */
        double before = n_free[*evaluations - COMPARED_EVALUATIONS];
        double max = now - MC_ACTIVE_MAX > before - now ? (double)max_free(admm, *evaluations)
                                                        : MC_ACTIVE_MAX;
        if (now <= max && now >= (1 - MAX_DECREASE) * before) {
            return 0;
        }
    }
    return 0;
}

int mc_kernel_surrogate(struct mc_kernel_descent *descent, const struct mc_goal *goal,
                        const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct landmarks_goal low = goal_of(descent);
    struct mc_admm admm;
    uint64_t evaluations = 0;
    *fit = (struct mc_fit){0};
    const struct problem *problem = descent->task->problem;
    int status = mc_admm_create(&admm, descent, &low, err) < 0
                     ? -1
                     : low_rank_create(&admm.method.low, problem->gram, problem->rows, descent->n,
                                       descent->q, &low, descent->k, problem->threads, err);
    if (status == 0 && remaining_trace(&admm) <= MAX_RESIDUAL && mc_admm_start(&admm) == 0 &&
        iterate(&admm, monitor, &evaluations) == 0) {
        descent->max_free = max_free(&admm, evaluations);
        status = mc_admm_get_alpha(&admm, &descent->alpha, err) < 0
                     ? -1
                     : mc_kernel_refresh(descent, goal->epsilon, err);
    }
    mc_admm_free(&admm);
    if (status == 0) {
        status = mc_kernel_solve(descent, goal, monitor, fit, err);
        descent->max_free = 0;
    }
    fit->iterations += evaluations;
    return status;
}
