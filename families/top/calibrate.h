/* A threshold of predictions that lets a given part of new negatives pass: that of training is the
 * threshold of the rows that the scores were fitted to, which new ones exceed more often. */
#ifndef FAMILIES_TOP_CALIBRATE_H
#define FAMILIES_TOP_CALIBRATE_H

#include "common/base/error.h"
#include "driver/family.h"

#include <stddef.h>

/* Adds to the model, which has the line `positive` if it has one, the threshold that a part tau of
 * the out-of-fold negatives exceeds. */
int top_calibrate(const struct held_out *folds, size_t n_folds, double tau, struct model *model,
                  struct error *err);

#endif
