/* From scores to label sets.
 *
 *   ew      s_k > w's + t, w and t fitted by least squares to the middle, for each training row, of
 *           the segment between scores that has the fewest labels on the wrong side (Elisseeff &
 *           Weston 2001). A ridge of 1e-6 of the mean square of a score keeps w unique: without
 *           bias scores of a row add up to 0. Of more than 2,048 labels the normal equations are
 *           solved by conjugate gradients, to a residual of 1e-6 or 200 steps
 *   global  s_k > t, with the fewest wrong labels over all training rows (Hamming loss)
 *   scut    s_k > t_k, with the largest F1 of the label over the training rows (Yang 2001)
 *   top:k   the k largest scores
 *   zero    s_k > 0
 *
 * Where several segments are equally good the lowest one is taken, in its middle; the outermost
 * ones, that have no middle, 1 away from the scores. at_least_one adds the label of the largest
 * score to an empty set. Among equal scores the label that comes first in the model is first. */
#ifndef FAMILIES_ML_FRONTEND_THRESHOLD_H
#define FAMILIES_ML_FRONTEND_THRESHOLD_H

#include "common/base/error.h"
#include "common/model/model.h"
#include "families/ml/solver/label_sets.h"
#include "fit/monitor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ml_threshold_kind { ML_EW, ML_GLOBAL, ML_SCUT, ML_TOP, ML_ZERO };

struct ml_threshold {
    enum ml_threshold_kind kind;
    uint32_t q, top;
    bool at_least_one;
    size_t n;      /* values */
    double *value; /* ew: w (q), t; global: t; scut: t (q); else NULL */
};

/* The keys of its lines in a model. */
#define ML_THRESHOLD_KEY "threshold"
#define ML_AT_LEAST_ONE_KEY "at-least-one"

/* Reads `ew`, `global`, `scut`, `top:K` or `zero`; another text is an error of kind ERROR_USAGE. */
int ml_threshold_parse(struct ml_threshold *threshold, const char *text, struct error *err);

/* The number of values that its kind has for its q labels. */
size_t ml_threshold_count(const struct ml_threshold *threshold);

/* Fits the values to the rows' sets and scores (n_all, q), where rows are spread over ranks to
 * those of all of them, which all call it. Where the monitor is late the values are those at hand,
 * which are 0 at first, and then *late becomes true; scores are not read where it is late before.
 * The caller calls ml_threshold_free. */
int ml_threshold_fit(struct ml_threshold *threshold, const struct ml_rows *rows,
                     const double *scores, const struct monitor *monitor, bool *late,
                     struct error *err);
void ml_threshold_free(struct ml_threshold *threshold);

/* The target of ew: the middle of a row's best segment, of scores s (q), by its n_relevant labels.
 * list and merge (q) are work. */
struct ml_sort;
double ml_threshold_target(const double *s, uint32_t q, const uint32_t *relevant,
                           uint32_t n_relevant, struct ml_sort *list, struct ml_sort *merge);

/* Lines of a model. The reader gets as many values as q labels want. */
int ml_threshold_write(const struct ml_threshold *threshold, struct model *model,
                       struct error *err);
int ml_threshold_read(struct ml_threshold *threshold, const struct model *model, uint32_t q,
                      struct error *err);

/* chosen (q) = the labels of a row with scores s (q); returns how many. */
uint32_t ml_threshold_apply(const struct ml_threshold *threshold, const double *s, bool *chosen);

#endif
