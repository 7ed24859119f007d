/* Out-of-fold scores by cross-validation (calibration.h). */
#include "driver/calibration.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

bool calibration_wanted(const struct family *family, const struct options *options) {
    return options_number(options, "probability") != 0 ||
           (family->calibrates && family->calibrates(options));
}

bool calibration_by_row(const struct family *family, const struct options *options) {
    return family->calibrate_by_row && family->calibrates(options);
}

/* Where the scores are stored. */
struct score_store {
    struct calibration *calibration;
    const struct data *data;
};

/* The result of a fold: the numbers n and n_scores, and the norm; rows (n) and scores (n, n_scores)
 * follow. */
struct fold_scores {
    size_t n, n_scores;
    double norm;
};

/* Stores copies of the rows and scores. */
static int receive(void *context, size_t index, size_t fold, const char *bytes, size_t size,
                   struct error *err) {
    struct score_store *score_store = context;
    struct fold_scores head;
    (void)index;
    (void)size;
    memcpy(&head, bytes, sizeof head);
    bytes += sizeof head;
    size_t n = head.n, n_scores = head.n_scores;
    uint32_t *rows = memory_array(n, sizeof *rows, "out-of-fold rows", err);
    double *scores = memory_array(n * n_scores, sizeof *scores, "out-of-fold scores", err);
    if (!rows || !scores) {
        free(rows);
        free(scores);
        return -1;
    }
    memcpy(rows, bytes, n * sizeof *rows);
    memcpy(scores, bytes + n * sizeof *rows, n * n_scores * sizeof *scores);
    score_store->calibration->fold[fold] =
        (struct held_out){score_store->data, rows, n, scores, n_scores, head.norm, NULL};
    return 0;
}

static int serialize(void *context, const struct crossval_fit *fit, struct text *bytes,
                     struct error *err) {
    const struct fold_scores head = {fit->n, fit->n_scores, fit->model->norm};
    (void)context;
    (void)err;
    text_take(bytes, (const char *)&head, sizeof head);
    text_take(bytes, (const char *)fit->rows, fit->n * sizeof fit->rows[0]);
    text_take(bytes, (const char *)fit->scores, fit->n * fit->n_scores * sizeof(double));
    return 0;
}

int calibration_score(struct calibration *calibration, const struct crossval *crossval,
                      struct point point, struct error *err) {
    *calibration = (struct calibration){0};
    const struct data *data = crossval->data;
    size_t n_queries = folds_count_queries(data, err);
    if (n_queries == 0) {
        return -1;
    }
    uint64_t seed = (uint64_t)options_number(point.options, "seed");
    const struct family *family = crossval->family;
    bool by_query = family->folds_by_query && n_queries >= CALIBRATION_FOLDS &&
                    !calibration_by_row(family, point.options);
    struct folds folds = {0};
    struct crossval own = *crossval;
    struct score_store score_store = {calibration, data};
    int status = by_query ? folds_by_query(&folds, data, CALIBRATION_FOLDS, seed, err)
                          : folds_by_distinct_row(&folds, data, CALIBRATION_FOLDS, seed, err);
    if (status == 0) {
        own.folds = &folds;
        own.points = &point.number;
        own.n_points = 1;
        own.wanted = NULL;
        own.log = NULL;
        own.serialize = serialize;
        own.receive = receive;
        own.context = &score_store;
        status = crossval_run(&own, err);
    }
    folds_free(&folds);
    if (status < 0) {
        calibration_free(calibration);
    }
    return status;
}

void calibration_free(struct calibration *calibration) {
    for (size_t i = 0; i < CALIBRATION_FOLDS; i++) {
        free(calibration->fold[i].scores);
        free(calibration->fold[i].rows);
    }
    *calibration = (struct calibration){0};
}
