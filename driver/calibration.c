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
static int keep_scores(void *context, const struct crossval_fit *fit, struct error *err) {
    struct keeping *keeping = context;
    size_t n = fit->n, n_scores = fit->n_scores;
    uint32_t *rows = memory_array(n, sizeof *rows, "out-of-fold rows", err);
    double *scores = memory_array(n * n_scores, sizeof *scores, "out-of-fold scores", err);
    if (!rows || !scores) {
        free(rows);
        free(scores);
        return -1;
    }
    memcpy(rows, fit->rows, n * sizeof *rows);
    memcpy(scores, fit->scores, n * n_scores * sizeof *scores);
    keeping->calibration->fold[fit->fold] =
        (struct held_out){keeping->data, rows, n, scores, n_scores, fit->model->norm, NULL};
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
        own.points = &point.number;
        own.n_points = 1;
        own.wanted = NULL;
        own.log = NULL;
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
