/* The sums over active pairs (pairs.h): Fenwick trees over ranks for large groups, vector
 * registers for small ones, one by one for a sample. */
#include "solvers/rank/pairs.h"

#include "common/base/dispatch.h"
#include "solvers/rank/fenwick.h"

#include <stdlib.h>
#include <string.h>

enum {
    INSERTION_ROWS = 16, /* runs that are sorted by insertion */
    DIRECT_ROWS = 600    /* groups up to here take m^2/2 vectorised comparisons: 3 us for 170 rows
                            where sorting and two trees take 17, about equal at 1000 */
};

/* A Fenwick node: how many partners it covers and the sum of their scores. */
struct node {
    double count, sum;
};

/* ---- sorting --------------------------------------------------------------------------------- */

/* Sorts by score with a merge sort that leaves runs alone that are in order already. spare has
 * room for m places. */
static void sort_places(struct rank_place *places, size_t m, struct rank_place *spare) {
    for (size_t base = 0; base < m; base += INSERTION_ROWS) {
        size_t end = base + INSERTION_ROWS < m ? base + INSERTION_ROWS : m;
        for (size_t i = base + 1; i < end; i++) {
            struct rank_place moved = places[i];
            size_t j = i;
            for (; j > base && places[j - 1].score > moved.score; j--) {
                places[j] = places[j - 1];
            }
            places[j] = moved;
        }
    }
    for (size_t width = INSERTION_ROWS; width < m; width *= 2) {
        for (size_t base = 0; base + width < m; base += 2 * width) {
            size_t middle = base + width;
            size_t end = middle + width < m ? middle + width : m;
            if (places[middle - 1].score <= places[middle].score) {
                continue;
            }
            memcpy(spare, places + base, width * sizeof *spare);
            size_t a = 0, b = middle, out = base;
            while (a < width && b < end) {
                places[out++] = places[b].score < spare[a].score ? places[b++] : spare[a++];
            }
            memcpy(places + out, spare + a, (width - a) * sizeof *spare);
        }
    }
}

void rank_pairs_sort(struct rank_pairs *pairs, size_t group, const double *s, void *spare) {
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    struct rank_place *order = pairs->order + base;
    const uint32_t *row = pairs->row + base;
    for (size_t q = 0; q < m; q++) {
        order[q].score = s[row[order[q].place]];
    }
    sort_places(order, m, spare);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void node_add(struct node *tree, uint32_t n_levels, uint32_t level, double score) {
    for (uint32_t k = fenwick_first(level); k <= n_levels; k = fenwick_next(k)) {
        tree[k].count += 1;
        tree[k].sum += score;
    }
}

/* Sum of levels [0, end), times sign, into *total. */
static void node_prefix(const struct node *tree, uint32_t end, double sign, struct node *total) {
    for (uint32_t k = end; k > 0; k = fenwick_rest(k)) {
        total->count += sign * tree[k].count;
        total->sum += sign * tree[k].sum;
    }
}

struct sums_task {
    struct rank_pairs *pairs;
    const double *s;
    double delta;
    double *count, *moment;
};

/* Partners below: adds to count and moment of each row of the group, and returns their number. */
static double sums_up(const struct sums_task *task, size_t group, struct node *tree) {
    const struct rank_pairs *pairs = task->pairs;
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    const struct rank_place *order = pairs->order + base;
    const uint32_t *level = pairs->level + base;
    uint32_t n_levels = pairs->n_levels[group];
    double weight = pairs->weight[group], active = 0;
    memset(tree, 0, ((size_t)n_levels + 1) * sizeof *tree);
    size_t inserted = m;
    for (size_t q = m; q-- > 0;) {
        double score = order[q].score;
        while (inserted > 0 && score - order[inserted - 1].score < task->delta) {
            inserted--;
            node_add(tree, n_levels, level[order[inserted].place], order[inserted].score);
        }
        uint32_t own = level[order[q].place];
        struct node below = {0, 0};
        if (own >= pairs->low) {
            node_prefix(tree, own - pairs->low + 1, 1, &below);
            if (own > pairs->high) {
                node_prefix(tree, own - pairs->high, -1, &below);
            }
        }
        size_t row = pairs->row[base + order[q].place];
        task->count[row] += weight * below.count;
        if (task->moment) {
            task->moment[row] += weight * (below.count * (task->delta - score) + below.sum);
        }
        active += below.count;
    }
    return active;
}

/* Partners above. The comparison is that of sums_up to the bit, so both see the same pairs. */
static void sums_down(const struct sums_task *task, size_t group, struct node *tree) {
    const struct rank_pairs *pairs = task->pairs;
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    const struct rank_place *order = pairs->order + base;
    const uint32_t *level = pairs->level + base;
    uint32_t n_levels = pairs->n_levels[group];
    double weight = pairs->weight[group];
    memset(tree, 0, ((size_t)n_levels + 1) * sizeof *tree);
    size_t inserted = 0;
    for (size_t q = 0; q < m; q++) {
        double score = order[q].score;
        while (inserted < m && order[inserted].score - score < task->delta) {
            /* levels from the top down: partners above are then a prefix too */
            node_add(tree, n_levels, n_levels - 1 - level[order[inserted].place],
                     order[inserted].score);
            inserted++;
        }
        uint32_t own = n_levels - 1 - level[order[q].place];
        struct node above = {0, 0};
        if (own >= pairs->low) {
            node_prefix(tree, own - pairs->low + 1, 1, &above);
            if (own > pairs->high) {
                node_prefix(tree, own - pairs->high, -1, &above);
            }
        }
        size_t row = pairs->row[base + order[q].place];
        task->count[row] -= weight * above.count;
        if (task->moment) {
            task->moment[row] -= weight * (above.count * (task->delta + score) - above.sum);
        }
    }
}

/* One row against the rows x[0..n) below it: adds each active pair to down (n) and, as delta less
 * its margin, to down_moment (n). Returns the row's own sums. */
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

/* All pairs of a small group. scratch has room for five numbers a row. */
static double sums_direct(const struct sums_task *task, size_t group, double *scratch) {
    const struct rank_pairs *pairs = task->pairs;
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    double weight = pairs->weight[group], active = 0;
    double *x = scratch, *down = x + m, *down_moment = down + m;
    struct node *up = (struct node *)(void *)(down_moment + m);
    for (size_t k = 0; k < m; k++) {
        x[k] = task->s[pairs->row[base + k]];
        down[k] = down_moment[k] = 0;
    }
    for (size_t k = 0; k < m; k++) {
        size_t first = pairs->below_first[base + k];
        up[k] = row_below(x[k], task->delta, x + first, pairs->below_end[base + k] - first,
                          down + first, down_moment + first);
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

/* The sampled pairs of a group, one by one. */
static double sums_listed(const struct sums_task *task, size_t group) {
    const struct rank_pairs *pairs = task->pairs;
    size_t base = pairs->start[group], end = pairs->start[group + 1];
    double weight = pairs->weight[group], active = 0;
    for (size_t k = base; k < end; k++) {
        size_t i = pairs->row[k];
        for (size_t p = pairs->partner_start[k]; p < pairs->partner_start[k + 1]; p++) {
            size_t j = pairs->row[base + pairs->partner[p]];
            double margin = task->s[i] - task->s[j];
            if (margin < task->delta) {
                active += 1;
                task->count[i] += weight;
                task->count[j] -= weight;
                if (task->moment) {
                    task->moment[i] += weight * (task->delta - margin);
                    task->moment[j] -= weight * (task->delta - margin);
                }
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
            active = sums_listed(task, g);
        } else if (pairs->start[g + 1] - pairs->start[g] <= DIRECT_ROWS) {
            active = sums_direct(task, g, scratch);
        } else {
            rank_pairs_sort(pairs, g, task->s, scratch);
            active = sums_up(task, g, scratch);
            sums_down(task, g, scratch);
        }
        pairs->group_sum[g] = active * pairs->weight[g];
    }
}

double rank_pairs_sums(struct rank_pairs *pairs, const double *s, double delta, double *count,
                       double *moment) {
    memset(count, 0, pairs->n * sizeof *count);
    if (moment) {
        memset(moment, 0, pairs->n * sizeof *moment);
    }
    struct sums_task task = {pairs, s, delta, count, moment};
    threads_run(pairs->threads, pairs->n_tasks, sums_run, &task);
    double total = 0;
    for (size_t g = 0; g < pairs->n_groups; g++) {
        total += pairs->group_sum[g];
    }
    return total;
}
