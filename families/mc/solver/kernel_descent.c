/* Dual block coordinate descent with kernels: the loop over working sets and active-set iterations,
 * with the policy's handovers. See kernel_descent.h. */
#include "families/mc/solver/kernel_descent.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/mc/solver/kernel_descent_private.h"

#include <math.h>
#include <stdlib.h>

enum {
    FIRST_SET = 1024, /* rows of the first working set, */
    FIRST_PART = 60,  /* or 1/60 of all, if that is more */
    MAX_SET = 14000,  /* rows of the largest set; its matrix in float has 784 MB */
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
/* Joint steps go on while each lowers primal - dual by this part (on dense clouds: .3 to .6), */
static const double MIN_JOINT_FALL = 0.1;
/* and while there is time for a further one and the certificate. That is one product in double with
 * twice the columns, and takes up to 2.2 times as long as a step (a million rows). */
static const double CERTIFICATE_TIME = 3;
/* The part of the memory that cached columns get at least. */
static const double MIN_COLUMNS = 0.2;

/* Allocates the matrix for working sets; the column cache gets the rest of the memory, at least
 * MIN_COLUMNS of it. */
static int divide_memory(struct mc_kernel_descent *descent, struct error *err) {
    size_t m = descent->n < MAX_SET ? descent->n : MAX_SET, stride = mc_kernel_set_stride(m);
    size_t bytes = descent->task->problem->cache_bytes, own = m * stride * sizeof(float);
    size_t min = (size_t)((double)bytes * MIN_COLUMNS);
    column_cache_limit(descent->columns, own < bytes - min ? bytes - own : min);
    descent->K = memory_array(m, stride * sizeof(float), "a working set", err);
    descent->max_set = m;
    return descent->K ? 0 : -1;
}

/* ---- working sets and active-set iterations ---- */

/* Progress, and the next iteration. */
struct progress {
    double min_gap, max_dual;         /* smallest primal - dual, largest dual */
    int without_progress;             /* count since one of them improved (PATIENCE) */
    bool active_set_next;             /* next is an active-set iteration, else a working set */
    bool joint, joint_next;           /* the last iteration was a joint step; the next is */
    double joint_gap, seconds_left;   /* primal - dual, and the time, before it */
    bool set;                         /* the last iteration was a working set, */
    enum mc_set_end end;              /* which ended so; at first it counts as solved */
    size_t n_gaining, n_set, max_set; /* rows that would gain; of the last set; limit of the next */
    struct mc_rate rate;              /* of primal - dual */
};

/* An active-set iteration. Another one follows while it gains. */
static int run_active_set(struct mc_kernel_descent *descent, const struct monitor *monitor,
                          struct progress *progress, struct error *err) {
    struct mc_active_iteration iteration = {.row_cap = descent->row_cap,
                                            .q = descent->q,
                                            .F = descent->F,
                                            .alpha = &descent->alpha,
                                            .max = mc_kernel_max_free(descent),
                                            .few = descent->max_free > 0,
                                            .monitor = monitor};
    if (mc_active_iterate(descent->active, &iteration, err) < 0) {
        return -1;
    }
    descent->active_set_work += mc_kernel_active_set_work(descent, (double)iteration.size);
    progress->set = false;
    progress->active_set_next =
        !iteration.too_many && iteration.gain > MIN_ACTIVE_SET_GAIN * fabs(descent->dual);
    return 0;
}

/* Chooses a working set and sweeps over it. progress->n_set is 0 if no row would gain. */
static int run_set(struct mc_kernel_descent *descent, double target_gap,
                   const struct monitor *monitor, struct progress *progress, struct error *err) {
    progress->n_gaining = mc_kernel_list(descent);
    progress->set = true;
    size_t max = progress->max_set < descent->max_set ? progress->max_set : descent->max_set;
    progress->n_set = mc_kernel_choose(descent, progress->n_gaining, max);
    progress->max_set = (size_t)(GROWTH * (double)max);
    if (progress->n_set == 0) {
        return 0;
    }
    if (mc_kernel_descend(descent, progress->n_set, target_gap, monitor, &progress->end, err) < 0) {
        return -1;
    }
    progress->active_set_next = progress->end == MC_SET_TO_ACTIVE_SET;
    return 0;
}

/* A joint step. Its time is without that of the landmarks, which further steps do not need. */
static int run_joint(struct mc_kernel_descent *descent, const struct monitor *monitor,
                     struct progress *progress, struct error *err) {
    progress->joint = true;
    progress->set = false;
    progress->joint_gap = descent->primal - descent->dual;
    if (mc_kernel_joint_open(descent, err) < 0) {
        return -1;
    }
    progress->seconds_left = monitor_seconds_left(monitor);
    return mc_kernel_joint_step(descent, monitor, err);
}

/* Averages the primal point after a joint step, and decides whether another follows. *late: only
 * time for the certificate is left. */
static int judge_joint(struct mc_kernel_descent *descent, const struct monitor *monitor,
                       struct progress *progress, bool *late, struct error *err) {
    if (progress->joint && mc_kernel_average(descent, err) < 0) {
        return -1;
    }
    if (descent->average) {
        descent->primal = fmin(descent->primal, descent->average_primal);
    }
    if (progress->joint) {
        double left = monitor_seconds_left(monitor), used = progress->seconds_left - left;
        *late = isfinite(left) && left < (1 + CERTIFICATE_TIME) * used;
        progress->joint = false;
        progress->joint_next =
            descent->primal - descent->dual < (1 - MIN_JOINT_FALL) * progress->joint_gap;
        if (!progress->joint_next) {
            landmarks_free(&descent->landmarks);
        }
    }
    return 0;
}

/* Updates the progress by the current bounds, and chooses the next iteration. False if the descent
 * has stalled. */
static bool has_progress(const struct mc_kernel_descent *descent, struct progress *progress) {
    double absolute_gap =
        descent->primal - descent->dual; /* not the relative gap, which may stay near 1 for long */
    progress->without_progress += !progress->set                   ? ACTIVE_SET_COUNT
                                  : progress->end == MC_SET_SOLVED ? SOLVED_COUNT
                                                                   : 1;
    double growth = expm1(log1p(MIN_RELATIVE_RISE) *
                          fmax(1, progress->without_progress / (double)SOLVED_COUNT));
    double rise = fmin(MIN_RISE * absolute_gap, growth * fabs(progress->max_dual));
    bool risen = descent->dual > progress->max_dual + rise &&
                 (descent->definite || progress->n_gaining > progress->n_set);
    if (absolute_gap < progress->min_gap * (1 - MIN_FALL) || risen) {
        progress->min_gap = fmin(progress->min_gap, absolute_gap);
        progress->max_dual = fmax(progress->max_dual, descent->dual);
        progress->without_progress = 0;
    }
    /* a set that is solved by its own estimate but gains nothing has reached the precision of
     * float */
    progress->active_set_next =
        descent->active_set &&
        (progress->active_set_next ||
         (progress->set && progress->end == MC_SET_SOLVED && progress->without_progress));
    return progress->without_progress < PATIENCE * SOLVED_COUNT;
}

/* Whether the policy hands over to ADMM. */
static bool is_slow(const struct mc_kernel_descent *descent, struct progress *progress,
                    double target) {
    double absolute_gap = descent->primal - descent->dual;
    double work = descent->work + descent->active_set_work;
    double need = mc_rate_needed(&progress->rate, work, absolute_gap, target * descent->primal);
    mc_rate_update(&progress->rate, work, absolute_gap);
    const struct mc_descent_work used = {.all = work,
                                         .needed = need,
                                         .active_set = descent->active_set_work,
                                         .fallback = descent->fallback_work};
    return (progress->set && progress->end == MC_SET_TO_ADMM) || mc_policy_after_set(&used);
}

/* Iterates until the gap, by the scores F, is at most `target`, or a limit is reached, or it
 * stalls. */
static int iterate(struct mc_kernel_descent *descent, double target, const struct monitor *monitor,
                   struct mc_fit *fit, struct error *err) {
    size_t first = descent->n / FIRST_PART > FIRST_SET ? descent->n / FIRST_PART : FIRST_SET;
    struct progress progress = {.min_gap = INFINITY,
                                .max_dual = -INFINITY,
                                .rate = {.earlier = INFINITY},
                                .end = MC_SET_SOLVED,
                                .max_set = first,
                                .active_set_next = descent->max_free > 0 && descent->active_set};
    progress.joint_next = !progress.active_set_next && mc_kernel_joint_applies(descent);
    fit->reason = STOP_REACHED; /* unless a limit, a handover or a stall follows */
    for (bool late = false;;) {
        if (mc_kernel_refresh(descent, target, err) < 0 ||
            judge_joint(descent, monitor, &progress, &late, err) < 0) {
            return -1;
        }
        if (gap_reached(descent->primal, descent->dual, target)) {
            return 0;
        }
        fit->iterations++;
        fit->reason = monitor_check(monitor, fit->iterations, descent->primal, descent->dual);
        fit->reason = !fit->reason && late ? STOP_TIME : fit->reason;
        if (fit->reason) {
            return 0;
        }
        if (!progress.joint_next && !has_progress(descent, &progress)) {
            break;
        }
        monitor_algorithm(monitor, progress.active_set_next ? ALGORITHM_ACTIVE_SET
                                                            : ALGORITHM_COORDINATE_DESCENT);
        if (progress.joint_next ? run_joint(descent, monitor, &progress, err) < 0
            : progress.active_set_next
                ? run_active_set(descent, monitor, &progress, err) < 0
                : run_set(descent, target * descent->primal, monitor, &progress, err) < 0) {
            return -1;
        }
        if (progress.set && progress.n_set == 0) {
            break;
        }
        descent->slow = is_slow(descent, &progress, target);
        if (descent->slow) {
            fit->reason = STOP_WORKING_SET; /* until ADMM has run */
            return mc_kernel_refresh(descent, target, err);
        }
    }
    descent->slow = progress.n_gaining > descent->max_set && isfinite(descent->fallback_work);
    fit->reason = progress.n_gaining > descent->max_set ? STOP_WORKING_SET
                  : descent->stores_double              ? STOP_ROUNDING
                                                        : STOP_FLOAT_KERNEL;
    return 0;
}

/* Runs from alpha, and certifies: an mc_run. The certificate makes F exact. So if the precision of
 * float ended the run, but the certified gap has halved, another run follows. */
static int run(void *context, double epsilon, const struct monitor *monitor, struct mc_fit *fit,
               struct error *err) {
    struct mc_kernel_descent *descent = context;
    fit->iterations = descent->iterations;
    if (iterate(descent, epsilon, monitor, fit, err) < 0 ||
        mc_kernel_certify(descent, fit, err) < 0) {
        return -1;
    }
    descent->iterations = fit->iterations;
    if (fit->reason == STOP_FLOAT_KERNEL && fit->certificate.gap <= descent->best / 2) {
        fit->reason = STOP_REACHED; /* counts as converged: mc_fit_tighten runs it again */
    }
    descent->best = fmin(descent->best, fit->certificate.gap);
    return 0;
}

/* Scales alpha and F from the last cost to this one, and sets the caps. */
static void set_cost(struct mc_kernel_descent *descent, double cost) {
    double ratio = descent->cost > 0 ? cost / descent->cost : 1;
    array_multiple(descent->row_cap, cost, descent->task->row_weight, descent->n);
    descent->cost = cost;
    for (size_t i = 0; ratio != 1 && i < descent->n; i++) {
        mc_alpha_scale(&descent->alpha, i, ratio);
    }
    for (size_t j = 0; ratio != 1 && j < descent->n * descent->k; j++) {
        descent->F[j] *= ratio;
    }
    if (ratio != 1 && !descent->task->shape.form->simplex) {
        mc_alpha_clip(&descent->alpha, descent->row_cap);
    }
    mc_kernel_coefficients(descent); /* F = K B up to rounding */
}

int mc_kernel_solve(struct mc_kernel_descent *descent, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    *fit = (struct mc_fit){0};
    set_cost(descent, goal->cost);
    descent->epsilon = goal->epsilon;
    descent->work = descent->active_set_work = 0;
    descent->iterations = 0;
    descent->best = INFINITY;
    descent->slow = false;
    descent->active_set = goal->active_set;
    descent->fallback_work = goal->fallback_work;
    int status = divide_memory(descent, err) < 0
                     ? -1
                     : mc_fit_tighten(run, descent, goal, monitor, fit, err);
    if (fit->reason == STOP_OUTER_ITERATIONS) { /* rounding undid the progress of each run */
        fit->reason = descent->stores_double ? STOP_STALLED : STOP_FLOAT_KERNEL;
    }
    free(descent->K);
    descent->K = NULL;
    landmarks_free(&descent->landmarks);
    free(descent->average);
    descent->average = NULL;
    return status;
}

bool mc_kernel_is_slow(const struct mc_kernel_descent *descent) {
    return descent->slow;
}

/* ---- creation ---- */

static int allocate(struct mc_kernel_descent *descent, struct error *err) {
    size_t n = descent->n, k = descent->k;
    descent->block =
        ARRAYS_CREATE("scores", err, ARRAYS(n, double, &descent->row_cap, &descent->q),
                      ARRAYS(n * k, double, &descent->F, &descent->B),
                      ARRAYS(n, struct candidate, &descent->candidate),
                      ARRAYS(n, uint32_t, &descent->set), ARRAYS(n, bool, &descent->updated));
    return !descent->block || mc_kernel_steps_create(descent, err) < 0 ||
                   mc_alpha_create(&descent->alpha, n, k, err) < 0
               ? -1
               : 0;
}

/* By BLAS an entry of K costs one multiplication for each feature to compute, and one for each
 * class to use. With fewer features than classes columns are not cached. */
static bool is_uncached(const struct mc_task *task) {
    const struct problem *problem = task->problem;
    return kernel_rows_by_blas(gram_rows(problem->gram)) &&
           problem->data->n_features <= task->shape.k;
}

int mc_kernel_create(struct mc_kernel_descent **descent, const struct mc_task *task,
                     struct error *err) {
    struct mc_kernel_descent *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->task = task;
    made->n = task->n;
    made->k = task->shape.k;
    made->stores_double =
        gram_is_double(task->problem->gram) && gram_is_cached(task->problem->gram);
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
    *descent = made;
    return 0;
}

void mc_kernel_free(struct mc_kernel_descent *descent) {
    if (!descent) {
        return;
    }
    score_map_free(&descent->map);
    column_cache_free(descent->columns);
    mc_alpha_free(&descent->alpha);
    mc_active_free(descent->active);
    free(descent->steps);
    free(descent->block);
    free(descent);
}
