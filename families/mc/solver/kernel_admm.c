/* ADMM (methods/admm.h; Boyd et al. 2011) for multi-class SVMs with kernels: the fallback when the
 * active set would be too large. The proximal step of a row is its exact step with |x|^2 = rho
 * (row_step_real.h), for every formulation. An iteration costs n^2 k multiplications, after one
 * Cholesky factorisation. The bounds are in kernel_admm_bounds.c. */
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/mc/solver/kernel_admm_private.h"
#include "fit/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVALUATION_INTERVAL = 10, /* iterations between evaluations of the bounds */
    MAX_EVALUATIONS = 1000,   /* limit of evaluations, */
    PREDICTION_AFTER = 60,    /* which is predicted after so many */
    TYPICAL_ITERATIONS = 120  /* typical iterations of a fit, for its work */
};

/* Multiplications of a row's step. */
static const double STEP = 250;
/* Above so many rows the work is multiplied by their ratio to this: products wait for memory, and
 * more iterations are needed (rbf, 26 classes: 1,000 rows 40, 3,000 rows 70, 6,000 rows 130; ten
 * iterations of 15,000 rows take 8 s). */
static const double IN_CACHE = 2000;

double mc_kernel_admm_work(const struct mc_kernel_descent *descent) {
    double n = (double)descent->n, k = (double)descent->k;
    bool fits = admm_fits(descent->n, descent->k, NULL, descent->task->problem->cache_bytes);
    double work = work_cholesky(n) + work_blas3(TYPICAL_ITERATIONS * n * n * k);
    return descent->definite && fits ? work * fmax(1, n / IN_CACHE) : INFINITY;
}

void mc_admm_free(struct mc_admm *admm) {
    for (size_t w = 0; w < admm->n_workers; w++) {
        mc_kernel_steps_free(&admm->worker[w]);
    }
    free(admm->worker);
    free(admm->dense);
    free(admm->change);
    admm_free(&admm->method);
    mc_alpha_free(&admm->alpha);
    mc_alpha_free(&admm->swept);
}

/* ---- the proximal step ---- */

/* z (k) = the coefficients of row i that minimise the dual's terms of the row plus rho/2 |z - c|^2;
 * updates its alpha. */
static void step(void *context, size_t i, size_t worker, double rho, const double *c, double *z) {
    struct mc_admm *admm = context;
    struct mc_kernel_descent *descent = &admm->worker[worker];
    size_t k = admm->k, y = descent->task->y[i];
    double *alpha = admm->dense + i * k;
    if (!(descent->q[i] > 0)) {
        return;
    }
    for (size_t l = 0; l < k; l++) {
        descent->s[l] = rho * (z[l] - c[l]);
    }
    memcpy(descent->row, alpha, k * sizeof *alpha);
    mc_kernel_step(descent, y, descent->row_cap[i], rho);
    memcpy(alpha, descent->row, k * sizeof *alpha);
    mc_centred_coefficients(&descent->task->shape, y, alpha, z);
}

/* ---- the fit ---- */

static int create_workers(struct mc_admm *admm, struct error *err) {
    size_t n = threads_count(admm->descent->task->problem->threads);
    admm->worker = memory_zeros(n, sizeof *admm->worker, "workers", err);
    for (size_t w = 0; admm->worker && w < n; w++) {
        struct mc_kernel_descent *worker = &admm->worker[w];
        *worker = *admm->descent;
        worker->blocks = NULL;
        worker->s = worker->row = worker->u = NULL;
        admm->n_workers = w + 1;
        if (mc_kernel_steps_create(worker, err) < 0) {
            return -1;
        }
    }
    return admm->worker ? 0 : -1;
}

int mc_admm_create(struct mc_admm *admm, struct mc_kernel_descent *descent,
                   const struct low_rank_goal *low, struct error *err) {
    size_t n = descent->n, k = descent->k;
    const struct admm_problem problem = {.n = n,
                                         .k = k,
                                         .low = low,
                                         .threads = descent->task->problem->threads,
                                         .context = admm,
                                         .step = step};
    *admm = (struct mc_admm){
        .descent = descent, .n = n, .k = k, .primal = INFINITY, .dual = descent->dual, .scale = 1};
    admm->dense = memory_array(2 * n, k * sizeof *admm->dense, "coefficients", err);
    admm->change = memory_array(MC_ADMM_BLOCK, k * sizeof *admm->change, "a block", err);
    if (!admm->dense || !admm->change || create_workers(admm, err) < 0 ||
        admm_create(&admm->method, &problem, err) < 0 ||
        mc_alpha_create(&admm->alpha, n, k, err) < 0 ||
        mc_alpha_create(&admm->swept, n, k, err) < 0 ||
        mc_alpha_copy(&admm->alpha, &descent->alpha, err) < 0) {
        return -1;
    }
    admm->best = admm->dense + n * k;
    return 0;
}

int mc_admm_start(struct mc_admm *admm) {
    struct mc_kernel_descent *descent = admm->descent;
    struct admm *method = &admm->method;
    for (size_t i = 0; i < admm->n; i++) {
        double *alpha = admm->dense + i * admm->k;
        mc_alpha_load(&descent->alpha, i, alpha);
        if (descent->q[i] > 0) {
            mc_centred_coefficients(&descent->task->shape, descent->task->y[i], alpha,
                                    method->Z + i * admm->k);
        }
    }
    return admm_start(method, descent->task->bias * descent->task->bias, descent->q, descent->F);
}

/* Progress of the bounds. */
struct progress {
    size_t evaluations;
    struct mc_rate rate; /* by evaluations */
};

/* Evaluates the bounds, and runs active-set iterations if the policy starts them. */
static int evaluate(struct mc_admm *admm, struct progress *progress, double epsilon,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    double n = (double)admm->n, k = (double)admm->k, left;
    double work = EVALUATION_INTERVAL * (work_blas3(n * n * k) + work_scalar(n * STEP));
    admm->work += work;
    if (mc_admm_evaluate(admm, epsilon, err) < 0) {
        return -1;
    }
    fit->iterations++;
    progress->evaluations++;
    left = mc_rate_needed(&progress->rate, (double)progress->evaluations, admm->primal - admm->dual,
                          epsilon * admm->primal);
    if (admm->active_set && !gap_reached(admm->primal, admm->dual, epsilon) &&
        mc_admm_active_set(admm, epsilon, work, left * work, monitor, err) < 0) {
        return -1;
    }
    monitor_algorithm(monitor, ALGORITHM_ADMM);
    if (gap_reached(admm->primal, admm->dual, epsilon)) {
        return 0;
    }
    fit->reason = monitor_check(monitor, fit->iterations, admm->primal, admm->dual);
    if (!fit->reason && progress->evaluations >= PREDICTION_AFTER &&
        !((double)progress->evaluations + left <= MAX_EVALUATIONS)) {
        fit->reason = STOP_STALLED;
    }
    mc_rate_update(&progress->rate, (double)progress->evaluations, admm->primal - admm->dual);
    return 0;
}

/* Iterates until the gap is epsilon, a limit is reached, or it stalls. */
static int run(struct mc_admm *admm, double epsilon, const struct monitor *monitor,
               struct mc_fit *fit, struct error *err) {
    struct progress progress = {.rate = {.earlier = INFINITY}};
    for (uint64_t t = 1; !fit->reason; t++) {
        if (monitor_past_deadline(monitor)) {
            fit->reason = monitor_check(monitor, fit->iterations, admm->primal, admm->dual);
        } else if (admm_iterate(&admm->method) < 0) {
            fit->reason = STOP_STALLED;
        } else if (t % EVALUATION_INTERVAL == 0) {
            if (evaluate(admm, &progress, epsilon, monitor, fit, err) < 0) {
                return -1;
            }
            if (gap_reached(admm->primal, admm->dual, epsilon)) {
                break;
            }
        }
    }
    return 0;
}

/* Copies the best dual point to the descent, with its coefficients and scores. */
static int give_back(struct mc_admm *admm, struct error *err) {
    struct mc_kernel_descent *descent = admm->descent;
    if (mc_alpha_copy(&descent->alpha, &admm->alpha, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < admm->n; i++) {
        mc_alpha_scale(&descent->alpha, i, admm->scale);
    }
    mc_kernel_coefficients(descent);
    admm_product(&admm->method, descent->B, descent->F);
    return 0;
}

/* Certifies the best points. Without a constant feature the scores come from the matrix here, which
 * has the exact values. */
static int certify(struct mc_admm *admm, struct mc_fit *fit, struct error *err) {
    struct mc_kernel_descent *descent = admm->descent;
    size_t size = admm->n * admm->k;
    bool found = admm->primal < INFINITY;
    bool exact = descent->task->bias == 0;
    double *scores = exact ? memory_array(2 * size, sizeof *scores, "scores", err) : NULL;
    if (exact && !scores) {
        return -1;
    }
    if (exact) {
        memcpy(scores + size, descent->F, size * sizeof *scores);
        memcpy(scores, descent->F, size * sizeof *scores);
    }
    if (exact && found) {
        admm_product(&admm->method, admm->best, scores);
    }
    int status =
        mc_kernel_certify_point(descent, found ? admm->best : descent->B, 1, scores, fit, err);
    fit->certificate.solver_rounding = fmax(0, fit->certificate.primal - admm->primal);
    free(scores);
    return status;
}

static int solve(void *context, double epsilon, const struct monitor *monitor, struct mc_fit *fit,
                 struct error *err) {
    struct mc_admm *admm = context;
    fit->iterations = admm->iterations;
    int status = run(admm, epsilon, monitor, fit, err) < 0 || give_back(admm, err) < 0 ||
                         certify(admm, fit, err) < 0
                     ? -1
                     : 0;
    admm->iterations = fit->iterations;
    return status;
}

int mc_kernel_admm(struct mc_kernel_descent *descent, const struct mc_goal *goal,
                   const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct mc_admm admm;
    *fit = (struct mc_fit){0};
    const struct problem *problem = descent->task->problem;
    int status = mc_admm_create(&admm, descent, NULL, err) < 0
                     ? -1
                     : admm_fill(&admm.method, problem->gram, problem->rows, err);
    if (status == 0 && mc_admm_start(&admm) == 0) {
        admm.active_set = goal->active_set;
        status = mc_fit_tighten(solve, &admm, goal, monitor, fit, err);
    } else if (status == 0) {
        fit->reason = STOP_STALLED;
        status = certify(&admm, fit, err);
    }
    if (status < 0) {
        mc_fit_free(fit);
    }
    mc_admm_free(&admm);
    return status;
}
