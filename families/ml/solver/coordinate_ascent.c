/* Block coordinate ascent with shrinking and warm starts (coordinate_ascent.h). */
#include "families/ml/solver/coordinate_ascent.h"

#include "common/base/array.h"
#include "common/base/gap.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "families/ml/solver/distributed_ascent.h"
#include "fit/score_map.h"
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

/* Progress is also a dual that rises by more than this share of the gap between two evaluations. */
static const double MIN_RISE = 1e-6;

/* ---- creation ---- */

/* Allocates the alpha of rows with pair steps. */
static int create_alpha(struct ml_bcd *bcd, struct error *err) {
    size_t n = bcd->rows->n;
    bcd->alpha_start = memory_array(n + 1, sizeof *bcd->alpha_start, "pairs", err);
    if (!bcd->alpha_start) {
        return -1;
    }
    bcd->alpha_start[0] = 0;
    for (size_t i = 0; i < n; i++) {
        struct ml_block block = ml_rows_block(bcd->rows, i, ML_HINGE, 1);
        uint64_t pairs = (uint64_t)block.n_relevant * (block.q - block.n_relevant);
        bcd->alpha_start[i + 1] = bcd->alpha_start[i] + (pairs <= MAX_PAIRS ? pairs : 0);
    }
    bcd->alpha = memory_zeros((size_t)bcd->alpha_start[n], sizeof(double), "pairs", err);
    return bcd->alpha ? 0 : -1;
}

static int create_scratch(struct ml_bcd *bcd, struct error *err) {
    size_t workers = threads_count(bcd->problem->threads);
    bcd->scratch = memory_zeros(workers, sizeof *bcd->scratch, "work of rows", err);
    for (size_t w = 0; bcd->scratch && w < workers; w++) {
        if (ml_scratch_create(&bcd->scratch[w], bcd->rows->q, err) < 0) {
            return -1;
        }
    }
    return bcd->scratch ? 0 : -1;
}

/* Operations of a sweep: its steps, and products with the data or the kernel matrix. */
static double count_work(const struct ml_bcd *bcd) {
    enum { PAIR_STEP = 8, LABEL_STEP = 100 };
    double work = ml_store_work(&bcd->store);
    for (size_t i = 0; i < bcd->rows->n; i++) {
        uint64_t pairs = bcd->alpha_start[i + 1] - bcd->alpha_start[i];
        work += (double)(PASSES * PAIR_STEP * pairs + (pairs > 0 ? 0 : LABEL_STEP) * bcd->rows->q);
    }
    return work;
}

int ml_bcd_create(struct ml_bcd *bcd, const struct problem *problem, const struct ml_rows *rows,
                  double constant, bool shrinking, uint64_t seed, struct error *err) {
    *bcd = (struct ml_bcd){
        .problem = problem, .rows = rows, .constant = constant, .shrinking = shrinking};
    random_start(&bcd->random, seed, RANDOM_STREAM);
    if (ml_store_create(&bcd->store, problem, rows, err) < 0) {
        return -1;
    }
    size_t n = rows->n, width = bcd->store.width;
    bcd->beta = memory_zeros(n, width * sizeof(double), "dual variables", err);
    bcd->conjugate = memory_zeros(n, 2 * sizeof(double), "dual variables", err);
    bcd->total = memory_zeros(width, 4 * sizeof(double), "dual variables", err);
    bcd->pause_length = memory_zeros(n, 2, "gaps", err);
    bcd->order = memory_array(n, sizeof(uint32_t), "an order", err);
    if (!bcd->beta || !bcd->conjugate || !bcd->total || !bcd->pause_length || !bcd->order ||
        create_alpha(bcd, err) < 0 || create_scratch(bcd, err) < 0) {
        ml_bcd_free(bcd);
        return -1;
    }
    bcd->gap = bcd->conjugate + n;
    bcd->offset = bcd->total + width;
    bcd->s = bcd->offset + width;
    bcd->old = bcd->s + width;
    bcd->pause_left = bcd->pause_length + n;
    bcd->sweep_work = count_work(bcd);
    bcd->all_work = cluster_total(rows->cluster, bcd->sweep_work);
    if (rows->cluster && ml_distributed_create(&bcd->distributed, bcd, err) < 0) {
        ml_bcd_free(bcd);
        return -1;
    }
    return 0;
}

void ml_bcd_free(struct ml_bcd *bcd) {
    for (size_t w = 0; bcd->scratch && w < threads_count(bcd->problem->threads); w++) {
        ml_scratch_free(bcd->scratch[w]);
    }
    ml_store_free(&bcd->store);
    ml_distributed_free(bcd->distributed);
    free(bcd->scratch);
    free(bcd->beta);
    free(bcd->conjugate);
    free(bcd->slope_scores);
    free(bcd->total);
    free(bcd->alpha);
    free(bcd->alpha_start);
    free(bcd->pause_length);
    free(bcd->order);
    *bcd = (struct ml_bcd){0};
}

/* ---- evaluation ---- */

/* Adds the constant feature and the offset to the scores s (width). */
static void add_bias(const struct ml_bcd *bcd, double *s) {
    for (size_t k = 0; k < bcd->store.width; k++) {
        s[k] += bcd->constant * bcd->total[k] + bcd->offset[k];
    }
}

/* The sums over all rows that form the bounds. */
struct sums {
    double loss, gain, square,
        offset; /* losses, linear part of D, <beta, K beta>, <beta, offset> */
};

struct evaluation {
    struct ml_bcd *bcd;
    double *s;         /* (workers, width) */
    struct sums *sums; /* (tasks) */
};

static void evaluate_task(void *argument, size_t task, size_t worker) {
    const struct evaluation *evaluation = argument;
    struct ml_bcd *bcd = evaluation->bcd;
    size_t width = bcd->store.width, end = (task + 1) * TASK_ROWS;
    double *s = evaluation->s + worker * width;
    struct sums sums = {0};
    for (size_t i = task * TASK_ROWS; i < end && i < bcd->rows->n; i++) {
        struct ml_block block = ml_bcd_block(bcd, i);
        const double *beta = bcd->beta + i * width;
        ml_store_scores(&bcd->store, i, s);
        double square = array_dot(beta, s, width);
        add_bias(bcd, s);
        double loss = ml_block_loss(&block, s, bcd->scratch[worker]);
        double gain = ml_block_gain(&block, beta) - bcd->conjugate[i];
        bcd->gap[i] = loss + array_dot(beta, s, width) - gain;
        sums.loss += loss;
        sums.gain += gain;
        sums.square += square;
        sums.offset += array_dot(beta, bcd->offset, width);
    }
    evaluation->sums[task] = sums;
}

int ml_bcd_bounds(struct ml_bcd *bcd, struct ml_bounds *bounds, struct error *err) {
    size_t width = bcd->store.width, tasks = (bcd->rows->n + TASK_ROWS - 1) / TASK_ROWS;
    struct evaluation evaluation = {.bcd = bcd,
                                    .s = memory_array(threads_count(bcd->problem->threads),
                                                      width * sizeof(double), "scores", err),
                                    .sums =
                                        memory_array(tasks, sizeof(struct sums), "bounds", err)};
    int status = -1;
    if (evaluation.s && evaluation.sums) {
        threads_run(bcd->problem->threads, tasks, evaluate_task, &evaluation);
        struct sums sum = {0};
        for (size_t t = 0; t < tasks; t++) {
            sum.loss += evaluation.sums[t].loss;
            sum.gain += evaluation.sums[t].gain;
            sum.square += evaluation.sums[t].square;
            sum.offset += evaluation.sums[t].offset;
        }
        double sums[] = {sum.loss, sum.gain, sum.square, sum.offset};
        cluster_sum(bcd->rows->cluster, sums, 4);
        sum = (struct sums){sums[0], sums[1], sums[2], sums[3]};
        double squared_norm = sum.square + bcd->constant * array_dot(bcd->total, bcd->total, width);
        *bounds = (struct ml_bounds){0.5 * squared_norm + sum.loss,
                                     sum.gain - sum.offset - 0.5 * squared_norm};
        status = isfinite(bounds->primal) && isfinite(bounds->dual) ? 0 : stop_overflow(err);
    }
    free(evaluation.s);
    free(evaluation.sums);
    return status;
}

/* ---- alphas ---- */

static void row_alpha(const void *context, size_t i, const struct ml_block *block, double *alpha) {
    const struct ml_bcd *bcd = context;
    uint32_t n_others = block->q - block->n_relevant;
    if (bcd->alpha_start[i + 1] > bcd->alpha_start[i]) {
        memcpy(alpha, bcd->alpha + bcd->alpha_start[i],
               (size_t)block->n_relevant * n_others * sizeof *alpha);
    } else if (block->loss == ML_SQUARED_HINGE) {
        ml_block_squared_alpha(block, bcd->slope_scores + i * bcd->store.width, alpha);
    } else {
        ml_block_hinge_alpha(block, bcd->beta + i * bcd->store.width, alpha, bcd->scratch[0]);
    }
}

struct ml_alphas ml_bcd_alphas(const struct ml_bcd *bcd) {
    return (struct ml_alphas){bcd->rows, bcd->loss, bcd->cost, bcd, row_alpha};
}

/* ---- warm starts ---- */

static void reset(struct ml_bcd *bcd) {
    size_t n = bcd->rows->n, width = bcd->store.width;
    memset(bcd->beta, 0, n * width * sizeof(double));
    memset(bcd->conjugate, 0, n * sizeof(double));
    memset(bcd->total, 0, width * sizeof(double));
    memset(bcd->alpha, 0, (size_t)bcd->alpha_start[n] * sizeof(double));
    ml_store_scale(&bcd->store, 0);
    for (size_t i = 0; bcd->slope_scores && i < n; i++) { /* all margins are 1 */
        struct ml_block block = ml_bcd_block(bcd, i);
        memset(bcd->slope_scores + i * width, 0, width * sizeof(double));
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            bcd->slope_scores[i * width + block.relevant[p]] = 1;
        }
    }
}

/* The best feasible multiple of beta for a new cost: D(t beta) = t linear - t^2 (squared_norm / 2 +
 * conjugate), with the conjugate for the new lambda, and t <= cost / old cost for the hinge. */
static int best_factor(struct ml_bcd *bcd, double ratio, double *factor, struct error *err) {
    size_t width = bcd->store.width;
    struct ml_bounds bounds;
    double conjugate = 0, linear = 0;
    if (ml_bcd_bounds(bcd, &bounds, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < bcd->rows->n; i++) {
        struct ml_block block = ml_bcd_block(bcd, i);
        linear += ml_block_gain(&block, bcd->beta + i * width) -
                  array_dot(bcd->beta + i * width, bcd->offset, width);
        conjugate += bcd->conjugate[i];
    }
    linear = cluster_total(bcd->rows->cluster, linear);
    conjugate = cluster_total(bcd->rows->cluster, conjugate);
    double half_squared_norm = linear - conjugate - bounds.dual;
    double curvature = 2 * (half_squared_norm + conjugate / ratio);
    *factor = curvature > 0 && linear > 0 ? linear / curvature : 0;
    if (bcd->loss == ML_HINGE && *factor > ratio) {
        *factor = ratio;
    }
    return 0;
}

static void scale(struct ml_bcd *bcd, double factor, double ratio) {
    size_t n = bcd->rows->n, width = bcd->store.width;
    for (size_t k = 0; k < n * width; k++) {
        bcd->beta[k] *= factor;
    }
    for (size_t k = 0; k < width; k++) {
        bcd->total[k] *= factor;
    }
    for (size_t k = 0; k < (size_t)bcd->alpha_start[n]; k++) {
        bcd->alpha[k] *= factor;
    }
    for (size_t i = 0; i < n; i++) {
        bcd->conjugate[i] *= factor * factor / ratio;
    }
    ml_store_scale(&bcd->store, factor);
    /* slope_scores still satisfy alpha = 2 lambda (1 - s_p + s_r) */
    for (size_t i = 0; bcd->slope_scores && i < n; i++) {
        struct ml_block block = ml_bcd_block(bcd, i);
        double *s = bcd->slope_scores + i * width, slopes = factor / ratio;
        for (size_t k = 0; k < width; k++) {
            s[k] *= slopes;
        }
        for (uint32_t p = 0; p < block.n_relevant; p++) {
            s[block.relevant[p]] += 1 - slopes;
        }
    }
}

/* Allocates slope_scores, unless all rows have pair steps. */
static int create_slope_scores(struct ml_bcd *bcd, struct error *err) {
    size_t i = 0, n = bcd->rows->n, width = bcd->store.width;
    while (i < n && bcd->alpha_start[i + 1] > bcd->alpha_start[i]) {
        i++;
    }
    if (i == n) {
        return 0;
    }
    bcd->slope_scores = memory_zeros(n, width * sizeof(double), "dual variables", err);
    return bcd->slope_scores ? 0 : -1;
}

int ml_bcd_start(struct ml_bcd *bcd, enum ml_loss loss, double cost, struct error *err) {
    if (loss == ML_SQUARED_HINGE && !bcd->slope_scores && create_slope_scores(bcd, err) < 0) {
        return -1;
    }
    if (bcd->cost == 0 || bcd->loss != loss) {
        reset(bcd);
    } else if (cost != bcd->cost) {
        double ratio = cost / bcd->cost, factor;
        if (best_factor(bcd, ratio, &factor, err) < 0) {
            return -1;
        }
        scale(bcd, factor, ratio);
    }
    bcd->loss = loss;
    bcd->cost = cost;
    memset(bcd->pause_length, 0, bcd->rows->n);
    memset(bcd->pause_left, 0, bcd->rows->n);
    return 0;
}

/* ---- sweeps ---- */

/* Shrinks a row with a negligible gap for twice as many sweeps as the last time. */
static void shrink_row(struct ml_bcd *bcd, size_t i) {
    if (!bcd->shrinking || bcd->gap[i] > bcd->negligible_gap) {
        bcd->pause_length[i] = 0;
        return;
    }
    unsigned next = bcd->pause_length[i] == 0 ? 1 : 2U * bcd->pause_length[i];
    bcd->pause_length[i] = (unsigned char)(next < MAX_PAUSE ? next : MAX_PAUSE);
    bcd->pause_left[i] = bcd->pause_length[i];
}

static bool visit(void *context, size_t i, const double *scores, double *change) {
    struct ml_bcd *bcd = context;
    size_t width = bcd->store.width;
    struct ml_block block = ml_bcd_block(bcd, i);
    struct ml_scratch *scratch = bcd->scratch[0];
    double *beta = bcd->beta + i * width, *s = bcd->s;
    memcpy(s, scores, width * sizeof *s);
    add_bias(bcd, s);
    bcd->gap[i] = ml_block_loss(&block, s, scratch) + bcd->conjugate[i] +
                  array_dot(beta, s, width) - ml_block_gain(&block, beta);
    shrink_row(bcd, i);
    if (!(bcd->gap[i] > 0)) {
        return false;
    }
    memcpy(bcd->old, beta, width * sizeof *beta);
    double factor = bcd->store.factor, k = factor * (bcd->store.diagonal[i] + bcd->constant);
    bool by_pairs = bcd->alpha_start[i + 1] > bcd->alpha_start[i];
    double largest = by_pairs ? ml_block_pairs(&block, k, s, bcd->alpha + bcd->alpha_start[i],
                                               PASSES, beta, &bcd->conjugate[i], scratch)
                              : ml_block_exact(&block, k, s, beta, &bcd->conjugate[i], scratch);
    if (largest == 0) {
        return false;
    }
    for (size_t c = 0; bcd->slope_scores && c < width; c++) {
        bcd->slope_scores[i * width + c] = s[c] + k * (beta[c] - bcd->old[c]);
    }
    for (size_t c = 0; c < width; c++) {
        change[c] = beta[c] - bcd->old[c];
        bcd->total[c] += factor * change[c];
    }
    return true;
}

/* Collects the rows of the next sweep in their order. */
static size_t choose_rows(struct ml_bcd *bcd) {
    size_t n = 0;
    for (size_t i = 0; i < bcd->rows->n; i++) {
        if (bcd->pause_left[i] > 0) {
            bcd->pause_left[i]--;
        } else {
            bcd->order[n++] = (uint32_t)i;
        }
    }
    ml_store_order(&bcd->store, bcd->order, n, &bcd->random);
    return n;
}

/* Rows whose gap has grown are visited again. */
static void unshrink_rows(struct ml_bcd *bcd) {
    for (size_t i = 0; i < bcd->rows->n; i++) {
        if (bcd->gap[i] > bcd->negligible_gap) {
            bcd->pause_left[i] = bcd->pause_length[i] = 0;
        }
    }
}

/* One sweep over the rows that are not shrunk, *n of them. */
static int sweep(struct ml_bcd *bcd, size_t *n, struct error *err) {
    *n = choose_rows(bcd);
    return ml_store_sweep(&bcd->store, bcd->order, *n, visit, bcd, &bcd->random, err);
}

/* One sweep in several parts, or several sweeps, with an allreduce after each part. */
static int sweep_distributed(struct ml_bcd *bcd, size_t *n, struct error *err) {
    struct ml_distributed *distributed = bcd->distributed;
    if (distributed->plan.repeats > 1) {
        *n = 0;
        ml_distributed_begin(distributed, bcd);
        for (size_t k = 0; k < distributed->plan.repeats; k++) {
            size_t more;
            if (sweep(bcd, &more, err) < 0) {
                return -1;
            }
            *n += more;
        }
        ml_distributed_end(distributed, bcd, NULL, bcd->rows->n);
        return 0;
    }
    *n = choose_rows(bcd);
    for (size_t part = 0; part < distributed->plan.parts; part++) {
        size_t first, end = rounds_rows(&distributed->plan, *n, part, &first);
        ml_distributed_begin(distributed, bcd);
        if (ml_store_sweep(&bcd->store, bcd->order + first, end - first, visit, bcd, &bcd->random,
                           err) < 0) {
            return -1;
        }
        ml_distributed_end(distributed, bcd, bcd->order + first, end - first);
    }
    return 0;
}

/* Sum of the rows' gaps at their last visits. */
static double predicted_gap(const struct ml_bcd *bcd) {
    double predicted = 0;
    for (size_t i = 0; i < bcd->rows->n; i++) {
        predicted += bcd->gap[i];
    }
    return cluster_total(bcd->rows->cluster, predicted);
}

int ml_bcd_run(struct ml_bcd *bcd, struct ml_run *run, struct error *err) {
    double best_gap = INFINITY;
    int stalled = 0;
    if (bcd->distributed) {
        ml_distributed_start(bcd->distributed, bcd);
    }
    if (ml_bcd_bounds(bcd, &run->bounds, err) < 0) {
        return -1;
    }
    double start_gap = gap_relative(run->bounds.primal, run->bounds.dual);
    convergence_is_slow(&run->rate, run->work, start_gap, run->epsilon);
    run->converges_slowly = false;
    for (;;) {
        struct ml_bounds *bounds = &run->bounds;
        double allowed = run->epsilon * bounds->primal;
        if (gap_reached(bounds->primal, bounds->dual, run->epsilon) &&
            run->iterations >= run->min_iterations) {
            return 0;
        }
        bcd->negligible_gap = NEGLIGIBLE * allowed / (double)bcd->rows->n_everywhere;
        unshrink_rows(bcd);
        /* sweep until the predicted gap is small enough, or an evaluation is due */
        double predicted, last_dual = bounds->dual;
        uint64_t sweeps = 0; /* since the last evaluation */
        do {
            size_t n;
            if ((bcd->distributed ? sweep_distributed : sweep)(bcd, &n, err) < 0) {
                return -1;
            }
            run->iterations += bcd->distributed ? bcd->distributed->plan.repeats : 1;
            n = cluster_count(bcd->rows->cluster, n);
            run->work += bcd->all_work * (double)n / (double)bcd->rows->n_everywhere;
            sweeps++;
            predicted = predicted_gap(bcd);
            run->stop = monitor_check(run->monitor, run->iterations, bounds->primal, bounds->dual);
        } while (!run->stop && sweeps < SWEEPS_PER_EVALUATION && predicted > 2 * allowed);
        if (ml_bcd_bounds(bcd, bounds, err) < 0) {
            return -1;
        }
        /* D rises with every step up to rounding error; P is not monotone */
        double gap = bounds->primal - bounds->dual;
        bool better = gap < STOP_PROGRESS * best_gap || bounds->dual - last_dual > MIN_RISE * gap;
        stalled = better ? 0 : stalled + 1;
        best_gap = gap < best_gap ? gap : best_gap;
        run->converges_slowly = convergence_is_slow(
            &run->rate, run->work, gap_relative(bounds->primal, bounds->dual), run->epsilon);
        if (run->stop || run->converges_slowly || stalled >= MAX_STALLED) {
            return 0;
        }
    }
}
