/* The list of distinct preferences, aggregated over duplicate rows (listed_pairs.h). */
#include "families/rank/solver/listed_pairs.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/kernel/distinct_rows.h"
#include "fit/certify.h"
#include "fit/fit.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Maximal number of rows in which rank_listed_count searches duplicates. */
enum { MAX_SCORES = 4 * RANK_MAX_LISTED_ROWS };

/* ---- distinct rows ---- */

static uint32_t distinct_of(const struct problem *problem, const struct distinct *distinct,
                            size_t i) {
    return distinct->place[problem->rows ? problem->rows[i] : i];
}

/* The root of the set of linked groups that contains `group` (union-find). */
static size_t head_of(size_t *next, size_t group) {
    while (next[group] != group) {
        group = next[group] = next[next[group]];
    }
    return group;
}

/* group (distinct->m) = a group that contains the distinct row; n_groups: none. next (n_groups):
 * parents of the union-find forest of groups that share distinct rows. */
static void link_groups(const struct rank_pairs *pairs, const struct problem *problem,
                        const struct distinct *distinct, size_t *group, size_t *next) {
    for (size_t k = 0; k < distinct->m; k++) {
        group[k] = pairs->n_groups;
    }
    for (size_t g = 0; g < pairs->n_groups; g++) {
        next[g] = g;
        for (size_t k = pairs->start[g]; k < pairs->start[g + 1]; k++) {
            uint32_t distinct_row = distinct_of(problem, distinct, pairs->row[k]);
            group[distinct_row] = group[distinct_row] == pairs->n_groups ? g : group[distinct_row];
            size_t one = head_of(next, g), other = head_of(next, group[distinct_row]);
            next[larger(one, other)] = smaller(one, other);
        }
    }
}

/* Numbers the distinct rows that belong to a group, in order of first appearance. number
 * (distinct->m): work. */
static void number_rows(struct rank_listed *listed, const struct problem *problem,
                        const struct distinct *distinct, const size_t *group, uint32_t *number) {
    for (size_t k = 0; k < distinct->m; k++) {
        number[k] = RANK_LISTED_NONE;
    }
    for (size_t i = 0; i < listed->n_scores; i++) {
        uint32_t distinct_row = distinct_of(problem, distinct, i);
        if (number[distinct_row] == RANK_LISTED_NONE &&
            group[distinct_row] < listed->pairs->n_groups) {
            number[distinct_row] = (uint32_t)listed->n;
            listed->row[listed->n++] = (uint32_t)i;
        }
        listed->distinct_row[i] = number[distinct_row];
    }
}

/* Lists the distinct rows of each set of linked groups. */
static void list_groups(struct rank_listed *listed, const struct problem *problem,
                        const struct distinct *distinct, const size_t *group, size_t *next) {
    size_t n_groups = listed->pairs->n_groups, *end = listed->group_start + 1, last = 0;
    for (size_t g = 0; g < n_groups; g++) {
        end[g] = 0;
    }
    for (size_t k = 0; k < listed->n; k++) {
        end[head_of(next, group[distinct_of(problem, distinct, listed->row[k])])]++;
    }
    for (size_t g = 0, first = 0; g < n_groups; g++) {
        size_t m = end[g];
        end[g] = first;
        first += m;
    }
    for (size_t k = 0; k < listed->n; k++) {
        size_t head = head_of(next, group[distinct_of(problem, distinct, listed->row[k])]);
        listed->group_row[end[head]++] = (uint32_t)k;
    }
    for (size_t g = 0; g < n_groups;
         g++) { /* groups that are linked with an earlier one are empty */
        if (end[g] > last) {
            last = end[listed->groups.n++] = end[g];
        }
    }
    listed->group_start[0] = 0;
    listed->groups.start = listed->group_start;
    listed->groups.row = listed->group_row;
}

static int find_rows(struct rank_listed *listed, const struct problem *problem, struct error *err) {
    size_t n_groups = listed->pairs->n_groups;
    struct distinct distinct = {0};
    if (distinct_find(&distinct, problem->data, err) < 0) {
        return -1;
    }
    size_t *group = memory_array(distinct.m, sizeof *group, "pairs", err);
    size_t *next = memory_array(n_groups, sizeof *next, "pairs", err);
    uint32_t *number = memory_array(distinct.m, sizeof *number, "pairs", err);
    listed->group_start = memory_array(n_groups + 1, sizeof *listed->group_start, "groups", err);
    listed->group_row = memory_array(listed->n_scores, sizeof *listed->group_row, "groups", err);
    int status = group && next && number && listed->group_start && listed->group_row ? 0 : -1;
    if (status == 0) {
        link_groups(listed->pairs, problem, &distinct, group, next);
        number_rows(listed, problem, &distinct, group, number);
        list_groups(listed, problem, &distinct, group, next);
    }
    distinct_free(&distinct);
    free(group);
    free(next);
    free(number);
    return status;
}

static int count_distinct(const struct problem *problem, size_t *n, struct error *err) {
    struct distinct distinct;
    if (distinct_find(&distinct, problem->data, err) < 0) {
        return -1;
    }
    bool *seen = memory_zeros(distinct.m, sizeof *seen, "pairs", err);
    *n = 0;
    for (size_t i = 0; seen && i < problem->n; i++) {
        uint32_t distinct_row = distinct_of(problem, &distinct, i);
        *n += !seen[distinct_row];
        seen[distinct_row] = true;
    }
    int status = seen ? 0 : -1;
    distinct_free(&distinct);
    free(seen);
    return status;
}

int rank_listed_count(const struct problem *problem, const struct score_map *map, bool margins,
                      size_t *n, struct error *err) {
    *n = map->n;
    bool few = *n <= (margins ? RANK_MAX_LISTED_ROWS : MAX_SCORES);
    bool matters = !margins && (!map->primal || *n > RANK_MAX_LISTED_ROWS);
    if (few && matters && count_distinct(problem, n, err) < 0) {
        return -1;
    }
    if (!few || !row_features_fits(map, *n, RANK_MAX_LISTED_ROWS)) {
        *n = 0;
    }
    return 0;
}

/* ---- preferences ---- */

/* The entry of W of the current pair. */
static size_t entry_of(const struct rank_listed *listed, const struct rank_pairs_walk *walk) {
    const uint32_t *row = listed->pairs->row;
    return listed->distinct_row[row[walk->better]] * listed->n +
           listed->distinct_row[row[walk->worse]];
}

/* W (n, n) = the sums of the weights of the preferences, each of some pairs. Sums are rounded down,
 * by more than their rounding error and that of the division of alpha: an alpha within C times the
 * sum can then be divided into parts within C times the weights. m parts, each rounded to a unit in
 * alpha's last place, leave the last part m (1 + 1/2 + ... + 1/m) / 2 units off. That is below 16 m
 * for every possible m. */
static int add_weights(struct rank_listed *listed, struct error *err) {
    const double each = 16 * DBL_EPSILON;
    size_t n = listed->n;
    uint32_t *count = memory_zeros(n, n * sizeof *count, "pairs", err);
    listed->W = count ? memory_zeros(n, n * sizeof *listed->W, "pairs", err) : NULL;
    struct rank_pairs_walk walk = rank_pairs_walk(listed->pairs, 0, listed->pairs->n_groups);
    while (listed->W && rank_pairs_next(&walk)) {
        size_t k = entry_of(listed, &walk);
        listed->W[k] += rank_pairs_walk_weight(&walk);
        count[k]++;
    }
    for (size_t k = 0; listed->W && k < n * n; k++) {
        listed->W[k] *= count[k] > 1 ? 1 - each * (double)count[k] : 1;
    }
    free(count);
    return listed->W ? 0 : -1;
}

static int allocate_pairs(struct rank_listed *listed, struct error *err) {
    listed->weight = memory_array(listed->n_pairs, sizeof *listed->weight, "pairs", err);
    listed->better = memory_array(listed->n_pairs, 2 * sizeof *listed->better, "pairs", err);
    return listed->weight && listed->better ? 0 : -1;
}

/* Lists the preferences of row i: of other rows from *differ on, of equal rows from *equal on. */
static void list_row(struct rank_listed *listed, size_t i, size_t *differ, size_t *equal) {
    const double *W = listed->W + i * listed->n;
    for (size_t k = 0; k < listed->n; k++) {
        if (W[k] > 0) {
            size_t j = k != i ? (*differ)++ : (*equal)++;
            listed->better[j] = (uint32_t)i;
            listed->worse[j] = (uint32_t)k;
            listed->weight[j] = W[k];
        }
    }
}

static int list_pairs(struct rank_listed *listed, struct error *err) {
    size_t n = listed->n;
    if (add_weights(listed, err) < 0) {
        return -1;
    }
    for (size_t k = 0; k < n * n; k++) {
        listed->n_pairs += listed->W[k] > 0;
    }
    listed->n_hinges = listed->n_pairs;
    for (size_t i = 0; i < n; i++) {
        listed->n_hinges -= listed->W[i * n + i] > 0;
    }
    if (allocate_pairs(listed, err) < 0) {
        return -1;
    }
    listed->worse = listed->better + listed->n_pairs;
    for (size_t i = 0, differ = 0, equal = listed->n_hinges; i < n; i++) {
        list_row(listed, i, &differ, &equal);
    }
    return 0;
}

static int list_margins(struct rank_listed *listed, const double *weight, struct error *err) {
    listed->n = listed->n_pairs = listed->n_hinges = listed->n_scores;
    if (allocate_pairs(listed, err) < 0) {
        return -1;
    }
    for (size_t j = 0; j < listed->n; j++) {
        listed->row[j] = listed->distinct_row[j] = listed->better[j] = (uint32_t)j;
        listed->weight[j] = weight[j];
    }
    return 0;
}

int rank_listed_create(struct rank_listed *listed, const struct problem *problem,
                       const struct score_map *map, const struct rank_pairs *pairs,
                       const double *weight, struct error *err) {
    *listed = (struct rank_listed){.pairs = pairs, .n_scores = map->n};
    listed->row = memory_array(map->n, 2 * sizeof *listed->row, "pairs", err);
    if (!listed->row) {
        return -1;
    }
    listed->distinct_row = listed->row + map->n;
    if (weight) {
        return list_margins(listed, weight, err);
    }
    return find_rows(listed, problem, err) < 0 ? -1 : list_pairs(listed, err);
}

void rank_listed_free(struct rank_listed *listed) {
    free(listed->row);
    free(listed->better);
    free(listed->weight);
    free(listed->W);
    free(listed->group_start);
    free(listed->group_row);
}

/* ---- dual points as functions ---- */

/* A sum in long double, the sum of the sizes of its terms, and a bound of its rounding error. */
struct sum {
    long double sum, size, rounding_error;
};

static void add_to(struct sum *sum, double size, int sign) {
    sum->sum += sign * (long double)size;
    sum->size += (long double)size;
    sum->rounding_error +=
        LDBL_EPSILON * fabsl(sum->sum); /* twice the rounding error of an addition */
}

int rank_listed_adjoint(const struct rank_listed *listed, const struct score_map *map,
                        const double *b, double *weights, struct error *err) {
    double *coefficients = memory_zeros(map->n, sizeof *coefficients, "coefficients", err);
    for (size_t k = 0; coefficients && k < listed->n; k++) {
        coefficients[listed->row[k]] = b[k];
    }
    int status = coefficients ? map->adjoint(map, coefficients, weights, err) : -1;
    free(coefficients);
    return status;
}

int rank_listed_weights(const struct rank_listed *listed, const struct score_map *map,
                        const double *alpha, double *weights, double *error, struct error *err) {
    double rows = map->primal ? certify_coefficient_rounding(map->n) : 0;
    struct sum *sums = memory_zeros(listed->n, sizeof *sums, "coefficients", err);
    double *b = memory_array(listed->n, sizeof *b, "coefficients", err);
    if (!sums || !b) {
        free(sums);
        free(b);
        return -1;
    }
    for (size_t j = 0; j < listed->n_hinges; j++) {
        add_to(&sums[listed->better[j]], alpha[j], 1);
        if (listed->worse) {
            add_to(&sums[listed->worse[j]], alpha[j], -1);
        }
    }
    for (size_t k = 0; k < listed->n; k++) {
        struct sum sum = sums[k];
        b[k] = (double)sum.sum;
        if (error) {
            long double rounded = fabsl(sum.sum - (long double)b[k]);
            long double off = rounded + sum.rounding_error + listed->pairs->weight_error * sum.size;
            off += (long double)(rows * fabs(b[k]));
            error[listed->row[k]] = (double)off * (1 + 4 * DBL_EPSILON);
        }
    }
    int status = rank_listed_adjoint(listed, map, b, weights, err);
    free(sums);
    free(b);
    return status;
}

int rank_listed_dual(const struct rank_listed *listed, const struct score_map *map,
                     const double *alpha, double cost, bool squared, struct fit *fit,
                     struct error *err) {
    long double linear = 0, size = 0;
    double ratio = 0, terms = (double)listed->n_pairs + 4;
    for (size_t j = 0; j < listed->n_pairs; j++) {
        double cap = cost * listed->weight[j];
        long double a = alpha[j], square = squared ? a * a / (4 * (long double)cap) : 0;
        linear += a - square;
        size += a + square;
        ratio = cap > 0 ? fmax(ratio, alpha[j] / cap) : ratio;
    }
    double unit = terms * (double)LDBL_EPSILON + DBL_EPSILON + listed->pairs->weight_error;
    fit->dual_offset = (double)linear;
    fit->rounding = (struct risk_rounding){
        .offset = unit * (double)size / cost, .gradient = unit * ratio, .size = ratio};
    return rank_listed_weights(listed, map, alpha, fit->dual_weights, fit->dual_error, err);
}

/* ---- dual points as coefficients of pairs ---- */

/* What remains to be divided of the alpha of a preference, and the pairs that it is divided among.
 */
struct share {
    double alpha, unit; /* a unit in alpha's last place */
    long double weight;
    size_t n;
};

/* The share that the current pair is part of; NULL: its preference is not listed or its weight is
 * 0. */
static struct share *share_of(const struct rank_listed *listed, struct share *share,
                              const struct rank_pairs_walk *walk) {
    double at = listed->W[entry_of(listed, walk)];
    return at > 0 && rank_pairs_walk_weight(walk) > 0 ? &share[(size_t)at - 1] : NULL;
}

/* The part of alpha of a pair with this weight, at most cap. Parts are integer multiples of a unit
 * in alpha's last place, so their sum is exact. */
static double take_share(struct share *share, double weight, double cap) {
    double alpha = share->alpha;
    if (--share->n > 0) {
        double part = (double)fminl(1, (long double)weight / share->weight);
        alpha = fmin(round(part * alpha / share->unit), floor(cap / share->unit)) * share->unit;
    }
    alpha = fmin(alpha, cap);
    share->alpha -= alpha;
    share->weight -= (long double)weight;
    return alpha;
}

/* share (n_pairs) = alpha, and the number and total weight of the pairs of each preference. */
static void start_shares(struct rank_listed *listed, const double *alpha, struct share *share) {
    memset(listed->W, 0, listed->n * listed->n * sizeof *listed->W);
    for (size_t j = 0; j < listed->n_pairs; j++) {
        double unit = nextafter(alpha[j], INFINITY) - alpha[j];
        share[j] = (struct share){.alpha = alpha[j], .unit = unit};
        listed->W[listed->better[j] * listed->n + listed->worse[j]] = (double)(j + 1);
    }
    struct rank_pairs_walk walk = rank_pairs_walk(listed->pairs, 0, listed->pairs->n_groups);
    while (rank_pairs_next(&walk)) {
        struct share *of_pair = share_of(listed, share, &walk);
        if (of_pair) {
            of_pair->weight += (long double)rank_pairs_walk_weight(&walk);
            of_pair->n++;
        }
    }
}

int rank_listed_points(struct rank_listed *listed, const double *alpha, double cost, bool capped,
                       struct rank_points *points, struct error *err) {
    const struct rank_pairs *pairs = listed->pairs;
    struct share *share = memory_array(listed->n_pairs, sizeof *share, "a dual point", err);
    if (!share) {
        return -1;
    }
    start_shares(listed, alpha, share);
    int status = 0;
    struct rank_pairs_walk walk = rank_pairs_walk(pairs, 0, pairs->n_groups);
    while (status == 0 && rank_pairs_next(&walk)) {
        struct share *of_pair = share_of(listed, share, &walk);
        if (of_pair && of_pair->alpha > 0) {
            double weight = rank_pairs_walk_weight(&walk);
            double part = take_share(of_pair, weight, capped ? cost * weight : of_pair->alpha);
            status = part > 0 ? rank_points_add_pair(points, pairs->row[walk.better],
                                                     pairs->row[walk.worse], part, err)
                              : 0;
        }
    }
    free(share);
    rank_points_sort(points);
    return status;
}
