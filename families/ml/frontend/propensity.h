/* Propensity of a label: the probability that a row to which it applies was labelled with it (Jain,
 * Prabhu & Varma, KDD 2016). For N training rows, of which n_l have the label,
 *   p_l = 1 / (1 + c exp(-a log(n_l + b))),   c = (log N - 1) (b + 1)^a,
 * and c = 0 if log N < 1. A relevant label that is predicted counts 1 / p_l. */
#ifndef FAMILIES_ML_FRONTEND_PROPENSITY_H
#define FAMILIES_ML_FRONTEND_PROPENSITY_H

#include "common/base/error.h"
#include "common/model/model.h"
#include "families/ml/solver/label_sets.h"

#include <stdint.h>

/* Key of the model's line of n_l, in the order of its labels. */
#define ML_LABEL_ROWS_KEY "label-rows"

/* count (q) = number of rows, over all processes, that have each label. All processes. */
void ml_label_rows_count(const struct ml_rows *rows, double *count);

/* inverse (q + 1) = 1 / p_l of the model's q labels, and of a label that no training row has. The
 * caller frees it. NULL for models of older versions without that line. Fails if the line is
 * malformed. */
int ml_propensity_read(const struct model *model, double a, double b, double **inverse,
                       struct error *err);

#endif
