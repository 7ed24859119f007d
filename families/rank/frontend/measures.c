/* Measures of rankings for both programs: the table of measures (driver/measures.h) over metrics.h,
 * from scores or from the margins of a model of pair features. */
#include "common/base/order.h"
#include "families/shared/tables.h"

#include "common/base/memory.h"
#include "families/rank/frontend/metrics.h"
#include "families/rank/solver/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const gains[] = {"exp", "linear", NULL};
static const char *const gain_meanings[] = {"2^g - 1", "g, as in trec_eval", NULL};
static const char *const empties[] = {"0", "1", "skip", NULL};
static const char *const empty_meanings[] = {"0, as in trec_eval", "1", "left out of the mean",
                                             NULL};

/* Options of both programs. */
static const struct option_spec measure_options[] = {
    OPTION(COUNT, 0, "min-group", "N", "queries with fewer rows are not measured", SINGLE,
           .initial = "5", .low = 1, .high = UINT32_MAX),
    OPTION(COUNT, 0, "ndcg", "K,...", "NDCG of the K highest rows", LIST, .initial = "10", .low = 1,
           .high = UINT32_MAX),
    OPTION(COUNT, 0, "precision", "K,...",
           "precision@K: the share of relevant rows among the K highest of a query", LIST,
           .initial = "10", .low = 1, .high = UINT32_MAX),
    OPTION(COUNT, 0, "err", "K,...",
           "err@K: the expected reciprocal rank of the K highest rows of a query", LIST,
           .initial = "10", .low = 1, .high = METRICS_MAX_ERR),
    OPTION(CHOICE, 0, "gain", "NAME", "gain of a row of grade g in ndcg@K; 0 for g below 0", SINGLE,
           .initial = "exp", .choices = gains, .meanings = gain_meanings),
    OPTION(CHOICE, 0, "empty", "HOW",
           "value of map, mrr, ndcg@K, precision@K and err@K for a query without a relevant row",
           SINGLE, .initial = "skip", .choices = empties, .meanings = empty_meanings),
    OPTION(NUMBER, 0, "threshold-grade", "G",
           "rows with labels of G or more are relevant, for map, mrr and precision@K, which are "
           "then defined also for labels that are not grades (whole numbers up to 60)",
           SINGLE, .absent = "any above 0"),
    OPTION(COUNT, 0, "max-grade", "G", "of err@K: the highest grade; higher ones count as G",
           SINGLE, .initial = "4", .low = 1, .high = RANK_MAX_GRADE)};

/* The rows, stored until the end: only then are their queries known to be complete. */
struct state {
    struct metrics_settings settings; /* cut is set at the end */
    bool pairs;                       /* scores are those of a model of pair features */

    size_t n; /* rows */
    double *target;
    uint64_t *query;
    double *score; /* (n, n_scores) */
    size_t n_scores;

    /* results, filled at the end */
    struct metrics_cut *cut; /* (settings.n_cuts) */
    double *value, *weight;  /* (METRICS_CUTS + settings.n_cuts) */
    double n_queries, n_relevant;
};

static void free_state(void *opened) {
    struct state *state = opened;
    free(state->cut);
    free(state->value);
    free(state->target);
    free(state->query);
    free(state->score);
    free(state);
}

static int create_state(void **opened, const struct options *options, const struct model *model,
                        struct error *err) {
    struct state *state = memory_zeros(1, sizeof *state, "measures", err);
    if (!state) {
        return -1;
    }
    state->pairs = model->n_outputs == 0;
    state->settings = (struct metrics_settings){
        .min_group = (size_t)options_number(options, "min-group"),
        .linear_gain = options_choice(options, "gain") == 1,
        .threshold = options_given(options, "threshold-grade")
                         ? options_number(options, "threshold-grade")
                         : (double)NAN,
        .empty = options_choice(options, "empty") == 2 ? (double)NAN
                                                       : (double)options_choice(options, "empty"),
        .max_grade = options_number(options, "max-grade")};
    *opened = state;
    return 0;
}

static int reserve(struct state *state, size_t n, struct error *err) {
    size_t room = memory_room(0, state->n), needed = state->n + n;
    return memory_grow(&state->target, room, needed, sizeof *state->target, "measures", err) < 0 ||
                   memory_grow(&state->query, room, needed, sizeof *state->query, "measures", err) <
                       0 ||
                   memory_grow(&state->score, room, needed, state->n_scores * sizeof *state->score,
                               "measures", err) < 0
               ? -1
               : 0;
}

static int add(void *opened, const struct data *data, const uint32_t *rows, size_t n,
               const double *scores, size_t n_scores, struct error *err) {
    struct state *state = opened;
    state->n_scores = n_scores;
    if (reserve(state, n, err) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        size_t row = rows ? rows[i] : i;
        if (isnan(data->target[row])) {
            continue;
        }
        state->target[state->n] = data->target[row];
        state->query[state->n] = data->query ? data->query[row] : 0;
        if (n_scores > 0) { /* a model of no pairs has no scores, and no array */
            memcpy(state->score + state->n * n_scores, scores + i * n_scores,
                   n_scores * sizeof *scores);
        }
        state->n++;
    }
    return 0;
}

static int values_by_scores(struct state *state, struct error *err) {
    int status = metrics_rank(state->n, state->target, state->score, state->query, &state->settings,
                              state->value, state->weight, &state->n_relevant, err);
    state->n_queries = state->weight[METRICS_PAIRWISE];
    return status;
}

/* ---- margins ---- */

/* Pairwise accuracy of a group: the share of its pairs with different targets whose margin has the
 * sign of the targets' difference; a margin of 0 counts 1/2. NaN without pairs. */
static double group_accuracy(const struct state *state, const struct keyed_row *member, size_t n) {
    double right = 0, pairs = 0;
    for (size_t i = 0; i < n; i++) {
        size_t one = member[i].row;
        for (size_t j = i + 1; j < n; j++) {
            size_t other = member[j].row;
            if (state->target[one] == state->target[other]) {
                continue;
            }
            double margin = model_margin(state->score + one * state->n_scores,
                                         state->score + other * state->n_scores, state->n_scores);
            bool agrees = (margin > 0) == (state->target[one] > state->target[other]);
            right += margin == 0 ? 0.5 : agrees;
            pairs++;
        }
    }
    return pairs > 0 ? right / pairs : (double)NAN;
}

/* Only pairwise accuracy is defined for margins. */
static int values_by_margins(struct state *state, struct error *err) {
    struct keyed_row *members = memory_array(state->n, sizeof *members, "groups", err);
    if (!members) {
        return -1;
    }
    for (size_t i = 0; i < state->n; i++) {
        members[i] = (struct keyed_row){state->query[i], (uint32_t)i};
    }
    keyed_rows_sort(members, state->n);
    double sum = 0, n_groups = 0;
    for (size_t first = 0, end; first < state->n; first = end) {
        end = keyed_rows_end(members, first, state->n);
        double accuracy = end - first < state->settings.min_group
                              ? (double)NAN
                              : group_accuracy(state, members + first, end - first);
        if (!isnan(accuracy)) {
            sum += accuracy;
            n_groups++;
        }
    }
    free(members);
    state->value[METRICS_PAIRWISE] = n_groups > 0 ? sum / n_groups : (double)NAN;
    state->weight[METRICS_PAIRWISE] = state->n_queries = n_groups;
    return 0;
}

static bool is_cut(int number) {
    return number >= METRICS_CUTS;
}

static int finish(void *opened, const struct measure *wanted, size_t n, struct error *err) {
    struct state *state = opened;
    size_t n_cuts = 0;
    state->cut = memory_array(n, sizeof *state->cut, "measures", err);
    state->value = memory_array(METRICS_CUTS + n, 2 * sizeof *state->value, "measures", err);
    if (!state->cut || !state->value) {
        return -1;
    }
    for (size_t k = 0; k < n; k++) {
        int number = wanted[k].row->number;
        if (is_cut(number)) {
            state->cut[n_cuts++] = (struct metrics_cut){(enum metrics_kind)(number - METRICS_CUTS),
                                                        (uint32_t)wanted[k].at};
        }
    }
    state->settings.cut = state->cut;
    state->settings.n_cuts = n_cuts;
    state->weight = state->value + METRICS_CUTS + n;
    for (size_t k = 0; k < METRICS_CUTS + n_cuts; k++) {
        state->value[k] = NAN;
        state->weight[k] = 0;
    }
    if (state->n == 0) {
        return 0;
    }
    return (state->pairs ? values_by_margins : values_by_scores)(state, err);
}

/* ---- the table ---- */

/* Numbers of two counts: the queries over which pairwise accuracy, tau and rho are averaged; and
 * the queries of at least --min-group rows that have a relevant row. */
enum { QUERIES = -1, QUERIES_RELEVANT = -2 };

static double value(const void *opened, const struct measure *measure, double *weight) {
    const struct state *state = opened;
    int number = measure->row->number;
    if (number == QUERIES) {
        return state->n_queries > 0 ? state->n_queries : (double)NAN;
    }
    if (number == QUERIES_RELEVANT) {
        return isnan(state->value[METRICS_MAP]) ? (double)NAN : state->n_relevant;
    }
    size_t i = (size_t)number;
    if (is_cut(number)) {
        const struct metrics_cut *cut = state->cut;
        enum metrics_kind kind = (enum metrics_kind)(number - METRICS_CUTS);
        while (cut->kind != kind || cut->at != (uint32_t)measure->at) {
            cut++;
        }
        i = METRICS_CUTS + (size_t)(cut - state->cut);
    }
    *weight = state->weight[i];
    return state->value[i];
}

static bool has_grades(const struct data *data) {
    bool grades = true;
    for (size_t i = 0; i < data->n_rows; i++) {
        double target = data->target[i];
        grades &= isnan(target) || (fabs(target) <= RANK_MAX_GRADE && target == floor(target));
    }
    return grades;
}

/* Margins of pairs have a pairwise accuracy only; measures of relevant rows need grades or, if
 * they have no gains, a threshold. */
static bool defined(const struct measure *measure, const struct options *options,
                    const struct model *model, const struct data *data) {
    int number = measure->row->number;
    bool pairs = model ? model->n_outputs == 0 : options_choice(options, "pair-features") != 0;
    if (number == METRICS_PAIRWISE || number == QUERIES) {
        return true;
    }
    if (pairs || number == METRICS_KENDALL || number == METRICS_SPEARMAN) {
        return !pairs;
    }
    bool has_gain = number == METRICS_CUTS + METRICS_NDCG || number == METRICS_CUTS + METRICS_ERR;
    return (!has_gain && options_given(options, "threshold-grade")) || !data || has_grades(data);
}

static const struct measure_row table[] = {
    {.name = "pairwise-accuracy", .accuracy = true, .chance = 0.5, .number = METRICS_PAIRWISE},
    {.name = "kendall-tau", .number = METRICS_KENDALL},
    {.name = "spearman", .number = METRICS_SPEARMAN},
    {.name = "map", .number = METRICS_MAP},
    {.name = "mrr", .number = METRICS_MRR},
    {.name = "ndcg", .option = "ndcg", .number = METRICS_CUTS + METRICS_NDCG},
    {.name = "precision", .option = "precision", .number = METRICS_CUTS + METRICS_PRECISION},
    {.name = "err", .option = "err", .number = METRICS_CUTS + METRICS_ERR},
    {.name = "queries",
     .predictor_only = true,
     .counts = "with labels that differ: what pairwise-accuracy, kendall-tau and spearman are "
               "averaged over",
     .number = QUERIES},
    {.name = "queries-relevant",
     .predictor_only = true,
     .counts = "with a relevant row: what map, mrr, ndcg, precision and err are averaged over, "
               "without --empty",
     .number = QUERIES_RELEVANT}};

const struct measures rank_measures = {TABLE(options, measure_options),
                                       TABLE(table, table),
                                       .left_out = "queries of fewer rows than --min-group",
                                       .defined = defined,
                                       .create = create_state,
                                       .add = add,
                                       .finish = finish,
                                       .value = value,
                                       .free = free_state};
