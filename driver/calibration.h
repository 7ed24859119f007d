/* Out-of-fold scores, from which a family fits what scores of rows that it was trained on cannot
 * tell: probabilities (-b 1), or a threshold. */
#ifndef DRIVER_CALIBRATION_H
#define DRIVER_CALIBRATION_H

#include "driver/crossval.h"
#include "driver/family.h"

enum { CALIBRATION_FOLDS = 5 };

struct calibration {
    struct held_out fold[CALIBRATION_FOLDS];
};

/* True if the options ask for what the family's hook calibrate adds to the model. */
bool calibration_wanted(const struct family *family, const struct options *options);

/* True if the folds hold out rows, not queries; then the model's scores of all rows are wanted,
 * too. */
bool calibration_by_row(const struct family *family, const struct options *options);

/* Scores the rows of crossval->data, each by a fit without its fold, at the point given; the folds,
 * points and context of crossval are not used. All ranks of crossval->cluster: rank 0 has the
 * scores. The caller ends with calibration_free. */
int calibration_score(struct calibration *calibration, const struct crossval *crossval,
                      struct point point, struct error *err);
void calibration_free(struct calibration *calibration);

#endif
