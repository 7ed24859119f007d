/* Sums over the active pairs (pairs.h). Large groups: Fenwick trees over the target levels, or one
 * node for each level if pairs have relative weights. Small groups: all pairs, vectorised. A
 * sample: pair by pair. */
#include "families/rank/solver/pairs.h"

#include "common/base/array.h"
#include "common/base/dispatch.h"
#include "families/rank/solver/partners.h"

#include <string.h>

enum {
    /* largest group whose m^2/2 pairs are compared one by one, vectorised: for 170 rows 3 us, where
     * sorting and two trees take 17; equal at about 1000 rows */
    DIRECT_ROWS = 600
};

/* Sums over the active partners of a row: their weight, and delta minus their margins. */
struct node {
    double count, sum;
};

/* ---- sorting --------------------------------------------------------------------------------- */

#define SORT_NAME rank_scored_sort
#define SORT_ITEM struct rank_scored
#define SORT_BEFORE(a, b) ((a).score < (b).score)
#include "common/base/merge_sort.h"

void rank_pairs_sort(struct rank_pairs *pairs, size_t group, const double *s, void *spare) {
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    struct rank_scored *order = pairs->order + base;
    const uint32_t *row = pairs->row + base;
    for (size_t q = 0; q < m; q++) {
        order[q].score = s[row[order[q].position]];
    }
    rank_scored_sort(order, m, spare);
}

/* ---- sums ------------------------------------------------------------------------------------ */

struct sums_task {
    struct rank_pairs *pairs;
    const double *s;
    double delta;
    double *count, *moment;
};

/* Adds the sums over the partners on one side of a row (sign 1: below it) to its sums. Returns
 * their weight. */
static inline __attribute__((always_inline)) double add_partners(const struct sums_task *task,
                                                                 const struct partners *partners,
                                                                 struct rank_scored position,
                                                                 double sign, double weight) {
    double sum[2] = {0, 0};
    partners_sum(partners, position.position, 1, sum, 2);
    size_t row = task->pairs->row[partners->base + position.position];
    task->count[row] += sign * weight * sum[0];
    if (task->moment) {
        double above = sum[0] * (task->delta - sign * position.score) + sign * sum[1];
        task->moment[row] += sign * weight * above;
    }
    return sum[0];
}

/* Adds the sums over the partners below each row of a large group, or above it. Returns the total
 * weight. From one row to the next, the set of partners with a margin below delta grows. Both sides
 * compare the same differences, so they see the same pairs. */
static double sums_on_side(const struct sums_task *task, size_t group, bool above, double *nodes) {
    const struct rank_pairs *pairs = task->pairs;
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base, inserted = 0;
    const struct rank_scored *order = pairs->order + base;
    const struct partners partners = partners_begin(pairs, group, above, nodes, 2);
    double sign = above ? -1 : 1, active = 0;
    for (size_t t = 0; t < m; t++) {
        struct rank_scored own = order[above ? t : m - 1 - t];
        for (; inserted < m; inserted++) {
            struct rank_scored other = order[above ? inserted : m - 1 - inserted];
            if (!(sign * (own.score - other.score) < task->delta)) {
                break;
            }
            partners_add(&partners, other.position, 1, (double[]){1, other.score}, 2);
        }
        active += add_partners(task, &partners, own, sign, pairs->weight[group]);
    }
    return active;
}

/* Compares a row with the rows x[0..n) below it. Adds each active pair to down (n), and delta minus
 * its margin to down_moment (n). Returns the row's own sums. */
DISPATCH static struct node row_below(double score, double delta, const double *restrict x,
                                      size_t n, double *restrict down,
                                      double *restrict down_moment) {
    double count = 0, moment = 0;
#pragma omp simd reduction(+ : count, moment)
    for (size_t j = 0; j < n; j++) {
        double margin = score - x[j];
        double on = margin < delta ? 1.0 : 0.0;
        double above = margin < delta ? delta - margin : 0.0;
        count += on;
        moment += above;
        down[j] += on;
        down_moment[j] += above;
    }
    return (struct node){count, moment};
}

/* The same with relative weights (gain - gains[j]) (discount - discounts[j]). */
DISPATCH static struct node row_below_graded(double score, double gain, double discount,
                                             double delta, const double *restrict x,
                                             const double *restrict gains,
                                             const double *restrict discounts, size_t n,
                                             double *restrict down, double *restrict down_moment) {
    double count = 0, moment = 0;
#pragma omp simd reduction(+ : count, moment)
    for (size_t j = 0; j < n; j++) {
        double margin = score - x[j];
        double relative_weight = (gain - gains[j]) * (discount - discounts[j]);
        double on = margin < delta ? relative_weight : 0.0;
        double above = margin < delta ? relative_weight * (delta - margin) : 0.0;
        count += on;
        moment += above;
        down[j] += on;
        down_moment[j] += above;
    }
    return (struct node){count, moment};
}

/* gains (m), discounts (m) of the rows of a group. Without discounts: zeros, and a row's own
 * discount is then 1. */
static void load_grades(const struct rank_pairs *pairs, size_t base, size_t m, double *gains,
                        double *discounts) {
    for (size_t k = 0; pairs->gain && k < m; k++) {
        uint32_t level = pairs->level[base + k];
        gains[k] = pairs->gain[base + level];
        discounts[k] = pairs->discount ? pairs->discount[base + level] : 0;
    }
}

/* All pairs of a small group. scratch: five numbers for each row, or seven with relative weights.
 */
static double sums_direct(const struct sums_task *task, size_t group, double *scratch) {
    const struct rank_pairs *pairs = task->pairs;
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    double weight = pairs->weight[group], active = 0;
    double *x = scratch, *down = x + m, *down_moment = down + m;
    struct node *up = (struct node *)(void *)(down_moment + m);
    double *gains = down_moment + 3 * m, *discounts = gains + m;
    load_grades(pairs, base, m, gains, discounts);
    for (size_t k = 0; k < m; k++) {
        x[k] = task->s[pairs->row[base + k]];
        down[k] = down_moment[k] = 0;
    }
    for (size_t k = 0; k < m; k++) {
        size_t first = pairs->below_first[base + k];
        size_t n = pairs->below_end[base + k] - first;
        up[k] = pairs->gain
                    ? row_below_graded(x[k], gains[k], pairs->discount ? discounts[k] : 1,
                                       task->delta, x + first, gains + first, discounts + first, n,
                                       down + first, down_moment + first)
                    : row_below(x[k], task->delta, x + first, n, down + first, down_moment + first);
        active += up[k].count;
    }
    for (size_t k = 0; k < m; k++) {
        size_t row = pairs->row[base + k];
        task->count[row] = weight * (up[k].count - down[k]);
        if (task->moment) {
            task->moment[row] = weight * (up[k].sum - down_moment[k]);
        }
    }
    return active;
}

/* The sampled pairs of a group. */
static double sums_sampled(const struct sums_task *task, size_t group) {
    const struct rank_pairs *pairs = task->pairs;
    double active = 0;
    struct rank_pairs_walk walk = rank_pairs_walk(pairs, group, group + 1);
    while (rank_pairs_next(&walk)) {
        size_t i = pairs->row[walk.better], j = pairs->row[walk.worse];
        double margin = task->s[i] - task->s[j], weight = rank_pairs_walk_weight(&walk);
        if (margin < task->delta) {
            active += rank_pairs_walk_relative_weight(&walk);
            task->count[i] += weight;
            task->count[j] -= weight;
            if (task->moment) {
                task->moment[i] += weight * (task->delta - margin);
                task->moment[j] -= weight * (task->delta - margin);
            }
        }
    }
    return active;
}

static void sums_run(void *argument, size_t t, size_t worker) {
    const struct sums_task *task = argument;
    struct rank_pairs *pairs = task->pairs;
    void *scratch = pairs->scratch + worker * pairs->scratch_stride;
    for (size_t g = pairs->task[t]; g < pairs->task[t + 1]; g++) {
        double active;
        if (pairs->partner_start) {
            active = sums_sampled(task, g);
        } else if (pairs->start[g + 1] - pairs->start[g] <= DIRECT_ROWS) {
            active = sums_direct(task, g, scratch);
        } else {
            rank_pairs_sort(pairs, g, task->s, scratch);
            active = sums_on_side(task, g, false, scratch);
            sums_on_side(task, g, true, scratch);
        }
        pairs->group_sum[g] = active * pairs->weight[g];
    }
}

double rank_pairs_sums(struct rank_pairs *pairs, const double *s, double delta, double *count,
                       double *moment) {
    struct sums_task task = {pairs, s, delta, count, moment};
    memset(count, 0, pairs->n * sizeof *count);
    if (moment) {
        memset(moment, 0, pairs->n * sizeof *moment);
    }
    threads_run(pairs->threads, pairs->n_tasks, sums_run, &task);
    return array_sum(pairs->group_sum, pairs->n_groups);
}
