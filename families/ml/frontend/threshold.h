/* Thresholds: from scores to label sets.
 *
 *   ew      s_k > w's + t. For each training row the target is the middle of the segment between
 *           scores with the fewest labels on the wrong side (Elisseeff & Weston 2001); w and t are
 *           fitted to the targets by least squares. A ridge of 1e-6 of the mean squared score makes
 *           w unique: without a bias the scores of a row sum to 0. Beyond 2,048 labels the normal
 *           equations are solved by conjugate gradients, to a residual of 5e-3 or for 50 steps
 *   global  s_k > t, with the fewest wrong labels over all training rows (Hamming loss)
 *   scut    s_k > t_k, with the largest F1 of the label over the training rows (Yang 2001)
 *   top:k   the k largest scores
 *   zero    s_k > 0
 *
 * Of equally good segments the lowest is taken, at its middle; the two outermost segments have no
 * middle, and get a level 1 away from the scores. at_least_one adds the label of the largest score
 * to an empty set. Of equal scores the label that comes first in the model is first. */
#ifndef FAMILIES_ML_FRONTEND_THRESHOLD_H
#define FAMILIES_ML_FRONTEND_THRESHOLD_H

#include "common/base/error.h"
#include "common/base/threads.h"
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
    size_t n;      /* number of values */
    double *value; /* ew: w (q), t; global: t; scut: t (q); else NULL */
};

/* Keys of its lines in a model. */
#define ML_THRESHOLD_KEY "threshold"
#define ML_AT_LEAST_ONE_KEY "at-least-one"

/* Parses `ew`, `global`, `scut`, `top:K` or `zero`. Other text is an error of kind ERROR_USAGE. */
int ml_threshold_parse(struct ml_threshold *threshold, const char *text, struct error *err);

/* Number of values of its kind for its q labels. */
size_t ml_threshold_count(const struct ml_threshold *threshold);

/* Fits the values to the rows' label sets, weights and scores (n_all, q). If rows are distributed,
 * to those of all processes, which all call it. The values do not depend on the number of threads.
 * If the deadline of the monitor passes, the values stay as they are then, 0 at first, and *late is
 * set; if it has passed before the call, scores are not read. Fails if memory runs out. The caller
 * calls ml_threshold_free. */
int ml_threshold_fit(struct ml_threshold *threshold, const struct ml_rows *rows,
                     const double *scores, struct threads *threads, const struct monitor *monitor,
                     bool *late, struct error *err);
void ml_threshold_free(struct ml_threshold *threshold);

struct ml_sort;

/* The target of ew: the middle of a row's best segment, for scores s (q) and n_relevant labels.
 * list and merge (q) are work. */
double ml_threshold_target(const double *s, uint32_t q, const uint32_t *relevant,
                           uint32_t n_relevant, struct ml_sort *list, struct ml_sort *merge);

/* Adds a line to a model: a word, which may be empty, and n numbers with blanks between. */
int ml_numbers_write(const char *key, const char *word, const double *number, size_t n,
                     struct model *model, struct error *err);

/* Writes and reads the lines of a model. The reader expects the values of q labels. */
int ml_threshold_write(const struct ml_threshold *threshold, struct model *model,
                       struct error *err);
int ml_threshold_read(struct ml_threshold *threshold, const struct model *model, uint32_t q,
                      struct error *err);

/* chosen (q) = predicted labels of a row with scores s (q). Returns their number. */
uint32_t ml_threshold_apply(const struct ml_threshold *threshold, const double *s, bool *chosen);

#endif
