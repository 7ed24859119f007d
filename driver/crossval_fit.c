/* A fit of cross-validation: the rows of its fold, the solver, and the scores of what is held
 * out. */
#include "driver/crossval_private.h"
#include "driver/training_data.h"

#include "common/base/memory.h"
#include "common/data/scale.h"
#include "driver/fit.h"
#include "driver/timed_task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A piece at work. */
struct task {
    struct round *round;
    struct fold *fold;
    struct piece *piece;
    double *scores; /* (n_held, n_scores) */
};

void crossval_fold_free(struct fold *fold) {
    gram_free(fold->gram);
    data_free(&fold->train);
    data_free(&fold->held);
    free(fold->rows);
    fold->rows = NULL;
    fold->gram = NULL;
    fold->problem = (struct problem){0};
    fold->err = (struct error){0};
    fold->tried = false;
}

/* Copies the fold's rows, and scales them as its training rows say. */
static int take_data(struct fold *fold, const struct round *round, struct error *err) {
    const struct crossval *crossval = round->crossval;
    if (data_subset(crossval->data, fold->rows + fold->n_held, fold->n_train, &fold->train, err) <
            0 ||
        data_subset(crossval->data, fold->rows, fold->n_held, &fold->held, err) < 0) {
        return -1;
    }
    if (!crossval->scale_folds) {
        return 0;
    }
    struct scale scale = {0};
    int status = training_data_fit_scale(&scale, crossval->options, &fold->train, NULL, err);
    if (status == 0) {
        status = scale_apply(&scale, &fold->train, err);
    }
    if (status == 0) {
        status = scale_apply(&scale, &fold->held, err);
    }
    scale_free(&scale);
    return status;
}

static int fold_start(struct fold *fold, const struct round *round, struct error *err) {
    const struct crossval *crossval = round->crossval;
    size_t n_rows = crossval->data->n_rows;
    fold->rows = memory_array(n_rows, sizeof fold->rows[0], "a fold", err);
    if (!fold->rows) {
        return -1;
    }
    fold->n_held = folds_rows(crossval->folds, fold->number, true, fold->rows);
    fold->n_train = folds_rows(crossval->folds, fold->number, false, fold->rows + fold->n_held);
    fold->problem.n = fold->n_train;
    fold->problem.threads = round->inner;
    fold->problem.cache_bytes = round->cache_bytes / fold->n_pieces;
    if (round->gram) {
        fold->problem.data = crossval->data;
        fold->problem.gram = round->gram;
        fold->problem.rows = fold->rows + fold->n_held;
        return 0;
    }
    if (take_data(fold, round, err) < 0) {
        return -1;
    }
    fold->problem.data = &fold->train;
    if (fit_wants_gram(crossval->family, crossval->options, &round->kernel)) {
        struct point point = {crossval->options, crossval->points[round->first_point]};
        if (fit_gram(&fold->gram, crossval->family, point, &round->kernel, &fold->train, false,
                     round->cache_bytes, NULL, round->inner, err) < 0) {
            return -1;
        }
        fold->problem.gram = fold->gram;
        fold->problem.cache_bytes =
            (round->cache_bytes - gram_kept_bytes(fold->gram)) / fold->n_pieces;
    }
    return 0;
}

static int make_scores(struct task *task, size_t n, struct error *err) {
    task->scores = memory_array(n, sizeof(double), "scores", err);
    return task->scores ? 0 : -1;
}

/* Scores from products with the matrix of all rows: coefficients are zero for the held-out rows. */
static int gram_scores(struct task *task, const struct solution *solution, struct error *err) {
    const struct fold *fold = task->fold;
    const struct gram *gram = task->round->gram;
    size_t n_outputs = solution->n_outputs, n_rows = gram_size(gram);
    double *coefficient = memory_zeros(n_rows, 2 * sizeof(double), "scores", err);
    int status = coefficient ? make_scores(task, fold->n_held * n_outputs, err) : -1;
    for (size_t k = 0; status == 0 && k < n_outputs; k++) {
        double *product = coefficient + n_rows, bias = solution->bias ? solution->bias[k] : 0;
        for (size_t i = 0; i < fold->n_train; i++) {
            coefficient[fold->problem.rows[i]] = solution->weights[i * n_outputs + k];
        }
        status = gram_product(gram, coefficient, product, task->round->inner, err);
        for (size_t i = 0; status == 0 && i < fold->n_held; i++) {
            task->scores[i * n_outputs + k] = product[fold->rows[i]] + bias;
        }
    }
    free(coefficient);
    return status;
}

/* Scores as the predictor would compute them. */
static int predicted_scores(struct task *task, const struct solution *solution, struct model *model,
                            struct error *err) {
    struct fold *fold = task->fold;
    pthread_mutex_lock(&fold->mutex);
    int status = fold->held.n_rows ? 0
                                   : data_subset(task->round->crossval->data, fold->rows,
                                                 fold->n_held, &fold->held, err);
    pthread_mutex_unlock(&fold->mutex);
    if (status < 0 || fit_body(model, &fold->problem, solution, err) < 0 ||
        model_prepare(model, err) < 0 ||
        make_scores(task, fold->n_held * model_n_scores(model), err) < 0) {
        return -1;
    }
    return model_scores(model, &fold->held, task->scores, task->round->inner, err);
}

/* Scores the held-out rows by a solution, and hands them over. */
static int score_point(struct task *task, struct point point, double started,
                       const struct solution *solution, const struct monitor *monitor,
                       struct error *err) {
    const struct round *round = task->round;
    const struct crossval *crossval = round->crossval;
    const struct fold *fold = task->fold;
    struct model model;
    bool late;
    if (fit_header(crossval->family, task->piece->state, point, &round->kernel, &fold->problem,
                   solution, monitor, &model, &late, err) < 0) {
        return -1;
    }
    model.primal = solution->primal;
    model.dual = solution->dual;
    model.gap = solution->gap;
    struct crossval_fit fit = {.index = task->piece->next,
                               .fold = fold->number,
                               .fitted = solution->converged || solution->iterations > 0,
                               .converged = solution->converged,
                               .model = &model,
                               .rows = fold->rows,
                               .n = fold->n_held,
                               .n_scores = solution->n_outputs};
    int status;
    if (round->gram && gram_is_whole(round->gram) && solution->weights) {
        status = gram_scores(task, solution, err);
    } else {
        status = predicted_scores(task, solution, &model, err);
        fit.n_scores = model_n_scores(&model);
    }
    if (status == 0) {
        fit.scores = task->scores;
        fit.seconds = progress_clock() - started;
        status = crossval_tally_scores(round->tally, &fit, err);
    }
    free(task->scores);
    model_free(&model);
    return status;
}

/* Solves the next point of an open piece, and hands over what it gives. */
static int solve_point(struct task *task, struct point point, struct fit_log *log,
                       struct error *err) {
    struct round *round = task->round;
    const struct crossval *crossval = round->crossval;
    struct piece *piece = task->piece;
    struct watch watch =
        fit_watch(crossval->options, crossval_tally_deadline(round->tally, round->n_workers));
    watch.progress = crossval->progress;
    watch.unshown = true; /* how many fits are done is */
    watch.log = log;
    watch.alone = crossval->cluster;
    snprintf(watch.place, sizeof watch.place, "%zu\t%zu\t", piece->next + 1, piece->fold + 1);
    watch_open(&watch);
    struct monitor monitor = watch_monitor(&watch);
    struct solution solution = {0};
    if (crossval->family->solve(piece->state, point, &monitor, &solution, err) < 0) {
        return -1;
    }
    if (progress_stopped(crossval->progress)) {
        solution_free(&solution);
        return error_set(err, ERROR_STOPPED, "stopped");
    }
    bool wanted = !crossval->wanted || crossval->wanted[piece->next];
    bool asked = cluster_asked(crossval->cluster), converged = solution.converged;
    int status = asked    ? error_set(err, ERROR_RUNTIME, "ended by a signal")
                 : wanted ? score_point(task, point, watch.started, &solution, &monitor, err)
                          : 0;
    solution_free(&solution);
    return status < 0 ? -1
                      : crossval_tally_count(round->tally, converged,
                                             log && !log->output ? &log->text : NULL, err);
}

/* Solves the next point of a piece. */
static int run_point(struct task *task, struct error *err) {
    struct round *round = task->round;
    const struct crossval *crossval = round->crossval;
    struct piece *piece = task->piece;
    struct point point = {crossval->options, crossval->points[piece->next]};
    if (!piece->state &&
        crossval->family->open(&piece->state, &task->fold->problem, point, err) < 0) {
        piece->state = NULL;
        return -1;
    }
    struct fit_log gathered, *log = crossval->log;
    if (log && !cluster_leads(crossval->cluster)) {
        fit_log_gather(&gathered, log->placed);
        log = &gathered;
    }
    int status = solve_point(task, point, log, err);
    if (log == &gathered) {
        fit_log_close(&gathered);
        free(gathered.text.bytes);
    }
    return status;
}

int crossval_fit_next(struct round *round, struct piece *piece, struct error *err) {
    struct fold *fold = &round->fold[piece->fold];
    if (progress_clock() > in_time_end(round->crossval->end)) {
        return error_set(err, ERROR_STOPPED, "the limit of time is reached");
    }
    pthread_mutex_lock(&fold->mutex);
    if (!fold->tried) {
        fold->tried = true;
        fold_start(fold, round, &fold->err);
    }
    pthread_mutex_unlock(&fold->mutex);
    if (fold->err.kind != ERROR_NONE) {
        *err = fold->err;
        return -1;
    }
    struct task task = {.round = round, .fold = fold, .piece = piece};
    return run_point(&task, err);
}
