/* Out-of-fold scores, to which a family fits probabilities (-b 1) or a threshold: the scores of
 * rows that the model was trained on would be biased. */
#ifndef DRIVER_CALIBRATION_H
#define DRIVER_CALIBRATION_H

#include "driver/crossval.h"
#include "driver/family.h"

enum { CALIBRATION_FOLDS = 5 };

struct calibration {
    struct held_out fold[CALIBRATION_FOLDS];
};

/* Returns whether the options ask for the family's hook calibrate. */
bool calibration_wanted(const struct family *family, const struct options *options);

/* Returns whether the folds hold out rows rather than queries; the model's scores of all rows are
 * then needed too. */
bool calibration_by_row(const struct family *family, const struct options *options);

/* Scores each row of crossval->data by a fit without its fold, at the point given. A fold holds out
 * whole queries, or equal rows together. The folds, points and context of crossval are ignored.
 * Called by all processes of crossval->cluster: process 0 gets the scores. The caller ends with
 * calibration_free. */
int calibration_score(struct calibration *calibration, const struct crossval *crossval,
                      struct point point, struct error *err);
void calibration_free(struct calibration *calibration);

#endif
