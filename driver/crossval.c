#include "driver/crossval_private.h"

#include "common/base/memory.h"
#include "driver/fit.h"

#include <stdlib.h>

/* Points of a run, which are solved one from the other: more threads than folds find work, and few
 * points begin at 0. */
enum { RUN_POINTS = 8 };

/* What is held for the folds that are open at once, besides kernels, may be this part of what those
 * have. */
enum { OPEN_PART = 2 };

/* ---- who does what ---- */

/* True if a fit comes before the first that failed. */
static bool is_before_failure(const struct round *round, size_t point, size_t fold) {
    return point < round->failed_point ||
           (point == round->failed_point && fold < round->failed_fold);
}

/* Ends a piece, and with its last piece the fold. */
static void end_piece(struct round *round, struct piece *piece) {
    struct fold *fold = &round->fold[piece->fold];
    if (piece->state) {
        round->crossval->family->close(piece->state);
    }
    pthread_mutex_lock(&round->mutex);
    piece->done = true;
    fold->n_busy--;
    bool last = --fold->n_left == 0;
    pthread_mutex_unlock(&round->mutex);
    if (last) {
        crossval_fold_free(fold);
        pthread_mutex_lock(&round->mutex);
        fold->open = false;
        round->n_open--;
        pthread_mutex_unlock(&round->mutex);
    }
}

/* On a cluster: the piece of the next task is this rank's. NULL: there is none. */
static struct piece *take_task(struct round *round) {
    struct cluster *cluster = round->crossval->cluster;
    if (!cluster || round->failed_point != SIZE_MAX) {
        return NULL;
    }
    size_t task = cluster_take(cluster, &round->tasks);
    if (task == round->n_pieces) {
        crossval_tally_take(round->tally, 0, round->tally->n_planned);
        return NULL;
    }
    struct piece *piece = &round->piece[task];
    piece->own = true;
    round->fold[piece->fold].n_busy++;
    crossval_tally_take(round->tally, piece->end - piece->first, piece->dealt);
    return piece;
}

/* Counts a fold as open. On a cluster one that is done with here, for now, gives way if need be: it
 * is not known whether another of its pieces will come. */
static void open_fold(struct round *round, struct fold *fold) {
    for (size_t f = 0; round->n_open >= round->most_open && f < round->crossval->folds->n; f++) {
        struct fold *other = &round->fold[f];
        if (other->open && other->n_busy == 0) {
            crossval_fold_free(other);
            other->open = false;
            round->n_open--;
        }
    }
    fold->open = true;
    round->n_open++;
}

/* The piece whose next fit comes first by point and fold, of this rank's that nobody has in hands,
 * or else a new one; NULL: there is none. Folds beyond those that may be open wait. */
static struct piece *take_piece(struct round *round) {
    struct piece *taken = NULL;
    bool dealt = round->crossval->cluster != NULL;
    pthread_mutex_lock(&round->mutex);
    while (round->first_left < round->n_pieces && round->piece[round->first_left].done) {
        round->first_left++;
    }
    for (size_t i = round->first_left; i < round->n_pieces; i++) {
        struct piece *piece = &round->piece[i];
        bool may_begin = dealt || round->fold[piece->fold].open || round->n_open < round->most_open;
        if (piece->own && !piece->done && !piece->busy && may_begin &&
            (!taken || piece->next < taken->next ||
             (piece->next == taken->next && piece->fold < taken->fold))) {
            taken = piece;
        }
    }
    taken = taken ? taken : take_task(round);
    if (taken) {
        struct fold *fold = &round->fold[taken->fold];
        taken->busy = true;
        if (!fold->open) {
            open_fold(round, fold);
        }
    }
    pthread_mutex_unlock(&round->mutex);
    return taken;
}

/* A worker: takes fits until there are none that nobody else has. No fit is left behind: who has a
 * piece comes back for the next fit. */
static void work(void *argument, size_t number, size_t worker) {
    (void)number;
    (void)worker;
    struct round *round = argument;
    for (struct piece *piece; (piece = take_piece(round)) != NULL;) {
        struct error err;
        size_t point = piece->next;
        pthread_mutex_lock(&round->mutex);
        bool skipped = !is_before_failure(round, point, piece->fold);
        pthread_mutex_unlock(&round->mutex);
        int status = skipped ? -1 : crossval_fit_next(round, piece, &err);
        pthread_mutex_lock(&round->mutex);
        piece->next++;
        bool ended = status < 0 || piece->next == piece->end;
        if (status < 0 && !skipped && is_before_failure(round, point, piece->fold)) {
            round->failed_point = point;
            round->failed_fold = piece->fold;
            error_set(&round->err, err.kind, "fold %zu: %s", piece->fold + 1, err.text);
        }
        piece->busy = ended; /* until it is done */
        pthread_mutex_unlock(&round->mutex);
        if (ended) {
            end_piece(round, piece);
        }
    }
}

/* ---- rounds ---- */

size_t crossval_run_end(const struct options *options, const size_t *points, size_t n,
                        size_t first) {
    size_t block = options_block(options, OPTION_OPEN), begin = first, end = first;
    while (begin > 0 && points[begin - 1] / block == points[first] / block) {
        begin--;
    }
    while (end < n && points[end] / block == points[first] / block) {
        end++;
    }
    while (begin <= first) { /* as many in each as can be */
        size_t parts = (end - begin + RUN_POINTS - 1) / RUN_POINTS;
        begin += (end - begin + parts - 1) / parts;
    }
    return begin;
}

/* The end of the points of one kernel that begin with points[first]. */
static size_t round_end(const struct crossval *crossval, size_t first) {
    size_t block = options_block(crossval->options, OPTION_KERNEL), end = first;
    while (end < crossval->n_points &&
           crossval->points[end] / block == crossval->points[first] / block) {
        end++;
    }
    return end;
}

/* The end of what is to be solved of the run of points first..end: behind the last that is
 * wanted. */
static size_t wanted_end(const struct crossval *crossval, size_t first, size_t end) {
    while (end > first && crossval->wanted && !crossval->wanted[end - 1]) {
        end--;
    }
    return end;
}

size_t crossval_count(const struct crossval *crossval) {
    size_t n = 0;
    for (size_t first = 0, end; first < crossval->n_points; first = end) {
        end = crossval_run_end(crossval->options, crossval->points, crossval->n_points, first);
        n += wanted_end(crossval, first, end) - first;
    }
    return n * crossval->folds->n;
}

/* Lists the pieces of the points first..end, and makes the folds ready. What they are depends on
 * the points only. */
static int plan(struct round *round, size_t first, size_t end, struct error *err) {
    const struct crossval *crossval = round->crossval;
    size_t n_folds = crossval->folds->n, n_runs = 0;
    round->piece = memory_zeros(n_folds * (end - first), sizeof *round->piece, "folds", err);
    round->fold = round->piece ? memory_zeros(n_folds, sizeof *round->fold, "folds", err) : NULL;
    if (!round->fold) {
        return -1;
    }
    for (size_t next; first < end; first = next) {
        next = crossval_run_end(crossval->options, crossval->points, crossval->n_points, first);
        n_runs++;
        size_t last = wanted_end(crossval, first, next);
        for (size_t f = 0; f < n_folds && last > first; f++) {
            round->tally->n_planned += last - first;
            round->piece[round->n_pieces++] = (struct piece){.fold = f,
                                                             .first = first,
                                                             .end = last,
                                                             .own = !crossval->cluster,
                                                             .next = first,
                                                             .dealt = round->tally->n_planned};
            round->fold[f].n_left++;
            round->fold[f].n_busy += !crossval->cluster;
        }
    }
    for (size_t f = 0; f < n_folds; f++) {
        round->fold[f].number = f;
        round->fold[f].n_pieces = n_runs;
        pthread_mutex_init(&round->fold[f].mutex, NULL);
    }
    round->tasks = cluster_deal(crossval->cluster, round->n_pieces);
    return 0;
}

/* How many folds may be open at once: each has a copy of its rows, and what the solver keeps, which
 * is about a number for each row or feature and label. */
static size_t count_open(const struct round *round) {
    const struct crossval *crossval = round->crossval;
    const struct data *data = crossval->data;
    double sides = (double)data->n_rows + (double)data->n_features;
    double bytes = 8 * sides * (double)(data->names.n > 1 ? data->names.n : 1);
    if (!round->gram) {
        bytes += (double)data_values(data) * (data->row_start ? 8 : 4);
    }
    double most = (double)crossval->cache_bytes / OPEN_PART / bytes;
    size_t n = most < (double)crossval->folds->n ? (size_t)most : crossval->folds->n;
    return n > round->n_workers ? n : round->n_workers;
}

static void run_pieces(struct round *round) {
    const struct crossval *crossval = round->crossval;
    size_t n_threads = threads_count(crossval->threads);
    bool outer = round->inner == NULL;
    round->n_workers = outer ? n_threads : 1;
    round->most_open = count_open(round);
    round->cache_bytes /= crossval->folds->n; /* not by threads: results would know them */
    threads_run(outer ? crossval->threads : NULL, round->n_workers, work, round);
}

static void round_free(struct round *round) {
    for (size_t f = 0; round->fold && f < round->crossval->folds->n; f++) {
        if (round->fold[f].open) {
            crossval_fold_free(&round->fold[f]);
        }
        pthread_mutex_destroy(&round->fold[f].mutex);
    }
    free(round->fold);
    free(round->piece);
    gram_free(round->gram);
    pthread_mutex_destroy(&round->mutex);
}

/* The points first..end (indices), of one kernel. A rank that comes too late for any of them makes
 * no matrix. */
static int run_round(const struct crossval *crossval, size_t first, size_t end, struct tally *tally,
                     struct error *err) {
    struct point point = {crossval->options, crossval->points[first]};
    struct round round = {.crossval = crossval,
                          .first_point = first,
                          .kernel = fit_kernel(crossval->family, point, crossval->n_features),
                          .cache_bytes = crossval->cache_bytes,
                          .tally = tally,
                          .failed_point = SIZE_MAX,
                          .failed_fold = SIZE_MAX};
    pthread_mutex_init(&round.mutex, NULL);
    int status = plan(&round, first, end, err);
    size_t n_ranks = cluster_size(crossval->cluster);
    size_t n_pieces = (round.n_pieces + n_ranks - 1) / n_ranks; /* about so many for each */
    bool outer = 2 * n_pieces >= threads_count(crossval->threads);
    bool has_work = status == 0 && (crossval->cluster ? take_task(&round) != NULL : n_pieces > 0);
    round.inner = outer ? NULL : crossval->threads;
    if (has_work && !crossval->copy_folds &&
        fit_wants_gram(crossval->family, crossval->options, &round.kernel)) {
        status = fit_gram(&round.gram, crossval->family, point, &round.kernel, crossval->data, true,
                          crossval->cache_bytes, NULL, crossval->threads, err);
        round.cache_bytes -= status == 0 ? gram_kept_bytes(round.gram) : 0;
    }
    if (status == 0 && has_work) {
        run_pieces(&round);
    }
    round_free(&round);
    if (status == 0 && round.failed_point != SIZE_MAX) {
        *err = round.err;
        status = -1;
    }
    return status;
}

int crossval_run(const struct crossval *crossval, struct error *err) {
    struct tally tally;
    int status = 0;
    crossval_tally_open(&tally, crossval);
    if (!crossval->cluster) {
        crossval_tally_take(&tally, tally.n, tally.n);
    }
    for (size_t first = 0, end; status == 0 && first < crossval->n_points; first = end) {
        end = round_end(crossval, first);
        status = run_round(crossval, first, end, &tally, err);
    }
    if (status < 0) { /* others may tell of fits, and wait for this rank */
        if (cluster_asked(crossval->cluster)) {
            error_set(err, ERROR_RUNTIME, "ended by a signal, before all fits to folds");
        }
        cluster_fail(crossval->cluster, err);
    }
    crossval_tally_close(&tally);
    return status;
}
