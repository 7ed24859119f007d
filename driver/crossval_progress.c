/* How far all fits are, on all ranks, and what these tell rank 0 of theirs. */
#include "driver/crossval_private.h"

#include "common/base/memory.h"
#include "common/base/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What begins a message, before its bytes: how a fit has ended, and the log's rows; or what scored
 * makes of it. */
struct message {
    bool of_scores, converged;
    size_t index, fold;
};

/* ---- rank 0 ---- */

/* The log has the rows of a fit behind those of all fits that come before it by point and fold,
 * whoever was first. */
static void write_parts(struct tally *tally) {
    const struct crossval *crossval = tally->crossval;
    size_t n = crossval->n_points * crossval->folds->n;
    while (tally->n_logged < n && tally->part[tally->n_logged].known) {
        struct log_part *part = &tally->part[tally->n_logged++];
        output_write(crossval->log->output, part->text, part->n);
        free(part->text);
        part->text = NULL;
    }
}

/* Points that no run comes to have no part in the log. */
static int open_parts(struct tally *tally, struct error *err) {
    const struct crossval *crossval = tally->crossval;
    size_t n_folds = crossval->folds->n, n = crossval->n_points * n_folds;
    tally->part = memory_zeros(n, sizeof *tally->part, "a log", err);
    if (!tally->part) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        tally->part[i].known = true;
    }
    for (size_t first = 0, end; first < crossval->n_points; first = end) {
        end = crossval_run_end(crossval->options, crossval->points, crossval->n_points, first);
        size_t last = crossval_wanted_end(crossval, first, end);
        for (size_t i = first * n_folds; i < last * n_folds; i++) {
            tally->part[i].known = false;
        }
    }
    return 0;
}

/* Counts a fit, and says how far all are. What remains is told by what it took so far: fits at
 * large C, which come later, take longer. */
static int count_fit(struct tally *tally, size_t index, size_t fold, bool converged,
                     const char *text, size_t n, struct error *err) {
    const struct crossval *crossval = tally->crossval;
    int status = 0;
    pthread_mutex_lock(&tally->mutex);
    *crossval->n_unconverged += !converged;
    tally->n_done++;
    if (tally->part) {
        struct log_part *part = &tally->part[index * crossval->folds->n + fold];
        part->text = memory_text(text, n, "a log", err);
        part->n = n;
        part->known = part->text != NULL;
        status = part->text ? 0 : -1;
        write_parts(tally);
    }
    if (crossval->progress) {
        size_t left = tally->n - tally->n_done;
        double seconds = progress_clock() - tally->started;
        progress_show(crossval->progress, "cross-validation: %zu of %zu fits, about %.0f s left",
                      tally->n_done, tally->n, seconds / (double)tally->n_done * (double)left);
    }
    pthread_mutex_unlock(&tally->mutex);
    return status;
}

static int hear(void *context, const char *bytes, size_t n, struct error *err) {
    struct tally *tally = context;
    const struct crossval *crossval = tally->crossval;
    struct message message;
    memcpy(&message, bytes, sizeof message);
    bytes += sizeof message;
    n -= sizeof message;
    return message.of_scores
               ? crossval->told(crossval->context, message.index, message.fold, bytes, n, err)
               : count_fit(tally, message.index, message.fold, message.converged, bytes, n, err);
}

/* ---- all ranks ---- */

/* Tells rank 0, which may be this one. */
static int tell(struct tally *tally, const struct text *message, struct error *err) {
    struct cluster *cluster = tally->crossval->cluster;
    if (message->failed) {
        return error_set(err, ERROR_RUNTIME, "out of memory: what a fit has given");
    }
    if (cluster_leads(cluster)) {
        return hear(tally, message->bytes, message->n, err);
    }
    cluster_post(cluster, message->bytes, message->n);
    return 0;
}

int crossval_tally_scores(struct tally *tally, const struct crossval_fit *fit, struct error *err) {
    const struct crossval *crossval = tally->crossval;
    const struct message head = {.of_scores = true, .index = fit->index, .fold = fit->fold};
    struct text message = {0};
    text_take(&message, (const char *)&head, sizeof head);
    int status = crossval->scored(crossval->context, fit, &message, err);
    status = status < 0 ? -1 : tell(tally, &message, err);
    free(message.bytes);
    return status;
}

int crossval_tally_open(struct tally *tally, const struct crossval *crossval, struct error *err) {
    struct cluster *cluster = crossval->cluster;
    *tally = (struct tally){.crossval = crossval,
                            .n = crossval_count(crossval),
                            .n_unconverged = *crossval->n_unconverged,
                            .started = progress_clock()};
    if (cluster && cluster_leads(cluster) && crossval->log && open_parts(tally, err) < 0) {
        return -1;
    }
    pthread_mutex_init(&tally->mutex, NULL);
    cluster_hear(cluster, hear, tally);
    return 0;
}

void crossval_tally_close(struct tally *tally) {
    const struct crossval *crossval = tally->crossval;
    cluster_settle(crossval->cluster);
    size_t n = *crossval->n_unconverged - tally->n_unconverged;
    cluster_broadcast(crossval->cluster, &n, sizeof n, 0);
    *crossval->n_unconverged = tally->n_unconverged + n;
    pthread_mutex_destroy(&tally->mutex);
    free(tally->part);
}

void crossval_tally_take(struct tally *tally, size_t own, size_t dealt) {
    pthread_mutex_lock(&tally->mutex);
    tally->n_own += own;
    tally->n_dealt = dealt;
    pthread_mutex_unlock(&tally->mutex);
}

double crossval_tally_deadline(struct tally *tally, size_t n_workers) {
    const struct crossval *crossval = tally->crossval;
    if (isinf(crossval->deadline)) {
        return crossval->deadline;
    }
    size_t n_ranks = cluster_size(crossval->cluster);
    pthread_mutex_lock(&tally->mutex);
    size_t left = tally->n - tally->n_dealt + n_ranks * (tally->n_own - tally->n_own_done);
    pthread_mutex_unlock(&tally->mutex);
    double at_once = (double)smaller(left, n_ranks * n_workers), now = progress_clock();
    return now + (crossval->deadline - now) * at_once / (double)(left + crossval->n_after);
}

int crossval_tally_count(struct tally *tally, size_t index, size_t fold, bool converged,
                         const struct fit_log *log, struct error *err) {
    const struct message head = {.converged = converged, .index = index, .fold = fold};
    struct text message = {0};
    pthread_mutex_lock(&tally->mutex);
    tally->n_own_done++;
    pthread_mutex_unlock(&tally->mutex);
    if (log && log->text.failed) {
        return error_set(err, ERROR_RUNTIME, "out of memory: a log");
    }
    text_take(&message, (const char *)&head, sizeof head);
    if (log && log->text.n > 0) {
        text_take(&message, log->text.bytes, log->text.n);
    }
    int status = tell(tally, &message, err);
    free(message.bytes);
    return status;
}
