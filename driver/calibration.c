#include "driver/calibration.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

bool calibration_wanted(const struct family *family, const struct options *options) {
    return options_number(options, "probability") != 0 ||
           (family->calibrates && family->calibrates(options));
}

/* The scores on their way. */
struct keeping {
    struct calibration *calibration;
    const struct data *data;
};

/* Keeps the scores of one fold. */
static int keep_scores(void *context, struct point point, size_t fold, const struct model *model,
                       const uint32_t *rows, size_t n, const double *scores, size_t n_scores,
                       struct error *err) {
    (void)point;
    struct keeping *keeping = context;
    uint32_t *row_copy = memory_array(n, sizeof rows[0], "out-of-fold rows", err);
    double *score_copy = memory_array(n * n_scores, sizeof scores[0], "out-of-fold scores", err);
    if (!row_copy || !score_copy) {
        free(row_copy);
        free(score_copy);
        return -1;
    }
    memcpy(row_copy, rows, n * sizeof rows[0]);
    memcpy(score_copy, scores, n * n_scores * sizeof scores[0]);
    keeping->calibration->fold[fold] =
        (struct held_out){keeping->data, row_copy, n, score_copy, n_scores, model->norm, NULL};
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
    bool by_row = family->calibrate_by_row && family->calibrate_by_row(point.options);
    bool by_query = family->folds_by_query && n_queries >= CALIBRATION_FOLDS;
    struct folds folds = {0};
    struct keeping keeping = {calibration, data};
    int status = by_row     ? folds_by_twin(&folds, data, CALIBRATION_FOLDS, seed, err)
                 : by_query ? folds_by_query(&folds, data, CALIBRATION_FOLDS, seed, err)
                            : folds_by_row(&folds, data, CALIBRATION_FOLDS, seed, err);
    if (status == 0) {
        struct crossval own = *crossval;
        own.folds = &folds;
        own.first_point = point.number;
        own.n_points = 1;
        own.scored = keep_scores;
        own.context = &keeping;
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
