/* The weights of preferences by their grades, as sums over levels (grades.h). */
#include "families/rank/solver/grades.h"

#include "common/base/memory.h"
#include "families/rank/solver/rank.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

int rank_grades_of(double target, double *grade, struct error *err) {
    if (target != floor(target) || fabs(target) > RANK_MAX_GRADE) {
        return error_set(
            err, ERROR_RUNTIME,
            "a cost per ndcg or gain wants grades, whole numbers of at most %d: not %g",
            RANK_MAX_GRADE, target);
    }
    *grade = fmax(0, target);
    return 0;
}

/* *mean (n_levels) = the mean discount over the positions of each level of the group, the best
 * level first; *ideal = DCG* of the group. */
static void level_discounts(const struct rank_pairs *pairs, size_t group, bool linear,
                            const long double *discount, long double *mean, long double *ideal) {
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    *ideal = 0;
    for (size_t k = 0, end; k < m; k = end) {
        uint32_t level = pairs->level[base + k];
        long double sum = 0, gain = pairs->gain[base + level];
        for (end = k; end < m && pairs->level[base + end] == level; end++) {
            sum += discount[m - 1 - end];
        }
        mean[level] = sum / (long double)(end - k);
        *ideal += sum * (linear ? gain : exp2l(gain) - 1);
    }
}

/* Fills the gains of the levels, without the constant -1 (only differences count; each has one
 * rounding error), and the discounts minus that of the lowest level. Returns a bound of the
 * relative error of a difference of discounts. */
static double fill_levels(struct rank_pairs *pairs, size_t group, bool linear,
                          const long double *mean) {
    size_t base = pairs->start[group], m = pairs->start[group + 1] - base;
    double sums = ((double)m + 8) * (double)LDBL_EPSILON, max_error = 0, before = 0;
    for (uint32_t l = 0; l < pairs->n_levels[group]; l++) {
        double *gain = &pairs->gain[base + l], *discount = &pairs->discount[base + l];
        *gain = linear ? *gain : exp2(*gain);
        *discount = (double)(mean[l] - mean[0]);
        double error = 2 * sums * (double)mean[l] + DBL_EPSILON / 2 * *discount;
        if (l > 0) { /* differences of levels further apart have a smaller relative error */
            max_error = fmax(max_error, (error + before) / (*discount - discount[-1]));
        }
        before = error;
    }
    return max_error + sums;
}

/* Sum of the relative weights of the preferences of a group. Without a sample, the pairs of one row
 * are summed and multiplied by the number of rows of its level. */
static double group_relative_weight(const struct rank_pairs *pairs, size_t group) {
    size_t base = pairs->start[group], end = pairs->start[group + 1];
    long double sum = 0;
    if (pairs->partner_start) {
        struct rank_pairs_walk walk = rank_pairs_walk(pairs, group, group + 1);
        while (rank_pairs_next(&walk)) {
            sum += rank_pairs_walk_relative_weight(&walk);
        }
        return (double)sum;
    }
    for (size_t k = base, next; k < end; k = next) {
        uint32_t level = pairs->level[k];
        for (next = k + 1; next < end && pairs->level[next] == level;) {
            next++;
        }
        for (size_t j = base + pairs->below_first[k]; j < base + pairs->below_end[k]; j++) {
            sum += (long double)(next - k) *
                   rank_pairs_relative_weight(pairs, base, level, pairs->level[j]);
        }
    }
    return (double)sum;
}

/* RANK_GAIN: gains without discounts. */
static void weigh_by_gain(struct rank_pairs *pairs, bool linear) {
    for (size_t g = 0; g < pairs->n_groups; g++) {
        double *gain = pairs->gain + pairs->start[g];
        for (uint32_t l = 0; l < pairs->n_levels[g] && !linear; l++) {
            gain[l] = exp2(gain[l]);
        }
        pairs->group_relative_weight[g] = group_relative_weight(pairs, g);
    }
    pairs->weight_error =
        3 * DBL_EPSILON; /* a difference, and the product with the group's weight */
}

int rank_grades_weigh(struct rank_pairs *pairs, bool linear, struct error *err) {
    if (!pairs->discount) {
        weigh_by_gain(pairs, linear);
        return 0;
    }
    size_t max_rows = pairs->max_rows;
    long double *discount = memory_array(max_rows, sizeof *discount, "grades", err);
    long double *mean = memory_array(pairs->max_levels, sizeof *mean, "grades", err);
    double error = 0;
    int status = discount && mean ? 0 : -1;
    for (size_t position = 1; status == 0 && position <= max_rows; position++) {
        discount[position - 1] = 1 / log2l(1 + (long double)position);
    }
    for (size_t g = 0; status == 0 && g < pairs->n_groups; g++) {
        long double ideal;
        level_discounts(pairs, g, linear, discount, mean, &ideal);
        error = fmax(error, fill_levels(pairs, g, linear, mean));
        pairs->weight[g] = (double)(pairs->weight[g] / ideal);
        pairs->group_relative_weight[g] = group_relative_weight(pairs, g);
    }
    /* also two differences, two products and a quotient in double, and second-order terms */
    pairs->weight_error = error + 3 * DBL_EPSILON;
    free(discount);
    free(mean);
    return status;
}
