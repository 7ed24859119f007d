/* ADMM (methods/admm.h; Boyd et al. 2011) for multi-class SVMs with kernels: the fallback when the
 * active set would be too large. The proximal step of a row is its exact step with |x|^2 = rho
 * (row_step_real.h), for every formulation. An iteration costs n^2 k multiplications, after one
 * Cholesky factorisation.
 *
 * Z identifies the variables at their bounds early; then active-set iterations from Z reach the
 * optimum. */
#include "common/base/array.h"
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

/* Above so many rows the work is multiplied by their ratio to this: products wait for memory, and
 * more iterations are needed (rbf, 26 classes: 1,000 rows 40, 3,000 rows 70, 6,000 rows 130; ten
 * iterations of 15,000 rows take 8 s). */
static const double IN_CACHE = 2000;

/* Active-set iterations from Z: the part of primal - dual that one must gain; the limit of work
 * without success, over that of ADMM. The variables between their bounds at Z are nearly those of
 * the optimum long before the bounds meet. (3,000 rows of letter, rbf .0625, ww at C = 100: 1310
 * variables are free at the optimum, 1380 after 60 ADMM iterations; six active-set iterations
 * reduce the gap from .11 to 2e-4.) */
static const double MIN_GAIN = 1e-6, MAX_WORK = 2;

double mc_admm_work(size_t n_rows, size_t n_classes, size_t cache_bytes) {
    double n = (double)n_rows, k = (double)n_classes;
    double work = work_cholesky(n) + work_blas3(TYPICAL_ITERATIONS * n * n * k);
    return admm_fits(n_rows, n_classes, NULL, cache_bytes) ? work * fmax(1, n / IN_CACHE)
                                                           : INFINITY;
}

double mc_kernel_admm_work(const struct mc_kernel_descent *descent) {
    return descent->definite
               ? mc_admm_work(descent->n, descent->k, descent->task->problem->cache_bytes)
               : INFINITY;
}

void mc_admm_free(struct mc_admm *admm) {
    for (size_t w = 0; w < admm->n_workers; w++) {
        free(admm->worker[w].steps);
    }
    free(admm->worker);
    free(admm->dense);
    admm_free(&admm->method);
    mc_alpha_free(&admm->alpha);
    mc_alpha_free(&admm->trial);
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

/* ---- creation ---- */

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
                   const struct landmarks_goal *low, struct error *err) {
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
    if (!admm->dense || create_workers(admm, err) < 0 ||
        admm_create(&admm->method, &problem, err) < 0 ||
        mc_alpha_create(&admm->alpha, n, k, err) < 0 ||
        mc_alpha_create(&admm->trial, n, k, err) < 0 ||
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

/* ---- bounds ---- */

/* Updates the best primal point by U (or Z), with scores S. */
static void take_primal(struct mc_admm *admm, const double *U, double epsilon) {
    struct mc_kernel_descent *descent = admm->descent;
    double *F = descent->F;
    descent->F = admm->method.S;
    descent->squared_norm = array_dot(U, admm->method.S, admm->n * admm->k);
    descent->dual = admm->dual;
    mc_kernel_primal(descent, epsilon);
    descent->F = F;
    if (descent->primal < admm->primal) {
        admm->primal = descent->primal;
        array_multiple(admm->best, descent->scale, U, admm->n * admm->k);
    }
}

/* Updates the best dual point by the best multiple of alpha, with coefficients B and scores S. */
static int take_dual(struct mc_admm *admm, const struct mc_alpha *alpha, const double *B,
                     struct error *err) {
    struct mc_kernel_descent *descent = admm->descent;
    double sum = 0, rest = 0;
    for (size_t i = 0; i < admm->n; i++) {
        sum += descent->q[i] > 0 ? mc_alpha_sum(alpha, i) : 0;
        rest +=
            descent->q[i] > 0 ? 0 : descent->row_cap[i] * mc_max_alpha_sum(&descent->task->shape);
    }
    double squared_norm = array_dot(B, admm->method.S, admm->n * admm->k);
    double scale = squared_norm > sum ? sum / squared_norm : 1;
    double dual = rest + scale * sum - scale * scale * squared_norm / 2;
    if (!(dual > admm->dual)) {
        return 0;
    }
    admm->dual = dual;
    admm->scale = scale;
    return mc_alpha_copy(&admm->alpha, alpha, err);
}

/* ---- evaluation ---- */

int mc_admm_get_alpha(const struct mc_admm *admm, struct mc_alpha *alpha, struct error *err) {
    for (size_t i = 0; i < admm->n; i++) {
        if (mc_alpha_store(alpha, i, admm->dense + i * admm->k, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Evaluates both bounds, when S has the scores of U. Afterwards it has those of Z. */
static int evaluate_bounds(struct mc_admm *admm, double epsilon, struct error *err) {
    take_primal(admm, admm->method.U, epsilon);
    admm_product(&admm->method, admm->method.Z, admm->method.S);
    if (mc_admm_get_alpha(admm, &admm->trial, err) < 0 ||
        take_dual(admm, &admm->trial, admm->method.Z, err) < 0) {
        return -1;
    }
    take_primal(admm, admm->method.Z, epsilon);
    return 0;
}

/* ---- active-set iterations ---- */

double mc_admm_count_free(const struct mc_admm *admm) {
    const struct mc_kernel_descent *descent = admm->descent;
    size_t k = admm->k, all = 0, max = 0;
    for (size_t c = 0; c < k; c++) {
        size_t n_free = 0;
        for (size_t i = 0; i < admm->n; i++) {
            double alpha = admm->dense[i * k + c];
            n_free += alpha > 0 && alpha < descent->row_cap[i];
        }
        all += n_free;
        max = n_free > max ? n_free : max;
    }
    return (double)(mc_active_subproblems(&descent->task->shape) > 1 ? max : all);
}

/* Work of an active-set iteration with `size` variables in each of its subproblems. */
static double active_set_work_of(const struct mc_admm *admm, double size) {
    double n_subproblems = (double)mc_active_subproblems(&admm->descent->task->shape);
    return work_blas3(n_subproblems * size * size * size);
}

/* U = the coefficients of trial, S = its scores; evaluates the bounds there. */
static int evaluate_trial(struct mc_admm *admm, double epsilon, struct error *err) {
    struct mc_kernel_descent *descent = admm->descent;
    double *U = admm->method.U;
    for (size_t i = 0; i < admm->n; i++) {
        mc_alpha_load(&admm->trial, i, descent->row);
        mc_centred_coefficients(&descent->task->shape, descent->task->y[i], descent->row,
                                U + i * admm->k);
    }
    admm_product(&admm->method, U, admm->method.S);
    if (take_dual(admm, &admm->trial, U, err) < 0) {
        return -1;
    }
    take_primal(admm, U, epsilon);
    return 0;
}

/* Active-set iterations from Z until the gap is epsilon or they gain too little, if the policy
 * starts them. evaluation: work of another evaluation; needed: work that ADMM still needs.
 * Overwrites U and S. */
static int run_active_set(struct mc_admm *admm, double epsilon, double evaluation, double needed,
                          const struct monitor *monitor, struct error *err) {
    struct mc_kernel_descent *descent = admm->descent;
    double n_subproblems = (double)mc_active_subproblems(&descent->task->shape),
           before = admm->n_free;
    admm->n_free = mc_admm_count_free(admm);
    double size = (1 + MC_ACTIVE_MAX_FREED) * admm->n_free, work = active_set_work_of(admm, size);
    double later = active_set_work_of(admm, size * fmin(1, admm->n_free / before));
    const struct mc_admm_work used = {
        .admm = admm->work,
        .active_set = admm->active_set_work,
        .evaluation = evaluation,
        .needed = needed,
        .now = work,
        .later = later}; /* before the first, n_free is 0 and this infinite */
    if (size > MC_ACTIVE_MAX || !mc_policy_starts_active_set(&used)) {
        return 0;
    }
    monitor_algorithm(monitor, ALGORITHM_ACTIVE_SET);
    if (mc_admm_get_alpha(admm, &admm->trial, err) < 0) {
        return -1;
    }
    struct mc_active_iteration iteration = {.row_cap = descent->row_cap,
                                            .q = descent->q,
                                            .F = admm->method.S,
                                            .alpha = &admm->trial,
                                            .max = MC_ACTIVE_MAX,
                                            .few = true,
                                            .monitor = monitor,
                                            .gain = INFINITY};
    double product = work_blas3((double)admm->n * (double)admm->n * (double)admm->k), used_here = 0;
    for (;;) {
        if (evaluate_trial(admm, epsilon, err) < 0) {
            return -1;
        }
        double absolute_gap = admm->primal - admm->dual;
        if (gap_reached(admm->primal, admm->dual, epsilon) || monitor_past_deadline(monitor) ||
            !(iteration.gain > MIN_GAIN * absolute_gap) || iteration.too_many ||
            admm->active_set_work > MAX_WORK * admm->work || used_here > needed) {
            return 0;
        }
        if (mc_active_iterate(descent->active, &iteration, err) < 0) {
            return -1;
        }
        work = active_set_work_of(admm, (double)iteration.size / n_subproblems) + product;
        admm->active_set_work += work;
        used_here += work;
    }
}

/* ---- the fit ---- */

/* Evaluation number `done` of the bounds, and active-set iterations if the policy starts them.
 * rate: by evaluations. */
static int evaluate(struct mc_admm *admm, double done, struct mc_rate *rate, double epsilon,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    double n = (double)admm->n, k = (double)admm->k, left;
    double work = EVALUATION_INTERVAL * work_blas3(n * n * k);
    admm->work += work;
    if (evaluate_bounds(admm, epsilon, err) < 0) {
        return -1;
    }
    fit->iterations++;
    left = mc_rate_needed(rate, done, admm->primal - admm->dual, epsilon * admm->primal);
    if (admm->active_set && !gap_reached(admm->primal, admm->dual, epsilon) &&
        run_active_set(admm, epsilon, work, left * work, monitor, err) < 0) {
        return -1;
    }
    monitor_algorithm(monitor, ALGORITHM_ADMM);
    if (gap_reached(admm->primal, admm->dual, epsilon)) {
        return 0;
    }
    fit->reason = monitor_check(monitor, fit->iterations, admm->primal, admm->dual);
    if (!fit->reason && done >= PREDICTION_AFTER && !(done + left <= MAX_EVALUATIONS)) {
        fit->reason = STOP_STALLED;
    }
    mc_rate_update(rate, done, admm->primal - admm->dual);
    return 0;
}

/* Iterates until the gap is epsilon, a limit is reached, or it stalls. */
static int run(struct mc_admm *admm, double epsilon, const struct monitor *monitor,
               struct mc_fit *fit, struct error *err) {
    struct mc_rate rate = {.earlier = INFINITY};
    for (uint64_t t = 1; !fit->reason; t++) {
        if (monitor_past_deadline(monitor)) {
            fit->reason = monitor_check(monitor, fit->iterations, admm->primal, admm->dual);
        } else if (admm_iterate(&admm->method) < 0) {
            fit->reason = STOP_STALLED;
        } else if (t % EVALUATION_INTERVAL == 0) {
            double done = (double)(t / EVALUATION_INTERVAL);
            if (evaluate(admm, done, &rate, epsilon, monitor, fit, err) < 0) {
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
    double *scores = NULL;
    if (descent->task->bias == 0) {
        scores = memory_array(2 * size, sizeof *scores, "scores", err);
        if (!scores) {
            return -1;
        }
        memcpy(scores + size, descent->F, size * sizeof *scores);
        memcpy(scores, descent->F, size * sizeof *scores);
        if (found) {
            admm_product(&admm->method, admm->best, scores);
        }
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
                     : problem_matrix(problem, NULL, admm.method.problem.n, admm.method.K, err);
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
