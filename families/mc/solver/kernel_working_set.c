/* Working sets of coordinate descent with kernels: the choice of the rows, and the inner problem:
 * the dual in the alpha of the set alone. Sweeps of exact steps (row_step_real.h) solve it on the
 * matrix K_SS in float. The changes of the scores since the set was chosen are summed in float:
 * they are small at the end, where precision matters. Changes are delayed and added in blocks, so
 * that K_SS passes through the cache once for many steps. */
#include "common/base/ahead.h"
#include "common/base/arrays.h"
#include "common/base/dispatch.h"
#include "common/base/memory.h"
#include "common/base/order.h"
#include "common/base/sizes.h"
#include "common/kernel/add_rows.h"
#include "families/mc/solver/kernel_descent_private.h"
#include "families/mc/solver/rescaling.h"
#include "fit/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MC_MAX_ROOT_STEPS = 60, /* iterations of a root search */
    MAX_SWEEPS = 200,       /* limit of sweeps over a working set, */
    MAX_STEPS = 1 << 20,    /* or of steps, if that allows more sweeps */
    EVALUATIONS = 8,        /* the gap is evaluated after 1/8 more sweeps than the last time */
    DELAY = 32,             /* steps whose changes of the scores are added together, */
    TILE = 128,             /* for so many rows at a time, which stay in cache; */
    MIN_AHEAD_ROWS = 4096,  /* from so many rows on by two threads: K_SS has 64 MB */
    LINE = 64               /* bytes of a cache line */
};

/* A working set is solved when the gap of its inner problem is at most INNER_GAP times primal -
 * dual of the whole problem, or TARGET_PART times the target of that. */
static const double INNER_GAP = 0.05, TARGET_PART = 0.5;
/* Work of a step in multiplications, and for each of its classes, besides the scores that it
 * changes. Without STEP_WORK, one of 38 hard fits takes 1 s instead of .01. */
static const double STEP_WORK = 100, CLASS_WORK = 20;
/* Smallest target gap at which sums of a set in float are used: their relative errors are 1e-6. */
static const double MIN_EPSILON_FLOAT = 1e-4;

#define REAL double
#define SIGNED int64_t
#define NAME(x) double_##x
#include "families/mc/solver/row_step_real.h"
#undef REAL
#undef SIGNED
#undef NAME

/* ---- steps ---- */

int mc_kernel_steps_create(struct mc_kernel_descent *descent, struct error *err) {
    const struct double_blocks blocks = double_blocks_of(&descent->task->shape);
    double *v;
    descent->steps =
        ARRAYS_CREATE("a block", err, ARRAYS(1, struct double_blocks, &descent->blocks),
                      ARRAYS(blocks.width, double, &v, &descent->s, &descent->row, &descent->u));
    if (!descent->steps) {
        return -1;
    }
    *descent->blocks = blocks;
    descent->blocks->v = v;
    return 0;
}

DISPATCH double mc_kernel_step(struct mc_kernel_descent *descent, size_t y, double cap,
                               double square) {
    double margin = descent->task->shape.margin;
    return double_step(descent->blocks, y, cap, margin * margin * square, descent->s, descent->row,
                       descent->u);
}

/* ---- the choice ---- */

static int compare_gains(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->gain != y->gain) {
        return x->gain > y->gain ? -1 : 1;
    }
    /* for equal gains, as all are at first, a hash of the row: not the first classes of the file */
    uint32_t i = x->row * UINT32_C(2654435761), j = y->row * UINT32_C(2654435761);
    return (i > j) - (i < j);
}

size_t mc_kernel_list(struct mc_kernel_descent *descent) {
    const struct mc_task *task = descent->task;
    size_t k = descent->k, n = 0;
    for (size_t i = 0; i < descent->n; i++) {
        size_t y = task->y[i];
        if (!(descent->q[i] > 0)) {
            continue;
        }
        memcpy(descent->s, descent->F + i * k, k * sizeof *descent->s);
        mc_alpha_load(&descent->alpha, i, descent->row);
        bool free = false;
        for (size_t c = 0; c < k; c++) {
            free = free || (descent->row[c] > 0 && descent->row[c] < descent->row_cap[i]);
        }
        double gain = mc_kernel_step(descent, y, descent->row_cap[i], descent->q[i]);
        if (gain > 0 || free) {
            descent->candidate[n++] =
                (struct candidate){.gain = fmax(gain, 0), .row = (uint32_t)i, .free = free};
        }
    }
    qsort(descent->candidate, n, sizeof *descent->candidate, compare_gains);
    return n;
}

size_t mc_kernel_choose(struct mc_kernel_descent *descent, size_t n, size_t max) {
    size_t m = 0;
    for (int pass = 0; pass < 3; pass++) { /* free; at a bound; free again */
        bool inside = pass != 1;
        size_t limit = pass == 0 ? max / 2 : max;
        for (size_t i = 0; i < n && m < limit; i++) {
            struct candidate *candidate = &descent->candidate[i];
            if (!candidate->chosen && candidate->free == inside) {
                candidate->chosen = true;
                descent->set[m++] = candidate->row;
            }
        }
    }
    qsort(descent->set, m, sizeof *descent->set, order_uint32);
    return m;
}

/* ---- one working set ---- */

size_t mc_kernel_set_stride(size_t m) {
    return (((m + ADD_ROWS_FLOATS - 1) / ADD_ROWS_FLOATS) | 1) * ADD_ROWS_FLOATS;
}

/* Delayed steps: change[start[t] .. start[t + 1]) are the changes of the coefficients of row[t]. */
struct delayed {
    size_t n, row[DELAY], start[DELAY + 1];
    struct delayed_change {
        uint32_t class;
        float amount;
    } * change;                 /* (DELAY * k) */
    struct row_times *by_class; /* (DELAY * k) the same sorted by class, rows as numbers of steps */
    size_t *begin;              /* (k + 1) start of each class in by_class */
};

/* The inner problem of a working set. */
struct inner {
    struct mc_kernel_descent *descent;
    size_t m, stride;
    double sum;  /* of the set's alpha at the start */
    double gain; /* increase of the dual since the start */
    double work; /* of the last sweep, in multiplications */
    float *K;    /* (m, stride) K_SS + bias^2; borrowed */
    /* (m / TILE, k, TILE) change of the scores since the start */
    float *change;
    struct delayed delayed;
    size_t middle; /* first row of the second half, whose delayed changes another thread adds */
    struct ahead *ahead;
    struct mc_sampling sampling;
    /* the sweeps */
    double target; /* of the gap */
    const struct monitor *monitor;
    enum mc_set_end end;
    int status;
    struct error *err;
};

static void inner_free(struct inner *inner) {
    free(inner->change);
    free(inner->delayed.change);
    free(inner->delayed.by_class);
    free(inner->delayed.begin);
    mc_sampling_free(&inner->sampling);
}

static int inner_create(struct inner *inner, struct mc_kernel_descent *descent, size_t m,
                        struct error *err) {
    size_t k = descent->k;
    float square = (float)(descent->task->bias * descent->task->bias);
    struct delayed *delayed = &inner->delayed;
    *inner = (struct inner){
        .descent = descent, .m = m, .stride = mc_kernel_set_stride(m), .K = descent->K};
    for (size_t a = 0; a < m; a++) {
        inner->sum += mc_alpha_sum(&descent->alpha, descent->set[a]);
    }
    size_t tiles = (m + TILE - 1) / TILE;
    inner->middle = smaller(m, (tiles + 1) / 2 * TILE);
    inner->change = memory_zeros(tiles, TILE * k * sizeof *inner->change, "a working set", err);
    delayed->change = memory_array(k, DELAY * sizeof *delayed->change, "a working set", err);
    delayed->by_class = memory_array(k, DELAY * sizeof *delayed->by_class, "a working set", err);
    delayed->begin = memory_array(k + 1, sizeof *delayed->begin, "a working set", err);
    if (!inner->change || !delayed->change || !delayed->by_class || !delayed->begin ||
        mc_sampling_create(&inner->sampling, m, descent->task->seed, err) < 0 ||
        column_cache_square(descent->columns, descent->set, m, inner->K, inner->stride, err) < 0) {
        return -1;
    }
    for (size_t a = 0; a < m; a++) {
        float *row = inner->K + a * inner->stride;
        for (size_t b = 0; square > 0 && b < m; b++) {
            row[b] += square;
        }
        memset(row + m, 0, (inner->stride - m) * sizeof *row);
    }
    return 0;
}

/* descent->s = the scores of row a of the set. */
static void inner_scores(const struct inner *inner, size_t a) {
    struct mc_kernel_descent *descent = inner->descent;
    const struct delayed *delayed = &inner->delayed;
    const double *before = descent->F + descent->set[a] * descent->k;
    const float *change = inner->change + a / TILE * TILE * descent->k + a % TILE;
    for (size_t c = 0; c < descent->k; c++) {
        descent->s[c] = before[c] + (double)change[c * TILE];
    }
    for (size_t t = 0; t < delayed->n; t++) {
        double value = (double)inner->K[a * inner->stride + delayed->row[t]]; /* K is symmetric */
        for (size_t e = delayed->start[t]; e < delayed->start[t + 1]; e++) {
            descent->s[delayed->change[e].class] += value * (double)delayed->change[e].amount;
        }
    }
}

/* Prefetches what inner_scores reads for row a, which is scattered over the memory. */
static void inner_prefetch(const struct inner *inner, size_t a) {
    const struct mc_kernel_descent *descent = inner->descent;
    const struct delayed *delayed = &inner->delayed;
    const double *before = descent->F + descent->set[a] * descent->k;
    const float *change = inner->change + a / TILE * TILE * descent->k + a % TILE;
    for (size_t c = 0; c < descent->k; c++) {
        __builtin_prefetch(change + c * TILE);
    }
    for (size_t c = 0; c < descent->k; c += LINE / sizeof *before) {
        __builtin_prefetch(before + c);
    }
    for (size_t t = 0; t < delayed->n; t++) {
        __builtin_prefetch(inner->K + a * inner->stride + delayed->row[t]);
    }
}

/* Lists the changes by class, in the order of the steps. */
static void sort_by_class(struct delayed *delayed, size_t k) {
    size_t n = delayed->start[delayed->n], *begin = delayed->begin;
    memset(begin, 0, (k + 1) * sizeof *begin);
    for (size_t e = 0; e < n; e++) {
        begin[delayed->change[e].class + 1]++;
    }
    for (size_t c = 0; c < k; c++) {
        begin[c + 1] += begin[c];
    }
    for (size_t t = 0; t < delayed->n; t++) {
        for (size_t e = delayed->start[t]; e < delayed->start[t + 1]; e++) {
            struct delayed_change change = delayed->change[e];
            delayed->by_class[begin[change.class]++] =
                (struct row_times){(uint32_t)t, change.amount};
        }
    }
    memmove(begin + 1, begin, k * sizeof *begin);
    begin[0] = 0;
}

/* Prefetches n numbers of a row. */
static inline void prefetch(const float *row, size_t n) {
    for (size_t i = 0; i < n; i += LINE / sizeof *row) {
        __builtin_prefetch(row + i);
    }
}

/* Adds the delayed changes to the scores of the rows from `begin`, a multiple of TILE, to `end`.
 * Between the classes a share of the next tile's rows is prefetched; all at once would be more
 * requests than the processor holds. */
DISPATCH static void apply_to(const struct inner *inner, size_t begin, size_t end) {
    const struct delayed *delayed = &inner->delayed;
    size_t k = inner->descent->k;
    const float *row[DELAY];
    for (size_t first = begin; first < end; first += TILE) {
        float *tile = inner->change + first * k;
        size_t rows = smaller(end - first, TILE), next = smaller(end - first - rows, TILE),
               prefetched = 0;
        for (size_t t = 0; t < delayed->n; t++) {
            row[t] = inner->K + delayed->row[t] * inner->stride + first;
        }
        for (size_t c = 0; c < k; c++) {
            size_t entry = delayed->begin[c], n = delayed->begin[c + 1] - entry;
            for (; prefetched < delayed->n * (c + 1) / k; prefetched++) {
                prefetch(row[prefetched] + rows, next);
            }
            for (size_t i = 0; n > 0 && i < rows; i += ADD_ROWS_FLOATS) {
                add_rows(tile + c * TILE + i, delayed->by_class + entry, n, row, i);
            }
        }
    }
}

/* The job of the other thread. */
static void apply_rest(void *argument) {
    const struct inner *inner = argument;
    apply_to(inner, inner->middle, inner->m);
}

/* Adds the delayed changes to the scores of all rows. */
static void inner_apply(struct inner *inner) {
    if (inner->delayed.n == 0) {
        return;
    }
    sort_by_class(&inner->delayed, inner->descent->k);
    ahead_post(inner->ahead);
    apply_to(inner, 0, inner->middle);
    ahead_wait(inner->ahead);
    inner->delayed.n = 0;
}

/* Delays the change of the scores by a step that changed the coefficients of row a by u (k). */
static void inner_delay(struct inner *inner, size_t a, const double *u) {
    struct delayed *delayed = &inner->delayed;
    size_t n = delayed->n > 0 ? delayed->start[delayed->n] : 0;
    delayed->row[delayed->n] = a;
    delayed->start[delayed->n] = n;
    for (size_t c = 0; c < inner->descent->k; c++) {
        if (u[c] != 0) {
            delayed->change[n++] = (struct delayed_change){(uint32_t)c, (float)u[c]};
            inner->work += (double)inner->m;
        }
    }
    delayed->start[++delayed->n] = n;
    if (delayed->n == DELAY) {
        inner_apply(inner);
    }
}

/* The losses of the set's rows at theta times their scores, for mc_line. */
static double inner_losses(void *context, double theta, double *slope) {
    const struct inner *inner = context;
    struct mc_kernel_descent *descent = inner->descent;
    const struct mc_task *task = descent->task;
    double loss = 0;
    *slope = 0;
    for (size_t a = 0; a < inner->m; a++) {
        size_t i = descent->set[a], y = task->y[i];
        double along;
        inner_scores(inner, a);
        loss += descent->row_cap[i] * mc_loss_along(&task->shape, y, descent->s, theta, &along);
        *slope += descent->row_cap[i] * along;
    }
    return loss;
}

/* The gap of the inner problem, with the primal at theta W. With N = |W|^2 and the set's part of
 * it, N_S = sum over S of <u, s> (u: a row's coefficients, s: its scores), it is phi(theta) + rest:
 *   phi(theta) = theta^2 N / 2 - theta (N - N_S) + sum over S of C L(theta s),
 *   rest = N / 2 - sum over S of sum alpha. */
static double inner_gap(struct inner *inner, double target) {
    struct mc_kernel_descent *descent = inner->descent;
    const struct mc_task *task = descent->task;
    size_t k = descent->k;
    double sum = 0, set_norm = 0;
    for (size_t a = 0; a < inner->m; a++) {
        size_t i = descent->set[a];
        double mean = 0;
        inner_scores(inner, a);
        mc_alpha_load(&descent->alpha, i, descent->row);
        mc_coefficients(&task->shape, task->y[i], descent->row, descent->u);
        for (size_t c = 0; task->shape.form->centred && c < k; c++) {
            mean += descent->s[c] / (double)k;
        }
        for (size_t c = 0; c < k; c++) {
            set_norm += descent->u[c] * (descent->s[c] - mean);
            sum += descent->row[c];
        }
    }
    /* the dual, sum alpha - N / 2, has risen by the gains */
    double squared_norm = fmax(0, descent->squared_norm + 2 * (sum - inner->sum - inner->gain)),
           value;
    struct mc_line line = {squared_norm, squared_norm - set_norm, inner_losses, inner};
    /* the gap is phi + rest, so the target of phi is target - rest */
    double rest = squared_norm / 2 - sum;
    mc_rescale(&line, target - rest, &value);
    return value + rest;
}

static int inner_sweep(struct inner *inner) {
    struct mc_kernel_descent *descent = inner->descent;
    size_t k = descent->k, n = mc_sampling_sweep(&inner->sampling);
    inner->work = (double)n * (STEP_WORK + CLASS_WORK * (double)k);
    for (size_t t = 0; t < n; t++) {
        size_t a = inner->sampling.order[t], i = descent->set[a], y = descent->task->y[i];
        inner_scores(inner, a);
        if (t + 1 < n) {
            inner_prefetch(inner, inner->sampling.order[t + 1]);
        }
        mc_alpha_load(&descent->alpha, i, descent->row);
        double gain = mc_kernel_step(descent, y, descent->row_cap[i], descent->q[i]);
        mc_sampling_gain(&inner->sampling, a, gain);
        if (!(gain > 0)) {
            continue; /* no change, or rounding */
        }
        inner->gain += gain;
        inner_delay(inner, a, descent->u);
        if (mc_alpha_store(&descent->alpha, i, descent->row, inner->err) < 0) {
            return -1;
        }
    }
    inner_apply(inner);
    return 0;
}

/* Variables of a row with alpha and slacks (k) that would be free in an active-set iteration: those
 * between their bounds, and those at a bound that would gain by leaving it. On a simplex alphas
 * leave 0 in exchange with a partner, the largest alpha, or the rest of C if that is larger. The
 * partner's slack (0 for the rest) is the multiplier of sum alpha <= C. */
static size_t count_free(const struct mc_shape *shape, size_t y, double cap, const double *alpha,
                         const double *slack) {
    size_t n_free = 0;
    double largest = cap, multiplier = 0;
    for (size_t c = 0; shape->form->simplex && c < shape->k; c++) {
        largest -= alpha[c];
    }
    for (size_t c = 0; shape->form->simplex && c < shape->k; c++) {
        multiplier = alpha[c] > largest ? slack[c] : multiplier;
        largest = fmax(largest, alpha[c]);
    }
    for (size_t c = 0; c < shape->k; c++) {
        bool high = !shape->form->simplex && alpha[c] >= cap;
        bool free = high ? slack[c] < 0 : alpha[c] > 0 || slack[c] > multiplier;
        n_free += free && mc_is_term(shape, y, c);
    }
    return n_free;
}

/* Work of an active-set iteration with the free variables of the set; INFINITY if there are too
 * many. */
static double active_set_work(struct inner *inner) {
    struct mc_kernel_descent *descent = inner->descent;
    size_t n_free = 0,
           max = mc_active_subproblems(&descent->task->shape) * mc_kernel_max_free(descent);
    for (size_t a = 0; a < inner->m && n_free <= max; a++) {
        size_t i = descent->set[a], y = descent->task->y[i];
        inner_scores(inner, a);
        mc_alpha_load(&descent->alpha, i, descent->row);
        mc_slacks(&descent->task->shape, y, descent->s, descent->u);
        n_free +=
            count_free(&descent->task->shape, y, descent->row_cap[i], descent->row, descent->u);
    }
    return n_free <= max ? mc_kernel_active_set_work(descent, (double)n_free) : (double)INFINITY;
}

double mc_kernel_active_set_work(const struct mc_kernel_descent *descent, double size) {
    double n_subproblems = (double)mc_active_subproblems(&descent->task->shape),
           each = size / n_subproblems;
    return work_blas3(n_subproblems * each * each * each);
}

/* Progress of the inner problem. */
struct sweep_progress {
    double work; /* so far */
    double best; /* the smallest gap */
    size_t sweeps;
    struct mc_rate rate; /* of the smallest gap, by sweeps */
};

/* Updates the progress by the gap, and asks the policy whether to hand over. */
static enum mc_set_end update(struct inner *inner, struct sweep_progress *progress, double gap,
                              double target) {
    progress->best = fmin(progress->best, gap);
    double need = mc_rate_needed(&progress->rate, (double)progress->sweeps, progress->best, target);
    mc_rate_update(&progress->rate, (double)progress->sweeps, progress->best);
    if (progress->sweeps < 2) {
        return MC_SET_RUNNING;
    }
    const struct mc_kernel_descent *descent = inner->descent;
    const struct mc_descent_work work = {.set = progress->work,
                                         .all = descent->work + progress->work,
                                         .needed = need * work_blas2_float(inner->work),
                                         .active_set = descent->active_set ? active_set_work(inner)
                                                                           : (double)INFINITY,
                                         .fallback = descent->fallback_work};
    return mc_policy_after_sweep(&work);
}

/* Sets F at the rows of the set to the scores after the steps. */
static void store_scores(const struct inner *inner) {
    struct mc_kernel_descent *descent = inner->descent;
    for (size_t a = 0; a < inner->m; a++) {
        size_t i = descent->set[a];
        inner_scores(inner, a);
        memcpy(descent->F + i * descent->k, descent->s, descent->k * sizeof *descent->s);
        descent->updated[i] = true;
    }
}

/* Sweeps until the inner problem is solved or handed over, or a limit is reached. */
static void run_sweeps(void *argument, struct ahead *ahead) {
    struct inner *inner = argument;
    size_t m = inner->m, max = MAX_STEPS / m > MAX_SWEEPS ? MAX_STEPS / m : MAX_SWEEPS, next = 1;
    struct sweep_progress progress = {.best = INFINITY, .rate = {.earlier = INFINITY}};
    inner->ahead = ahead;
    while (inner->status == 0 && inner->end == MC_SET_RUNNING && progress.sweeps < max &&
           !(progress.sweeps > 0 && monitor_past_deadline(inner->monitor))) {
        inner->status = inner_sweep(inner);
        progress.sweeps++;
        progress.work += work_blas2_float(inner->work);
        if (progress.sweeps < next) {
            continue;
        }
        next = progress.sweeps + 1 + progress.sweeps / EVALUATIONS;
        double gap = inner_gap(inner, inner->target);
        inner->end =
            gap <= inner->target ? MC_SET_SOLVED : update(inner, &progress, gap, inner->target);
    }
    inner->end = inner->end == MC_SET_RUNNING ? MC_SET_LIMITED : inner->end;
    inner->descent->work += progress.work;
}

int mc_kernel_descend(struct mc_kernel_descent *descent, size_t m, double target_gap,
                      const struct monitor *monitor, enum mc_set_end *end, struct error *err) {
    struct inner inner;
    int status = inner_create(&inner, descent, m, err);
    if (status == 0) {
        inner.target =
            fmax(INNER_GAP * (descent->primal - descent->dual), TARGET_PART * target_gap);
        inner.monitor = monitor;
        inner.err = err;
        ahead_run(m >= MIN_AHEAD_ROWS ? descent->task->problem->threads : NULL, run_sweeps,
                  apply_rest, &inner);
        status = inner.status;
        *end = inner.end;
    }
    /* the part of a constant feature is large and equal in all rows: it is summed in double */
    bool in_float = descent->uncached && !descent->stores_double && descent->task->bias == 0;
    if (status == 0 && in_float && descent->epsilon >= MIN_EPSILON_FLOAT) {
        store_scores(&inner);
    }
    inner_free(&inner);
    return status;
}
