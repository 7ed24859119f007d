/* The sums over active pairs (pairs.h): Fenwick trees over ranks for large groups, or a node a rank
 * where each two ranks have a worth of their own, vector registers for small ones, one by one for a
 * sample. */
#include "solvers/rank/pairs.h"

#include "common/base/dispatch.h"
#include "solvers/rank/fenwick.h"

#include <stdbool.h>
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

/* A merge sort that leaves runs alone that are in order already. */
void rank_places_sort(struct rank_place *places, size_t m, struct rank_place *spare) {
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
    rank_places_sort(order, m, spare);
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

/* A large group's partners of a row, on one side: its tree, or (RANK_NDCG, RANK_GAIN) a node for
 * each level. */
struct partners {
    const struct rank_pairs *pairs;
    size_t base;
    uint32_t n_levels;
    bool down; /* levels count from the top down: partners above are then a prefix too */
    struct node *node;
};

static struct partners partners_begin(const struct rank_pairs *pairs, size_t group, bool down,
                                      struct node *node) {
    uint32_t n_levels = pairs->n_levels[group];
    memset(node, 0, ((size_t)n_levels + 1) * sizeof *node);
    return (struct partners){pairs, pairs->start[group], n_levels, down, node};
}

static uint32_t partners_level(const struct partners *partners, uint32_t level) {
    return partners->down ? partners->n_levels - 1 - level : level;
}

static void partners_add(const struct partners *partners, struct rank_place place) {
    uint32_t level = partners_level(partners, partners->pairs->level[partners->base + place.place]);
    if (partners->pairs->gain) {
        partners->node[level].count += 1;
        partners->node[level].sum += place.score;
    } else {
        node_add(partners->node, partners->n_levels, level, place.score);
    }
}

/* The sums over those of them that the window has for a row of that level. */
static struct node partners_of(const struct partners *partners, uint32_t level) {
    const struct rank_pairs *pairs = partners->pairs;
    uint32_t own = partners_level(partners, level);
    struct node total = {0, 0};
    if (own < pairs->low) {
        return total;
    }
    uint32_t to = own - pairs->low + 1, from = own > pairs->high ? own - pairs->high : 0;
    if (pairs->gain) {
        for (uint32_t l = from; l < to; l++) {
            double worth =
                rank_pairs_worth(pairs, partners->base, level, partners_level(partners, l));
            total.count += worth * partners->node[l].count;
            total.sum += worth * partners->node[l].sum;
        }
        return total;
    }
    node_prefix(partners->node, to, 1, &total);
    if (from > 0) {
        node_prefix(partners->node, from, -1, &total);
    }
    return total;
}

struct sums_task {
    struct rank_pairs *pairs;
    const double *s;
    double delta;
    double *count, *moment;
};

/* Partners below: adds to count and moment of each row of the group, and returns their number. */
static double sums_up(const struct sums_task *task, size_t group, struct node *nodes) {
    const struct rank_pairs *pairs = task->pairs;
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    const struct rank_place *order = pairs->order + base;
    const struct partners partners = partners_begin(pairs, group, false, nodes);
    double weight = pairs->weight[group], active = 0;
    size_t inserted = m;
    for (size_t q = m; q-- > 0;) {
        double score = order[q].score;
        while (inserted > 0 && score - order[inserted - 1].score < task->delta) {
            partners_add(&partners, order[--inserted]);
        }
        struct node below = partners_of(&partners, pairs->level[base + order[q].place]);
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
static void sums_down(const struct sums_task *task, size_t group, struct node *nodes) {
    const struct rank_pairs *pairs = task->pairs;
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    const struct rank_place *order = pairs->order + base;
    const struct partners partners = partners_begin(pairs, group, true, nodes);
    double weight = pairs->weight[group];
    size_t inserted = 0;
    for (size_t q = 0; q < m; q++) {
        double score = order[q].score;
        while (inserted < m && order[inserted].score - score < task->delta) {
            partners_add(&partners, order[inserted++]);
        }
        struct node above = partners_of(&partners, pairs->level[base + order[q].place]);
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

/* The same of a row of that gain and discount, its pairs by their worth. */
DISPATCH static struct node row_below_graded(double score, double gain, double discount,
                                             double delta, const double *restrict x,
                                             const double *restrict gains,
                                             const double *restrict discounts, size_t n,
                                             double *restrict down, double *restrict down_moment) {
    double count = 0, moment = 0;
#pragma omp simd reduction(+ : count, moment)
    for (size_t j = 0; j < n; j++) {
        double margin = score - x[j];
        double worth = (gain - gains[j]) * (discount - discounts[j]);
        double on = margin < delta ? worth : 0.0;
        double above = margin < delta ? worth * (delta - margin) : 0.0;
        count += on;
        moment += above;
        down[j] += on;
        down_moment[j] += above;
    }
    return (struct node){count, moment};
}

/* The gains and discounts of a group's rows, (m) each; without discounts zeros, to which a row's
 * own is 1. */
static void spread_grades(const struct rank_pairs *pairs, size_t base, size_t m, double *gains,
                          double *discounts) {
    for (size_t k = 0; pairs->gain && k < m; k++) {
        uint32_t level = pairs->level[base + k];
        gains[k] = pairs->gain[base + level];
        discounts[k] = pairs->discount ? pairs->discount[base + level] : 0;
    }
}

/* All pairs of a small group. scratch has room for five numbers a row, or seven. */
static double sums_direct(const struct sums_task *task, size_t group, double *scratch) {
    const struct rank_pairs *pairs = task->pairs;
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    double weight = pairs->weight[group], active = 0;
    double *x = scratch, *down = x + m, *down_moment = down + m;
    struct node *up = (struct node *)(void *)(down_moment + m);
    double *gains = down_moment + 3 * m, *discounts = gains + m;
    spread_grades(pairs, base, m, gains, discounts);
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
                double worth = rank_pairs_listed(pairs, base, k, base + pairs->partner[p]);
                active += worth;
                task->count[i] += weight * worth;
                task->count[j] -= weight * worth;
                if (task->moment) {
                    task->moment[i] += weight * worth * (task->delta - margin);
                    task->moment[j] -= weight * worth * (task->delta - margin);
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
    struct sums_task task = {pairs, s, delta, count, moment};
    double total = 0;
    memset(count, 0, pairs->n * sizeof *count);
    if (moment) {
        memset(moment, 0, pairs->n * sizeof *moment);
    }
    threads_run(pairs->threads, pairs->n_tasks, sums_run, &task);
    for (size_t g = 0; g < pairs->n_groups; g++) {
        total += pairs->group_sum[g];
    }
    return total;
}
