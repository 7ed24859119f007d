/* Sums over preference pairs in long double, by Fenwick trees or pair by pair (extended_sums.h). */
#include "families/rank/solver/extended_sums.h"

#define PARTNERS_NUMBER long double
#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "families/rank/solver/partners.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to this number of preferences, all pairs are visited one by one: it takes a millisecond, and
 * without, 4 rows end at a gap of 6.7e-9 instead of 1e-14. */
static const double MAX_LISTED = 1 << 18;

/* The largest grid, relative to mu: rounding to it moves the dual point by a negligible amount. */
static const double MAX_GRID = 0x1p-20;

/* The sums of a row's partners: their number, scores, and squared scores. */
enum { NUMBERS = 3 };

/* Sums over the pairs with u = delta - (s_i - s_j) > 0. */
struct totals {
    long double active, first, second; /* of 1, u and u^2, by relative weight */
    double listed;                     /* number of pairs that were visited one by one */
};

/* The scores of one group, and work space for its sums. */
struct group {
    const struct rank_pairs *pairs;
    size_t number, base, m;
    double size;       /* bound of |u| and |x| */
    long double *x;    /* (m) scores minus the middle of the group's range, by position */
    uint32_t *order;   /* (m) positions in ascending order of scores */
    long double *tree; /* (n_levels + 1, NUMBERS) Fenwick tree */
    /* (m) sum of u over the pairs that prefer a row, minus that of the others */
    long double *moment;
    long double *earlier_moment; /* (m) moments at an earlier delta */
    double *absolute_moment;     /* (m) sum of u over all pairs of a row */
    struct rank_scored *work;    /* (2 m) */
    void *block;                 /* all arrays */
};

/* Loads the scores of a group and sorts them. */
static void load(struct group *group, size_t number, const double *s) {
    const struct rank_pairs *pairs = group->pairs;
    group->base = pairs->start[number];
    group->m = pairs->start[number + 1] - group->base;
    group->number = number;
    for (size_t k = 0; k < group->m; k++) {
        double score = s[pairs->row[group->base + k]];
        group->work[k] = (struct rank_scored){score, (uint32_t)k};
    }
    rank_scored_sort(group->work, group->m, group->work + group->m);
    double low = group->work[0].score, high = group->work[group->m - 1].score;
    long double middle = low / 2 + high / 2;
    for (size_t k = 0; k < group->m; k++) {
        group->order[k] = group->work[k].position;
        group->x[group->work[k].position] = (long double)group->work[k].score - middle;
    }
    group->size = 1 + (high - low);
}

/* Adds the sums over the partners below each row (above = false) or above it. The tree holds the
 * partners at a distance of less than delta; from one row to the next it only grows. For partners
 * above, scores change their sign. Both sides have the same totals. */
static struct totals sums_on_side(struct group *group, long double delta, bool above) {
    const struct partners partners =
        partners_begin(group->pairs, group->number, above, group->tree, NUMBERS);
    struct totals totals = {0, 0, 0, 0};
    size_t m = group->m, inserted = 0;
    long double sign = above ? -1 : 1;
    for (size_t t = 0; t < m; t++) {
        uint32_t position = group->order[above ? t : m - 1 - t];
        long double x = sign * group->x[position];
        for (; inserted < m; inserted++) {
            uint32_t other = group->order[above ? inserted : m - 1 - inserted];
            long double y = sign * group->x[other];
            if (!(x - y < delta)) {
                break;
            }
            partners_add(&partners, other, 1, (long double[NUMBERS]){1, y, y * y}, NUMBERS);
        }
        long double sum[NUMBERS] = {0};
        partners_sum(&partners, position, 1, sum, NUMBERS);
        long double slack = delta - x;
        long double first = sum[0] * slack + sum[1];
        group->moment[position] += sign * first;
        group->absolute_moment[position] += (double)first;
        totals.active += sum[0];
        totals.first += first;
        totals.second += slack * (sum[0] * slack + 2 * sum[1]) + sum[2];
    }
    return totals;
}

/* Bound of the error of one u: two scores minus the middle, and two differences. */
static long double error_of_u(double size) {
    return 4 * LDBL_EPSILON * (1 + (long double)size);
}

/* All pairs of the group one by one: nothing cancels. A pair that is active only within its error
 * counts in `active` and adds nothing to the sums. */
static struct totals sums_listed(struct group *group, long double delta, long double u_error) {
    struct totals totals = {0, 0, 0, 0};
    struct rank_pairs_walk walk = rank_pairs_walk(group->pairs, group->number, group->number + 1);
    while (rank_pairs_next(&walk)) {
        size_t k = walk.better - group->base, other = walk.worse - group->base;
        long double u = delta - (group->x[k] - group->x[other]);
        if (!(u > -u_error)) {
            continue;
        }
        long double relative_weight = rank_pairs_walk_relative_weight(&walk);
        totals.active += relative_weight;
        totals.listed += 1;
        if (u > 0) {
            totals.first += relative_weight * u;
            totals.second += relative_weight * u * u;
            group->moment[k] += relative_weight * u;
            group->moment[other] -= relative_weight * u;
            group->absolute_moment[k] += (double)(relative_weight * u);
            group->absolute_moment[other] += (double)(relative_weight * u);
        }
    }
    return totals;
}

static bool is_listed(const struct rank_pairs *pairs) {
    return pairs->partner_start || pairs->n_pairs <= MAX_LISTED;
}

/* Sums at margin delta. Moments are complete only if they are asked for. */
static struct totals sums(struct group *group, long double delta, bool moments) {
    memset(group->moment, 0, group->m * sizeof *group->moment);
    memset(group->absolute_moment, 0, group->m * sizeof *group->absolute_moment);
    if (is_listed(group->pairs)) {
        return sums_listed(group, delta, error_of_u(group->size));
    }
    struct totals totals = sums_on_side(group, delta, false);
    if (moments) {
        sums_on_side(group, delta, true);
    }
    return totals;
}

/* Rounding-error factor of the longest sum: the nodes of a tree, or the rows of a group, then the
 * groups. */
static double rounding_factor(const struct rank_pairs *pairs) {
    double levels = pairs->gain ? (double)pairs->max_levels : 0;
    return (4 * (double)pairs->max_rows + (double)pairs->n_groups + levels + 64) *
           (double)LDBL_EPSILON;
}

static int group_create(struct group *group, const struct rank_pairs *pairs, struct error *err) {
    size_t m = pairs->max_rows, levels = (size_t)pairs->max_levels + 1;
    *group = (struct group){.pairs = pairs};
    group->block = ARRAYS_CREATE(
        "a certificate", err,
        ARRAYS(m, long double, &group->x, &group->moment, &group->earlier_moment),
        ARRAYS(m, uint32_t, &group->order), ARRAYS(levels * NUMBERS, long double, &group->tree),
        ARRAYS(m, double, &group->absolute_moment),
        ARRAYS(2 * m, struct rank_scored, &group->work));
    return group->block ? 0 : -1;
}

/* Bound of the rounding error of a group's sum. */
static double loss_error(const struct group *group, const struct totals *totals, bool squared) {
    double active = (double)totals->active, size = group->size;
    if (!is_listed(group->pairs)) {
        return rounding_factor(group->pairs) * active * (squared ? 4 * size * size : 2 * size);
    }
    double u_error = (double)error_of_u(size), first = (double)totals->first;
    double terms = (totals->listed + (double)group->pairs->n_groups + 8) * (double)LDBL_EPSILON;
    return squared ? u_error * (2 * first + u_error * active) + terms * (double)totals->second
                   : u_error * active + terms * first;
}

/* ---- all groups ---- */

/* The contribution of one group. */
struct part {
    long double sum;
    double error;
    double
        coefficient_error; /* dual point: bound of the error of each coefficient, over its weight */
};

/* A sum over all groups, computed by all threads. */
struct extended_sum {
    struct rank_pairs *pairs;
    const double *s;
    struct part (*part_of)(const struct extended_sum *sum, struct group *group);
    struct group *group;                   /* (workers) */
    struct part *part;                     /* (n_groups) */
    bool squared;                          /* loss: the squared hinge */
    double mu, grid, *coefficient, *slack; /* dual point: see rank_extended_dual */
};

static void free_groups(struct extended_sum *sum, size_t n_workers) {
    for (size_t w = 0; w < n_workers; w++) {
        free(sum->group[w].block);
    }
    free(sum->group);
    free(sum->part);
}

static void group_task(void *argument, size_t task, size_t worker) {
    const struct extended_sum *sum = argument;
    const struct rank_pairs *pairs = sum->pairs;
    for (size_t g = pairs->task[task]; g < pairs->task[task + 1]; g++) {
        load(&sum->group[worker], g, sum->s);
        sum->part[g] = sum->part_of(sum, &sum->group[worker]);
    }
}

/* Sums the contributions of the groups, in order. */
static int sum_groups(struct extended_sum *sum, struct part *total, struct error *err) {
    const struct rank_pairs *pairs = sum->pairs;
    size_t n_workers = threads_count(pairs->threads), opened = 0;
    sum->group = memory_array(n_workers, sizeof *sum->group, "a certificate", err);
    sum->part = memory_array(pairs->n_groups, sizeof *sum->part, "a certificate", err);
    int status = sum->group && sum->part ? 0 : -1;
    while (status == 0 && opened < n_workers) {
        status = group_create(&sum->group[opened], pairs, err);
        opened += status == 0;
    }
    *total = (struct part){0, 0, 0};
    if (status == 0) {
        threads_run(pairs->threads, pairs->n_tasks, group_task, sum);
    }
    for (size_t g = 0; status == 0 && g < pairs->n_groups; g++) {
        total->sum += sum->part[g].sum;
        total->error += sum->part[g].error;
        total->coefficient_error = fmax(total->coefficient_error, sum->part[g].coefficient_error);
    }
    free_groups(sum, opened);
    return status;
}

static struct part loss_part(const struct extended_sum *sum, struct group *group) {
    double weight = sum->pairs->weight[group->number];
    struct totals totals = sums(group, 1, false);
    return (struct part){.sum = (long double)weight * (sum->squared ? totals.second : totals.first),
                         .error = weight * loss_error(group, &totals, sum->squared)};
}

double rank_loss_perturbation(double slack, double weight, bool squared, double sum) {
    return squared ? slack * (2 * sqrt(weight * sum) + slack * weight) : slack * weight;
}

int rank_extended_loss(struct rank_pairs *pairs, const double *s, bool squared, double *value,
                       double *rounding, struct error *err) {
    struct extended_sum sum = {.pairs = pairs, .s = s, .part_of = loss_part, .squared = squared};
    struct part total;
    if (sum_groups(&sum, &total, err) < 0) {
        return -1;
    }
    *value = fmax(0, (double)total.sum);
    *rounding = total.error * (1 + DBL_EPSILON) + (DBL_EPSILON + pairs->weight_error) * *value;
    return 0;
}

/* Bound of the error that weights and the last rounding add to a coefficient, a sum of terms 2 u.
 * It is relative to the size of that sum, as weights may differ by many powers of two. */
static void fill_slack(const struct group *group, double weight, double *slack) {
    const struct rank_pairs *pairs = group->pairs;
    double part = (pairs->weight_error + DBL_EPSILON) * 2 * weight;
    for (size_t k = 0; k < group->m; k++) {
        slack[pairs->row[group->base + k]] =
            part * group->absolute_moment[k] * (1 + 64 * DBL_EPSILON);
    }
}

/* Upper bound of the sum over the pairs of one row of u = delta - (s_i - s_j) > 0, delta <= 1, over
 * this process's rows. */
static double largest_sum(const struct rank_pairs *pairs, const double *s) {
    double largest = 0;
    for (size_t g = 0; g < pairs->n_groups; g++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = pairs->start[g]; k < pairs->start[g + 1]; k++) {
            low = fmin(low, s[pairs->row[k]]);
            high = fmax(high, s[pairs->row[k]]);
        }
        largest = fmax(largest, (double)(pairs->start[g + 1] - pairs->start[g]) * (2 + high - low));
    }
    return largest;
}

double rank_extended_round(const struct rank_pairs *pairs, double *s, double *mu) {
    double largest = cluster_largest(pairs->cluster, largest_sum(pairs, s));
    /* Sums are then integer multiples of the unit below 1 / (2 LDBL_EPSILON), and so are half
     * units. */
    double unit = exp2(ceil(log2(4 * largest))) * (double)LDBL_EPSILON;
    if (pairs->gain || !(unit <= (*mu > 0 ? *mu : 1) * MAX_GRID)) {
        return 0;
    }
    for (size_t i = 0; i < pairs->n; i++) {
        double units =
            s[i] / unit; /* from 2^53 units on every double is an integer multiple already */
        s[i] = fabs(units) < 0x1p53 ? rint(units) * unit : s[i];
    }
    *mu = rint(*mu / unit) * unit;
    return unit;
}

/* A group's part of a dual point: coefficients and their slack. */
static struct part dual_part(const struct extended_sum *sum, struct group *group) {
    const struct rank_pairs *pairs = sum->pairs;
    const struct totals all = sums(group, 1, true);
    double mu = sum->mu, size = group->size;
    double weight = pairs->weight[group->number], weights = pairs->weight_error;
    struct part part = {0, 0, 0};
    long double scale = mu > 0 ? weight / (long double)mu : 2 * (long double)weight;
    if (mu > 0) { /* subtract the part of u above mu */
        memcpy(group->earlier_moment, group->moment, group->m * sizeof *group->earlier_moment);
        const struct totals above = sums(group, 1 - (long double)mu, true);
        for (size_t k = 0; k < group->m; k++) {
            group->moment[k] = group->earlier_moment[k] - group->moment[k];
        }
        part.sum = scale * (all.first - above.first);
        part.error = weights * (double)part.sum;
    } else {
        part.sum = weight * (2 * all.first - all.second);
        part.error = weights * weight * (double)(2 * all.first + all.second);
        if (pairs->gain) {
            fill_slack(group, weight, sum->slack);
        }
    }
    for (size_t k = 0; k < group->m; k++) {
        double sum_of = (double)(scale * group->moment[k]);
        size_t row = pairs->row[group->base + k];
        sum->coefficient[row] = sum_of;
        sum->slack[row] += sum->grid > 0 ? DBL_EPSILON * fabs(sum_of) : 0;
    }
    double lost = rounding_factor(pairs) * 4 * size / (mu > 0 ? mu : 1);
    double last = mu > 0 ? DBL_EPSILON + weights : DBL_EPSILON * 2 * size;
    part.coefficient_error = sum->grid > 0 ? weights * (mu > 0 ? 1 : 2 * size)
                                           : lost + (pairs->gain && !(mu > 0) ? 0 : last);
    part.error += lost * weight * (double)all.active * (mu > 0 ? 1 : 1 + size);
    return part;
}

int rank_extended_dual(struct rank_pairs *pairs, const double *s, double mu, double grid,
                       double *coefficient, double *slack, double *unit, double *linear,
                       double *rounding, struct error *err) {
    struct extended_sum sum = {.pairs = pairs,
                               .s = s,
                               .part_of = dual_part,
                               .mu = mu,
                               .grid = grid,
                               .coefficient = coefficient,
                               .slack = slack};
    struct part total;
    memset(coefficient, 0, pairs->n * sizeof *coefficient);
    memset(slack, 0, pairs->n * sizeof *slack);
    if (sum_groups(&sum, &total, err) < 0) {
        return -1;
    }
    *unit = total.coefficient_error;
    *linear = (double)total.sum;
    *rounding = total.error * (1 + DBL_EPSILON) + DBL_EPSILON * fabs(*linear);
    return 0;
}
