/* Dual block coordinate descent with kernels: the loop over working sets and active-set iterations,
 * with the policy's handovers. See kernel_descent.h. */
#include "families/mc/solver/kernel_descent.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/mc/solver/kernel_descent_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SET = 1024, /* rows of the first working set, */
    FIRST_PART = 60,  /* or 1/60 of all, if that is more */
    MAX_SET = 14000,  /* rows of the largest set at first; its matrix in float has 784 MB */
    /* The descent has stalled after 8 solved working sets without progress. An unsolved working set
     * counts as 1/8 of a solved one, an active-set iteration as 2/8. */
    PATIENCE = 8,
    SOLVED_COUNT = 8,
    ACTIVE_SET_COUNT = 2
};

/* Relative decrease of primal - dual that counts as progress. */
static const double MIN_FALL = 0.05;
/* An increase of the dual by this part of primal - dual is progress too: with more support vectors
 * than a working set holds, the primal falls late (sets of a third of them: 2e-5 a set). */
static const double MIN_RISE = 1e-5;
/* An increase of the dual by this part of itself for each solved set is progress as well: with a
 * nearly singular kernel matrix the primal does not fall for many sets. A dual near 0 that rises by
 * equal steps does not count: it would take too long. Neither rise counts if the working set has
 * all rows that would gain and the matrix is indefinite: the dual then moves between saddle points,
 * and is no bound. */
static const double MIN_RELATIVE_RISE = 0.1;
static const double GROWTH = 1.6; /* factor from one working set's size to the next */
/* Active-set iterations end when one gains less than this part of the dual. */
static const double MIN_ACTIVE_SET_GAIN = 1e-14;
/* A working set in float that lowers the dual by more than this part is undone. */
static const double MAX_DECREASE = 1e-9;
/* If a working set of maximal size leaves more than TOO_SMALL_RATIO of primal - dual, and more rows
 * would gain, it is too small for the support vectors: progress on one set is lost on the next.
 * Then working sets get more memory, and cached columns less, at least MIN_COLUMNS of it. */
static const double TOO_SMALL_RATIO = 0.5, MIN_COLUMNS = 0.2;

/* Allocates the matrix for working sets of up to m rows; the column cache gets the rest of the
 * memory, at least MIN_COLUMNS of it. */
static int divide_memory(struct mc_kernel *kernel, size_t m, struct error *err) {
    size_t stride = mc_kernel_set_stride(m);
    size_t bytes = kernel->task->problem->cache_bytes, own = m * stride * sizeof(float);
    size_t min = (size_t)((double)bytes * MIN_COLUMNS);
    column_cache_limit(kernel->columns, own < bytes - min ? bytes - own : min);
    free(kernel->K);
    kernel->K = memory_array(m, stride * sizeof(float), "a working set", err);
    kernel->max_set = m;
    return kernel->K ? 0 : -1;
}

/* Allocates larger working sets, if memory allows, when a set of m of n rows that would gain was
 * too small: it left `remaining` of primal - dual. */
static int enlarge(struct mc_kernel *kernel, size_t n, size_t m, double remaining,
                   struct error *err) {
    size_t bytes = kernel->task->problem->cache_bytes;
    double max = sqrt((double)bytes * (1 - MIN_COLUMNS) / sizeof(float));
    max = fmin(fmin(max, GROWTH * (double)m), (double)kernel->n);
    if (m < kernel->max_set || n <= m || remaining < TOO_SMALL_RATIO || max <= (double)m) {
        return 0;
    }
    return divide_memory(kernel, (size_t)max, err);
}

/* ---- working sets and active-set iterations ---- */

/* Progress, and the next iteration. */
struct progress {
    double min_gap, max_dual;         /* smallest primal - dual, largest dual */
    int without_progress;             /* count since one of them improved (PATIENCE) */
    bool active_set_next;             /* next is an active-set iteration, else a working set */
    bool set;                         /* the last iteration was a working set, */
    enum mc_kernel_end end;           /* which ended so; at first it counts as solved */
    double gap_before, dual_before;   /* primal - dual and dual when it was chosen */
    size_t n_gaining, n_set, max_set; /* rows that would gain; of the last set; limit of the next */
    struct mc_rate rate;              /* of primal - dual */
};

/* An active-set iteration. Another one follows while it gains. */
static int run_active_set(struct mc_kernel *kernel, const struct monitor *monitor,
                          struct progress *progress, struct error *err) {
    struct mc_active_iteration iteration = {.cap = kernel->cap,
                                            .q = kernel->q,
                                            .F = kernel->F,
                                            .alpha = &kernel->alpha,
                                            .few = kernel->from_surrogate,
                                            .monitor = monitor};
    if (mc_active_iterate(kernel->active, &iteration, err) < 0) {
        return -1;
    }
    kernel->active_set_work += mc_kernel_active_set_work(kernel, (double)iteration.size);
    progress->set = false;
    progress->active_set_next =
        !iteration.too_many && iteration.gain > MIN_ACTIVE_SET_GAIN * fabs(kernel->dual);
    return 0;
}

/* Chooses a working set and sweeps over it. progress->n_set is 0 if no row would gain. */
static int run_set(struct mc_kernel *kernel, double target_gap, const struct monitor *monitor,
                   struct progress *progress, struct error *err) {
    double absolute_gap = kernel->primal - kernel->dual;
    progress->n_gaining = mc_kernel_list(kernel);
    if (enlarge(kernel, progress->n_gaining, progress->n_set, absolute_gap / progress->gap_before,
                err) < 0) {
        return -1;
    }
    progress->set = true;
    progress->gap_before = absolute_gap;
    progress->dual_before = kernel->dual;
    size_t max = progress->max_set < kernel->max_set ? progress->max_set : kernel->max_set;
    progress->n_set = mc_kernel_choose(kernel, progress->n_gaining, max);
    progress->max_set = (size_t)(GROWTH * (double)max);
    if (progress->n_set == 0) {
        return 0;
    }
    if ((kernel->exact && mc_alpha_copy(&kernel->before, &kernel->alpha, err) < 0) ||
        mc_kernel_descend(kernel, progress->n_set, target_gap, monitor, &progress->end, err) < 0) {
        return -1;
    }
    progress->active_set_next = progress->end == MC_SET_TO_ACTIVE_SET;
    return 0;
}

/* Evaluates the bounds at alpha. A working set that has lowered the dual, by the rounding of its
 * matrix in float, is undone. */
static int evaluate(struct mc_kernel *kernel, const struct progress *progress, double epsilon,
                    struct error *err) {
    if (mc_kernel_refresh(kernel, epsilon, err) < 0) {
        return -1;
    }
    if (!progress->set || !kernel->exact ||
        !(kernel->dual < progress->dual_before - MAX_DECREASE * fabs(progress->dual_before))) {
        return 0;
    }
    return mc_alpha_copy(&kernel->alpha, &kernel->before, err) < 0 ||
                   mc_kernel_refresh(kernel, epsilon, err) < 0
               ? -1
               : 0;
}

/* Updates the progress by the current bounds, and chooses the next iteration. False if the descent
 * has stalled. */
static bool has_progress(const struct mc_kernel *kernel, struct progress *progress) {
    double absolute_gap =
        kernel->primal - kernel->dual; /* not the relative gap, which may stay near 1 for long */
    progress->without_progress += !progress->set                   ? ACTIVE_SET_COUNT
                                  : progress->end == MC_SET_SOLVED ? SOLVED_COUNT
                                                                   : 1;
    double growth = expm1(log1p(MIN_RELATIVE_RISE) *
                          fmax(1, progress->without_progress / (double)SOLVED_COUNT));
    double rise = fmin(MIN_RISE * absolute_gap, growth * fabs(progress->max_dual));
    bool risen = kernel->dual > progress->max_dual + rise &&
                 (kernel->definite || progress->n_gaining > progress->n_set);
    if (absolute_gap < progress->min_gap * (1 - MIN_FALL) || risen) {
        progress->min_gap = fmin(progress->min_gap, absolute_gap);
        progress->max_dual = fmax(progress->max_dual, kernel->dual);
        progress->without_progress = 0;
    }
    /* a set that is solved by its own estimate but gains nothing has reached the precision of
     * float */
    progress->active_set_next =
        kernel->active_set &&
        (progress->active_set_next ||
         (progress->set && progress->end == MC_SET_SOLVED && progress->without_progress));
    return progress->without_progress < PATIENCE * SOLVED_COUNT;
}

/* Whether the policy hands over to ADMM. */
static bool is_slow(const struct mc_kernel *kernel, struct progress *progress, double target) {
    double absolute_gap = kernel->primal - kernel->dual;
    double work = kernel->work + kernel->active_set_work;
    double need = mc_rate_needed(&progress->rate, work, absolute_gap, target * kernel->primal);
    mc_rate_update(&progress->rate, work, absolute_gap);
    const struct mc_descent_work used = {.all = work,
                                         .needed = need,
                                         .active_set = kernel->active_set_work,
                                         .fallback = kernel->fallback_work};
    return (progress->set && progress->end == MC_SET_TO_ADMM) || mc_policy_after_set(&used);
}

/* Iterates until the gap, by the scores F, is at most `target`, or a limit is reached, or it
 * stalls. */
static int iterate(struct mc_kernel *kernel, double target, const struct monitor *monitor,
                   struct mc_fit *fit, struct error *err) {
    size_t first = kernel->n / FIRST_PART > FIRST_SET ? kernel->n / FIRST_PART : FIRST_SET;
    struct progress progress = {.min_gap = INFINITY,
                                .max_dual = -INFINITY,
                                .gap_before = INFINITY,
                                .rate = {.earlier = INFINITY},
                                .end = MC_SET_SOLVED,
                                .max_set = first,
                                .active_set_next = kernel->from_surrogate && kernel->active_set};
    fit->reason = STOP_REACHED;
    for (;;) {
        if (evaluate(kernel, &progress, target, err) < 0) {
            return -1;
        }
        if (gap_reached(kernel->primal, kernel->dual, target)) {
            return 0;
        }
        fit->iterations++;
        fit->reason = monitor_check(monitor, fit->iterations, kernel->primal, kernel->dual);
        if (fit->reason) {
            return 0;
        }
        if (!has_progress(kernel, &progress)) {
            break;
        }
        monitor_algorithm(monitor, progress.active_set_next ? ALGORITHM_ACTIVE_SET
                                                            : ALGORITHM_COORDINATE_DESCENT);
        if (progress.active_set_next
                ? run_active_set(kernel, monitor, &progress, err) < 0
                : run_set(kernel, target * kernel->primal, monitor, &progress, err) < 0) {
            return -1;
        }
        if (progress.set && progress.n_set == 0) {
            break;
        }
        kernel->slow = is_slow(kernel, &progress, target);
        if (kernel->slow) {
            fit->reason = STOP_WORKING_SET;
            return evaluate(kernel, &progress, target, err);
        }
    }
    kernel->slow = progress.n_gaining > kernel->max_set && isfinite(kernel->fallback_work);
    fit->reason = progress.n_gaining > kernel->max_set ? STOP_WORKING_SET
                  : kernel->exact                      ? STOP_ROUNDING
                                                       : STOP_FLOAT_KERNEL;
    return 0;
}

/* Runs from alpha, and certifies: an mc_run. The certificate makes F exact. So if the precision of
 * float ended the run, but the certified gap has halved, another run follows. */
static int run(void *context, double epsilon, const struct monitor *monitor, struct mc_fit *fit,
               struct error *err) {
    struct mc_kernel *kernel = context;
    fit->iterations = kernel->iterations;
    if (iterate(kernel, epsilon, monitor, fit, err) < 0 ||
        mc_kernel_certify(kernel, fit, err) < 0) {
        return -1;
    }
    kernel->iterations = fit->iterations;
    if (fit->reason == STOP_FLOAT_KERNEL && fit->certificate.gap <= kernel->best / 2) {
        fit->reason = STOP_REACHED;
    }
    kernel->best = fmin(kernel->best, fit->certificate.gap);
    return 0;
}

/* Scales alpha and F from the last cost to this one, and sets the caps. */
static void set_cost(struct mc_kernel *kernel, double cost) {
    double ratio = kernel->cost > 0 ? cost / kernel->cost : 1;
    for (size_t c = 0; c < kernel->k; c++) {
        kernel->cap[c] = cost * kernel->task->weight[c];
    }
    kernel->cost = cost;
    for (size_t i = 0; ratio != 1 && i < kernel->n; i++) {
        mc_alpha_scale(&kernel->alpha, i, ratio);
    }
    for (size_t j = 0; ratio != 1 && j < kernel->n * kernel->k; j++) {
        kernel->F[j] *= ratio;
    }
    if (ratio != 1 && !kernel->task->shape.form->maximum) {
        mc_alpha_clip(&kernel->alpha, kernel->task->y, kernel->cap);
    }
    mc_kernel_coefficients(kernel); /* F = K B up to rounding */
}

int mc_kernel_solve(struct mc_kernel *kernel, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    *fit = (struct mc_fit){0};
    set_cost(kernel, goal->cost);
    kernel->epsilon = goal->epsilon;
    kernel->work = kernel->active_set_work = 0;
    kernel->iterations = 0;
    kernel->best = INFINITY;
    kernel->slow = false;
    kernel->active_set = goal->active_set;
    kernel->fallback_work = goal->fallback_work;
    size_t m = kernel->n < MAX_SET ? kernel->n : MAX_SET;
    int status = divide_memory(kernel, m, err) < 0
                     ? -1
                     : mc_fit_tighten(run, kernel, goal, monitor, fit, err);
    if (fit->reason == STOP_OUTER_ITERATIONS) { /* rounding undid the progress of each run */
        fit->reason = kernel->exact ? STOP_STALLED : STOP_FLOAT_KERNEL;
    }
    free(kernel->K);
    kernel->K = NULL;
    return status;
}

/* scores (2, n, k) = the exact scores of the coefficients `weights`, then those of B, which F gets
 * too; in one product. */
static int score_both(struct mc_kernel *kernel, const double *weights, double *scores,
                      struct error *err) {
    size_t n = kernel->n, k = kernel->k, row = k * sizeof *scores;
    double *b = memory_array(4 * n, row, "scores", err), *s = b ? b + 2 * n * k : NULL;
    for (size_t i = 0; b && i < n; i++) {
        memcpy(b + 2 * i * k, weights + i * k, row);
        memcpy(b + (2 * i + 1) * k, kernel->B + i * k, row);
    }
    int status = b ? kernel->map.exact(&kernel->map, b, 2 * k, s, err) : -1;
    for (size_t i = 0; status == 0 && i < n; i++) {
        memcpy(scores + i * k, s + 2 * i * k, row);
        memcpy(scores + (n + i) * k, s + (2 * i + 1) * k, row);
    }
    if (status == 0) {
        memcpy(kernel->F, scores + n * k, n * row);
    }
    free(b);
    return status;
}

int mc_kernel_set_solution(struct mc_kernel *kernel, const struct mc_goal *goal,
                           const double *weights, const struct mc_alpha *alpha, struct mc_fit *fit,
                           struct error *err) {
    *fit = (struct mc_fit){0};
    set_cost(kernel, goal->cost);
    kernel->epsilon = goal->epsilon;
    kernel->slow = false;
    if (mc_alpha_copy(&kernel->alpha, alpha, err) < 0) {
        return -1;
    }
    mc_kernel_coefficients(kernel);
    double *scores = memory_array(2 * kernel->n, kernel->k * sizeof *scores, "scores", err);
    int status = !scores || score_both(kernel, weights, scores, err) < 0 ||
                         mc_kernel_certify_point(kernel, weights, scores, INFINITY, fit, err) < 0
                     ? -1
                     : 0;
    free(scores);
    return status;
}

bool mc_kernel_is_slow(const struct mc_kernel *kernel) {
    return kernel->slow;
}

/* ---- creation ---- */

static int allocate(struct mc_kernel *kernel, struct error *err) {
    size_t n = kernel->n, k = kernel->k;
    kernel->cap = memory_zeros(k, sizeof(double), "costs", err);
    kernel->q = memory_array(n, sizeof(double), "norms", err);
    kernel->F = memory_zeros(n, k * sizeof(double), "scores", err);
    kernel->B = memory_zeros(n, k * sizeof(double), "coefficients", err);
    kernel->candidate = memory_array(n, sizeof *kernel->candidate, "gains", err);
    kernel->set = memory_array(n, sizeof *kernel->set, "a working set", err);
    kernel->updated = memory_zeros(n, sizeof *kernel->updated, "scores", err);
    if (!kernel->cap || !kernel->q || !kernel->F || !kernel->B || !kernel->candidate ||
        !kernel->set || !kernel->updated || mc_kernel_steps_create(kernel, err) < 0 ||
        mc_alpha_create(&kernel->alpha, n, k, err) < 0) {
        return -1;
    }
    return kernel->exact ? mc_alpha_create(&kernel->before, n, k, err) : 0;
}

/* By BLAS an entry of K costs one multiplication for each feature to compute, and one for each
 * class to use. With fewer features than classes columns are not cached. */
static bool is_uncached(const struct mc_task *task) {
    const struct problem *problem = task->problem;
    return kernel_rows_by_blas(gram_rows(problem->gram)) &&
           problem->data->n_features <= task->shape.k;
}

int mc_kernel_create(struct mc_kernel **kernel, const struct mc_task *task, struct error *err) {
    struct mc_kernel *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->task = task;
    made->n = task->n;
    made->k = task->shape.k;
    made->exact = gram_is_double(task->problem->gram) && gram_is_cached(task->problem->gram);
    made->uncached = is_uncached(task);
    size_t bytes = made->uncached ? 0 : task->problem->cache_bytes;
    if (allocate(made, err) < 0 ||
        column_cache_create(&made->columns, task->problem, bytes, err) < 0 ||
        score_map_create(&made->map, task->problem, err) < 0 ||
        made->map.diagonal(&made->map, made->q, err) < 0 ||
        mc_active_create(&made->active, task, err) < 0 ||
        certify_definite(task->certify, &made->definite, err) < 0) {
        mc_kernel_free(made);
        return -1;
    }
    for (size_t i = 0; i < made->n; i++) {
        made->q[i] += task->bias * task->bias;
    }
    *kernel = made;
    return 0;
}

void mc_kernel_free(struct mc_kernel *kernel) {
    if (!kernel) {
        return;
    }
    score_map_free(&kernel->map);
    column_cache_free(kernel->columns);
    mc_alpha_free(&kernel->alpha);
    mc_alpha_free(&kernel->before);
    mc_active_free(kernel->active);
    mc_kernel_steps_free(kernel);
    free(kernel->cap);
    free(kernel->q);
    free(kernel->F);
    free(kernel->B);
    free(kernel->updated);
    free(kernel->candidate);
    free(kernel->set);
    free(kernel);
}
