/* Ranking of candidates in memory. */
#include "library/private.h"

#include "common/base/memory.h"
#include "families/rank/frontend/candidate_ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of a call. */
struct ranked {
    const struct dualsvm_model *model;
    const struct dualsvm_options *options;
    const struct dualsvm_data *data;
    struct dualsvm_options *own;        /* defaults, if the caller has no options */
    struct dualsvm_options *predicting; /* options of the predictor, for its threads */
    double *order_score;                /* (rows) */
    struct feature_times times;
    struct targets targets;
    struct threads *threads;
    struct candidate_ranking ranking;
};

static void end(struct ranked *ranked) {
    dualsvm_options_free(ranked->own);
    dualsvm_options_free(ranked->predicting);
    free(ranked->order_score);
    feature_times_free(&ranked->times);
    targets_free(&ranked->targets);
    threads_free(ranked->threads);
    candidate_ranking_free(&ranked->ranking);
}

static int check_arguments(const struct ranked *ranked, const double *minutes,
                           dualsvm_error *error) {
    if (!ranked->model || !ranked->data || !minutes) {
        return library_refuse(error, "no model, no data, or no minutes");
    }
    const char *family = ranked->model->family->train->name;
    if (!ranked->model->family->candidates) {
        return library_refuse(error, "a model of %s ranks no candidates", family);
    }
    if (ranked->options && ranked->options->role != DUALSVM_CANDIDATES) {
        return library_refuse(error, "the options are not those of candidates");
    }
    return library_check_data(ranked->data, ranked->model->family, error);
}

/* ---- times ---- */

/* Stores the time and the run of a row's feature, which is new. */
static int add_time(struct feature_times *times, size_t i, double minutes, uint32_t run,
                    struct error *err) {
    size_t room = memory_room(0, i);
    if (memory_grow(&times->minutes, room, i + 1, sizeof *times->minutes, "times", err) < 0 ||
        memory_grow(&times->run, room, i + 1, sizeof *times->run, "times", err) < 0) {
        return -1;
    }
    times->minutes[i] = minutes;
    times->run[i] = run;
    return 0;
}

/* Collects the times of the features, each of which has one time and one run. */
static int take_times(struct feature_times *times, const struct data *rows, const double *minutes,
                      const char *const *run, struct error *err) {
    for (size_t i = 0; i < rows->n_rows; i++) {
        char text[DATA_QUERY_TEXT];
        const char *name = data_query_text(&rows->queries, rows->query ? rows->query[i] : 0, text);
        const char *own_run = run && run[i] ? run[i] : "";
        size_t before = times->features.n;
        uint32_t feature, number;
        if (isinf(minutes[i])) {
            return error_set(err, ERROR_RUNTIME, "minutes of row %zu: they are infinite", i + 1);
        }
        if (names_add(&times->features, name, strlen(name), &feature, err) < 0 ||
            names_add(&times->runs, own_run, strlen(own_run), &number, err) < 0) {
            return -1;
        }
        if (feature == before) {
            if (add_time(times, before, minutes[i], number, err) < 0) {
                return -1;
            }
            continue;
        }
        double other = times->minutes[feature];
        if (minutes[i] != other && !(isnan(minutes[i]) && isnan(other))) {
            return error_set(err, ERROR_RUNTIME,
                             "minutes of row %zu: %g, and %g in another row of feature %.100s",
                             i + 1, minutes[i], other, name);
        }
        if (number != times->run[feature]) {
            return error_set(err, ERROR_RUNTIME,
                             "run of row %zu: '%.100s', and '%.100s' in another row of feature "
                             "%.100s",
                             i + 1, own_run, times->runs.name[times->run[feature]], name);
        }
    }
    return 0;
}

/* ---- scores ---- */

/* Sets order_score by the predictor, with the number of threads of the options. */
static int predict(struct ranked *ranked, dualsvm_error *error) {
    struct error err = {0};
    const char *threads = dualsvm_options_get(ranked->options, "threads");
    size_t n = ranked->data->data.n_rows;
    ranked->order_score = memory_array(n, sizeof *ranked->order_score, "scores", &err);
    if (!ranked->order_score) {
        return library_fail(error, &err);
    }
    if (dualsvm_options_create(&ranked->predicting, ranked->model->family->train->name,
                               DUALSVM_PREDICT, error) < 0 ||
        (threads && dualsvm_options_set(ranked->predicting, "threads", threads, error) < 0)) {
        return -1;
    }
    return dualsvm_predict_scores(ranked->model, ranked->predicting, ranked->data,
                                  ranked->order_score, error);
}

/* Groups the rows, and sets the terms of the times. */
static int group(struct ranked *ranked, const double *minutes, const char *const *run,
                 struct error *err) {
    const struct options *options = &ranked->options->options;
    const struct data *rows = &ranked->data->data;
    struct candidate_ranking *ranking = &ranked->ranking;
    if (take_times(&ranked->times, rows, minutes, run, err) < 0 ||
        targets_read(&ranked->targets, &ranked->model->model, err) < 0 ||
        candidate_ranking_add(ranking, rows, ranked->order_score, err) < 0 ||
        candidate_ranking_group(ranking, &ranked->times, err) < 0) {
        return -1;
    }
    if (ranking->n_timed == 0) {
        return error_set(err, ERROR_RUNTIME, "no feature has a time");
    }
    return candidate_ranking_set_terms(ranking, &ranked->times.runs, &ranked->targets, NULL,
                                       options, err);
}

static int infer(struct ranked *ranked, struct error *err) {
    const struct options *options = &ranked->options->options;
    struct candidate_ranking *ranking = &ranked->ranking;
    if (threads_create(&ranked->threads, (size_t)options_number(options, "threads"), err) < 0 ||
        candidate_ranking_infer(ranking, options, options_number(options, "order-weight"),
                                options_number(options, "time-weight"), ranked->threads, err) < 0) {
        return -1;
    }
    return candidates_ranks(&ranking->candidates, ranking->score, ranking->rank, 0, NULL, err);
}

/* Fills the caller's arrays. */
static void copy_out(const struct ranked *ranked, double *order_score, double *score,
                     double *rank) {
    const struct candidate_ranking *ranking = &ranked->ranking;
    for (size_t i = 0; i < ranking->rows.n; i++) {
        size_t k = ranking->candidate[i];
        if (order_score) {
            order_score[i] = ranking->f[k];
        }
        if (score) {
            score[i] = ranking->score[k];
        }
        if (rank) {
            rank[i] = ranking->rank[k];
        }
    }
}

int dualsvm_rank_candidates(const dualsvm_model *model, const dualsvm_options *options,
                            const dualsvm_data *data, const double *minutes, const char *const *run,
                            double *order_score, double *score, double *rank,
                            dualsvm_error *error) {
    struct ranked ranked = {.model = model, .options = options, .data = data};
    struct error err = {0};
    if (check_arguments(&ranked, minutes, error) < 0) {
        return -1;
    }
    const char *refusal = candidate_ranking_refusal(&model->model);
    if (refusal) {
        error_set(&err, ERROR_RUNTIME, "%s", refusal);
        return library_fail(error, &err);
    }
    if (!options) {
        if (dualsvm_options_create(&ranked.own, model->family->train->name, DUALSVM_CANDIDATES,
                                   error) < 0) {
            return -1;
        }
        ranked.options = ranked.own;
    }
    int status = predict(&ranked, error);
    if (status == 0 && (group(&ranked, minutes, run, &err) < 0 || infer(&ranked, &err) < 0)) {
        status = library_fail(error, &err);
    }
    if (status == 0) {
        copy_out(&ranked, order_score, score, rank);
    }
    end(&ranked);
    return status;
}
