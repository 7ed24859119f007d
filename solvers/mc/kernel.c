#include "solvers/mc/kernel.h"

#include "common/base/array.h"
#include "common/base/dispatch.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/kernel/columns.h"
#include "solvers/mc/alpha.h"
#include "solvers/mc/certify.h"
#include "solvers/mc/risk.h"
#include "solvers/mc/sampling.h"
#include "solvers/methods/score_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MC_MOST_PASSES = 60,  /* of a root */
    FIRST_SET = 1024,     /* rows of the first working set, */
    FIRST_PART = 60,      /* or this part of all; */
    MOST_SET = 14000,     /* of the largest, whose matrix has 784 MB, unless that is too slow */
    MOST_SWEEPS = 200,    /* of a working set, */
    MOST_STEPS = 1 << 20, /* or more, of so many steps in all */
    PATIENCE = 8,         /* working sets that were solved without PROGRESS of the gap ... */
    SOLVED = 8            /* ... and how many left unsolved count as much as one of them */
};

static const double PROGRESS = 0.05;
/* A dual that rises by this part of the distance is progress too: with more support vectors than a
 * set holds the primal is slow to follow (sets of a third of them: 2e-5 a set). */
static const double RISE = 1e-5;
static const double GROWTH = 1.6; /* of the working set */
/* Working sets as large as may be that leave more than this part of the distance are too small for
 * the support vectors there are, which then pull to and fro: if more would gain, the sets take
 * memory from the columns, but for this part of it. */
static const double SLOW = 0.5, LEAST_COLUMNS = 0.2;
/* A working set is done when its part of the gap is this part of the gap that there was, or of the
 * one that is wanted. */
static const double INNER = 0.05, ENOUGH = 0.5;
static const float LEAST = 0.05F, RATE = 0.2F; /* of the sampling */

#define REAL double
#define SIGNED int64_t
#define NAME(x) double_##x
static const double double_TINY = 4e-16, double_HUGE = 1e300;
#include "solvers/mc/step_real.h"
#undef REAL
#undef SIGNED
#undef NAME

struct mc_kernel {
    const struct mc_task *task;
    struct score_map exact; /* for the certificate */
    struct columns *columns;
    size_t n, k;
    double *q;     /* (n) K_ii + bias^2 */
    double *cap;   /* (k) */
    double *F, *B; /* (n, k) scores and coefficients */
    double cost;   /* alpha is for; 0 before the first solve */
    double primal, dual;
    struct mc_alpha alpha;
    struct double_blocks blocks;
    double *s, *row, *u; /* (width) */
    struct gain {
        double gain;
        uint32_t row;
        bool free, taken; /* alpha is inside its bounds; has a place in the working set */
    } * gain;             /* (n) */
    uint32_t *set;        /* (n) the working set, or the rows that it changed; ascending */
    size_t most_set;      /* rows of the largest working set */
    float *K; /* room for the matrix of the largest one: the system gives what is used */
};

/* ---- steps ---- */

DISPATCH static double trial(struct mc_kernel *kernel, size_t y, double q, const double *s,
                             double *alpha, double *u) {
    return double_step(&kernel->blocks, y, kernel->cap[y], q, s, alpha, u);
}

/* out (n) += factor * row (n) */
DISPATCH static void add_scaled(float *restrict out, float factor, const float *restrict row,
                                size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] += factor * row[i];
    }
}

/* ---- one working set ---- */

struct inner {
    size_t m;
    float *K; /* (m, m) K_SS + bias^2; borrowed */
    float
        *change; /* (k, m) of the scores, since the set was chosen: small where rounding matters */
    struct mc_sampling sampling;
};

static void inner_free(struct inner *inner) {
    free(inner->change);
    mc_sampling_free(&inner->sampling);
}

static int inner_create(struct inner *inner, const struct mc_kernel *kernel, size_t m,
                        struct error *err) {
    size_t k = kernel->k;
    float square = (float)(kernel->task->bias * kernel->task->bias);
    *inner = (struct inner){.m = m};
    inner->K = kernel->K;
    inner->change = memory_zeros(m, k * sizeof *inner->change, "a working set", err);
    if (!inner->change ||
        mc_sampling_create(&inner->sampling, m, LEAST, RATE, kernel->task->seed, err) < 0 ||
        columns_square(kernel->columns, kernel->set, m, inner->K, err) < 0) {
        return -1;
    }
    for (size_t j = 0; square > 0 && j < m * m; j++) {
        inner->K[j] += square;
    }
    return 0;
}

/* kernel->s = the scores of row a of the set. */
static void inner_scores(const struct inner *inner, struct mc_kernel *kernel, size_t a) {
    const double *before = kernel->F + kernel->set[a] * kernel->k;
    for (size_t c = 0; c < kernel->k; c++) {
        kernel->s[c] = before[c] + (double)inner->change[c * inner->m + a];
    }
}

/* What row i of class y adds to the gap at scores s: C L + u's - sum alpha, never below 0 and 0 at
 * the optimum. row and u are work. */
static double row_gap(const struct mc_kernel *kernel, size_t i, const double *s) {
    const struct mc_task *task = kernel->task;
    size_t y = task->y[i], k = kernel->k;
    double mean = 0;
    mc_alpha_load(&kernel->alpha, i, kernel->row);
    mc_coefficients(&task->shape, y, kernel->row, kernel->u);
    double gap = kernel->cap[y] * mc_loss(&task->shape, y, s);
    for (size_t c = 0; task->shape.form->centred && c < k; c++) {
        mean += s[c] / (double)k;
    }
    for (size_t c = 0; c < k; c++) {
        gap += kernel->u[c] * (s[c] - mean) - kernel->row[c];
    }
    return gap;
}

static double inner_gap(const struct inner *inner, struct mc_kernel *kernel) {
    double gap = 0;
    for (size_t a = 0; a < inner->m; a++) {
        inner_scores(inner, kernel, a);
        gap += row_gap(kernel, kernel->set[a], kernel->s);
    }
    return gap;
}

static int inner_sweep(struct inner *inner, struct mc_kernel *kernel, struct error *err) {
    size_t m = inner->m, k = kernel->k, n = mc_sampling_sweep(&inner->sampling);
    double margin = kernel->task->shape.margin;
    for (size_t t = 0; t < n; t++) {
        size_t a = inner->sampling.order[t], i = kernel->set[a], y = kernel->task->y[i];
        inner_scores(inner, kernel, a);
        mc_alpha_load(&kernel->alpha, i, kernel->row);
        double gain =
            trial(kernel, y, margin * margin * kernel->q[i], kernel->s, kernel->row, kernel->u);
        mc_sampling_gain(&inner->sampling, a, gain);
        if (!(gain > 0)) {
            continue; /* nothing, or rounding */
        }
        for (size_t c = 0; c < k; c++) {
            if (kernel->u[c] != 0) {
                add_scaled(inner->change + c * m, (float)kernel->u[c], inner->K + a * m, m);
            }
        }
        if (mc_alpha_store(&kernel->alpha, i, kernel->row, err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* *solved becomes false when it was left before it was done. */
static int descend(struct mc_kernel *kernel, size_t m, double wanted, const struct monitor *monitor,
                   bool *solved, struct error *err) {
    struct inner inner;
    int status = inner_create(&inner, kernel, m, err);
    double target = fmax(INNER * (kernel->primal - kernel->dual), ENOUGH * wanted);
    size_t most = MOST_STEPS / m > MOST_SWEEPS ? MOST_STEPS / m : MOST_SWEEPS;
    *solved = false;
    for (size_t sweep = 0;
         status == 0 && !*solved && sweep < most && !(sweep > 0 && monitor_late(monitor));
         sweep++) {
        status = inner_sweep(&inner, kernel, err);
        *solved = inner_gap(&inner, kernel) <= target;
    }
    inner_free(&inner);
    return status;
}

/* ---- all rows ---- */

static int compare_gains(const void *a, const void *b) {
    const struct gain *x = a, *y = b;
    if (x->gain != y->gain) {
        return x->gain > y->gain ? -1 : 1;
    }
    /* equal gains, as all are at first: any rows, not those of the first classes in the file */
    uint32_t i = x->row * UINT32_C(2654435761), j = y->row * UINT32_C(2654435761);
    return (i > j) - (i < j);
}

static int compare_rows(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Fills gain, the largest first, with the rows that would gain, and those whose alpha is inside its
 * bounds; returns how many they are. */
static size_t list_gains(struct mc_kernel *kernel) {
    const struct mc_task *task = kernel->task;
    size_t k = kernel->k, n = 0;
    double margin = task->shape.margin;
    for (size_t i = 0; i < kernel->n; i++) {
        size_t y = task->y[i];
        if (!(kernel->q[i] > 0)) {
            continue;
        }
        memcpy(kernel->s, kernel->F + i * k, k * sizeof *kernel->s);
        mc_alpha_load(&kernel->alpha, i, kernel->row);
        bool free = false;
        for (size_t c = 0; c < k; c++) {
            free = free || (kernel->row[c] > 0 && kernel->row[c] < kernel->cap[y]);
        }
        double gain =
            trial(kernel, y, margin * margin * kernel->q[i], kernel->s, kernel->row, kernel->u);
        if (gain > 0 || free) {
            kernel->gain[n++] =
                (struct gain){.gain = fmax(gain, 0), .row = (uint32_t)i, .free = free};
        }
    }
    qsort(kernel->gain, n, sizeof *kernel->gain, compare_gains);
    return n;
}

/* Fills set with up to `most` of the n rows listed, and returns how many. Rows whose alpha is
 * inside its bounds have up to half of the places, whatever they gain: without them the others go
 * too far.
 */
static size_t choose(struct mc_kernel *kernel, size_t n, size_t most) {
    size_t m = 0;
    for (int pass = 0; pass < 3; pass++) { /* inside; at a bound; inside again */
        bool inside = pass != 1;
        size_t room = pass == 0 ? most / 2 : most;
        for (size_t i = 0; i < n && m < room; i++) {
            struct gain *gain = &kernel->gain[i];
            if (!gain->taken && gain->free == inside) {
                gain->taken = true;
                kernel->set[m++] = gain->row;
            }
        }
    }
    qsort(kernel->set, m, sizeof *kernel->set, compare_rows);
    return m;
}

/* b (k) = the coefficients of row i's alpha, which is made feasible, with the mean taken off. */
static void take_coefficients(struct mc_kernel *kernel, size_t i, double *b) {
    const struct mc_task *task = kernel->task;
    size_t k = kernel->k;
    double mean = 0, cap = kernel->cap[task->y[i]];
    double sum = task->shape.form->maximum ? mc_alpha_sum(&kernel->alpha, i) : 0;
    if (sum > cap) { /* by rounding: at a small cost it is more than the gap allows */
        mc_alpha_scale(&kernel->alpha, i, cap / sum);
    }
    mc_alpha_load(&kernel->alpha, i, kernel->row);
    mc_coefficients(&task->shape, task->y[i], kernel->row, b);
    for (size_t c = 0; task->shape.form->centred && c < k; c++) {
        mean += b[c] / (double)k;
    }
    for (size_t c = 0; c < k; c++) {
        b[c] -= mean;
    }
}

/* B = the coefficients of alpha. */
static void fill_coefficients(struct mc_kernel *kernel) {
    for (size_t i = 0; i < kernel->n; i++) {
        take_coefficients(kernel, i, kernel->B + i * kernel->k);
    }
}

/* Both bounds from F = K B. */
static int bounds(struct mc_kernel *kernel, struct error *err) {
    const struct mc_task *task = kernel->task;
    size_t k = kernel->k;
    double norm = 0, loss = 0, sum = 0;
    for (size_t i = 0; i < kernel->n; i++) {
        size_t y = task->y[i];
        norm += array_dot(kernel->B + i * k, kernel->F + i * k, k);
        loss += task->weight[y] * mc_loss(&task->shape, y, kernel->F + i * k);
        sum += kernel->q[i] > 0 ? mc_alpha_sum(&kernel->alpha, i)
                                : kernel->cap[y] * mc_most(&task->shape);
    }
    kernel->primal = norm / 2 + kernel->cost * loss;
    kernel->dual = sum - norm / 2;
    return isfinite(kernel->primal)
               ? 0
               : error_set(err, ERROR_RUNTIME, "scores overflow: scale the data or lower the cost");
}

/* Brings B, and F = K B, up to what alpha is now, and computes the bounds. */
static int refresh(struct mc_kernel *kernel, struct error *err) {
    size_t k = kernel->k, m = 0;
    double square = kernel->task->bias * kernel->task->bias;
    for (size_t i = 0; i < kernel->n; i++) {
        take_coefficients(kernel, i, kernel->u);
        if (memcmp(kernel->u, kernel->B + i * k, k * sizeof *kernel->u) != 0) {
            kernel->set[m++] = (uint32_t)i;
        }
    }
    double *change = memory_array(m, k * sizeof *change, "coefficients", err);
    if (!change) {
        return -1;
    }
    memset(kernel->s, 0, k * sizeof *kernel->s);
    for (size_t a = 0; a < m; a++) {
        double *b = kernel->B + kernel->set[a] * k;
        take_coefficients(kernel, kernel->set[a], kernel->u);
        for (size_t c = 0; c < k; c++) {
            change[a * k + c] = kernel->u[c] - b[c];
            kernel->s[c] += square * change[a * k + c];
        }
        memcpy(b, kernel->u, k * sizeof *b);
    }
    for (size_t j = 0; square > 0 && j < kernel->n * k; j++) {
        kernel->F[j] += kernel->s[j % k];
    }
    int status =
        m == 0 ? 0 : columns_multiply(kernel->columns, kernel->set, m, change, k, kernel->F, err);
    free(change);
    return status < 0 ? -1 : bounds(kernel, err);
}

/* Both bounds in double and from the data, with B as it will stand in the model. */
static int certify(struct mc_kernel *kernel, struct mc_fit *fit, struct error *err) {
    const struct mc_task *task = kernel->task;
    size_t n = kernel->n, k = kernel->k;
    fill_coefficients(kernel);
    fit->weights = memory_array(n, k * sizeof(double), "coefficients", err);
    fit->bias = task->bias > 0 ? memory_zeros(k, sizeof(double), "bias", err) : NULL;
    if (!fit->weights || (task->bias > 0 && !fit->bias)) {
        return -1;
    }
    memcpy(fit->weights, kernel->B, n * k * sizeof(double));
    for (size_t j = 0; fit->bias && j < n * k; j++) {
        fit->bias[j % k] += task->bias * task->bias * kernel->B[j];
    }
    struct mc_dual dual = {.alpha = &kernel->alpha};
    for (size_t i = 0; i < n; i++) {
        dual.linear += kernel->q[i] > 0 ? mc_alpha_sum(&kernel->alpha, i)
                                        : kernel->cap[task->y[i]] * mc_most(&task->shape);
    }
    return mc_certify(task, kernel->cost, &dual, kernel->F, fit, err) < 0 ? -1
                                                                          : bounds(kernel, err);
}

/* Room for the matrix of working sets of up to m rows; columns get the rest of the memory, or so
 * much of it at the least. */
static int divide_memory(struct mc_kernel *kernel, size_t m, struct error *err) {
    size_t bytes = kernel->task->problem->cache_bytes, own = m * m * sizeof(float);
    size_t least = (size_t)((double)bytes * LEAST_COLUMNS);
    columns_limit(kernel->columns, own < bytes - least ? bytes - own : least);
    free(kernel->K);
    kernel->K = memory_array(m * m, sizeof(float), "a working set", err);
    kernel->most_set = m;
    return kernel->K ? 0 : -1;
}

/* Makes room for larger working sets, if there is memory, when m rows of n that would gain were too
 * few and left `part` of the distance between the bounds. */
static int enlarge(struct mc_kernel *kernel, size_t n, size_t m, double part, struct error *err) {
    size_t bytes = kernel->task->problem->cache_bytes;
    double most = sqrt((double)bytes * (1 - LEAST_COLUMNS) / sizeof(float));
    most = fmin(fmin(most, GROWTH * (double)m), (double)kernel->n);
    if (m < kernel->most_set || n <= m || part < SLOW || most <= (double)m) {
        return 0;
    }
    return divide_memory(kernel, (size_t)most, err);
}

/* Working sets until the bounds, as the kernel matrix has them, are within aim of one another. */
static int iterate(struct mc_kernel *kernel, double aim, const struct monitor *monitor,
                   struct mc_fit *fit, struct error *err) {
    size_t most = kernel->n / FIRST_PART > FIRST_SET ? kernel->n / FIRST_PART : FIRST_SET;
    size_t m = 0;
    double best = INFINITY, highest = -INFINITY, last = INFINITY;
    int waiting = 0;
    bool solved = true;
    fit->reason = STOP_REACHED;
    for (;;) {
        if (refresh(kernel, err) < 0) {
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
        waiting += solved ? SOLVED : 1;
        double distance = kernel->primal - kernel->dual; /* the gap may stay near 1 for long */
        size_t n = list_gains(kernel);
        if (enlarge(kernel, n, m, distance / last, err) < 0) {
            return -1;
        }
        last = distance;
        if (distance < best * (1 - PROGRESS) || kernel->dual > highest + RISE * distance) {
            best = fmin(best, distance);
            highest = fmax(highest, kernel->dual);
            waiting = 0;
        }
        most = most < kernel->most_set ? most : kernel->most_set;
        m = choose(kernel, n, most);
        if (m == 0 || waiting >= PATIENCE * SOLVED) {
            fit->reason = n > kernel->most_set ? STOP_CROWDED : STOP_PRECISION;
            return 0;
        }
        if (descend(kernel, m, aim * kernel->primal, monitor, &solved, err) < 0) {
            return -1;
        }
        most = (size_t)(GROWTH * (double)most);
    }
}

/* Solves from alpha; what looked reached and is not, in double, is taken further, as long as the
 * scores in double are of help. */
static int run(struct mc_kernel *kernel, const struct mc_goal *goal, const struct monitor *monitor,
               struct mc_fit *fit, struct error *err) {
    const struct gram *gram = kernel->task->problem->gram;
    bool exact = gram_is_wide(gram) && gram_is_whole(gram); /* F is in double all the time */
    double aim = goal->epsilon, best = INFINITY;
    for (;;) {
        int status = iterate(kernel, aim, monitor, fit, err);
        if (status < 0 || certify(kernel, fit, err) < 0) {
            mc_fit_free(fit);
            return -1;
        }
        double gap = gap_relative(fit->primal, fit->dual);
        bool reached = gap_reached(fit->primal, fit->dual, goal->epsilon);
        bool helped = !exact && fit->reason == STOP_PRECISION && gap <= best / 2;
        if (reached || (fit->reason && !helped)) {
            fit->reason = reached ? STOP_REACHED : fit->reason;
            return 0;
        }
        aim = fit->reason ? aim : aim / 2;
        best = fmin(best, gap);
        uint64_t iterations = fit->iterations;
        mc_fit_free(fit);
        fit->iterations = iterations;
    }
}

int mc_kernel_solve(struct mc_kernel *kernel, const struct mc_goal *goal,
                    const struct monitor *monitor, struct mc_fit *fit, struct error *err) {
    *fit = (struct mc_fit){0};
    for (size_t i = 0; kernel->cost > 0 && kernel->cost != goal->cost && i < kernel->n; i++) {
        mc_alpha_scale(&kernel->alpha, i, goal->cost / kernel->cost);
    }
    for (size_t j = 0; kernel->cost > 0 && j < kernel->n * kernel->k; j++) {
        kernel->F[j] *= goal->cost / kernel->cost;
    }
    for (size_t c = 0; c < kernel->k; c++) {
        kernel->cap[c] = goal->cost * kernel->task->weight[c];
    }
    if (kernel->cost > 0 && !kernel->task->shape.form->maximum) {
        mc_alpha_clip(&kernel->alpha, kernel->task->y, kernel->cap);
    }
    fill_coefficients(kernel); /* F is theirs but for rounding */
    kernel->cost = goal->cost;
    size_t m = kernel->n < MOST_SET ? kernel->n : MOST_SET;
    int status = divide_memory(kernel, m, err) < 0 ? -1 : run(kernel, goal, monitor, fit, err);
    free(kernel->K);
    kernel->K = NULL;
    return status;
}

static int allocate(struct mc_kernel *kernel, struct error *err) {
    size_t n = kernel->n, k = kernel->k;
    size_t width = (k + double_LANES - 1) / double_LANES * double_LANES;
    const struct mc_form *form = kernel->task->shape.form;
    kernel->blocks = (struct double_blocks){.relative = form->relative,
                                            .centred = form->centred,
                                            .others = form->others,
                                            .own = form->own,
                                            .maximum = form->maximum,
                                            .k = k,
                                            .width = width,
                                            .margin = kernel->task->shape.margin,
                                            .kappa = kernel->task->shape.kappa};
    kernel->blocks.v = memory_zeros(width, sizeof(double), "a block", err);
    kernel->s = memory_zeros(width, sizeof(double), "a block", err);
    kernel->row = memory_zeros(width, sizeof(double), "a block", err);
    kernel->u = memory_zeros(width, sizeof(double), "a block", err);
    kernel->cap = memory_zeros(k, sizeof(double), "costs", err);
    kernel->q = memory_array(n, sizeof(double), "norms", err);
    kernel->F = memory_zeros(n, k * sizeof(double), "scores", err);
    kernel->B = memory_zeros(n, k * sizeof(double), "coefficients", err);
    kernel->gain = memory_array(n, sizeof *kernel->gain, "gains", err);
    kernel->set = memory_array(n, sizeof *kernel->set, "a working set", err);
    return kernel->blocks.v && kernel->s && kernel->row && kernel->u && kernel->cap && kernel->q &&
                   kernel->F && kernel->B && kernel->gain && kernel->set
               ? 0
               : -1;
}

int mc_kernel_create(struct mc_kernel **kernel, const struct mc_task *task, struct error *err) {
    struct mc_kernel *made = memory_zeros(1, sizeof *made, "a solver", err);
    if (!made) {
        return -1;
    }
    made->task = task;
    made->n = task->n;
    made->k = task->shape.k;
    if (allocate(made, err) < 0 || mc_alpha_create(&made->alpha, made->n, made->k, err) < 0 ||
        columns_create(&made->columns, task->problem, task->problem->cache_bytes, err) < 0 ||
        score_map_create(&made->exact, task->problem, err) < 0 ||
        made->exact.diagonal(&made->exact, made->q, err) < 0) {
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
    score_map_free(&kernel->exact);
    columns_free(kernel->columns);
    mc_alpha_free(&kernel->alpha);
    free(kernel->blocks.v);
    free(kernel->s);
    free(kernel->row);
    free(kernel->u);
    free(kernel->cap);
    free(kernel->q);
    free(kernel->F);
    free(kernel->B);
    free(kernel->gain);
    free(kernel->set);
    free(kernel);
}
