/* Groups candidates by feature, and scores them (candidate_ranking.h). */
#include "families/rank/frontend/candidate_ranking.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"
#include "common/base/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *candidate_ranking_refusal(const struct model *model) {
    return model->n_outputs != 1 ? "the model has pair features, and no scores of candidates"
           : scale_by_query(&model->scale)
               ? "the model has features of queries, which candidates do not have"
               : NULL;
}

int candidate_ranking_add(struct candidate_ranking *ranking, const struct data *block,
                          const double *scores, struct error *err) {
    struct buffered_rows *rows = &ranking->rows;
    size_t before = rows->n;
    if (buffered_rows_add(rows, block, scores, err) < 0) {
        return -1;
    }
    for (size_t i = before; i < rows->n; i++) {
        if (!isfinite(rows->row[i].score)) {
            return error_set(err, ERROR_RUNTIME, "row %zu: its score by the model is not finite",
                             i + 1);
        }
    }
    return 0;
}

/* ---- features ---- */

/* The context of add_feature. */
struct grouping {
    struct candidate_ranking *ranking;
    const struct feature_times *times;
};

/* Adds the feature of some rows, which are those of one query. */
static int add_feature(void *context, struct buffered_row *row, size_t n, struct error *err) {
    const struct grouping *grouping = context;
    const struct feature_times *times = grouping->times;
    struct candidate_ranking *ranking = grouping->ranking;
    struct candidates *candidates = &ranking->candidates;
    size_t first = (size_t)(row - ranking->rows.row), i = candidates->n_features;
    if (memory_grow(&candidates->feature, memory_room(0, i), i + 1, sizeof *candidates->feature,
                    "features", err) < 0) {
        return -1;
    }
    char text[DATA_QUERY_TEXT];
    const char *name = data_query_text(&ranking->rows.queries, row->query, text);
    uint32_t number = names_find(&times->features, name, strlen(name));
    bool listed = number != UINT32_MAX;
    candidates->feature[candidates->n_features++] =
        (struct candidate_feature){.first = first,
                                   .n = n,
                                   .time = listed ? times->minutes[number] : (double)NAN,
                                   .run = listed ? times->run[number] : 0};
    candidates->max_n = larger(candidates->max_n, n);
    ranking->n_timed += isnan(candidates->feature[i].time) ? 0 : 1;
    for (size_t k = 0; k < n; k++) {
        ranking->f[first + k] = row[k].score;
        ranking->ms[first + k] = row[k].label;
        ranking->candidate[row[k].number] = first + k;
    }
    return 0;
}

int candidate_ranking_group(struct candidate_ranking *ranking, const struct feature_times *times,
                            struct error *err) {
    size_t n = ranking->rows.n;
    ranking->block = ARRAYS_CREATE("candidates", err,
                                   ARRAYS(n, double, &ranking->f, &ranking->ms, &ranking->scaled_ms,
                                          &ranking->time_term, &ranking->node_score,
                                          &ranking->score, &ranking->rank),
                                   ARRAYS(n, size_t, &ranking->candidate));
    struct grouping grouping = {ranking, times};
    if (!ranking->block || buffered_rows_visit(&ranking->rows, add_feature, &grouping, err) < 0) {
        return -1;
    }
    ranking->candidates.f = ranking->f;
    ranking->candidates.n = n;
    candidates_scale(&ranking->candidates, ranking->ms, ranking->scaled_ms);
    return max_marginals_create(&ranking->marginals, &ranking->candidates, err);
}

/* ---- terms of the times ---- */

static const struct target_map *find_map(const struct targets *targets, const char *run,
                                         const char *system, const struct target_map *only) {
    const struct target_map *map = targets_find(targets, run);
    for (size_t i = 0; i < targets->n_maps && !map; i++) {
        const struct target_map *other = &targets->map[i];
        map = strcasecmp(other->query, run) == 0 ? other : NULL;
    }
    map = map || !system ? map : targets_find(targets, system);
    return map || *run ? map : only;
}

int candidate_ranking_set_terms(struct candidate_ranking *ranking, const struct names *runs,
                                const struct targets *targets, const struct target_map *only,
                                const struct options *options, struct error *err) {
    const char *system = options_text(options, "system");
    if (system && !targets_find(targets, system)) {
        return error_set(err, ERROR_RUNTIME,
                         "--system %.100s: the model maps no query of that name to minutes",
                         system);
    }
    const struct target_map **map = memory_array(runs->n, sizeof *map, "runs", err);
    if (!map) {
        return -1;
    }
    for (size_t r = 0; r < runs->n; r++) {
        map[r] = find_map(targets, runs->name[r], system, only);
    }
    ranking->n_terms = candidates_time_terms(&ranking->candidates, map, ranking->time_term);
    free(map);
    return ranking->n_terms == 0 && options_given(options, "time-weight") &&
                   !options_lists(options, "time-weight", 0)
               ? error_set(err, ERROR_RUNTIME,
                           "--time-weight: the model maps scores to minutes for none of the runs: "
                           "train it with --targets 1, and see --system and --standards")
               : 0;
}

/* ---- scores ---- */

int candidate_ranking_infer(struct candidate_ranking *ranking, const struct options *options,
                            double order_weight, double time_weight, struct threads *threads,
                            struct error *err) {
    const struct order_model model = {
        .edges = options_choice(options, "edges") == 0 ? ORDER_HINGE : ORDER_SIGMOID,
        .weight = order_weight,
        .n_trees = (size_t)options_number(options, "trees"),
        .seed = (uint64_t)options_number(options, "seed")};
    for (size_t k = 0; k < ranking->candidates.n; k++) {
        ranking->node_score[k] = ranking->scaled_ms[k] + time_weight * ranking->time_term[k];
    }
    return max_marginals_compute(ranking->marginals, &model, ranking->node_score, threads,
                                 ranking->score, err);
}

void candidate_ranking_free(struct candidate_ranking *ranking) {
    max_marginals_free(ranking->marginals);
    free(ranking->block);
    free(ranking->candidates.feature);
    buffered_rows_free(&ranking->rows);
    *ranking = (struct candidate_ranking){0};
}
