/* One fit of cross-validation: the rows of its fold, the solver, and the scores of the held-out
 * rows. */
#include "driver/crossval_private.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/data/duplicates.h"
#include "common/data/scale.h"
#include "driver/fit.h"
#include "driver/max_sv.h"
#include "driver/timed_task.h"
#include "driver/training_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A fit in progress. */
struct fit_work {
    struct kernel_group *group;
    struct fold *fold;
    struct fit_task *task;
    double *scores; /* (n_held, n_scores) */
};

void crossval_fold_free(struct fold *fold) {
    gram_free(fold->gram);
    data_free(&fold->train);
    data_free(&fold->held);
    free(fold->rows);
    free(fold->first);
    fold->rows = fold->first = NULL;
    fold->gram = NULL;
    fold->problem = (struct problem){0};
    fold->err = (struct error){0};
    fold->tried = false;
}

/* Copies the fold's rows, and scales them by a scaling that is fitted to its training rows. */
static int take_data(struct fold *fold, const struct kernel_group *group, struct error *err) {
    const struct crossval *crossval = group->crossval;
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

static int fold_start(struct fold *fold, const struct kernel_group *group, struct error *err) {
    const struct crossval *crossval = group->crossval;
    size_t n_rows = crossval->data->n_rows;
    fold->rows = memory_array(n_rows, sizeof fold->rows[0], "a fold", err);
    if (!fold->rows) {
        return -1;
    }
    fold->n_held = folds_rows(crossval->folds, fold->number, true, fold->rows);
    fold->n_train = folds_rows(crossval->folds, fold->number, false, fold->rows + fold->n_held);
    fold->problem.n = fold->n_train;
    fold->problem.threads = group->inner;
    fold->problem.cache_bytes = group->cache_bytes / fold->n_tasks;
    if (group->gram) {
        fold->problem.data = crossval->data;
        fold->problem.gram = group->gram;
        fold->problem.rows = fold->rows + fold->n_held;
        return 0;
    }
    if (take_data(fold, group, err) < 0) {
        return -1;
    }
    fold->problem.data = &fold->train;
    if (fit_wants_gram(crossval->family, crossval->options, &group->kernel)) {
        struct point point = {crossval->options, crossval->points[group->first_point]};
        if (fit_gram(&fold->gram, crossval->family, point, &group->kernel, &fold->train, false,
                     group->cache_bytes, NULL, group->inner, err) < 0) {
            return -1;
        }
        fold->problem.gram = fold->gram;
        fold->problem.cache_bytes =
            (group->cache_bytes - gram_cached_bytes(fold->gram)) / fold->n_tasks;
    }
    return 0;
}

static int make_scores(struct fit_work *work, size_t n, struct error *err) {
    work->scores = memory_array(n, sizeof(double), "scores", err);
    return work->scores ? 0 : -1;
}

/* Finds the equal held-out rows of the fold, once. */
static int find_equal_rows(struct fit_work *work, struct error *err) {
    struct fold *fold = work->fold;
    int status = 0;
    pthread_mutex_lock(&fold->mutex);
    if (!fold->first) {
        fold->first = memory_array(fold->n_held, sizeof *fold->first, "equal rows", err);
        status = fold->first ? duplicates_find(work->group->crossval->data, fold->rows,
                                               fold->n_held, fold->first, err)
                             : -1;
        if (status < 0) {
            free(fold->first);
            fold->first = NULL;
        }
    }
    pthread_mutex_unlock(&fold->mutex);
    return status;
}

/* Computes scores by products with the matrix of all rows; the coefficients of held-out rows are
 * zero. */
static int gram_scores(struct fit_work *work, const struct solution *solution, struct error *err) {
    const struct fold *fold = work->fold;
    const struct gram *gram = work->group->gram;
    size_t n_outputs = solution->n_outputs, n_rows = gram_size(gram);
    double *coefficient = memory_zeros(n_rows, 2 * sizeof(double), "scores", err);
    int status = coefficient ? make_scores(work, fold->n_held * n_outputs, err) : -1;
    for (size_t k = 0; status == 0 && k < n_outputs; k++) {
        double *product = coefficient + n_rows, bias = solution->bias ? solution->bias[k] : 0;
        for (size_t i = 0; i < fold->n_train; i++) {
            coefficient[fold->problem.rows[i]] = solution->weights[i * n_outputs + k];
        }
        status = gram_product(gram, coefficient, product, work->group->inner, err);
        for (size_t i = 0; status == 0 && i < fold->n_held; i++) {
            work->scores[i * n_outputs + k] = product[fold->rows[i]] + bias;
        }
    }
    free(coefficient);
    if (status < 0 || find_equal_rows(work, err) < 0) {
        return -1;
    }
    duplicates_equalise(fold->first, fold->n_held, work->scores, n_outputs);
    return 0;
}

/* Computes scores as the predictor does. */
static int predicted_scores(struct fit_work *work, const struct solution *solution,
                            struct model *model, struct error *err) {
    struct fold *fold = work->fold;
    pthread_mutex_lock(&fold->mutex);
    int status = fold->held.n_rows ? 0
                                   : data_subset(work->group->crossval->data, fold->rows,
                                                 fold->n_held, &fold->held, err);
    pthread_mutex_unlock(&fold->mutex);
    if (status < 0 || fit_body(model, &fold->problem, solution, err) < 0 ||
        model_prepare(model, err) < 0 ||
        make_scores(work, fold->n_held * model_n_scores(model), err) < 0) {
        return -1;
    }
    return model_scores(model, &fold->held, work->scores, work->group->inner, err);
}

/* Scores the held-out rows by a solution, and sends the result. */
static int score_point(struct fit_work *work, struct point point, double started,
                       const struct solution *solution, const struct monitor *monitor,
                       struct error *err) {
    const struct kernel_group *group = work->group;
    const struct crossval *crossval = group->crossval;
    const struct fold *fold = work->fold;
    struct model model;
    bool late;
    if (fit_header(crossval->family, work->task->state, point, &group->kernel, &fold->problem,
                   solution, monitor, &model, &late, err) < 0) {
        return -1;
    }
    model.primal = solution->primal;
    model.dual = solution->dual;
    model.gap = solution->gap;
    struct crossval_fit fit = {.index = work->task->next,
                               .fold = fold->number,
                               .fitted = solution->converged || solution->iterations > 0,
                               .converged = solution->converged,
                               .model = &model,
                               .rows = fold->rows,
                               .n = fold->n_held,
                               .n_scores = solution->n_outputs};
    int status;
    if (group->gram && gram_is_cached(group->gram) && solution->weights && !solution->points) {
        status = gram_scores(work, solution, err);
    } else {
        status = predicted_scores(work, solution, &model, err);
        fit.n_scores = model_n_scores(&model);
    }
    if (status == 0) {
        fit.scores = work->scores;
        fit.seconds = clock_seconds() - started;
        status = crossval_send_scores(group->counter, &fit, err);
    }
    free(work->scores);
    model_free(&model);
    return status;
}

/* Solves the next point of an open task, and sends the result. */
static int solve_point(struct fit_work *work, struct point point, struct fit_log *log,
                       struct error *err) {
    struct kernel_group *group = work->group;
    const struct crossval *crossval = group->crossval;
    struct fit_task *task = work->task;
    struct watch watch =
        fit_watch(crossval->options, crossval_counter_deadline(group->counter, group->n_workers));
    watch.progress = crossval->progress;
    watch.hidden = true; /* the number of finished fits is shown instead */
    watch.log = log;
    watch.peers = crossval->cluster;
    snprintf(watch.position, sizeof watch.position, "%zu\t%zu\t", task->next + 1, task->fold + 1);
    watch_open(&watch);
    struct monitor monitor = watch_monitor(&watch);
    struct solution solution = {0};
    if (max_sv_solve(crossval->family, task->state, &work->fold->problem, point, &monitor,
                     &solution, NULL, err) < 0) {
        return -1;
    }
    if (progress_stopped(crossval->progress)) {
        solution_free(&solution);
        return error_set(err, ERROR_STOPPED, "stopped");
    }
    bool wanted = !crossval->wanted || crossval->wanted[task->next];
    bool asked = cluster_stop_requested(crossval->cluster), converged = solution.converged;
    int status = asked    ? error_set(err, ERROR_RUNTIME, "ended by a signal")
                 : wanted ? score_point(work, point, watch.started, &solution, &monitor, err)
                          : 0;
    solution_free(&solution);
    return status < 0 ? -1
                      : crossval_count_fit(group->counter, converged,
                                           log && !log->output ? &log->text : NULL, err);
}

/* Opens the task's problem if necessary, and solves its next point. */
static int run_point(struct fit_work *work, struct error *err) {
    struct kernel_group *group = work->group;
    const struct crossval *crossval = group->crossval;
    struct fit_task *task = work->task;
    struct point point = {crossval->options, crossval->points[task->next]};
    if (!task->state &&
        crossval->family->open(&task->state, &work->fold->problem, point, err) < 0) {
        task->state = NULL;
        return -1;
    }
    struct fit_log collected, *log = crossval->log;
    if (log && !cluster_is_root(crossval->cluster)) {
        fit_log_collect(&collected, log->has_positions);
        log = &collected;
    }
    int status = solve_point(work, point, log, err);
    if (log == &collected) {
        fit_log_close(&collected);
        free(collected.text.bytes);
    }
    return status;
}

int crossval_fit_next(struct kernel_group *group, struct fit_task *task, struct error *err) {
    struct fold *fold = &group->fold[task->fold];
    if (clock_seconds() > timed_task_end_time(group->crossval->end)) {
        return error_set(err, ERROR_STOPPED, "the limit of time is reached");
    }
    pthread_mutex_lock(&fold->mutex);
    if (!fold->tried) {
        fold->tried = true;
        fold_start(fold, group, &fold->err);
    }
    pthread_mutex_unlock(&fold->mutex);
    if (fold->err.kind != ERROR_NONE) {
        *err = fold->err;
        return -1;
    }
    struct fit_work work = {.group = group, .fold = fold, .task = task};
    return run_point(&work, err);
}
