/* How far all fits are, on all ranks, and what these tell rank 0 of theirs. */
#include "driver/crossval_private.h"

#include "common/base/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What begins a message, before its bytes: how a fit has ended, and its rows of the log; or which
 * it is, and what scored makes of it. */
struct message {
    bool of_scores, converged;
    size_t index, fold;
};

/* ---- rank 0 ---- */

/* Counts a fit, and says how far all are. What remains is told by what it took so far: fits at
 * large C, which come later, take longer. */
static void count_fit(struct tally *tally, const struct message *message, const char *log,
                      size_t n) {
    const struct crossval *crossval = tally->crossval;
    if (n > 0) {
        fit_log_add(crossval->log, log, n);
    }
    pthread_mutex_lock(&tally->mutex);
    *crossval->n_unconverged += !message->converged;
    tally->n_done++;
    if (crossval->progress) {
        size_t left = tally->n - tally->n_done;
        double seconds = progress_clock() - tally->started;
        progress_show(crossval->progress, "cross-validation: %zu of %zu fits, about %.0f s left",
                      tally->n_done, tally->n, seconds / (double)tally->n_done * (double)left);
    }
    pthread_mutex_unlock(&tally->mutex);
}

static int hear(void *context, const char *bytes, size_t n, struct error *err) {
    struct tally *tally = context;
    const struct crossval *crossval = tally->crossval;
    struct message message;
    memcpy(&message, bytes, sizeof message);
    bytes += sizeof message;
    n -= sizeof message;
    if (message.of_scores) {
        return crossval->told(crossval->context, message.index, message.fold, bytes, n, err);
    }
    count_fit(tally, &message, bytes, n);
    return 0;
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

void crossval_tally_open(struct tally *tally, const struct crossval *crossval) {
    *tally = (struct tally){.crossval = crossval,
                            .n = crossval_count(crossval),
                            .n_unconverged = *crossval->n_unconverged,
                            .started = progress_clock()};
    pthread_mutex_init(&tally->mutex, NULL);
    cluster_hear(crossval->cluster, hear, tally);
}

void crossval_tally_close(struct tally *tally) {
    const struct crossval *crossval = tally->crossval;
    cluster_settle(crossval->cluster);
    size_t n = *crossval->n_unconverged - tally->n_unconverged;
    cluster_broadcast(crossval->cluster, &n, sizeof n, 0);
    *crossval->n_unconverged = tally->n_unconverged + n;
    pthread_mutex_destroy(&tally->mutex);
}

void crossval_tally_take(struct tally *tally, size_t own, size_t dealt) {
    pthread_mutex_lock(&tally->mutex);
    tally->n_own_left += own;
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
    size_t left = tally->n - tally->n_dealt + n_ranks * tally->n_own_left;
    pthread_mutex_unlock(&tally->mutex);
    double at_once = (double)smaller(left, n_ranks * n_workers), now = progress_clock();
    return now + (crossval->deadline - now) * at_once / (double)(left + crossval->n_after);
}

int crossval_tally_count(struct tally *tally, bool converged, const struct text *log,
                         struct error *err) {
    const struct message head = {.converged = converged};
    struct text message = {.failed = log && log->failed};
    pthread_mutex_lock(&tally->mutex);
    tally->n_own_left--;
    pthread_mutex_unlock(&tally->mutex);
    text_take(&message, (const char *)&head, sizeof head);
    if (log && log->n > 0) {
        text_take(&message, log->bytes, log->n);
    }
    int status = tell(tally, &message, err);
    free(message.bytes);
    return status;
}
