/* How predictions of support matrix machines are measured, by both programs.
 *
 *   accuracy           share of the rows whose label is predicted
 *   balanced-accuracy  mean over the labels that occur of the share of their rows that is right
 *   true-positives, false-negatives, false-positives, true-negatives
 *                      numbers of rows; with two labels only, of which the last in the model's
 * order is positive. Measures of the predictor, not of cross-validation Rows without a label are
 * left out. A label that the model does not know is never right. */
#ifndef FAMILIES_SMM_MEASURES_H
#define FAMILIES_SMM_MEASURES_H

#include "common/data/labels.h"
#include "driver/family.h"

#include <stddef.h>
#include <stdint.h>

extern const struct measures smm_measures;

/* Rows counted by their label and the one predicted; row n of the table is for labels that the
 * model does not know. */
struct smm_counts {
    struct labels labels; /* the model's, n */
    double *cell;         /* (n + 1, n) */
    uint32_t *number;     /* (n_numbers) by number of the file's names */
    size_t n_numbers;
};

int smm_counts_open(struct smm_counts *counts, const struct model *model, struct error *err);
void smm_counts_close(struct smm_counts *counts);

/* Counts rows[0..n) of data (NULL: the first n) with scores (n, n_scores). */
int smm_counts_add(struct smm_counts *counts, const struct data *data, const uint32_t *rows,
                   size_t n, const double *scores, size_t n_scores, struct error *err);

#endif
