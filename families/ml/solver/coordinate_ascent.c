/* Block coordinate ascent with shrinking and warm starts (coordinate_ascent.h). */
#include "families/ml/solver/coordinate_ascent.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "families/ml/solver/distributed_ascent.h"
#include "fit/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PASSES = 3,                /* sweeps of pair steps in a block */
    MAX_PAIRS = 64,            /* of a block with pair steps; others are solved exactly */
    MAX_PAUSE = 8,             /* sweeps for which a row is skipped */
    SWEEPS_PER_EVALUATION = 8, /* sweeps between evaluations of all rows */
    TASK_ROWS = 256,           /* rows per task of an evaluation */
    MAX_STALLED = 10,          /* evaluations without progress until it has stalled */
    RANDOM_STREAM = 5          /* distinguishes this use of the seed */
};

/* A row is shrunk if its gap is below this share of the average allowed per row. */
static const double NEGLIGIBLE = 0.1;

/* Progress is also a dual that rises by more than this share of the gap between two evaluations.
 * Without, scene at C = 1 takes 306 sweeps instead of 246. */
static const double MIN_RISE = 1e-6;

/* ---- creation ---- */

/* Allocates the alpha of rows with pair steps. */
static int create_alpha(struct ml_ascent *ascent, struct error *err) {
    size_t n = ascent->rows->n;
    ascent->alpha_start = memory_array(n + 1, sizeof *ascent->alpha_start, "pairs", err);
    if (!ascent->alpha_start) {
        return -1;
    }
    ascent->alpha_start[0] = 0;
    for (size_t i = 0; i < n; i++) {
        struct ml_block block = ml_rows_block(ascent->rows, i, ML_HINGE, 1);
        uint64_t pairs = (uint64_t)block.n_relevant * (block.q - block.n_relevant);
        ascent->alpha_start[i + 1] = ascent->alpha_start[i] + (pairs <= MAX_PAIRS ? pairs : 0);
    }
    ascent->alpha = memory_zeros((size_t)ascent->alpha_start[n], sizeof(double), "pairs", err);
    return ascent->alpha ? 0 : -1;
}

static int create_scratch(struct ml_ascent *ascent, struct error *err) {
    size_t workers = threads_count(ascent->problem->threads);
    ascent->scratch = memory_zeros(workers, sizeof *ascent->scratch, "work of rows", err);
    for (size_t w = 0; ascent->scratch && w < workers; w++) {
        if (ml_scratch_create(&ascent->scratch[w], ascent->rows->q, err) < 0) {
            return -1;
        }
    }
    return ascent->scratch ? 0 : -1;
}

/* Operations of a sweep: its steps, and products with the data or the kernel matrix. */
static double count_work(const struct ml_ascent *ascent) {
    enum { PAIR_STEP = 8, LABEL_STEP = 100 };
    double work = ml_store_work(&ascent->store);
    for (size_t i = 0; i < ascent->rows->n; i++) {
        uint64_t pairs = ascent->alpha_start[i + 1] - ascent->alpha_start[i];
        work +=
            (double)(PASSES * PAIR_STEP * pairs + (pairs > 0 ? 0 : LABEL_STEP) * ascent->rows->q);
    }
    return work;
}

int ml_ascent_create(struct ml_ascent *ascent, const struct problem *problem,
                     const struct ml_rows *rows, double constant_squared, bool shrinking,
                     uint64_t seed, struct error *err) {
    *ascent = (struct ml_ascent){.problem = problem,
                                 .rows = rows,
                                 .constant_squared = constant_squared,
                                 .shrinking = shrinking};
    random_start(&ascent->random, seed, RANDOM_STREAM);
    if (ml_store_create(&ascent->store, problem, rows, err) < 0) {
        return -1;
    }
    size_t n = rows->n, width = ascent->store.width;
    ascent->block = ARRAYS_CREATE(
        "dual variables", err, ARRAYS(n, double, &ascent->conjugate, &ascent->gap),
        ARRAYS(width, double, &ascent->total, &ascent->offset, &ascent->s, &ascent->old),
        ARRAYS(n, unsigned char, &ascent->pause_length, &ascent->pause_left),
        ARRAYS(n, uint32_t, &ascent->order));
    ascent->beta =
        threads_zeros(problem->threads, n, width * sizeof(double), "dual variables", err);
    if (!ascent->block || !ascent->beta || create_alpha(ascent, err) < 0 ||
        create_scratch(ascent, err) < 0) {
        ml_ascent_free(ascent);
        return -1;
    }
    ascent->sweep_work = count_work(ascent);
    ascent->all_work = cluster_total(rows->cluster, ascent->sweep_work);
    if (rows->cluster && ml_distributed_create(&ascent->distributed, ascent, err) < 0) {
        ml_ascent_free(ascent);
        return -1;
    }
    return 0;
}

void ml_ascent_free(struct ml_ascent *ascent) {
    for (size_t w = 0; ascent->scratch && w < threads_count(ascent->problem->threads); w++) {
        ml_scratch_free(ascent->scratch[w]);
    }
    ml_store_free(&ascent->store);
    ml_distributed_free(ascent->distributed);
    free(ascent->scratch);
    free(ascent->block);
    free(ascent->beta);
    free(ascent->alpha_scores);
    free(ascent->alpha);
    free(ascent->alpha_start);
    *ascent = (struct ml_ascent){0};
}

/* ---- evaluation ---- */

/* Adds the constant feature and the offset to the scores s (width). */
static void add_bias(const struct ml_ascent *ascent, double *s) {
    for (size_t k = 0; k < ascent->store.width; k++) {
        s[k] += ascent->constant_squared * ascent->total[k] + ascent->offset[k];
    }
}

/* The sums over all rows that form the bounds. */
struct sums {
    double loss, linear;   /* losses; linear part of D, less the conjugates */
    double square, offset; /* <beta, K beta>; <beta, offset> */
};

struct evaluation {
    struct ml_ascent *ascent;
    double *s;         /* (workers, width) */
    struct sums *sums; /* (tasks) */
};

static void evaluate_task(void *argument, size_t task, size_t worker) {
    const struct evaluation *evaluation = argument;
    struct ml_ascent *ascent = evaluation->ascent;
    size_t width = ascent->store.width, end = (task + 1) * TASK_ROWS;
    double *s = evaluation->s + worker * width;
    struct sums sums = {0};
    for (size_t i = task * TASK_ROWS; i < end && i < ascent->rows->n; i++) {
        struct ml_block block = ml_ascent_block(ascent, i);
        const double *beta = ascent->beta + i * width;
        ml_store_scores(&ascent->store, i, s);
        double square = array_dot(beta, s, width);
        add_bias(ascent, s);
        double loss = ml_block_loss(&block, s, ascent->scratch[worker]);
        double linear = ml_block_linear(&block, beta) - ascent->conjugate[i];
        ascent->gap[i] = loss + array_dot(beta, s, width) - linear;
        sums.loss += loss;
        sums.linear += linear;
        sums.square += square;
        sums.offset += array_dot(beta, ascent->offset, width);
    }
    evaluation->sums[task] = sums;
}

int ml_ascent_bounds(struct ml_ascent *ascent, struct ml_bounds *bounds, struct error *err) {
    size_t width = ascent->store.width, tasks = (ascent->rows->n + TASK_ROWS - 1) / TASK_ROWS;
    struct evaluation evaluation = {.ascent = ascent,
                                    .s = memory_array(threads_count(ascent->problem->threads),
                                                      width * sizeof(double), "scores", err),
                                    .sums =
                                        memory_array(tasks, sizeof(struct sums), "bounds", err)};
    int status = -1;
    if (evaluation.s && evaluation.sums) {
        threads_run(ascent->problem->threads, tasks, evaluate_task, &evaluation);
        struct sums sum = {0};
        for (size_t t = 0; t < tasks; t++) {
            sum.loss += evaluation.sums[t].loss;
            sum.linear += evaluation.sums[t].linear;
            sum.square += evaluation.sums[t].square;
            sum.offset += evaluation.sums[t].offset;
        }
        double sums[] = {sum.loss, sum.linear, sum.square, sum.offset};
        cluster_sum(ascent->rows->cluster, sums, 4);
        sum = (struct sums){sums[0], sums[1], sums[2], sums[3]};
        double squared_norm =
            sum.square + ascent->constant_squared * array_dot(ascent->total, ascent->total, width);
        *bounds = (struct ml_bounds){0.5 * squared_norm + sum.loss,
                                     sum.linear - sum.offset - 0.5 * squared_norm};
        status = isfinite(bounds->primal) && isfinite(bounds->dual) ? 0 : stop_overflow(err);
    }
    free(evaluation.s);
    free(evaluation.sums);
    return status;
}

/* ---- alphas ---- */

static void row_alpha(const void *context, size_t i, const struct ml_block *block, double *alpha) {
    const struct ml_ascent *ascent = context;
    uint32_t n_others = block->q - block->n_relevant;
    if (ascent->alpha_start[i + 1] > ascent->alpha_start[i]) {
        memcpy(alpha, ascent->alpha + ascent->alpha_start[i],
               (size_t)block->n_relevant * n_others * sizeof *alpha);
    } else if (block->loss == ML_SQUARED_HINGE) {
        ml_block_squared_alpha(block, ascent->alpha_scores + i * ascent->store.width, alpha);
    } else {
        ml_block_hinge_alpha(block, ascent->beta + i * ascent->store.width, alpha,
                             ascent->scratch[0]);
    }
}

struct ml_alphas ml_ascent_alphas(const struct ml_ascent *ascent) {
    return (struct ml_alphas){ascent->rows, ascent->loss, ascent->cost, ascent, row_alpha};
}

/* ---- warm starts ---- */

static void reset(struct ml_ascent *ascent) {
    size_t n = ascent->rows->n, width = ascent->store.width;
    if (ascent->cost > 0) {
        memset(ascent->beta, 0, n * width * sizeof(double));
        memset(ascent->conjugate, 0, n * sizeof(double));
        memset(ascent->total, 0, width * sizeof(double));
        memset(ascent->alpha, 0, (size_t)ascent->alpha_start[n] * sizeof(double));
    }
    for (size_t i = 0; ascent->alpha_scores && i < n; i++) { /* all margins are 1 */
        struct ml_block block = ml_ascent_block(ascent, i);
        memset(ascent->alpha_scores + i * width, 0, width * sizeof(double));
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            ascent->alpha_scores[i * width + block.relevant[p]] = 1;
        }
    }
}

/* The best feasible multiple of beta for a new cost: D(t beta) = t linear - t^2 (squared_norm / 2 +
 * conjugate), with the conjugate for the lambda of the new cost, and t <= cost / old cost for the
 * hinge. */
static int best_factor(struct ml_ascent *ascent, double ratio, double *factor, struct error *err) {
    size_t width = ascent->store.width;
    struct ml_bounds bounds;
    double conjugate = 0, linear = 0;
    if (ml_ascent_bounds(ascent, &bounds, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < ascent->rows->n; i++) {
        struct ml_block block = ml_ascent_block(ascent, i);
        linear += ml_block_linear(&block, ascent->beta + i * width) -
                  array_dot(ascent->beta + i * width, ascent->offset, width);
        conjugate += ascent->conjugate[i];
    }
    linear = cluster_total(ascent->rows->cluster, linear);
    conjugate = cluster_total(ascent->rows->cluster, conjugate);
    double half_squared_norm = linear - conjugate - bounds.dual;
    double curvature = 2 * (half_squared_norm + conjugate / ratio);
    *factor = curvature > 0 && linear > 0 ? linear / curvature : 0;
    if (ascent->loss == ML_HINGE && *factor > ratio) {
        *factor = ratio;
    }
    return 0;
}

static void scale(struct ml_ascent *ascent, double factor, double ratio) {
    size_t n = ascent->rows->n, width = ascent->store.width;
    array_scale(ascent->beta, factor, n * width);
    array_scale(ascent->total, factor, width);
    array_scale(ascent->alpha, factor, (size_t)ascent->alpha_start[n]);
    array_scale(ascent->conjugate, factor * factor / ratio, n);
    ml_store_scale(&ascent->store, factor);
    /* alpha_scores satisfy their definition with the lambda of the new cost: the slacks 1 - s_p +
     * s_r are multiplied by factor / ratio */
    for (size_t i = 0; ascent->alpha_scores && i < n; i++) {
        struct ml_block block = ml_ascent_block(ascent, i);
        double *s = ascent->alpha_scores + i * width, slopes = factor / ratio;
        array_scale(s, slopes, width);
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            s[block.relevant[p]] += 1 - slopes;
        }
    }
}

/* Allocates alpha_scores, unless all rows have pair steps. */
static int create_alpha_scores(struct ml_ascent *ascent, struct error *err) {
    size_t i = 0, n = ascent->rows->n, width = ascent->store.width;
    while (i < n && ascent->alpha_start[i + 1] > ascent->alpha_start[i]) {
        i++;
    }
    if (i == n) {
        return 0;
    }
    ascent->alpha_scores = memory_zeros(n, width * sizeof(double), "dual variables", err);
    return ascent->alpha_scores ? 0 : -1;
}

int ml_ascent_start(struct ml_ascent *ascent, enum ml_loss loss, double cost, bool single,
                    struct error *err) {
    bool warm = ascent->cost != 0 && ascent->loss == loss;
    if (loss == ML_SQUARED_HINGE && !ascent->alpha_scores && create_alpha_scores(ascent, err) < 0) {
        return -1;
    }
    if (!warm) {
        reset(ascent);
    }
    if (ml_store_start(&ascent->store, warm ? ascent->beta : NULL, single, err) < 0) {
        return -1;
    }
    if (warm && cost != ascent->cost) {
        double ratio = cost / ascent->cost, factor;
        if (best_factor(ascent, ratio, &factor, err) < 0) {
            return -1;
        }
        scale(ascent, factor, ratio);
    }
    ascent->loss = loss;
    ascent->cost = cost;
    memset(ascent->pause_length, 0, ascent->rows->n);
    memset(ascent->pause_left, 0, ascent->rows->n);
    return 0;
}

/* ---- sweeps ---- */

/* Shrinks a row with a negligible gap for twice as many sweeps as the last time. */
static void shrink_row(struct ml_ascent *ascent, size_t i) {
    if (!ascent->shrinking || ascent->gap[i] > ascent->negligible_gap) {
        ascent->pause_length[i] = 0;
        return;
    }
    unsigned next = ascent->pause_length[i] == 0 ? 1 : 2U * ascent->pause_length[i];
    ascent->pause_length[i] = (unsigned char)(next < MAX_PAUSE ? next : MAX_PAUSE);
    ascent->pause_left[i] = ascent->pause_length[i];
}

static bool visit(void *context, size_t i, const double *scores, double *change) {
    struct ml_ascent *ascent = context;
    size_t width = ascent->store.width;
    struct ml_block block = ml_ascent_block(ascent, i);
    struct ml_scratch *scratch = ascent->scratch[0];
    double *beta = ascent->beta + i * width, *s = ascent->s;
    memcpy(s, scores, width * sizeof *s);
    add_bias(ascent, s);
    ascent->gap[i] = ml_block_loss(&block, s, scratch) + ascent->conjugate[i] +
                     array_dot(beta, s, width) - ml_block_linear(&block, beta);
    shrink_row(ascent, i);
    if (!(ascent->gap[i] > 0)) {
        return false;
    }
    memcpy(ascent->old, beta, width * sizeof *beta);
    double damping = ascent->store.damping;
    double curvature = damping * (ascent->store.diagonal[i] + ascent->constant_squared);
    bool by_pairs = ascent->alpha_start[i + 1] > ascent->alpha_start[i];
    double largest =
        by_pairs ? ml_block_pairs(&block, curvature, s, ascent->alpha + ascent->alpha_start[i],
                                  PASSES, beta, &ascent->conjugate[i], scratch)
                 : ml_block_exact(&block, curvature, s, beta, &ascent->conjugate[i], scratch);
    if (largest == 0) {
        return false;
    }
    for (size_t c = 0; ascent->alpha_scores && c < width; c++) {
        ascent->alpha_scores[i * width + c] = s[c] + curvature * (beta[c] - ascent->old[c]);
    }
    for (size_t c = 0; c < width; c++) {
        change[c] = beta[c] - ascent->old[c];
        ascent->total[c] += damping * change[c];
    }
    return true;
}

/* Collects the rows of the next sweep in their order. */
static size_t choose_rows(struct ml_ascent *ascent) {
    size_t n = 0;
    for (size_t i = 0; i < ascent->rows->n; i++) {
        if (ascent->pause_left[i] > 0) {
            ascent->pause_left[i]--;
        } else {
            ascent->order[n++] = (uint32_t)i;
        }
    }
    ml_store_order(&ascent->store, ascent->order, n, &ascent->random);
    return n;
}

/* Rows whose gap has grown are visited again. Without, emotions at C = 1 takes 570 sweeps, not
 * 373. */
static void unshrink_rows(struct ml_ascent *ascent) {
    for (size_t i = 0; i < ascent->rows->n; i++) {
        if (ascent->gap[i] > ascent->negligible_gap) {
            ascent->pause_left[i] = ascent->pause_length[i] = 0;
        }
    }
}

/* One sweep over the rows that are not shrunk, *n of them. */
static int sweep(struct ml_ascent *ascent, size_t *n, struct error *err) {
    *n = choose_rows(ascent);
    return ml_store_sweep(&ascent->store, ascent->order, *n, visit, ascent, &ascent->random, err);
}

/* One sweep in several parts, or several sweeps, with an allreduce after each part. */
static int sweep_distributed(struct ml_ascent *ascent, size_t *n, struct error *err) {
    struct ml_distributed *distributed = ascent->distributed;
    if (distributed->plan.repeats > 1) {
        *n = 0;
        ml_distributed_begin(distributed, ascent);
        for (size_t k = 0; k < distributed->plan.repeats; k++) {
            size_t more;
            if (sweep(ascent, &more, err) < 0) {
                return -1;
            }
            *n += more;
        }
        ml_distributed_end(distributed, ascent, NULL, ascent->rows->n);
        return 0;
    }
    *n = choose_rows(ascent);
    for (size_t part = 0; part < distributed->plan.parts; part++) {
        size_t first, end = rounds_rows(&distributed->plan, *n, part, &first);
        ml_distributed_begin(distributed, ascent);
        if (ml_store_sweep(&ascent->store, ascent->order + first, end - first, visit, ascent,
                           &ascent->random, err) < 0) {
            return -1;
        }
        ml_distributed_end(distributed, ascent, ascent->order + first, end - first);
    }
    return 0;
}

/* Sum of the rows' gaps at their last visits. */
static double gap_at_last_visits(const struct ml_ascent *ascent) {
    return cluster_total(ascent->rows->cluster, array_sum(ascent->gap, ascent->rows->n));
}

int ml_ascent_run(struct ml_ascent *ascent, struct ml_run *run, struct error *err) {
    double best_gap = INFINITY, best_dual;
    int stalled = 0;
    if (ascent->distributed) {
        ml_distributed_start(ascent->distributed, ascent);
    }
    if (ml_ascent_bounds(ascent, &run->bounds, err) < 0) {
        return -1;
    }
    best_dual = run->bounds.dual;
    double start_gap = gap_relative(run->bounds.primal, run->bounds.dual);
    /* starts a period of the rate if the last one is over; the answer is not used */
    convergence_is_slow(&run->rate, run->work, start_gap, run->epsilon);
    run->converges_slowly = false;
    for (;;) {
        struct ml_bounds *bounds = &run->bounds;
        double allowed = run->epsilon * bounds->primal;
        if (gap_reached(bounds->primal, bounds->dual, run->epsilon) &&
            run->iterations >= run->min_iterations) {
            return 0;
        }
        ascent->negligible_gap = NEGLIGIBLE * allowed / (double)ascent->rows->n_everywhere;
        unshrink_rows(ascent);
        /* sweep until the predicted gap is small enough, or an evaluation is due */
        double predicted;
        uint64_t sweeps = 0; /* since the last evaluation */
        do {
            size_t n;
            if ((ascent->distributed ? sweep_distributed : sweep)(ascent, &n, err) < 0) {
                return -1;
            }
            run->iterations += ascent->distributed ? ascent->distributed->plan.repeats : 1;
            n = cluster_count(ascent->rows->cluster, n);
            run->work += ascent->all_work * (double)n / (double)ascent->rows->n_everywhere;
            sweeps++;
            predicted = gap_at_last_visits(ascent);
            run->stop = monitor_check(run->monitor, run->iterations, bounds->primal, bounds->dual);
        } while (!run->stop && sweeps < SWEEPS_PER_EVALUATION && predicted > 2 * allowed);
        if (ml_ascent_bounds(ascent, bounds, err) < 0) {
            return -1;
        }
        /* D rises with every step up to rounding error, which the best D leaves out; P is not
         * monotone */
        double gap = bounds->primal - bounds->dual;
        bool better = gap < STOP_PROGRESS * best_gap || bounds->dual - best_dual > MIN_RISE * gap;
        stalled = better ? 0 : stalled + 1;
        best_dual = bounds->dual > best_dual ? bounds->dual : best_dual;
        best_gap = gap < best_gap ? gap : best_gap;
        run->converges_slowly = convergence_is_slow(
            &run->rate, run->work, gap_relative(bounds->primal, bounds->dual), run->epsilon);
        if (run->stop || run->converges_slowly || stalled >= MAX_STALLED) {
            return 0;
        }
    }
}
