/* Groups sorted by target, windows of levels, and weights of groups (pairs.h). */
#include "families/rank/solver/pairs.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/order.h"
#include "common/base/random.h"
#include "families/rank/solver/grades.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    TASK_ROWS = 2048, /* rows of a task */
    RANDOM_STREAM_PAIRS = 1
};

struct target_row {
    uint64_t query;
    double target;
    uint32_t row;
};

static int by_query_and_target(const void *a, const void *b) {
    const struct target_row *x = a, *y = b;
    int order = order_integers(x->query, y->query);
    order = order ? order : order_doubles(x->target, y->target);
    return order ? order : order_integers(x->row, y->row);
}

/* The run of positions that a row of this level is preferred to. level_start[l]: first position of
 * level l. */
static void window_below(const struct rank_pairs *pairs, const uint32_t *level_start,
                         uint32_t level, uint32_t *first, uint32_t *end) {
    uint32_t to =
        level >= pairs->low ? level - pairs->low + 1 : 0; /* the run has levels [from, to) */
    uint32_t from = level > pairs->high ? level - pairs->high : 0;
    *first = to > 0 ? level_start[from] : 0;
    *end = to > 0 ? level_start[to] : 0;
}

/* Appends the rows keyed[0..m) of one query as a group if they have a preference. level_start: room
 * for m + 1. */
static void add_group(struct rank_pairs *pairs, const struct target_row *keyed, size_t m,
                      uint32_t *level_start) {
    size_t base = pairs->start[pairs->n_groups];
    uint32_t level = 0;
    level_start[0] = 0;
    for (size_t k = 0; k < m; k++) {
        if (k > 0 && keyed[k].target > keyed[k - 1].target) {
            level++;
            level_start[level] = (uint32_t)k;
        }
        pairs->row[base + k] = keyed[k].row;
        pairs->level[base + k] = level;
        if (pairs->gain) {
            pairs->gain[base + level] = keyed[k].target;
        }
    }
    level_start[level + 1] = (uint32_t)m;
    double n_pairs = 0;
    for (uint32_t l = 0; l <= level; l++) {
        uint32_t first, end;
        window_below(pairs, level_start, l, &first, &end);
        n_pairs += (double)(end - first) * (double)(level_start[l + 1] - level_start[l]);
        for (size_t k = level_start[l]; k < level_start[l + 1]; k++) {
            pairs->below_first[base + k] = first;
            pairs->below_end[base + k] = end;
        }
    }
    if (n_pairs == 0) {
        pairs->n_groups_without++;
        return;
    }
    size_t g = pairs->n_groups++;
    pairs->start[g + 1] = base + m;
    pairs->n_levels[g] = level + 1;
    pairs->group_relative_weight[g] = n_pairs;
    pairs->n_pairs += n_pairs;
    if (level + 1 > pairs->max_levels) {
        pairs->max_levels = level + 1;
    }
    if (m > pairs->max_rows) {
        pairs->max_rows = (uint32_t)m;
    }
}

/* Draws `n_sample` of the pairs, each set of that size equally likely (Knuth, vol. 2, 3.4.2,
 * algorithm S). Pairs are in the order of positions. */
static int sample_pairs(struct rank_pairs *pairs, const struct rank_preferences *preferences,
                        struct error *err) {
    double n_sample = round(preferences->fraction * pairs->n_pairs);
    if (n_sample < 1) {
        return error_set(err, ERROR_RUNTIME,
                         "a fraction %g of %.0f preference pairs is less than one pair",
                         preferences->fraction, pairs->n_pairs);
    }
    size_t n_rows = pairs->start[pairs->n_groups];
    pairs->partner_start =
        memory_zeros(n_rows + 1, sizeof *pairs->partner_start, "sampled pairs", err);
    pairs->partner = n_sample < 0x1p62 ? memory_array((size_t)n_sample, sizeof *pairs->partner,
                                                      "sampled pairs", err)
                                       : memory_array(SIZE_MAX, 1, "sampled pairs", err);
    if (!pairs->partner_start || !pairs->partner) {
        return -1;
    }
    struct random random;
    random_start(&random, preferences->seed, RANDOM_STREAM_PAIRS);
    double pairs_left = pairs->n_pairs, to_draw = n_sample;
    size_t n = 0;
    for (size_t g = 0; g < pairs->n_groups; g++) {
        size_t base = pairs->start[g], m = pairs->start[g + 1] - base;
        size_t before = n;
        for (size_t k = 0; k < m; k++) {
            uint32_t end = pairs->below_end[base + k];
            for (uint32_t position = pairs->below_first[base + k]; position < end;
                 position++, pairs_left--) {
                if (random_unit(&random) * pairs_left < to_draw) {
                    pairs->partner[n++] = position;
                    to_draw--;
                }
            }
            pairs->partner_start[base + k + 1] = n;
        }
        pairs->group_relative_weight[g] = (double)(n - before);
    }
    pairs->n_pairs = (double)n;
    return 0;
}

static int make_tasks(struct rank_pairs *pairs, struct error *err) {
    pairs->task = memory_array(pairs->n_groups + 1, sizeof *pairs->task, "tasks", err);
    pairs->group_sum = memory_array(pairs->n_groups, sizeof *pairs->group_sum, "groups", err);
    if (!pairs->task || !pairs->group_sum) {
        return -1;
    }
    size_t rows = 0;
    pairs->task[0] = 0;
    for (size_t g = 0; g < pairs->n_groups; g++) {
        rows += pairs->start[g + 1] - pairs->start[g];
        if (rows >= TASK_ROWS || g + 1 == pairs->n_groups) {
            pairs->task[++pairs->n_tasks] = g + 1;
            rows = 0;
        }
    }
    size_t numbers_per_row = pairs->gain ? 7 : 5; /* numbers for each row in sums of small groups */
    pairs->scratch_stride =
        ((size_t)pairs->max_levels + 1) * 2 + (size_t)pairs->max_rows * numbers_per_row + 16;
    pairs->scratch = memory_array(threads_count(pairs->threads),
                                  pairs->scratch_stride * sizeof(double), "counts", err);
    return pairs->scratch ? 0 : -1;
}

static double query_weight(const struct rank_preferences *preferences, uint64_t query) {
    for (size_t i = preferences->n_weights; i-- > 0;) { /* the last weight of a query counts */
        if (preferences->weight_query[i] == query) {
            return preferences->weight[i];
        }
    }
    return 1;
}

/* Applies the unit of C to the weights. */
static int apply_unit(struct rank_pairs *pairs, const struct rank_preferences *preferences,
                      struct error *err) {
    for (size_t g = 0; g < pairs->n_groups && preferences->unit == RANK_QUERY; g++) {
        pairs->weight[g] /=
            pairs->group_relative_weight[g] > 0 ? pairs->group_relative_weight[g] : 1;
    }
    return pairs->gain ? rank_grades_weigh(pairs, preferences->linear_gain, err) : 0;
}

static int collect(struct rank_pairs *pairs, const struct problem *problem,
                   const struct rank_preferences *preferences, struct target_row *keyed,
                   uint32_t *level_start, struct error *err) {
    const struct data *data = problem->data;
    for (size_t i = 0; i < problem->n; i++) {
        size_t row = problem->rows ? problem->rows[i] : i;
        keyed[i].query = data->query ? data->query[row] : 0;
        keyed[i].target = data->target[row];
        keyed[i].row = (uint32_t)i;
        if (pairs->gain && rank_grades_of(keyed[i].target, &keyed[i].target, err) < 0) {
            return -1;
        }
    }
    qsort(keyed, problem->n, sizeof *keyed, by_query_and_target);
    for (size_t i = 0, end; i < problem->n; i = end) {
        size_t groups_before = pairs->n_groups;
        for (end = i + 1; end < problem->n && keyed[end].query == keyed[i].query; end++) {
        }
        add_group(pairs, keyed + i, end - i, level_start);
        if (pairs->n_groups > groups_before) {
            pairs->weight[groups_before] = query_weight(preferences, keyed[i].query);
        }
    }
    if (!cluster_any(pairs->cluster, pairs->n_groups > 0)) {
        return error_set(err, ERROR_RUNTIME,
                         "no preference pair: no two rows of one query have %s that differ%s",
                         pairs->gain ? "gains" : "targets",
                         pairs->low > 1 || pairs->high < UINT32_MAX ? " by the wanted ranks" : "");
    }
    if ((preferences->fraction < 1 && sample_pairs(pairs, preferences, err) < 0) ||
        apply_unit(pairs, preferences, err) < 0) {
        return -1;
    }
    size_t n_rows = pairs->start[pairs->n_groups];
    pairs->order = memory_array(n_rows, sizeof *pairs->order, "orders", err);
    if (!pairs->order) {
        return -1;
    }
    for (size_t g = 0; g < pairs->n_groups; g++) {
        for (size_t k = pairs->start[g]; k < pairs->start[g + 1]; k++) {
            pairs->order[k].position = (uint32_t)(k - pairs->start[g]);
        }
    }
    return make_tasks(pairs, err);
}

int rank_pairs_create(struct rank_pairs *pairs, const struct problem *problem,
                      const struct rank_preferences *preferences, struct error *err) {
    size_t n = problem->n;
    *pairs = (struct rank_pairs){.n = n,
                                 .low = preferences->gap_low > 0 ? preferences->gap_low : 1,
                                 .high = preferences->gap_high,
                                 .cluster = problem->cluster,
                                 .threads = problem->threads};
    if (n >= UINT32_MAX) {
        return error_set(err, ERROR_RUNTIME, "%zu rows: at most %u", n, UINT32_MAX - 1);
    }
    struct target_row *keyed = memory_array(n, sizeof *keyed, "rows by group", err);
    uint32_t *level_start = memory_array(n + 1, sizeof *level_start, "ranks", err);
    bool graded = preferences->unit == RANK_NDCG || preferences->unit == RANK_GAIN;
    pairs->block =
        ARRAYS_CREATE("groups", err, ARRAYS(n + 1, size_t, &pairs->start),
                      ARRAYS(n, uint32_t, &pairs->row, &pairs->level, &pairs->n_levels,
                             &pairs->below_first, &pairs->below_end),
                      ARRAYS(n, double, &pairs->weight, &pairs->group_relative_weight),
                      ARRAYS(graded ? n : 0, double, &pairs->gain),
                      ARRAYS(preferences->unit == RANK_NDCG ? n : 0, double, &pairs->discount));
    if (pairs->block) {
        pairs->gain = graded ? pairs->gain : NULL;
        pairs->discount = preferences->unit == RANK_NDCG ? pairs->discount : NULL;
    }
    int status = keyed && level_start && pairs->block
                     ? collect(pairs, problem, preferences, keyed, level_start, err)
                     : -1;
    free(level_start);
    free(keyed);
    if (status < 0) {
        rank_pairs_free(pairs);
    }
    return status;
}

void rank_pairs_free(struct rank_pairs *pairs) {
    free(pairs->block);
    free(pairs->order);
    free(pairs->partner_start);
    free(pairs->partner);
    free(pairs->task);
    free(pairs->scratch);
    free(pairs->group_sum);
    *pairs = (struct rank_pairs){0};
}
