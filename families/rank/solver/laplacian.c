/* Products with the Laplacian of the active pairs, in O(n log n) for each vector (laplacian.h). */
#include "families/rank/solver/laplacian.h"

#include "common/base/array.h"
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "families/rank/solver/multipliers.h"
#include "families/rank/solver/partners.h"
#include "fit/score_map.h"

#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_ROWS = 256,     /* rows of one matrix product */
    GRAM_TASKS = 16,      /* tasks, independent of the number of threads */
    TREE_BYTES = 1 << 20, /* of the tree: the size of a second-level cache */
    MIN_PANEL = 8         /* columns of a panel: one cache line of doubles */
};
static const size_t ACCUMULATOR_BYTES = (size_t)128 << 20;

int rank_laplacian_create(struct rank_laplacian *laplacian, struct rank_pairs *pairs,
                          struct error *err) {
    size_t held = pairs->start[pairs->n_groups];
    *laplacian = (struct rank_laplacian){.pairs = pairs};
    laplacian->block =
        ARRAYS_CREATE("orders", err, ARRAYS(held, struct rank_scored, &laplacian->order),
                      ARRAYS(held, uint32_t, &laplacian->first[0], &laplacian->first[1],
                             &laplacian->end[0], &laplacian->end[1]),
                      ARRAYS(pairs->n, double, &laplacian->degree));
    return laplacian->block ? 0 : -1;
}

void rank_laplacian_free(struct rank_laplacian *laplacian) {
    free(laplacian->block);
    *laplacian = (struct rank_laplacian){0};
}

/* ---- one sweep of a Fenwick tree over a group --------------------------------------------------
 *
 * In score order, the partners of the rows are runs [first, end) whose ends never decrease. The
 * tree holds the partners of the current row. For partners preferred to it, levels count from the
 * top (`flip` of partners.h), so that a prefix of the levels is summed again. */

/* out[row] += factor times the sum of v over the row's partners on one side (down: those preferred
 * to it). v = NULL: of ones. */
static void sweep(const struct rank_laplacian *laplacian, size_t g, bool down, double factor,
                  const double *v, double *tree, double *out) {
    const struct rank_pairs *pairs = laplacian->pairs;
    const struct partners partners = partners_begin(pairs, g, down, tree, 1);
    const struct rank_scored *order = laplacian->order + partners.base;
    const uint32_t *row = pairs->row + partners.base;
    const uint32_t *first = laplacian->first[down] + partners.base;
    const uint32_t *end = laplacian->end[down] + partners.base;
    const double one = 1;
    size_t removed = 0, inserted = 0;
    for (size_t q = 0; q < pairs->start[g + 1] - partners.base; q++) {
        for (; inserted < end[q]; inserted++) {
            uint32_t position = order[inserted].position;
            partners_add(&partners, position, 1, v ? v + row[position] : &one, 1);
        }
        for (; removed < first[q]; removed++) {
            uint32_t position = order[removed].position;
            partners_add(&partners, position, -1, v ? v + row[position] : &one, 1);
        }
        double sum = 0;
        partners_sum(&partners, order[q].position, 1, &sum, 1);
        out[row[order[q].position]] += factor * sum;
    }
}

/* ---- the interval of margins ----------------------------------------------------------------- */

struct set_task {
    struct rank_laplacian *laplacian;
    const double *s;
};

static void find_runs(struct rank_laplacian *laplacian, size_t base, size_t m) {
    const struct rank_scored *order = laplacian->order + base;
    double low = laplacian->low, high = laplacian->high;
    size_t up_first = 0, up_end = 0, down_first = 0, down_end = 0;
    for (size_t q = 0; q < m; q++) {
        double score = order[q].score;
        while (up_first < m && !(score - order[up_first].score < high)) {
            up_first++;
        }
        up_end = up_end > up_first ? up_end : up_first;
        while (up_end < m && !(score - order[up_end].score < low)) {
            up_end++;
        }
        while (down_end < m && order[down_end].score - score < high) {
            down_end++;
        }
        while (down_first < down_end && order[down_first].score - score < low) {
            down_first++;
        }
        laplacian->first[0][base + q] = (uint32_t)up_first;
        laplacian->end[0][base + q] = (uint32_t)up_end;
        laplacian->first[1][base + q] = (uint32_t)down_first;
        laplacian->end[1][base + q] = (uint32_t)down_end;
    }
}

/* Whether the margin of a sampled pair is in the interval. Rows are positions in row[]. */
static bool in_region(const struct rank_laplacian *laplacian, size_t better, size_t worse) {
    double margin = laplacian->order[better].score - laplacian->order[worse].score;
    return margin < laplacian->high && !(margin < laplacian->low);
}

/* Goes to the next sampled pair whose margin is in the interval; false: there is none. */
static bool next_in_region(const struct rank_laplacian *laplacian, struct rank_pairs_walk *walk) {
    bool found = rank_pairs_next(walk);
    while (found && !in_region(laplacian, walk->better, walk->worse)) {
        found = rank_pairs_next(walk);
    }
    return found;
}

static void set_run(void *argument, size_t t, size_t worker) {
    const struct set_task *task = argument;
    struct rank_laplacian *laplacian = task->laplacian;
    struct rank_pairs *pairs = laplacian->pairs;
    double *scratch = pairs->scratch + worker * pairs->scratch_stride;
    for (size_t g = pairs->task[t]; g < pairs->task[t + 1]; g++) {
        size_t base = pairs->start[g], m = pairs->start[g + 1] - base;
        for (size_t k = base; k < base + m; k++) {
            laplacian->degree[pairs->row[k]] = 0;
        }
        if (pairs->partner_start) {
            for (size_t k = base; k < base + m; k++) {
                laplacian->order[k] =
                    (struct rank_scored){task->s[pairs->row[k]], (uint32_t)(k - base)};
            }
            struct rank_pairs_walk walk = rank_pairs_walk(pairs, g, g + 1);
            while (next_in_region(laplacian, &walk)) {
                laplacian->degree[pairs->row[walk.better]] += rank_pairs_walk_weight(&walk);
                laplacian->degree[pairs->row[walk.worse]] += rank_pairs_walk_weight(&walk);
            }
            continue;
        }
        rank_pairs_sort(pairs, g, task->s, scratch);
        memcpy(laplacian->order + base, pairs->order + base, m * sizeof *laplacian->order);
        find_runs(laplacian, base, m);
        for (int down = 0; down < 2; down++) {
            sweep(laplacian, g, down, pairs->weight[g], NULL, scratch, laplacian->degree);
        }
    }
}

void rank_laplacian_set(struct rank_laplacian *laplacian, const double *s, double delta_low,
                        double delta_high) {
    laplacian->low = delta_low;
    laplacian->high = delta_high;
    struct set_task task = {laplacian, s};
    threads_run(laplacian->pairs->threads, laplacian->pairs->n_tasks, set_run, &task);
}

/* ---- product with a vector ------------------------------------------------------------------- */

struct apply_task {
    const struct rank_laplacian *laplacian;
    const double *v;
    double *out;
};

static void apply_run(void *argument, size_t t, size_t worker) {
    const struct apply_task *task = argument;
    const struct rank_laplacian *laplacian = task->laplacian;
    const struct rank_pairs *pairs = laplacian->pairs;
    double *scratch = pairs->scratch + worker * pairs->scratch_stride;
    for (size_t g = pairs->task[t]; g < pairs->task[t + 1]; g++) {
        size_t base = pairs->start[g];
        for (size_t k = base; k < pairs->start[g + 1]; k++) {
            uint32_t row = pairs->row[k];
            task->out[row] = laplacian->degree[row] * task->v[row];
        }
        if (pairs->partner_start) {
            struct rank_pairs_walk walk = rank_pairs_walk(pairs, g, g + 1);
            while (next_in_region(laplacian, &walk)) {
                uint32_t i = pairs->row[walk.better], j = pairs->row[walk.worse];
                double weight = rank_pairs_walk_weight(&walk);
                task->out[i] -= weight * task->v[j];
                task->out[j] -= weight * task->v[i];
            }
            continue;
        }
        for (int down = 0; down < 2; down++) {
            sweep(laplacian, g, down, -pairs->weight[g], task->v, scratch, task->out);
        }
    }
}

void rank_laplacian_apply(const struct rank_laplacian *laplacian, const double *v, double *out) {
    if (laplacian->multipliers) {
        rank_multipliers_apply(laplacian->multipliers, v, out);
        return;
    }
    memset(out, 0, laplacian->pairs->n * sizeof *out); /* rows outside of all groups */
    struct apply_task task = {laplacian, v, out};
    threads_run(laplacian->pairs->threads, laplacian->pairs->n_tasks, apply_run, &task);
}

/* ---- X' L X ------------------------------------------------------------------------------------
 *
 * X'LX = M + M', M = sum_i x_i (degree_i x_i / 2 - sum of x_j over the partners below i)'. One
 * sweep with vectors of features in the tree gives the second factors; products of chunks of rows
 * sum them up. Tasks are chunks of groups times panels of columns. */

struct gram_task {
    const struct rank_laplacian *laplacian;
    const struct data *data;
    const uint32_t *rows;
    size_t d, width, n_panels;
    const size_t *chunk;  /* first group of each chunk of groups */
    double *accumulators; /* (n_chunks, d, d) */
    double *scratch;      /* per worker */
    size_t stride;
};

/* out (width) = features first .. first + width - 1 of a problem row. */
static void row_panel(const struct gram_task *task, uint32_t row, size_t first, size_t width,
                      double *out) {
    const struct data *data = task->data;
    size_t r = task->rows ? task->rows[row] : row;
    if (!data->row_start) {
        const float *value = data->value + r * data->n_features + first;
        for (size_t c = 0; c < width; c++) {
            out[c] = (double)value[c];
        }
        return;
    }
    memset(out, 0, width * sizeof *out);
    for (uint64_t k = data->row_start[r]; k < data->row_start[r + 1]; k++) {
        size_t c = data->column[k];
        if (c >= first && c < first + width) {
            out[c - first] = (double)data->value[k];
        }
    }
}

/* Rows collected for one matrix product. */
struct chunk {
    double *x; /* (CHUNK_ROWS, d) */
    double *y; /* (CHUNK_ROWS, width) */
    size_t n;
};

static void chunk_flush(const struct gram_task *task, struct chunk *chunk, size_t first,
                        size_t width, double *accumulator) {
    if (chunk->n > 0) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)task->d, (int)width,
                    (int)chunk->n, 1.0, chunk->x, (int)task->d, chunk->y, (int)width, 1.0,
                    accumulator + first, (int)task->d);
        chunk->n = 0;
    }
}

/* Appends a row: x, and y = degree x / 2, which is returned. */
static double *chunk_row(const struct gram_task *task, struct chunk *chunk, uint32_t row,
                         size_t first, size_t width) {
    double *x = chunk->x + chunk->n * task->d, *y = chunk->y + chunk->n * width;
    row_panel(task, row, 0, task->d, x);
    double half = task->laplacian->degree[row] / 2;
    for (size_t c = 0; c < width; c++) {
        y[c] = half * x[first + c];
    }
    chunk->n++;
    return y;
}

static void gram_group(const struct gram_task *task, size_t g, size_t column, size_t width,
                       struct chunk *chunk, double *tree, double *panel, double *accumulator) {
    const struct rank_pairs *pairs = task->laplacian->pairs;
    const struct partners partners = partners_begin(pairs, g, false, tree, width);
    const struct rank_scored *order = task->laplacian->order + partners.base;
    const uint32_t *row = pairs->row + partners.base;
    const uint32_t *first = task->laplacian->first[0] + partners.base;
    const uint32_t *end = task->laplacian->end[0] + partners.base;
    size_t removed = 0, inserted = 0;
    for (size_t q = 0; q < pairs->start[g + 1] - partners.base; q++) {
        /* skip partners that leave before any row needs them */
        if (inserted < first[q] && removed == inserted) {
            removed = inserted = first[q];
        }
        for (; inserted < end[q]; inserted++) {
            row_panel(task, row[order[inserted].position], column, width, panel);
            partners_add(&partners, order[inserted].position, 1, panel, width);
        }
        for (; removed < first[q]; removed++) {
            row_panel(task, row[order[removed].position], column, width, panel);
            partners_add(&partners, order[removed].position, -1, panel, width);
        }
        uint32_t own = row[order[q].position];
        if (task->laplacian->degree[own] == 0) {
            continue;
        }
        double *y = chunk_row(task, chunk, own, column, width);
        partners_sum(&partners, order[q].position, -pairs->weight[g], y, width);
        if (chunk->n == CHUNK_ROWS) {
            chunk_flush(task, chunk, column, width, accumulator);
        }
    }
}

static void gram_sampled(const struct gram_task *task, size_t g, size_t first, size_t width,
                         struct chunk *chunk, double *panel, double *accumulator) {
    const struct rank_laplacian *laplacian = task->laplacian;
    const struct rank_pairs *pairs = laplacian->pairs;
    size_t base = pairs->start[g];
    for (size_t k = base; k < pairs->start[g + 1]; k++) {
        double *y = chunk_row(task, chunk, pairs->row[k], first, width);
        for (size_t p = pairs->partner_start[k]; p < pairs->partner_start[k + 1]; p++) {
            size_t other = base + pairs->partner[p];
            if (in_region(laplacian, k, other)) {
                row_panel(task, pairs->row[other], first, width, panel);
                double relative_weight =
                    rank_pairs_relative_weight(pairs, base, pairs->level[k], pairs->level[other]);
                array_add(y, -pairs->weight[g] * relative_weight, panel, width);
            }
        }
        if (chunk->n == CHUNK_ROWS) {
            chunk_flush(task, chunk, first, width, accumulator);
        }
    }
}

static void gram_run(void *argument, size_t t, size_t worker) {
    const struct gram_task *task = argument;
    const struct rank_pairs *pairs = task->laplacian->pairs;
    size_t part = t / task->n_panels, first = t % task->n_panels * task->width;
    size_t width = first + task->width <= task->d ? task->width : task->d - first;
    double *accumulator = task->accumulators + part * task->d * task->d;
    struct chunk chunk = {.x = task->scratch + worker * task->stride};
    chunk.y = chunk.x + CHUNK_ROWS * task->d;
    double *panel = chunk.y + CHUNK_ROWS * task->width;
    double *tree = panel + task->width;
    for (size_t g = task->chunk[part]; g < task->chunk[part + 1]; g++) {
        if (pairs->partner_start) {
            gram_sampled(task, g, first, width, &chunk, panel, accumulator);
        } else {
            gram_group(task, g, first, width, &chunk, tree, panel, accumulator);
        }
    }
    chunk_flush(task, &chunk, first, width, accumulator);
}

int rank_laplacian_gram(const struct rank_laplacian *laplacian, const struct data *data,
                        const uint32_t *rows, size_t d, double *H, struct error *err) {
    const struct rank_pairs *pairs = laplacian->pairs;
    size_t matrix = d * d;      /* cannot overflow: H exists */
    if (pairs->n_groups == 0) { /* all groups are on other processes */
        memset(H, 0, matrix * sizeof *H);
        return 0;
    }
    size_t n_chunks = smaller(smaller(GRAM_TASKS, pairs->n_groups),
                              1 + ACCUMULATOR_BYTES / (matrix * sizeof(double) + 1));
    size_t width = TREE_BYTES / (((size_t)pairs->max_levels + 1) * sizeof(double));
    size_t n_panels = (GRAM_TASKS + n_chunks - 1) / n_chunks;
    width = smaller(width, (d + n_panels - 1) / n_panels);
    width = (width / MIN_PANEL + 1) * MIN_PANEL;
    n_panels = (d + width - 1) / width;
    size_t stride = CHUNK_ROWS * (d + width) + width + ((size_t)pairs->max_levels + 1) * width;
    size_t chunk[GRAM_TASKS + 1];
    struct gram_task task = {laplacian, data, rows, d, width, n_panels, chunk, NULL, NULL, stride};
    task.accumulators = memory_zeros(n_chunks, matrix * sizeof(double), "Hessian", err);
    task.scratch =
        memory_array(threads_count(pairs->threads), stride * sizeof(double), "Hessian", err);
    if (!task.accumulators || !task.scratch) {
        free(task.accumulators);
        free(task.scratch);
        return -1;
    }
    size_t held = pairs->start[pairs->n_groups];
    chunk[0] = 0;
    for (size_t g = 0, c = 0; c < n_chunks; chunk[++c] = g) {
        while (g < pairs->n_groups &&
               (c + 1 == n_chunks || pairs->start[g + 1] <= held / n_chunks * (c + 1))) {
            g++;
        }
    }
    threads_run(pairs->threads, n_chunks * n_panels, gram_run, &task);
    for (size_t c = 1; c < n_chunks; c++) {
        array_add(task.accumulators, 1, task.accumulators + c * matrix, matrix);
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            H[i * d + j] = H[j * d + i] =
                task.accumulators[i * d + j] + task.accumulators[j * d + i];
        }
    }
    free(task.accumulators);
    free(task.scratch);
    return 0;
}

/* ---- the diagonal ---------------------------------------------------------------------------- */

int rank_laplacian_diagonal(const struct rank_laplacian *laplacian, const struct data *data,
                            double *diagonal, struct error *err) {
    const struct rank_pairs *pairs = laplacian->pairs;
    size_t d = data->n_features;
    double *sum = memory_zeros(d, sizeof *sum, "a diagonal", err);
    if (!sum) {
        return -1;
    }
    memset(diagonal, 0, d * sizeof *diagonal);
    for (size_t g = 0; g < pairs->n_groups; g++) {
        double total = 0;
        for (int pass = 0; pass < 2;
             pass++) { /* first the sums of the group, then subtract and clear them */
            for (size_t k = pairs->start[g]; k < pairs->start[g + 1]; k++) {
                size_t row = pairs->row[k];
                double degree = laplacian->degree[row];
                total += pass == 0 ? degree : 0;
                uint64_t begin = data->row_start ? data->row_start[row] : row * d;
                uint64_t end = data->row_start ? data->row_start[row + 1] : begin + d;
                for (uint64_t i = begin; i < end; i++) {
                    size_t c = data->row_start ? data->column[i] : (size_t)(i - begin);
                    double x = (double)data->value[i];
                    if (pass == 0) {
                        sum[c] += degree * x;
                        diagonal[c] += degree * x * x;
                    } else {
                        diagonal[c] -= total > 0 ? sum[c] * sum[c] / total : 0;
                        sum[c] = 0;
                    }
                }
            }
        }
    }
    for (size_t c = 0; c < d; c++) {
        diagonal[c] = fmax(diagonal[c], 0);
    }
    free(sum);
    return 0;
}
