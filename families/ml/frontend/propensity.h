/* How likely a relevant label is to be among those that a row was given (Jain, Prabhu & Varma, KDD
 * 2016): of N training rows, n_l of them with the label,
 *   p_l = 1 / (1 + c exp(-a log(n_l + b))),   c = (log N - 1) (b + 1)^a,
 * with c = 0 where log N < 1. A rare label that is found counts 1 / p_l. */
#ifndef FAMILIES_ML_FRONTEND_PROPENSITY_H
#define FAMILIES_ML_FRONTEND_PROPENSITY_H

#include "common/base/error.h"
#include "common/model/model.h"
#include "families/ml/solver/label_sets.h"

#include <stdint.h>

/* The key of the model's line of n_l, in the order of its labels. */
#define ML_LABEL_ROWS_KEY "label-rows"

/* count (q) = how many rows, of all ranks, have each label. All ranks. */
void ml_label_rows_count(const struct ml_rows *rows, double *count);

/* The line of a model. */
int ml_label_rows_write(const double *count, uint32_t q, struct model *model, struct error *err);

/* inverse (q + 1) = 1 / p_l of the model's q labels, and of one that no training row has; the
 * caller frees. NULL: the model, of an older version, does not tell. Fails where the line is not
 * one. */
int ml_propensity_read(const struct model *model, double a, double b, double **inverse,
                       struct error *err);

#endif
