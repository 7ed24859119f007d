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
    MOST_SET = 14000, /* rows of the largest set at first; its matrix has 784 MB */
    PATIENCE = 8,     /* solved working sets without PROGRESS until the descent has stalled; */
    SOLVED = 8,       /* an unsolved working set counts as 1/8 of a solved one, */
    ROUND = 2         /* an active-set iteration as 2/8 */
};

/* Relative decrease of primal - dual that counts as progress. */
static const double PROGRESS = 0.05;
/* An increase of the dual by this part of primal - dual is progress too: with more support vectors
 * than a working set holds, the primal falls late (sets of a third of them: 2e-5 a set). */
static const double RISE = 1e-5;
/* An increase of the dual by this part of itself with every set is progress as well: with a nearly
 * singular kernel matrix the primal does not fall for long. A dual that rises by equal steps from
 * nearly 0 is none, as it would take forever. Neither counts if the working set has all rows that
 * would gain and the matrix is indefinite: then the dual moves between saddle points, and gives no
 * bound. */
static const double GROWING = 0.1;
static const double GROWTH = 1.6; /* factor from one working set's size to the next */
/* Active-set iterations end when one gains less than this part of the dual. */
static const double ROUND_GAIN = 1e-14;
/* A working set in float that lowers the dual by more than this part is undone. */
static const double LOWER = 1e-9;
/* If a working set of maximal size leaves more than SLOW of primal - dual, and more rows would gain,
 * it is too small for the support vectors: progress on one set is lost on the next. Then working
 * sets get more memory, and cached columns less, down to LEAST_COLUMNS of it. */
static const double SLOW = 0.5, LEAST_COLUMNS = 0.2;

/* Allocates the matrix for working sets of up to m rows; the column cache gets the rest of the
 * memory, at least LEAST_COLUMNS of it. */
static int divide_memory(struct mc_kernel *kernel, size_t m, struct error *err) {
    size_t stride = mc_kernel_set_stride(m);
    size_t bytes = kernel->task->problem->cache_bytes, own = m * stride * sizeof(float);
    size_t least = (size_t)((double)bytes * LEAST_COLUMNS);
    columns_limit(kernel->columns, own < bytes - least ? bytes - own : least);
    free(kernel->K);
    kernel->K = memory_array(m, stride * sizeof(float), "a working set", err);
    kernel->most_set = m;
    return kernel->K ? 0 : -1;
}

/* Allocates larger working sets, if memory allows, when a set of m of n rows that would gain was too
 * small: it left `part` of primal - dual. */
static int enlarge(struct mc_kernel *kernel, size_t n, size_t m, double part, struct error *err) {
    size_t bytes = kernel->task->problem->cache_bytes;
    double most = sqrt((double)bytes * (1 - LEAST_COLUMNS) / sizeof(float));
    most = fmin(fmin(most, GROWTH * (double)m), (double)kernel->n);
    if (m < kernel->most_set || n <= m || part < SLOW || most <= (double)m) {
        return 0;
    }
    return divide_memory(kernel, (size_t)most, err);
}

/* ---- working sets and active-set iterations ---- */

/* Progress, and the next iteration. */
struct course {
    double best, highest;   /* smallest primal - dual, highest dual */
    int waiting;            /* patience used since one of them improved */
    bool round;             /* next is an active-set iteration, else a working set */
    bool set;               /* the last iteration was a working set, */
    enum mc_kernel_end end; /* which ended so; at first it counts as solved */
    double last, before;    /* primal - dual and dual when it was chosen */
    size_t n_gaining, n_set, most_set; /* rows that would gain; of the last set; limit of the next */
    struct mc_rate rate;               /* of primal - dual */
};

/* An active-set iteration. Another one follows while it gains. */
static int run_round(struct mc_kernel *kernel, const struct monitor *monitor, struct course *course,
                     struct error *err) {
    struct mc_round round = {.cap = kernel->cap,
                             .q = kernel->q,
                             .F = kernel->F,
                             .alpha = &kernel->alpha,
                             .few = kernel->near,
                             .monitor = monitor};
    if (mc_active_run(kernel->active, &round, err) < 0) {
        return -1;
    }
    kernel->rounds_work += mc_kernel_round_work(kernel, (double)round.size);
    course->set = false;
    course->round = !round.crowded && round.gain > ROUND_GAIN * fabs(kernel->dual);
    return 0;
}

/* Chooses a working set and sweeps over it. course->n_set is 0 if no row would gain. */
static int run_set(struct mc_kernel *kernel, double wanted, const struct monitor *monitor,
                   struct course *course, struct error *err) {
    double distance = kernel->primal - kernel->dual;
    course->n_gaining = mc_kernel_list(kernel);
    if (enlarge(kernel, course->n_gaining, course->n_set, distance / course->last, err) < 0) {
        return -1;
    }
    course->set = true;
    course->last = distance;
    course->before = kernel->dual;
    size_t most = course->most_set < kernel->most_set ? course->most_set : kernel->most_set;
    course->n_set = mc_kernel_choose(kernel, course->n_gaining, most);
    course->most_set = (size_t)(GROWTH * (double)most);
    if (course->n_set == 0) {
        return 0;
    }
    if ((kernel->exact && mc_alpha_copy(&kernel->before, &kernel->alpha, err) < 0) ||
        mc_kernel_descend(kernel, course->n_set, wanted, monitor, &course->end, err) < 0) {
        return -1;
    }
    course->round = course->end == MC_SET_SLOW;
    return 0;
}

/* Evaluates the bounds at alpha. A working set that has lowered the dual, by the rounding of its
 * matrix in float, is undone. */
static int look(struct mc_kernel *kernel, const struct course *course, double epsilon,
                struct error *err) {
    if (mc_kernel_refresh(kernel, epsilon, err) < 0) {
        return -1;
    }
    if (!course->set || !kernel->exact ||
        !(kernel->dual < course->before - LOWER * fabs(course->before))) {
        return 0;
    }
    return mc_alpha_copy(&kernel->alpha, &kernel->before, err) < 0 ||
                   mc_kernel_refresh(kernel, epsilon, err) < 0
               ? -1
               : 0;
}

/* Updates the progress by the current bounds, and chooses the next iteration. False if the descent
 * has stalled. */
static bool gains(const struct mc_kernel *kernel, struct course *course) {
    double distance = kernel->primal - kernel->dual; /* not the relative gap, which may stay near 1 for long */
    course->waiting += !course->set ? ROUND : course->end == MC_SET_SOLVED ? SOLVED : 1;
    double growth = expm1(log1p(GROWING) * fmax(1, course->waiting / (double)SOLVED));
    double rise = fmin(RISE * distance, growth * fabs(course->highest));
    bool risen = kernel->dual > course->highest + rise &&
                 (kernel->definite || course->n_gaining > course->n_set);
    if (distance < course->best * (1 - PROGRESS) || risen) {
        course->best = fmin(course->best, distance);
        course->highest = fmax(course->highest, kernel->dual);
        course->waiting = 0;
    }
    /* a set that is solved by its own estimate but gains nothing has reached the precision of float */
    course->round =
        kernel->active_set &&
        (course->round || (course->set && course->end == MC_SET_SOLVED && course->waiting));
    return course->waiting < PATIENCE * SOLVED;
}

/* Whether the policy hands over to ADMM. */
static bool is_slow(const struct mc_kernel *kernel, struct course *course, double aim) {
    double distance = kernel->primal - kernel->dual;
    double work = kernel->work + kernel->rounds_work;
    double need = mc_rate_needed(&course->rate, work, distance, aim * kernel->primal);
    mc_rate_update(&course->rate, work, distance);
    const struct mc_descent_work used = {.all = work,
                                         .needed = need,
                                         .active_set = kernel->rounds_work,
                                         .fallback = kernel->split_work};
    return (course->set && course->end == MC_SET_SPLIT) || mc_policy_after_set(&used);
}

/* Iterates until the gap, by the scores F, is at most aim, or a limit is reached, or it stalls. */
static int iterate(struct mc_kernel *kernel, double aim, const struct monitor *monitor,
                   struct mc_fit *fit, struct error *err) {
    size_t first = kernel->n / FIRST_PART > FIRST_SET ? kernel->n / FIRST_PART : FIRST_SET;
    struct course course = {.best = INFINITY,
                            .highest = -INFINITY,
                            .last = INFINITY,
                            .rate = {.earlier = INFINITY},
                            .end = MC_SET_SOLVED,
                            .most_set = first,
                            .round = kernel->near && kernel->active_set};
    fit->reason = STOP_REACHED;
    for (;;) {
        if (look(kernel, &course, aim, err) < 0) {
            return -1;
        }
        if (gap_reached(kernel->primal, kernel->dual, aim)) {
            return 0;
        }
        fit->iterations++;
        fit->reason = monitor_check(monitor, fit->iterations, kernel->primal, kernel->dual);
        if (fit->reason) {
            return 0;
        }
        if (!gains(kernel, &course)) {
            break;
        }
        monitor_algorithm(monitor,
                          course.round ? ALGORITHM_ACTIVE_SET : ALGORITHM_COORDINATE_DESCENT);
        if (course.round ? run_round(kernel, monitor, &course, err) < 0
                         : run_set(kernel, aim * kernel->primal, monitor, &course, err) < 0) {
            return -1;
        }
        if (course.set && course.n_set == 0) {
            break;
        }
        kernel->slow = is_slow(kernel, &course, aim);
        if (kernel->slow) {
            fit->reason = STOP_CROWDED;
            return look(kernel, &course, aim, err);
        }
    }
    kernel->slow = course.n_gaining > kernel->most_set && isfinite(kernel->split_work);
    fit->reason = course.n_gaining > kernel->most_set ? STOP_CROWDED
                  : kernel->exact                     ? STOP_ROUNDING
                                                      : STOP_PRECISION;
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
    if (fit->reason == STOP_PRECISION && fit->certificate.gap <= kernel->best / 2) {
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
    kernel->work = kernel->rounds_work = 0;
    kernel->iterations = 0;
    kernel->best = INFINITY;
    kernel->slow = false;
    kernel->active_set = goal->active_set;
    kernel->split_work = goal->fallback_work;
    size_t m = kernel->n < MOST_SET ? kernel->n : MOST_SET;
    int status = divide_memory(kernel, m, err) < 0
                     ? -1
                     : mc_fit_tighten(run, kernel, goal, monitor, fit, err);
    if (fit->reason == STOP_ROUNDS) { /* each run lost by rounding what it gained */
        fit->reason = kernel->exact ? STOP_STALLED : STOP_PRECISION;
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

int mc_kernel_take(struct mc_kernel *kernel, const struct mc_goal *goal, const double *weights,
                   const struct mc_alpha *alpha, struct mc_fit *fit, struct error *err) {
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
    kernel->gain = memory_array(n, sizeof *kernel->gain, "gains", err);
    kernel->set = memory_array(n, sizeof *kernel->set, "a working set", err);
    if (!kernel->cap || !kernel->q || !kernel->F || !kernel->B || !kernel->gain || !kernel->set ||
        mc_kernel_steps_create(kernel, err) < 0 || mc_alpha_create(&kernel->alpha, n, k, err) < 0) {
        return -1;
    }
    return kernel->exact ? mc_alpha_create(&kernel->before, n, k, err) : 0;
}

/* By BLAS an entry of K costs one multiplication for each feature to compute, and one for each class
 * to use. With fewer features than classes columns are not cached. */
static bool is_cheap(const struct mc_task *task) {
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
    made->exact = gram_is_wide(task->problem->gram) && gram_is_whole(task->problem->gram);
    made->cheap = is_cheap(task);
    size_t bytes = made->cheap ? 0 : task->problem->cache_bytes;
    if (allocate(made, err) < 0 || columns_create(&made->columns, task->problem, bytes, err) < 0 ||
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
    columns_free(kernel->columns);
    mc_alpha_free(&kernel->alpha);
    mc_alpha_free(&kernel->before);
    mc_active_free(kernel->active);
    mc_kernel_steps_free(kernel);
    free(kernel->cap);
    free(kernel->q);
    free(kernel->F);
    free(kernel->B);
    free(kernel->gain);
    free(kernel->set);
    free(kernel);
}
