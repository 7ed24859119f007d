/* Counts the fits of all processes, and sends their results to process 0. */
#include "driver/crossval_private.h"

#include "common/base/clock.h"
#include "common/base/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The head of a message. of_scores: the fit's position, and the bytes of `serialize` follow;
 * otherwise whether it converged, and its log rows follow. */
struct message {
    bool of_scores, converged;
    size_t index, fold;
};

/* ---- process 0 ---- */

/* Counts a fit, and shows the progress. The remaining time is extrapolated from the time so far,
 * which is too short if fits at large C come last. */
static void count_fit(struct fit_counter *counter, const struct message *message, const char *log,
                      size_t n) {
    const struct crossval *crossval = counter->crossval;
    if (n > 0) {
        fit_log_add(crossval->log, log, n);
    }
    pthread_mutex_lock(&counter->mutex);
    *crossval->n_unconverged += !message->converged;
    counter->n_done++;
    if (crossval->progress) {
        size_t left = counter->n - counter->n_done;
        double seconds = clock_seconds() - counter->started;
        progress_show(crossval->progress, "cross-validation: %zu of %zu fits, about %.0f s left",
                      counter->n_done, counter->n,
                      seconds / (double)counter->n_done * (double)left);
    }
    pthread_mutex_unlock(&counter->mutex);
}

static int receive_message(void *context, const char *bytes, size_t n, struct error *err) {
    struct fit_counter *counter = context;
    const struct crossval *crossval = counter->crossval;
    struct message message;
    memcpy(&message, bytes, sizeof message);
    bytes += sizeof message;
    n -= sizeof message;
    if (message.of_scores) {
        return crossval->receive(crossval->context, message.index, message.fold, bytes, n, err);
    }
    count_fit(counter, &message, bytes, n);
    return 0;
}

/* ---- all processes ---- */

/* Sends a message to process 0, which may be this process. */
static int send_message(struct fit_counter *counter, const struct text *message,
                        struct error *err) {
    struct cluster *cluster = counter->crossval->cluster;
    if (message->failed) {
        return error_set(err, ERROR_RUNTIME, "out of memory: what a fit has given");
    }
    if (cluster_is_root(cluster)) {
        return receive_message(counter, message->bytes, message->n, err);
    }
    cluster_send_to_root(cluster, message->bytes, message->n);
    return 0;
}

int crossval_send_scores(struct fit_counter *counter, const struct crossval_fit *fit,
                         struct error *err) {
    const struct crossval *crossval = counter->crossval;
    const struct message head = {.of_scores = true, .index = fit->index, .fold = fit->fold};
    struct text message = {0};
    text_take(&message, (const char *)&head, sizeof head);
    int status = crossval->serialize(crossval->context, fit, &message, err);
    status = status < 0 ? -1 : send_message(counter, &message, err);
    free(message.bytes);
    return status;
}

void crossval_counter_open(struct fit_counter *counter, const struct crossval *crossval) {
    *counter = (struct fit_counter){.crossval = crossval,
                                    .n = crossval_count(crossval),
                                    .n_unconverged = *crossval->n_unconverged,
                                    .started = clock_seconds()};
    pthread_mutex_init(&counter->mutex, NULL);
    cluster_start_receiving(crossval->cluster, receive_message, counter);
}

void crossval_counter_close(struct fit_counter *counter) {
    const struct crossval *crossval = counter->crossval;
    cluster_finish_receiving(crossval->cluster);
    size_t n = *crossval->n_unconverged - counter->n_unconverged;
    cluster_broadcast(crossval->cluster, &n, sizeof n, 0);
    *crossval->n_unconverged = counter->n_unconverged + n;
    pthread_mutex_destroy(&counter->mutex);
}

void crossval_counter_assign(struct fit_counter *counter, size_t own, size_t assigned) {
    pthread_mutex_lock(&counter->mutex);
    counter->n_own_left += own;
    counter->n_assigned = assigned;
    pthread_mutex_unlock(&counter->mutex);
}

double crossval_counter_deadline(struct fit_counter *counter, size_t n_workers) {
    const struct crossval *crossval = counter->crossval;
    if (isinf(crossval->deadline)) {
        return crossval->deadline;
    }
    size_t n_ranks = cluster_size(crossval->cluster);
    pthread_mutex_lock(&counter->mutex);
    size_t left = counter->n - counter->n_assigned + n_ranks * counter->n_own_left;
    pthread_mutex_unlock(&counter->mutex);
    double at_once = (double)smaller(left, n_ranks * n_workers), now = clock_seconds();
    return now + (crossval->deadline - now) * at_once / (double)(left + crossval->n_after);
}

int crossval_count_fit(struct fit_counter *counter, bool converged, const struct text *log,
                       struct error *err) {
    const struct message head = {.converged = converged};
    struct text message = {.failed = log && log->failed};
    pthread_mutex_lock(&counter->mutex);
    counter->n_own_left--;
    pthread_mutex_unlock(&counter->mutex);
    text_take(&message, (const char *)&head, sizeof head);
    if (log && log->n > 0) {
        text_take(&message, log->bytes, log->n);
    }
    int status = send_message(counter, &message, err);
    free(message.bytes);
    return status;
}
