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
    LOOK = 10,         /* iterations between evaluations of the bounds */
    MOST_LOOKS = 1000, /* limit of evaluations, */
    TRIAL = 60,        /* which is predicted after so many */
    USUAL = 120        /* typical iterations of a fit, for its work */
};

/* Multiplications of a row's step. */
static const double STEP = 250;
/* Above so many rows the work is multiplied by their ratio to this: products wait for memory, and
 * more iterations are needed (rbf, 26 classes: 1,000 rows 40, 3,000 rows 70, 6,000 rows 130; ten
 * iterations of 15,000 rows take 8 s). */
static const double IN_CACHE = 2000;

double mc_kernel_split_work(const struct mc_kernel *kernel) {
    double n = (double)kernel->n, k = (double)kernel->k;
    bool fits = splitting_fits(kernel->n, kernel->k, NULL, kernel->task->problem->cache_bytes);
    double work = work_cholesky(n) + work_blas3(USUAL * n * n * k);
    return kernel->definite && fits ? work * fmax(1, n / IN_CACHE) : INFINITY;
}

void mc_split_free(struct split *split) {
    for (size_t w = 0; w < split->n_workers; w++) {
        mc_kernel_steps_free(&split->worker[w]);
    }
    free(split->worker);
    free(split->dense);
    free(split->change);
    splitting_free(&split->splitting);
    mc_alpha_free(&split->alpha);
    mc_alpha_free(&split->swept);
}

/* ---- the proximal step ---- */

/* z (k) = the coefficients of row i that minimise the dual's terms of the row plus rho/2 |z - c|^2;
 * updates its alpha. */
static void step(void *context, size_t i, size_t worker, double rho, const double *c, double *z) {
    struct split *split = context;
    struct mc_kernel *kernel = &split->worker[worker];
    size_t k = split->k, y = kernel->task->y[i];
    double *alpha = split->dense + i * k;
    if (!(kernel->q[i] > 0)) {
        return;
    }
    for (size_t l = 0; l < k; l++) {
        kernel->s[l] = rho * (z[l] - c[l]);
    }
    memcpy(kernel->row, alpha, k * sizeof *alpha);
    mc_kernel_step(kernel, y, rho);
    memcpy(alpha, kernel->row, k * sizeof *alpha);
    mc_centred_coefficients(&kernel->task->shape, y, alpha, z);
}

/* ---- the fit ---- */

static int create_workers(struct split *split, struct error *err) {
    size_t n = threads_count(split->kernel->task->problem->threads);
    split->worker = memory_zeros(n, sizeof *split->worker, "workers", err);
    for (size_t w = 0; split->worker && w < n; w++) {
        struct mc_kernel *worker = &split->worker[w];
        *worker = *split->kernel;
        worker->blocks = NULL;
        worker->s = worker->row = worker->u = NULL;
        split->n_workers = w + 1;
        if (mc_kernel_steps_create(worker, err) < 0) {
            return -1;
        }
    }
    return split->worker ? 0 : -1;
}

int mc_split_create(struct split *split, struct mc_kernel *kernel, const struct low_rank_goal *low,
                    struct error *err) {
    size_t n = kernel->n, k = kernel->k;
    const struct splitting_problem problem = {.n = n,
                                              .k = k,
                                              .low = low,
                                              .threads = kernel->task->problem->threads,
                                              .context = split,
                                              .step = step};
    *split = (struct split){
        .kernel = kernel, .n = n, .k = k, .primal = INFINITY, .dual = kernel->dual, .scale = 1};
    split->dense = memory_array(2 * n, k * sizeof *split->dense, "coefficients", err);
    split->change = memory_array(MC_SPLIT_BLOCK, k * sizeof *split->change, "a block", err);
    if (!split->dense || !split->change || create_workers(split, err) < 0 ||
        splitting_create(&split->splitting, &problem, err) < 0 ||
        mc_alpha_create(&split->alpha, n, k, err) < 0 ||
        mc_alpha_create(&split->swept, n, k, err) < 0 ||
        mc_alpha_copy(&split->alpha, &kernel->alpha, err) < 0) {
        return -1;
    }
    split->best = split->dense + n * k;
    return 0;
}

int mc_split_start(struct split *split) {
    struct mc_kernel *kernel = split->kernel;
    struct splitting *splitting = &split->splitting;
    for (size_t i = 0; i < split->n; i++) {
        double *alpha = split->dense + i * split->k;
        mc_alpha_load(&kernel->alpha, i, alpha);
        if (kernel->q[i] > 0) {
            mc_centred_coefficients(&kernel->task->shape, kernel->task->y[i], alpha,
                                    splitting->Z + i * split->k);
        }
    }
    return splitting_start(splitting, kernel->task->bias * kernel->task->bias, kernel->q,
                           kernel->F);
}

/* Progress of the bounds. */
struct course {
    size_t looks;
    struct mc_rate rate; /* by looks */
};

/* Evaluates the bounds, and runs active-set iterations if the policy starts them. */
static int look(struct split *split, struct course *course, double epsilon,
                const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    double n = (double)split->n, k = (double)split->k, left;
    double work = LOOK * (work_blas3(n * n * k) + work_scalar(n * STEP));
    split->work += work;
    if (mc_split_look(split, epsilon, err) < 0) {
        return -1;
    }
    fit->iterations++;
    course->looks++;
    left = mc_rate_needed(&course->rate, (double)course->looks, split->primal - split->dual,
                          epsilon * split->primal);
    if (split->active_set && !gap_reached(split->primal, split->dual, epsilon) &&
        mc_split_rounds(split, epsilon, work, left * work, monitor, err) < 0) {
        return -1;
    }
    monitor_algorithm(monitor, ALGORITHM_ADMM);
    if (gap_reached(split->primal, split->dual, epsilon)) {
        return 0;
    }
    fit->reason = monitor_check(monitor, fit->iterations, split->primal, split->dual);
    if (!fit->reason && course->looks >= TRIAL && !((double)course->looks + left <= MOST_LOOKS)) {
        fit->reason = STOP_STALLED;
    }
    mc_rate_update(&course->rate, (double)course->looks, split->primal - split->dual);
    return 0;
}

/* Iterates until the gap is epsilon, a limit is reached, or it stalls. */
static int run(struct split *split, double epsilon, const struct monitor *monitor,
               struct mc_fit *fit, struct error *err) {
    struct course course = {.rate = {.earlier = INFINITY}};
    for (uint64_t t = 1; !fit->reason; t++) {
        if (monitor_late(monitor)) {
            fit->reason = monitor_check(monitor, fit->iterations, split->primal, split->dual);
        } else if (splitting_iterate(&split->splitting) < 0) {
            fit->reason = STOP_STALLED;
        } else if (t % LOOK == 0) {
            if (look(split, &course, epsilon, monitor, fit, err) < 0) {
                return -1;
            }
            if (gap_reached(split->primal, split->dual, epsilon)) {
                break;
            }
        }
    }
    return 0;
}

/* Copies the best dual point to the kernel, with its coefficients and scores. */
static int give_back(struct split *split, struct error *err) {
    struct mc_kernel *kernel = split->kernel;
    if (mc_alpha_copy(&kernel->alpha, &split->alpha, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < split->n; i++) {
        mc_alpha_scale(&kernel->alpha, i, split->scale);
    }
    mc_kernel_coefficients(kernel);
    splitting_product(&split->splitting, kernel->B, kernel->F);
    return 0;
}

/* Certifies the best points. Without a constant feature the scores come from the matrix here, which
 * has the exact values. */
static int certify(struct split *split, struct mc_fit *fit, struct error *err) {
    struct mc_kernel *kernel = split->kernel;
    size_t size = split->n * split->k;
    bool found = split->primal < INFINITY;
    bool exact = kernel->task->bias == 0;
    double *scores = exact ? memory_array(2 * size, sizeof *scores, "scores", err) : NULL;
    if (exact && !scores) {
        return -1;
    }
    if (exact) {
        memcpy(scores + size, kernel->F, size * sizeof *scores);
        memcpy(scores, kernel->F, size * sizeof *scores);
    }
    if (exact && found) {
        splitting_product(&split->splitting, split->best, scores);
    }
    int status = mc_kernel_certify_point(kernel, found ? split->best : kernel->B, scores,
                                         split->primal, fit, err);
    free(scores);
    return status;
}

static int solve(void *context, double epsilon, const struct monitor *monitor, struct mc_fit *fit,
                 struct error *err) {
    struct split *split = context;
    fit->iterations = split->iterations;
    int status = run(split, epsilon, monitor, fit, err) < 0 || give_back(split, err) < 0 ||
                         certify(split, fit, err) < 0
                     ? -1
                     : 0;
    split->iterations = fit->iterations;
    return status;
}

int mc_kernel_split(struct mc_kernel *kernel, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    struct split split;
    *fit = (struct mc_fit){0};
    const struct problem *problem = kernel->task->problem;
    int status = mc_split_create(&split, kernel, NULL, err) < 0
                     ? -1
                     : splitting_fill(&split.splitting, problem->gram, problem->rows, err);
    if (status == 0 && mc_split_start(&split) == 0) {
        split.active_set = goal->active_set;
        status = mc_fit_tighten(solve, &split, goal, monitor, fit, err);
    } else if (status == 0) {
        fit->reason = STOP_STALLED;
        status = certify(&split, fit, err);
    }
    if (status < 0) {
        mc_fit_free(fit);
    }
    mc_split_free(&split);
    return status;
}
