#include "families/top/calibrate.h"

#include "families/top/decide.h"
#include "families/top/measures.h"
#include "families/top/roc.h"

#include <math.h>

/* The fits of folds have fewer rows, and another |f| than the model: their scores are larger or
 * smaller by about that much. */
static int add_fold(struct top_rows *rows, const struct held_out *fold, double norm,
                    struct error *err) {
    size_t first = rows->n;
    double ratio = fold->norm > 0 && norm > 0 ? norm / fold->norm : 1;
    if (top_rows_add(rows, fold->data, fold->rows, fold->n, fold->scores, err) < 0) {
        return -1;
    }
    for (size_t i = first; i < rows->n; i++) {
        rows->score[i] *= ratio;
    }
    return 0;
}

int top_calibrate(const struct held_out *folds, size_t n_folds, double tau, struct model *model,
                  struct error *err) {
    struct top_rows rows = {.positive = model_value(model, "positive")};
    struct roc roc = {0};
    int status = 0;
    for (size_t i = 0; i < n_folds && status == 0; i++) {
        status = add_fold(&rows, &folds[i], model->norm, err);
    }
    if (status == 0) {
        status = roc_create(&roc, rows.score, rows.is_positive, rows.n, err);
    }
    if (status == 0) {
        double threshold = roc_threshold(&roc, tau);
        if (isnan(threshold)) { /* tau = 1: all may pass */
            threshold = roc.step[roc.n_steps - 1].score - 1;
        }
        status = model_add_number(model, err, TOP_CALIBRATED_TAU_KEY, tau) < 0
                     ? -1
                     : model_add_number(model, err, TOP_CALIBRATED_THRESHOLD_KEY, threshold);
    }
    roc_free(&roc);
    top_rows_free(&rows);
    return status;
}
