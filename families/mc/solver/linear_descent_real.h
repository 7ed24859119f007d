/* The descent for one type of W: included by linear_descent.c, once for float and once for double,
 * with REAL, SIGNED and NAME(x) defined. Private to that file. */

#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "families/mc/solver/row_step_real.h"

/* State of a descent. The caller calls descent_free, also if descent_create failed. */
struct NAME(descent) {
    struct NAME(blocks) blocks;
    REAL *W;             /* (n_features + 1, width): the last row is the constant feature's */
    REAL *mean;          /* (n_features + 1, width): mean of W over the last sweeps, or NULL */
    REAL *s, *alpha, *u; /* (width) scores, alpha and change of coefficients of the current row */
    REAL *alphas;        /* (n, width): in place of linear->alpha during the descent; or NULL */
    double *row;         /* (width) work */
    /* distributed rows; else 1, and NULL: */
    REAL factor;  /* by which the changes of W are multiplied */
    REAL *common; /* (n_features + 1, width): W of all processes at the start of the round, */
    REAL *start;  /* W after extrapolation, */
    REAL *own;    /* the part of this process in the last step */
    double *step; /* (n_features + 1, k), and one number: the sum of the steps of all processes */
    double extrapolation; /* as a multiple of the last step */
    void *block;          /* all arrays */
};

/* s[0 .. vectors) += x'W for these classes. `chains` independent sums hide the latency of
 * additions. */
static inline __attribute__((always_inline)) void NAME(add_scores)(const struct stored_row *row,
                                                                   const REAL *W, size_t width,
                                                                   REAL *s, size_t vectors,
                                                                   size_t chains) {
    NAME(vector) sum[8];
    for (size_t k = 0; k < vectors * chains; k++) {
        sum[k] = (NAME(vector)){0};
    }
    size_t t = 0;
    for (; t + chains <= row->n; t += chains) {
        for (size_t h = 0; h < chains; h++) {
            REAL x = (REAL)row->value[t + h];
            const NAME(vector) *w = (const NAME(vector) *)(W + row->column[t + h] * width);
            for (size_t k = 0; k < vectors; k++) {
                sum[h * vectors + k] += x * w[k];
            }
        }
    }
    for (; t < row->n; t++) {
        REAL x = (REAL)row->value[t];
        const NAME(vector) *w = (const NAME(vector) *)(W + row->column[t] * width);
        for (size_t k = 0; k < vectors; k++) {
            sum[k] += x * w[k];
        }
    }
    NAME(vector) *out = (NAME(vector) *)s;
    for (size_t k = 0; k < vectors; k++) {
        for (size_t h = 1; h < chains; h++) {
            sum[k] += sum[h * vectors + k];
        }
        out[k] += sum[k];
    }
}

/* s (width) = W'x, with the constant feature. */
static inline __attribute__((always_inline)) void NAME(row_scores)(const struct stored_row *row,
                                                                   double bias, const REAL *W,
                                                                   size_t n_features, size_t width,
                                                                   REAL *s) {
    const REAL *constant = W + n_features * width;
    for (size_t c = 0; c < width; c++) {
        s[c] = (REAL)bias * constant[c];
    }
    size_t c = 0, step = NAME(LANES);
    for (; c + 4 * step <= width; c += 4 * step) {
        NAME(add_scores)(row, W + c, width, s + c, 4, 2);
    }
    if (c + 2 * step <= width) {
        NAME(add_scores)(row, W + c, width, s + c, 2, 4);
        c += 2 * step;
    }
    if (c < width) {
        NAME(add_scores)(row, W + c, width, s + c, 1, 8);
    }
}

/* W (features, width) += x u' for `vectors` vectors of classes, at most 4, that begin at W and
 * u. */
static inline __attribute__((always_inline)) void NAME(add_outer)(const struct stored_row *row,
                                                                  REAL *W, size_t width,
                                                                  const REAL *u, size_t vectors) {
    NAME(vector) change[4];
    for (size_t k = 0; k < vectors; k++) {
        change[k] = ((const NAME(vector) *)u)[k];
    }
    for (size_t t = 0; t < row->n; t++) {
        REAL x = (REAL)row->value[t];
        NAME(vector) *w = (NAME(vector) *)(W + row->column[t] * width);
        for (size_t k = 0; k < vectors; k++) {
            w[k] += x * change[k];
        }
    }
}

/* W (n_features + 1, width) += x u', u (width); the constant feature has the value `bias`. */
static inline __attribute__((always_inline)) void NAME(update_inline)(const struct stored_row *row,
                                                                      double bias, REAL *W,
                                                                      size_t n_features,
                                                                      size_t width, const REAL *u) {
    REAL *constant = W + n_features * width;
    for (size_t c = 0; c < width; c++) {
        constant[c] += (REAL)bias * u[c];
    }
    size_t c = 0, step = NAME(LANES);
    for (; c + 4 * step <= width; c += 4 * step) {
        NAME(add_outer)(row, W + c, width, u + c, 4);
    }
    if (c + 2 * step <= width) {
        NAME(add_outer)(row, W + c, width, u + c, 2);
        c += 2 * step;
    }
    if (c < width) {
        NAME(add_outer)(row, W + c, width, u + c, 1);
    }
}

/* update_inline, compiled for each processor. */
DISPATCH static void NAME(row_update)(const struct stored_row *row, double bias, REAL *W,
                                      size_t n_features, size_t width, const REAL *u) {
    NAME(update_inline)(row, bias, W, n_features, width, u);
}

/* W += x u' for the classes[0..n) alone, u (n); without the constant feature. */
static inline void NAME(add_outer_some)(const struct stored_row *row, REAL *W, size_t width,
                                        const REAL *u, const uint32_t *classes, size_t n) {
    for (size_t t = 0; t < row->n; t++) {
        REAL x = (REAL)row->value[t];
        REAL *w = W + row->column[t] * width;
        for (size_t e = 0; e < n; e++) {
            w[classes[e]] += x * u[e];
        }
    }
}

/* The same, with the constant feature. */
static void NAME(update_some)(const struct stored_row *row, double bias, REAL *W, size_t n_features,
                              size_t width, const REAL *u, const uint32_t *classes, size_t n) {
    for (size_t e = 0; e < n; e++) {
        W[n_features * width + classes[e]] += (REAL)bias * u[e];
    }
    NAME(add_outer_some)(row, W, width, u, classes, n);
}

/* step (row_step_real.h), compiled for each processor. */
DISPATCH static REAL NAME(row_step)(const struct NAME(blocks) * blocks, size_t y, REAL cap, REAL q,
                                    const REAL *s, REAL *alpha, REAL *u) {
    return NAME(step)(blocks, y, cap, q, s, alpha, u);
}

/* The largest number of this type that is at most `value`. */
static inline REAL NAME(at_most)(double value) {
    REAL rounded = (REAL)value;
    return (double)rounded <= value ? rounded : rounded * (1 - NAME(TINY));
}

/* Allocates the state, with W = 0. The caller calls descent_free in any case. -1: no memory. */
static int NAME(descent_create)(struct NAME(descent) * descent, const struct mc_linear *linear,
                                struct error *err) {
    const struct mc_shape *shape = &linear->shape;
    size_t width = NAME(width_of)(shape->k), rows = linear->n_features + (size_t)1;
    size_t shared = linear->cluster ? rows : 0, means = linear->weights ? rows : 0;
    size_t alphas = !linear->cluster && linear->alpha.dense ? linear->n : 0;
    *descent = (struct NAME(descent)){.blocks = NAME(blocks_of)(shape), .factor = 1};
    descent->block = ARRAYS_CREATE(
        "weights", err, ARRAYS(rows * width, REAL, &descent->W),
        ARRAYS(width, REAL, &descent->s, &descent->alpha, &descent->u, &descent->blocks.v),
        ARRAYS(width, double, &descent->row), ARRAYS(means * width, REAL, &descent->mean),
        ARRAYS(alphas * width, REAL, &descent->alphas),
        ARRAYS(shared * width, REAL, &descent->common, &descent->start, &descent->own),
        ARRAYS(shared * shape->k + 1, double, &descent->step));
    descent->mean = means > 0 ? descent->mean : NULL;
    descent->alphas = alphas > 0 ? descent->alphas : NULL;
    return descent->block ? 0 : -1;
}

static void NAME(descent_free)(struct NAME(descent) * descent) {
    free(descent->block);
    *descent = (struct NAME(descent)){0};
}

/* descent->alpha (k) = the alpha of row i. */
static inline void NAME(load)(struct NAME(descent) * descent, const struct mc_alpha *alpha,
                              size_t i) {
    size_t k = descent->blocks.k;
    const double *from = alpha->dense ? alpha->dense + i * k : descent->row;
    if (!alpha->dense) {
        mc_alpha_load(alpha, i, descent->row);
    }
    for (size_t c = 0; c < k; c++) {
        descent->alpha[c] = (REAL)from[c];
    }
}

/* The alpha of row i = descent->alpha. -1: no memory for a list of classes. */
static inline int NAME(store)(struct NAME(descent) * descent, struct mc_alpha *alpha, size_t i,
                              struct error *err) {
    size_t k = descent->blocks.k;
    double *to = alpha->dense ? alpha->dense + i * k : descent->row;
    for (size_t c = 0; c < k; c++) {
        to[c] = (double)descent->alpha[c];
    }
    return alpha->dense ? 0 : mc_alpha_store(alpha, i, descent->row, err);
}

/* descent->alphas (n, width), if used, = alpha, rounded down. */
static void NAME(take_alpha)(struct NAME(descent) * descent, const struct mc_linear *linear) {
    size_t k = descent->blocks.k, width = descent->blocks.width;
    for (size_t i = 0; descent->alphas && i < linear->n; i++) {
        for (size_t c = 0; c < k; c++) {
            descent->alphas[i * width + c] = NAME(at_most)(linear->alpha.dense[i * k + c]);
        }
    }
}

/* alpha = descent->alphas, if used. */
static void NAME(give_alpha)(const struct NAME(descent) * descent, struct mc_linear *linear) {
    size_t k = descent->blocks.k, width = descent->blocks.width;
    for (size_t i = 0; descent->alphas && i < linear->n; i++) {
        for (size_t c = 0; c < k; c++) {
            linear->alpha.dense[i * k + c] = (double)descent->alphas[i * width + c];
        }
    }
}

/* In linear_distributed_real.h. */
static void NAME(join_steps)(struct NAME(descent) * descent, const struct mc_linear *linear,
                             double gained, double products[2]);
static void NAME(move)(struct NAME(descent) * descent, const struct mc_linear *linear,
                       double theta);

/* W = W(alpha), not centred: steps and losses subtract the means themselves. */
static void NAME(rebuild)(struct NAME(descent) * descent, const struct mc_linear *linear) {
    size_t width = descent->blocks.width, k = linear->shape.k;
    memset(descent->W, 0, (linear->n_features + (size_t)1) * width * sizeof(REAL));
    for (size_t i = 0; i < linear->n; i++) {
        if (mc_alpha_sum(&linear->alpha, i) == 0 || linear->q[i] == 0) {
            continue;
        }
        mc_alpha_load(&linear->alpha, i, descent->row);
        mc_coefficients(&linear->shape, linear->y[i], descent->row, linear->u);
        size_t n_changed = 0;
        for (size_t c = 0; c < k; c++) {
            descent->u[n_changed] = (REAL)linear->u[c];
            linear->changed[n_changed] = (uint32_t)c;
            n_changed += descent->u[n_changed] != 0;
        }
        struct stored_row row = mc_linear_row(linear, i);
        NAME(update_some)
        (&row, linear->bias, descent->W, linear->n_features, width, descent->u, linear->changed,
         n_changed);
    }
    if (linear->cluster) { /* the sum over processes is a step from 0 */
        double products[2];
        NAME(join_steps)(descent, linear, 0, products);
        NAME(move)(descent, linear, 1);
        size_t entries = (linear->n_features + (size_t)1) * width;
        memcpy(descent->common, descent->W, entries * sizeof *descent->W);
        memset(descent->own, 0, entries * sizeof *descent->own);
    }
}

/* Multiplies u by the factor of distributed rounds. */
static inline void NAME(scale_change)(struct NAME(descent) * descent) {
    for (size_t c = 0; descent->factor != 1 && c < descent->blocks.width; c++) {
        descent->u[c] *= descent->factor;
    }
}

#include "families/mc/solver/linear_sweep_real.h"

/* s (n) = x'W for the classes[0..n). */
static void NAME(row_scores_few)(const struct stored_row *row, double bias, const REAL *W,
                                 size_t n_features, size_t width, const uint32_t *classes, size_t n,
                                 REAL *s) {
    for (size_t e = 0; e < n; e++) {
        s[e] = (REAL)bias * W[n_features * width + classes[e]];
    }
    for (size_t t = 0; t < row->n; t++) {
        REAL x = (REAL)row->value[t];
        const REAL *w = W + row->column[t] * width;
        for (size_t e = 0; e < n; e++) {
            s[e] += x * w[classes[e]];
        }
    }
}

/* A sweep of steps over the classes with nonzero alpha alone, for relative margins: shrinking. With
 * many classes most alpha stay at 0; the next full sweep checks them again. */
static void NAME(sweep_few)(struct NAME(descent) * descent, struct mc_linear *linear,
                            const uint32_t *order, size_t n) {
    REAL square = NAME(square)(descent, linear);
    struct NAME(blocks) blocks = descent->blocks;
    for (size_t t = 0; t < n; t++) {
        size_t i = order[t], m = linear->alpha.list[i].n;
        struct mc_entry *entry = linear->alpha.list[i].entry;
        if (m == 0) {
            continue;
        }
        for (size_t e = 0; e < m; e++) {
            linear->changed[e] = entry[e].c;
            descent->alpha[e] = (REAL)entry[e].value;
        }
        linear->changed[m] = linear->y[i];
        blocks.k = m + 1;
        blocks.width = NAME(width_of)(m + 1);
        for (size_t e = m; e < blocks.width; e++) {
            descent->alpha[e] = descent->s[e] = 0;
        }
        struct stored_row row = mc_linear_row(linear, i);
        NAME(row_scores_few)
        (&row, linear->bias, descent->W, linear->n_features, descent->blocks.width, linear->changed,
         m + 1, descent->s);
        REAL gain =
            NAME(row_step)(&blocks, m, NAME(at_most)(linear->row_cap[i]),
                           square * (REAL)linear->q[i], descent->s, descent->alpha, descent->u);
        mc_sampling_gain(&linear->sampling, i, (double)gain);
        if (gain == 0) {
            continue;
        }
        NAME(scale_change)(descent);
        uint32_t n_nonzero = 0;
        for (size_t e = 0; e < m; e++) {
            entry[n_nonzero] = (struct mc_entry){entry[e].c, (double)descent->alpha[e]};
            n_nonzero += descent->alpha[e] != 0;
        }
        linear->alpha.list[i].n = n_nonzero;
        NAME(update_some)
        (&row, linear->bias, descent->W, linear->n_features, descent->blocks.width, descent->u,
         linear->changed, m + 1);
    }
}

#include "families/mc/solver/linear_bounds_real.h"
#include "families/mc/solver/linear_distributed_real.h"

/* A full sweep; with lists of classes, some sweeps over nonzero alpha after it. */
static int NAME(sweep_alone)(struct NAME(descent) * descent, struct mc_linear *linear,
                             const struct monitor *monitor, struct error *err) {
    size_t n = mc_sampling_sweep(&linear->sampling);
    int status = NAME(sweep)(descent, linear, linear->sampling.order, n, monitor, err);
    linear->sweeps++;
    for (int few = 0; status == 0 && few < FEW_SWEEPS && mc_linear_has_lists(linear); few++) {
        n = mc_sampling_sweep(&linear->sampling);
        NAME(sweep_few)(descent, linear, linear->sampling.order, n);
    }
    return status;
}

/* Progress of a descent. */
struct NAME(progress) {
    uint64_t start, next;      /* sweeps at its start, and at the next evaluation of the bounds */
    uint64_t best_at, last_at; /* sweeps at the smallest and at the last gap */
    double best, last;         /* the smallest and the last gap */
};

/* Evaluates the bounds, and sets linear->end if they end the descent. */
static int NAME(check_progress)(struct NAME(descent) * descent, struct mc_linear *linear,
                                struct NAME(progress) * progress, enum mc_point *point,
                                struct error *err) {
    int status = NAME(evaluate)(descent, linear, &linear->primal, &linear->dual, point, err);
    double gap = gap_relative(linear->primal, linear->dual);
    uint64_t sweeps = linear->sweeps;
    if (!isfinite(gap) || gap_reached(linear->primal, linear->dual, linear->target)) {
        linear->end = isfinite(gap) ? REACHED : OVERFLOWED;
    } else if (gap < progress->best * (1 - PROGRESS)) {
        progress->best = gap;
        progress->best_at = sweeps;
    } else if (sweeps - progress->best_at > NAME(PATIENCE) + (sweeps - progress->start) / 4) {
        linear->end = STALLED;
    }
    if (linear->end == RUNNING &&
        convergence_is_slow(&linear->rate, (double)sweeps, progress->best, linear->final_target)) {
        linear->end = SLOW;
    }
    progress->next =
        sweeps + sweeps_to_next_evaluation(gap, progress->last, sweeps - progress->last_at,
                                           linear->target, sweeps - progress->start);
    progress->last = gap;
    progress->last_at = sweeps;
    return status;
}

/* Does one sweep unless a limit of the user is reached. */
static int NAME(continue_descent)(struct NAME(descent) * descent, struct mc_linear *linear,
                                  const struct NAME(progress) * progress,
                                  const struct monitor *monitor, struct error *err) {
    uint64_t sweeps = linear->sweeps;
    linear->limit = sweeps == progress->start
                        ? 0
                        : monitor_check(monitor, sweeps, linear->primal, linear->dual);
    if (linear->limit) {
        linear->end = STOPPED;
        return 0;
    }
    int status = linear->cluster ? NAME(sweep_together)(descent, linear, monitor, err)
                                 : NAME(sweep_alone)(descent, linear, monitor, err);
    NAME(update_mean)(descent, linear, linear->sweeps - progress->start);
    return status;
}

/* Sweeps from alpha until the gap, evaluated in this type, is at most linear->target, a limit is
 * reached, or the descent stalls. */
static int NAME(descend)(struct mc_linear *linear, const struct monitor *monitor,
                         struct error *err) {
    struct NAME(descent) descent;
    int status = NAME(descent_create)(&descent, linear, err);
    if (status == 0 && linear->cluster) {
        status = mc_alpha_copy(&linear->before, &linear->alpha, err);
        linear->rounds.momentum = 1;
        status = status < 0 ? -1 : mc_alpha_copy(&linear->last, &linear->alpha, err);
    }
    if (status == 0) {
        NAME(rebuild)(&descent, linear);
        NAME(take_alpha)(&descent, linear);
    }
    enum mc_point point = MC_LAST;
    uint64_t start = linear->sweeps;
    struct NAME(progress) progress = {.start = start,
                                      .next = start + 2,
                                      .best_at = start,
                                      .last_at = start,
                                      .best = INFINITY,
                                      .last = INFINITY};
    linear->end = RUNNING;
    while (status == 0 && linear->end == RUNNING) {
        if (linear->sweeps >= progress.next && !monitor_past_deadline(monitor)) {
            status = NAME(check_progress)(&descent, linear, &progress, &point, err);
        }
        if (status == 0 && linear->end == RUNNING) {
            status = NAME(continue_descent)(&descent, linear, &progress, monitor, err);
            point = linear->end == RUNNING ? MC_LAST : point;
        }
    }
    if (status == 0) {
        NAME(give_alpha)(&descent, linear);
        NAME(give_weights)(&descent, linear, point);
    }
    NAME(descent_free)(&descent);
    return status;
}
