#include "driver/crossval.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"
#include "common/data/scale.h"
#include "common/kernel/gram.h"
#include "driver/fit.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* Points of a path that are solved one from the other: more threads than folds find work, and few
 * points begin at 0. */
enum { PIECE_POINTS = 8 };

/* ---- folds ---- */

/* Points first..end of a fold, solved one from the other. */
struct piece {
    size_t fold, first, end;
};

/* All folds at the points of one kernel. */
struct round {
    const struct crossval *crossval;
    size_t first_point;
    struct fold *fold;   /* (folds) */
    struct piece *piece; /* the tasks, those of a fold one after the other */
    size_t n_pieces;
    struct kernel kernel;
    struct gram *gram;     /* of all rows, for all folds; NULL: each fold has its own data */
    struct threads *inner; /* for the work within a fold */
    size_t n_workers;      /* fits at once */
    size_t cache_bytes;    /* for the matrix of one fold, or what that of all rows leaves of it */

    pthread_mutex_t mutex; /* guards what follows, and progress */
    size_t n_done;         /* fits, of this round */
    size_t failed;         /* number of the first piece that failed, n_pieces: none */
    struct error err;      /* its own */
};

/* What the pieces of a fold have in common: made by the first, released by the last. */
struct fold {
    pthread_mutex_t mutex; /* guards the making, and that of held */
    bool tried;
    struct error err; /* of the making */
    size_t n_pieces;
    size_t n_left; /* pieces; guarded by the round's mutex */
    size_t number;
    uint32_t *rows; /* all row numbers: n_held that are held out, then n_train */
    size_t n_held, n_train;
    struct data train, held; /* copies of those rows, where the data are its own; scaled */
    struct gram *gram;       /* of train, or NULL */
    struct problem problem;
};

/* A piece at work. */
struct task {
    struct round *round;
    struct fold *fold;
    double *scores; /* (n_held, n_scores), room for n_room numbers */
    size_t n_room;
};

static void fold_free(struct fold *fold) {
    gram_free(fold->gram);
    data_free(&fold->train);
    data_free(&fold->held);
    free(fold->rows);
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
    enum scale_kind kind = (enum scale_kind)options_choice(crossval->options, "scale");
    int status = scale_fit(&scale, kind, &fold->train, err);
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
        struct point point = {crossval->options, round->first_point};
        if (fit_gram(&fold->gram, crossval->family, point, &round->kernel, &fold->train, false,
                     round->cache_bytes, round->inner, err) < 0) {
            return -1;
        }
        fold->problem.gram = fold->gram;
        fold->problem.cache_bytes =
            (round->cache_bytes - gram_kept_bytes(fold->gram)) / fold->n_pieces;
    }
    return 0;
}

static int make_room(struct task *task, size_t n, struct error *err) {
    if (n > task->n_room) {
        free(task->scores);
        task->scores = memory_array(n, sizeof(double), "scores", err);
        task->n_room = task->scores ? n : 0;
    }
    return task->scores || n == 0 ? 0 : -1;
}

/* Scores from products with the matrix of all rows: coefficients are zero for the held-out rows. */
static int gram_scores(struct task *task, const struct solution *solution, struct error *err) {
    const struct fold *fold = task->fold;
    const struct gram *gram = task->round->gram;
    size_t n_outputs = solution->n_outputs, n_rows = gram_size(gram);
    double *coefficient = memory_zeros(n_rows, 2 * sizeof(double), "scores", err);
    int status = coefficient ? make_room(task, fold->n_held * n_outputs, err) : -1;
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
        make_room(task, fold->n_held * model_n_scores(model), err) < 0) {
        return -1;
    }
    return model_scores(model, &fold->held, task->scores, task->round->inner, err);
}

/* Scores the held-out rows by a solution, and hands them over. */
static int score_point(struct task *task, void *state, struct point point,
                       const struct solution *solution, struct error *err) {
    const struct round *round = task->round;
    const struct crossval *crossval = round->crossval;
    const struct fold *fold = task->fold;
    struct model model;
    if (fit_header(crossval->family, state, point, &round->kernel, &fold->problem, solution, &model,
                   err) < 0) {
        return -1;
    }
    model.primal = solution->primal;
    model.dual = solution->dual;
    model.gap = solution->gap;
    int status;
    size_t n_scores = solution->n_outputs;
    if (round->gram && gram_is_whole(round->gram) && solution->weights) {
        status = gram_scores(task, solution, err);
    } else {
        status = predicted_scores(task, solution, &model, err);
        n_scores = model_n_scores(&model);
    }
    if (status == 0) {
        status = crossval->scored(crossval->context, point, fold->number, &model, fold->rows,
                                  fold->n_held, task->scores, n_scores, err);
    }
    model_free(&model);
    return status;
}

/* Of a fit that begins now. */
static double deadline(struct round *round) {
    const struct crossval *crossval = round->crossval;
    if (isinf(crossval->deadline)) {
        return crossval->deadline;
    }
    size_t before = (round->first_point - crossval->first_point) * crossval->folds->n;
    pthread_mutex_lock(&round->mutex);
    size_t left = crossval->n_points * crossval->folds->n - before - round->n_done;
    pthread_mutex_unlock(&round->mutex);
    double at_once = (double)smaller(left, round->n_workers), now = progress_clock();
    return now + (crossval->deadline - now) * at_once / (double)(left + crossval->n_after);
}

static int run_point(struct task *task, void *state, struct point point, struct error *err) {
    struct round *round = task->round;
    const struct crossval *crossval = round->crossval;
    struct watch watch = fit_watch(crossval->options, deadline(round));
    watch_open(&watch);
    struct monitor monitor = watch_monitor(&watch);
    struct solution solution = {0};
    if (crossval->family->solve(state, point, &monitor, &solution, err) < 0) {
        return -1;
    }
    int status = score_point(task, state, point, &solution, err);
    bool converged = solution.converged;
    solution_free(&solution);
    pthread_mutex_lock(&round->mutex);
    *crossval->n_unconverged += !converged;
    size_t before = (round->first_point - crossval->first_point) * crossval->folds->n;
    round->n_done++;
    if (crossval->progress) {
        progress_show(crossval->progress, "cross-validation: %zu of %zu fits",
                      before + round->n_done, crossval->n_points * crossval->folds->n);
    }
    pthread_mutex_unlock(&round->mutex);
    return status;
}

static int run_piece(struct round *round, const struct piece *piece, struct error *err) {
    const struct crossval *crossval = round->crossval;
    struct fold *fold = &round->fold[piece->fold];
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
    void *state = NULL;
    struct task task = {.round = round, .fold = fold};
    int status = crossval->family->open(&state, &fold->problem,
                                        (struct point){crossval->options, piece->first}, err);
    if (status < 0) {
        return -1;
    }
    for (size_t p = piece->first; p < piece->end && status == 0; p++) {
        status = run_point(&task, state, (struct point){crossval->options, p}, err);
    }
    crossval->family->close(state);
    free(task.scores);
    return status;
}

static void piece_task(void *argument, size_t number, size_t worker) {
    (void)worker;
    struct round *round = argument;
    const struct piece *piece = &round->piece[number];
    struct fold *fold = &round->fold[piece->fold];
    struct error err;
    pthread_mutex_lock(&round->mutex);
    bool skipped = round->failed < number; /* the error of the first is told, on any thread */
    pthread_mutex_unlock(&round->mutex);
    int status = skipped ? 0 : run_piece(round, piece, &err);
    pthread_mutex_lock(&round->mutex);
    bool last = --fold->n_left == 0;
    if (status < 0 && number < round->failed) {
        round->failed = number;
        error_set(&round->err, err.kind, "fold %zu: %s", piece->fold + 1, err.text);
    }
    pthread_mutex_unlock(&round->mutex);
    if (last) {
        fold_free(fold);
    }
}

/* Lists the pieces, and makes the folds ready. What they are depends on the points only. */
static int plan(struct round *round, size_t n_points, struct error *err) {
    const struct crossval *crossval = round->crossval;
    size_t n_folds = crossval->folds->n, end = round->first_point + n_points;
    size_t block = options_block(crossval->options, OPTION_OPEN);
    round->piece = memory_array(n_folds * n_points, sizeof *round->piece, "folds", err);
    round->fold = round->piece ? memory_zeros(n_folds, sizeof *round->fold, "folds", err) : NULL;
    if (!round->fold) {
        return -1;
    }
    for (size_t f = 0; f < n_folds; f++) {
        round->fold[f].number = f;
        pthread_mutex_init(&round->fold[f].mutex, NULL);
        for (size_t first = round->first_point; first < end;) {
            /* a range of points need not begin with a block */
            size_t next = smaller((first / block + 1) * block, end);
            size_t parts = (next - first + PIECE_POINTS - 1) / PIECE_POINTS;
            next = smaller(next, first + (next - first + parts - 1) / parts);
            round->piece[round->n_pieces++] = (struct piece){f, first, next};
            round->fold[f].n_pieces++;
            first = next;
        }
        round->fold[f].n_left = round->fold[f].n_pieces;
    }
    round->failed = round->n_pieces;
    return 0;
}

/* The points first_point .. first_point + n_points - 1, of one kernel. */
static int run_round(const struct crossval *crossval, size_t first_point, size_t n_points,
                     struct error *err) {
    struct point point = {crossval->options, first_point};
    struct round round = {.crossval = crossval,
                          .first_point = first_point,
                          .kernel = fit_kernel(crossval->family, point, crossval->n_features),
                          .cache_bytes = crossval->cache_bytes};
    size_t n_threads = threads_count(crossval->threads);
    int status = plan(&round, n_points, err);
    bool outer = 2 * round.n_pieces >= n_threads;
    round.inner = outer ? NULL : crossval->threads;
    round.n_workers = outer ? n_threads : 1;
    if (status == 0 && !crossval->copy_folds &&
        fit_wants_gram(crossval->family, crossval->options, &round.kernel)) {
        status = fit_gram(&round.gram, crossval->family, point, &round.kernel, crossval->data, true,
                          crossval->cache_bytes, crossval->threads, err);
        round.cache_bytes -= status == 0 ? gram_kept_bytes(round.gram) : 0;
    }
    if (status == 0) {
        round.cache_bytes /= crossval->folds->n; /* not by threads: results would know them */
        pthread_mutex_init(&round.mutex, NULL);
        threads_run(outer ? crossval->threads : NULL, round.n_pieces, piece_task, &round);
        pthread_mutex_destroy(&round.mutex);
    }
    for (size_t f = 0; round.fold && f < crossval->folds->n; f++) {
        pthread_mutex_destroy(&round.fold[f].mutex);
    }
    free(round.fold);
    free(round.piece);
    gram_free(round.gram);
    if (status == 0 && round.failed < round.n_pieces) {
        *err = round.err;
        status = -1;
    }
    return status;
}

int crossval_run(const struct crossval *crossval, struct error *err) {
    size_t end = crossval->first_point + crossval->n_points;
    size_t block = options_block(crossval->options, OPTION_KERNEL);
    for (size_t first = crossval->first_point; first < end;) {
        size_t next = (first / block + 1) * block;
        next = next < end ? next : end;
        if (run_round(crossval, first, next - first, err) < 0) {
            return -1;
        }
        first = next;
    }
    return 0;
}
